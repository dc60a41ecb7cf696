"""A conversation is one of Messaging for In-App and Web: advisors answer in Salesforce.

What keeps each message once: a message has our id there too. That it was taken (HTTP 202) does not
say that it stands there; its own echo in the stream does, or the listing. Where a try may have
arrived unnoticed, the listing is looked through before the next one.
"""

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from importlib.metadata import version
from typing import Any

import httpx

from ombud.errors import BadSetting, ConversationLost, HandoffError, Undelivered
from ombud.handoff.desks.desk import DeskEvent, LineMemory, Outgoing
from ombud.handoff.desks.salesforce.feed import (
    LOOKS,
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
)
from ombud.handoff.desks.wire import NoReply, check_address
from ombud.settings import HandoffSettings
from ombud.types import Ticket

LONGEST_MESSAGE = 4000
"""Characters. The service does not say how many it takes; clients of others stay below this."""
ORGANISATION = "00D"
"""How every id of an organisation begins."""
OPENED = "opened"
"""Key in a line's memory."""
HAD_ALREADY = httpx.codes.CONFLICT
ABSENT = {httpx.codes.NOT_FOUND, httpx.codes.GONE}
REFUSED = {httpx.codes.FORBIDDEN, *ABSENT}


class SalesforceLine:
    """One conversation, whose id there is the ticket's."""

    def __init__(
        self,
        service: MessagingService,
        routing: dict[str, str],
        ticket: Ticket,
        memory: LineMemory,
    ) -> None:
        self._deployment = service.deployment
        self._user = EndUser(service, memory)
        self._routing = routing
        self._ticket = ticket
        self._memory = memory
        self._path = f"{API}/conversation/{ticket.id}"
        self._in_doubt = True
        """Whether a message may stand there of which we had no word; nobody knows what a process
        before this one did last."""
        self._is_heard = False
        self._echoes: dict[str, asyncio.Event] = {}
        self._last_heard = ""
        self._recent = RecentEvents()

    async def open(self) -> None:
        opened = self._memory.values.get(OPENED)
        if opened == "yes":
            return
        if opened == "tried" and await self._stands():
            await self._memory.save({OPENED: "yes"})
            return
        await self._memory.save({OPENED: "tried"})
        body = {
            "conversationId": self._ticket.id,
            "esDeveloperName": self._deployment.name,
            "routingAttributes": self._attributes(),
        }
        await self._post(f"{API}/conversation", body)
        await self._memory.save({OPENED: "yes"})
        self._in_doubt = opened == "tried"  # into a conversation just made nobody has said anything

    async def send(self, outgoing: Outgoing) -> None:
        if outgoing.kind == "message":
            with _lost_if_refused():
                await self._say(outgoing)
        elif outgoing.kind == "typing":
            kind = "TypingStartedIndicator" if outgoing.is_typing else "TypingStoppedIndicator"
            await self._post(f"{self._path}/entry", {"entryType": kind, "id": outgoing.id})
        else:
            await self._mark_read(outgoing)

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        cursor = self._memory.cursor
        feed = ConversationFeed(self._user, self._ticket.id, cursor, self._recent)
        try:
            with _lost_if_refused():
                async with aclosing(feed.events()) as events:
                    async for event in events:
                        self._is_heard = True
                        if event.kind == "echo" and event.entry_id in self._echoes:
                            self._echoes[event.entry_id].set()
                        if event.kind == "message":
                            self._last_heard = event.entry_id
                        if event.kind == "ended":
                            self._is_heard = False
                        yield event
                        if event.kind == "ended":
                            return
        finally:
            self._is_heard = False

    async def close(self) -> None:
        if OPENED not in self._memory.values:
            return
        query = {"esDeveloperName": self._deployment.name}
        try:
            await self._user.ask("DELETE", self._path, NoReply, query=query)
        except Denied as denied:
            if denied.code not in ABSENT:
                raise

    def _attributes(self) -> dict[str, str]:
        """What the service routes by, under the names that it has there."""
        ticket = self._ticket
        known = {
            "reason": ticket.reason,
            "topic": ticket.topic,
            "country": ticket.asker.country or "",
            "language": ticket.asker.language or "",
        }
        attributes: dict[str, str] = {}
        for what, value in known.items():
            if value and what in self._routing:
                attributes[self._routing[what]] = value
        return attributes

    async def _stands(self) -> bool:
        """Whether the conversation exists there."""
        try:
            await self._user.ask("GET", self._path, ConversationStatus)
        except Denied as denied:
            if denied.code not in ABSENT:
                raise
            return False
        return True

    async def _say(self, outgoing: Outgoing) -> None:
        if self._in_doubt and await self._is_found(outgoing.id):
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
        """Returns once the message stands there for certain. Raises Undelivered."""
        if self._is_heard:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._user.pulse.echo):
                    await echo.wait()
        if not await self._is_found(message_id, echo):
            raise Undelivered("Salesforce has taken a message that does not stand there.")

    async def _is_found(self, message_id: str, echo: asyncio.Event | None = None) -> bool:
        """Whether the message stands there. A listing may be late: it is looked at a few times."""
        for look in range(LOOKS):
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
        read = outgoing.entry_id or self._last_heard
        if read:
            ack = {"id": str(uuid.uuid4()), "entryType": "Read", "conversationEntryId": read}
            await self._post(f"{self._path}/acknowledge-entries", {"acks": [ack]})

    async def _post(self, path: str, body: dict[str, Any]) -> None:
        """What it had already is done as well."""
        try:
            await self._user.ask("POST", path, NoReply, body=body)
        except Denied as denied:
            if denied.code != HAD_ALREADY:
                raise


@contextmanager
def _lost_if_refused() -> Iterator[None]:
    try:
        yield
    except Denied as denied:
        if denied.code not in REFUSED:
            raise
        raise ConversationLost(str(denied), hint=denied.hint) from denied


class SalesforceDesk:
    longest_message = LONGEST_MESSAGE

    def __init__(self, service: MessagingService, routing: dict[str, str]) -> None:
        self._service = service
        self._routing = routing

    def line(self, ticket: Ticket, memory: LineMemory) -> SalesforceLine:
        """Raises HandoffError for a ticket that cannot name a conversation there."""
        if not _is_taken(ticket.id):
            raise HandoffError(f"The hand-over `{ticket.id}` has no id that Salesforce takes.")
        return SalesforceLine(self._service, self._routing, ticket, memory)

    async def close(self) -> None:
        await self._service.close()


def _is_taken(conversation_id: str) -> bool:
    """The service takes UUIDs of version 4 in small letters only."""
    try:
        read = uuid.UUID(conversation_id)
    except ValueError:
        return False
    return str(read) == conversation_id and read.version == 4


def open_salesforce(
    settings: HandoffSettings,
    pulse: Pulse = Pulse(),  # noqa: B008 - frozen
) -> SalesforceDesk:
    """Raises BadSetting where the address, the organisation, the deployment or a token that the
    settings name is missing."""
    salesforce = settings.salesforce
    example = "https://example.my.salesforce-scrt.com"
    url = check_address(salesforce.url, "handoff.salesforce.url", example)
    if len(salesforce.organisation) not in {15, 18} or salesforce.organisation[:3] != ORGANISATION:
        raise BadSetting(
            "handoff.salesforce.organisation is no id of an organisation.",
            hint="It has 15 or 18 characters and begins with 00D: Setup, Company Information.",
        )
    if not salesforce.deployment:
        raise BadSetting(
            "handoff.salesforce.deployment is missing.",
            hint="It is the developer name of the Embedded Service deployment.",
        )
    identity = ""
    if salesforce.token_env:
        identity = os.environ.get(salesforce.token_env, "").strip()
        if not identity:
            raise BadSetting(
                "There is no customer identity token for Salesforce.",
                hint=f"Set the environment variable {salesforce.token_env}.",
            )
    deployment = Deployment(url, salesforce.organisation, salesforce.deployment, identity)
    service = MessagingService(deployment, version("ombud"), pulse)
    return SalesforceDesk(service, dict(salesforce.routing))
