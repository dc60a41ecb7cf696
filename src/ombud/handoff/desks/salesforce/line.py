"""Lines of Salesforce Messaging for In-App and Web, whose advisors answer in Salesforce.

Each message is delivered once because it keeps our id there. HTTP 202 does not prove that a message
was stored; its echo in the stream or the listing does. If an attempt may have arrived unnoticed,
the listing is searched before the next attempt.
"""

import asyncio
import os
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from importlib.metadata import version
from typing import Any

import httpx

from ombud.errors import BadSetting, ConversationLost, HandoffError, MissingExtra, Undelivered
from ombud.handoff.desks.desk import DeskEvent, LineMemory, Outgoing
from ombud.handoff.desks.salesforce.feed import (
    LISTING_ATTEMPTS,
    ConversationFeed,
    RecentEvents,
    list_entries,
)
from ombud.handoff.desks.salesforce.service import (
    API,
    ConversationStatus,
    Denied,
    Deployment,
    EndUser,
    MessagingService,
    Pulse,
    Sign,
)
from ombud.handoff.desks.wire import NoReply, check_address
from ombud.settings import HandoffSettings, SalesforceSettings
from ombud.types import Ticket

LONGEST_MESSAGE = 4000
"""Characters in one message. The service documents no limit; its other clients stay below this."""
ORGANISATION = "00D"
"""Prefix of every organisation id."""
OPENED = "opened"
"""Key in a line's memory."""
HAD_ALREADY = httpx.codes.CONFLICT
ABSENT = {httpx.codes.NOT_FOUND, httpx.codes.GONE}
REFUSED = {httpx.codes.FORBIDDEN, *ABSENT}


class SalesforceLine:
    """A conversation; its id in Salesforce is the ticket's."""

    def __init__(
        self,
        service: MessagingService,
        routing: dict[str, str],
        ticket: Ticket,
        memory: LineMemory,
    ) -> None:
        self._deployment = service.deployment
        self._user = EndUser(service, memory, ticket.owner)
        self._routing = routing
        self._ticket = ticket
        self._memory = memory
        self._path = f"{API}/conversation/{ticket.id}"
        self._in_doubt = True
        """True if an earlier attempt, perhaps of another process, may have arrived unnoticed."""
        self._is_streaming = False
        self._echoes: dict[str, asyncio.Event] = {}
        self._last_message_id = ""
        self._recent = RecentEvents()

    async def open(self) -> None:
        opened = self._memory.values.get(OPENED)
        if opened == "yes":
            return
        if opened == "tried" and await self._exists():
            await self._memory.save({OPENED: "yes"})
            return
        await self._memory.save({OPENED: "tried"})
        body = {
            "conversationId": self._ticket.id,
            "esDeveloperName": self._deployment.name,
            "routingAttributes": self._routing_attributes(),
        }
        await self._post(f"{API}/conversation", body)
        await self._memory.save({OPENED: "yes"})
        self._in_doubt = opened == "tried"  # a new conversation is empty

    async def send(self, outgoing: Outgoing) -> None:
        if outgoing.kind == "message":
            with conversation_lost_if_refused():
                await self._send_message(outgoing)
        elif outgoing.kind == "typing":
            kind = "TypingStartedIndicator" if outgoing.is_typing else "TypingStoppedIndicator"
            await self._post(f"{self._path}/entry", {"entryType": kind, "id": outgoing.id})
        else:
            await self._mark_read(outgoing)

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        cursor = self._memory.cursor
        feed = ConversationFeed(self._user, self._ticket.id, cursor, self._recent)
        try:
            with conversation_lost_if_refused():
                async with aclosing(feed.events()) as events:
                    async for event in events:
                        self._is_streaming = True
                        if event.kind == "echo" and event.entry_id in self._echoes:
                            self._echoes[event.entry_id].set()
                        if event.kind == "message":
                            self._last_message_id = event.entry_id
                        if event.kind == "ended":
                            self._is_streaming = False
                        yield event
                        if event.kind == "ended":
                            return
        finally:
            self._is_streaming = False

    async def close(self) -> None:
        if OPENED not in self._memory.values:
            return
        query = {"esDeveloperName": self._deployment.name}
        try:
            await self._user.ask("DELETE", self._path, NoReply, query=query)
        except Denied as denied:
            if denied.code not in ABSENT:
                raise

    def _routing_attributes(self) -> dict[str, str]:
        """Return the routing attributes under the names that the deployment uses."""
        ticket = self._ticket
        facts = {
            "reason": ticket.reason,
            "topic": ticket.topic,
            "country": ticket.asker.country or "",
            "language": ticket.asker.language or "",
        }
        attributes: dict[str, str] = {}
        for what, value in facts.items():
            if value and what in self._routing:
                attributes[self._routing[what]] = value
        return attributes

    async def _exists(self) -> bool:
        """Tell whether the conversation exists in Salesforce."""
        try:
            await self._user.ask("GET", self._path, ConversationStatus)
        except Denied as denied:
            if denied.code not in ABSENT:
                raise
            return False
        return True

    async def _send_message(self, outgoing: Outgoing) -> None:
        if self._in_doubt and await self._is_stored(outgoing.id):
            self._in_doubt = False
            return
        self._in_doubt = True
        echo = self._echoes.setdefault(outgoing.id, asyncio.Event())
        content = {"formatType": "Text", "text": outgoing.text}
        message = {
            "id": outgoing.id,
            "messageType": "StaticContentMessage",
            "staticContent": content,
        }
        body = {"message": message, "esDeveloperName": self._deployment.name}
        try:
            await self._post(f"{self._path}/message", body)
            await self._confirm(outgoing.id, echo)
        finally:
            del self._echoes[outgoing.id]
        self._in_doubt = False

    async def _confirm(self, message_id: str, echo: asyncio.Event) -> None:
        """Return once the message is certainly stored; raises Undelivered otherwise."""
        if self._is_streaming:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._user.pulse.echo):
                    await echo.wait()
        if not await self._is_stored(message_id, echo):
            raise Undelivered("Salesforce has taken a message that does not stand there.")

    async def _is_stored(self, message_id: str, echo: asyncio.Event | None = None) -> bool:
        """Tell whether the message is stored. A listing may be late, so it is fetched a few
        times."""
        for look in range(LISTING_ATTEMPTS):
            if echo is not None and echo.is_set():
                return True
            if look:
                await asyncio.sleep(self._user.pulse.look)
            if await self._is_listed(message_id):
                return True
        return False

    async def _is_listed(self, message_id: str) -> bool:
        last = await list_entries(self._user, self._ticket.id, from_end=True)
        return any(entry.identifier == message_id for entry in last)

    async def _mark_read(self, outgoing: Outgoing) -> None:
        read = outgoing.entry_id or self._last_message_id
        if read:
            ack = {"id": str(uuid.uuid4()), "entryType": "Read", "conversationEntryId": read}
            await self._post(f"{self._path}/acknowledge-entries", {"acks": [ack]})

    async def _post(self, path: str, body: dict[str, Any]) -> None:
        """Post, and accept the reply that says it was done before."""
        try:
            await self._user.ask("POST", path, NoReply, body=body)
        except Denied as denied:
            if denied.code != HAD_ALREADY:
                raise


@contextmanager
def conversation_lost_if_refused() -> Iterator[None]:
    try:
        yield
    except Denied as denied:
        if denied.code not in REFUSED:
            raise
        raise ConversationLost(str(denied), hint=denied.hint) from denied


class SalesforceDesk:
    """Opens lines in one deployment."""

    longest_message = LONGEST_MESSAGE

    def __init__(self, service: MessagingService, routing: dict[str, str]) -> None:
        self._service = service
        self._routing = routing

    def line(self, ticket: Ticket, memory: LineMemory) -> SalesforceLine:
        """Return the line of a ticket. Raises HandoffError for an id that Salesforce would
        refuse."""
        if not is_valid_ticket_id(ticket.id):
            raise HandoffError(f"The hand-over `{ticket.id}` has no id that Salesforce takes.")
        return SalesforceLine(self._service, self._routing, ticket, memory)

    async def close(self) -> None:
        await self._service.close()


def is_valid_ticket_id(conversation_id: str) -> bool:
    """Tell whether the service takes this id: UUIDs of version 4 in lower case only."""
    try:
        read = uuid.UUID(conversation_id)
    except ValueError:
        return False
    return str(read) == conversation_id and read.version == 4


def open_salesforce(
    settings: HandoffSettings,
    pulse: Pulse = Pulse(),  # noqa: B008 - frozen
) -> SalesforceDesk:
    """Open the desk of the settings. Raises BadSetting if the address, the organisation, the
    deployment or a named token is missing."""
    salesforce = settings.salesforce
    example = "https://example.my.salesforce-scrt.com"
    url = check_address(salesforce.url, "handoff.salesforce.url", example)
    if len(salesforce.organisation) not in {15, 18} or salesforce.organisation[:3] != ORGANISATION:
        raise BadSetting(
            "handoff.salesforce.organisation is not the id of an organisation.",
            hint="It has 15 or 18 characters and begins with 00D: Setup, Company Information.",
        )
    if not salesforce.deployment:
        raise BadSetting(
            "handoff.salesforce.deployment is missing.",
            hint="It is the developer name of the Embedded Service deployment.",
        )
    sign = open_signing(salesforce) if salesforce.key_env else None
    deployment = Deployment(url, salesforce.organisation, salesforce.deployment, sign)
    service = MessagingService(deployment, version("ombud"), pulse)
    return SalesforceDesk(service, dict(salesforce.routing))


def open_signing(settings: SalesforceSettings) -> Sign:
    """Return how a token for a person is signed (User Verification of Messaging for In-App and
    Web): RS256, with the person as `sub`, valid for five minutes. Raises BadSetting."""
    try:
        from joserfc import jwt
        from joserfc.jwk import RSAKey
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            "Signing tokens for Salesforce needs a package that is not installed.",
            hint="pip install 'ombud[oidc]'",
        ) from missing
    pem = os.environ.get(settings.key_env, "").strip()
    try:
        key = RSAKey.import_key(pem)
        if not key.is_private:
            raise ValueError("it is a public key")
    except (ValueError, TypeError):
        # Not chained: the error may repeat the key.
        raise BadSetting(
            f"{settings.key_env} holds no private RSA key in PEM.",
            hint="Such as from `openssl genrsa 2048`; its public part belongs to the key set "
            "in Salesforce.",
        ) from None
    if not settings.key_id:
        raise BadSetting(
            "handoff.salesforce.key_id is missing.", hint="It is the `kid` of the key there."
        )

    def sign(owner: str) -> str:
        now = int(time.time())
        claims = {"iss": settings.issuer, "sub": owner, "iat": now, "exp": now + 300}
        return jwt.encode({"alg": "RS256", "typ": "JWT", "kid": settings.key_id}, claims, key)

    return sign
