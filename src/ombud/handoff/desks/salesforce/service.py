"""The web service of Messaging for In-App and Web, and who we are there.

https://developer.salesforce.com/docs/service/messaging-api says what is asked and what comes back.
Whatever it adds to its replies is left alone.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import httpx
from httpx_sse import EventSource
from pydantic import BaseModel, Field, ValidationError, field_validator

from ombud.errors import ConversationLost, HandoffError, Undelivered
from ombud.handoff.desks.desk import LineMemory
from ombud.handoff.desks.wire import NoReply, retry_after, waiting_client

API = "/iamessage/api/v2"
STREAM = "/eventrouter/v1/sse"
TOKEN = f"{API}/authorization"
CAPABILITIES = "1"
PAGE = 50
"""Entries of a conversation that are given at once, at most."""
LONGEST_REASON = 200
"""Characters of their words that an error repeats."""
LATER = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS}
"""Beside every 5xx."""
GONE = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.NOT_FOUND}
ACCESS, SUBJECT, DEVICE, BEGIN = "token", "subject", "device", "begin"
"""Keys in a line's memory."""

Shape = TypeVar("Shape", bound=BaseModel)


class Denied(HandoffError):
    """The service understood, and said no."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message, hint="Check [handoff.salesforce] and the deployment there.")
        self.code = code


class Sender(BaseModel):
    role: str = ""
    subject: str = ""


class ConversationEntry(BaseModel):
    """Something in a conversation. Its payload is an object in a listing and JSON in the stream;
    what stands in it is up to whoever sent it."""

    identifier: str = ""
    entryType: str = ""  # noqa: N815 - theirs
    entryPayload: dict[str, Any] = {}  # noqa: N815
    transcriptedTimestamp: int = 0  # noqa: N815
    """Milliseconds since 1970."""
    senderDisplayName: str | None = None  # noqa: N815
    sender: Sender = Sender()

    @field_validator("entryPayload", mode="before")
    @classmethod
    def _read(cls, payload: Any) -> Any:
        if not isinstance(payload, str):
            return payload or {}
        try:
            read = json.loads(payload)
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}


class EntryPage(BaseModel):
    conversationEntries: list[ConversationEntry] = []  # noqa: N815


class ConversationStatus(BaseModel):
    routingStatus: str = ""  # noqa: N815


class _EndUserContext(BaseModel):
    subject: str = ""


class _TokenContext(BaseModel):
    deviceId: str | None = None  # noqa: N815
    endUser: _EndUserContext = _EndUserContext()  # noqa: N815


class _TokenReply(BaseModel):
    accessToken: str = Field(min_length=1)  # noqa: N815
    lastEventId: str | None = None  # noqa: N815
    context: _TokenContext = _TokenContext()


class Deployment(NamedTuple):
    """Of `[handoff.salesforce]`. identity: a signed JWT of the customer; empty: nobody signs in."""

    url: str
    organisation: str
    name: str
    identity: str = ""


class Pulse(NamedTuple):
    """How long what may take, in seconds."""

    reply: float = 15.0
    heartbeat: float = 90.0
    """A stream on which nothing comes for so long, not even a `ping`, is dead."""
    echo: float = 2.0
    """How long the echo of a message is waited for, before the listing is asked."""
    look: float = 0.2
    """Between two looks into a listing that does not have what was told of yet."""
    position: float = 60.0
    """A place in the queue that was not told again for so long may be an old one."""


class MessagingService:
    """Calls of one deployment."""

    def __init__(self, deployment: Deployment, version: str, pulse: Pulse) -> None:
        self.deployment = deployment
        self._version = version
        self.pulse = pulse
        self._client = waiting_client(pulse.reply)

    async def request(
        self,
        method: str,
        path: str,
        token: str,
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Raises Undelivered where the service is away, broken or wants to be left alone for a
        moment. What it refuses is left to whoever asked."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        place = f"{self.deployment.url}{path}"
        try:
            response = await self._client.request(
                method, place, json=body, params=query, headers=headers
            )
        except httpx.HTTPError as away:
            raise unreachable(away) from away
        check_awake(response)
        return response

    async def mint(self, device: str) -> _TokenReply:
        """A token of its own. Raises HandoffError where a customer identity is not accepted."""
        deployment = self.deployment
        body: dict[str, Any] = {
            "orgId": deployment.organisation,
            "esDeveloperName": deployment.name,
            "capabilitiesVersion": CAPABILITIES,
            "platform": "Web",
            "context": {"appName": "ombud", "clientVersion": self._version},
        }
        if device:
            body["deviceId"] = device
        kind = "unauthenticated"
        if deployment.identity:
            kind = "authenticated"
            body["authorizationType"] = "JWT"
            body["customerIdentityToken"] = deployment.identity
        response = await self.request("POST", f"{TOKEN}/{kind}/access-token", "", body=body)
        reply = read_reply(response, _TokenReply)
        # A wrong signature may be answered with the token of somebody who is not known.
        if deployment.identity and "/AUTH/" not in reply.context.endUser.subject:
            raise HandoffError(
                "Salesforce does not accept the customer identity token.",
                hint="Check handoff.salesforce.token_env: issuer, key and deployment.",
            )
        return reply

    @asynccontextmanager
    async def stream(self, token: str, last_event_id: str) -> AsyncIterator[httpx.Response]:
        """What happens in all conversations of a token, from an event on."""
        headers = {
            "accept": "text/event-stream",
            "authorization": f"Bearer {token}",
            "x-org-id": self.deployment.organisation[:15],
            "last-event-id": last_event_id or "0",
        }
        timeout = httpx.Timeout(self.pulse.reply, read=self.pulse.heartbeat, pool=None)
        place = f"{self.deployment.url}{STREAM}"
        try:
            async with self._client.stream(
                "GET", place, headers=headers, timeout=timeout
            ) as response:
                check_awake(response)
                yield response
        except httpx.HTTPError as away:
            raise unreachable(away) from away

    async def close(self) -> None:
        await self._client.aclose()


class EndUser:
    """Who a line is there: a token that is kept, and made anew when it has run out."""

    def __init__(self, service: MessagingService, memory: LineMemory) -> None:
        self._service = service
        self._memory = memory
        self._renewing = asyncio.Lock()

    @property
    def deployment(self) -> Deployment:
        return self._service.deployment

    @property
    def pulse(self) -> Pulse:
        return self._service.pulse

    @property
    def begin(self) -> str:
        """Where the stream begins for who has heard nothing yet."""
        return self._memory.values.get(BEGIN, "")

    async def ask(
        self,
        method: str,
        path: str,
        shape: type[Shape],
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
    ) -> Shape:
        """The reply. Raises as `MessagingService.request` does, and Denied."""
        token = await self._token()
        response = await self._service.request(method, path, token, body=body, query=query)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            token = await self._renewed(token)
            response = await self._service.request(method, path, token, body=body, query=query)
        return read_reply(response, shape)

    @asynccontextmanager
    async def stream(self, last_event_id: str) -> AsyncIterator[EventSource]:
        token = await self._token()
        async with self._service.stream(token, last_event_id or self.begin) as response:
            if response.status_code == httpx.codes.UNAUTHORIZED:
                await self._renewed(token)
                raise Undelivered("The token of the stream had run out.")
            if response.status_code != httpx.codes.OK:
                await response.aread()
                raise failure(response)
            yield EventSource(response)

    async def _token(self) -> str:
        token = self._memory.values.get(ACCESS, "")
        if token:
            return token
        async with self._renewing:
            token = self._memory.values.get(ACCESS, "")
            return token or await self._keep(await self._service.mint(self._device()))

    async def _renewed(self, refused: str) -> str:
        """Another token for the same person."""
        async with self._renewing:
            token = self._memory.values.get(ACCESS, "")
            if token != refused:  # somebody was quicker
                return token
            path = f"{TOKEN}/continuation-access-token"
            response = await self._service.request("GET", path, refused)
            if response.status_code not in GONE:
                return await self._keep(read_reply(response, _TokenReply))
            return await self._keep(await self._service.mint(self._device()))

    def _device(self) -> str:
        return self._memory.values.get(DEVICE, "")

    async def _keep(self, reply: _TokenReply) -> str:
        """Raises ConversationLost where the token is another person's: conversations of this one
        cannot be reached with it."""
        known = self._memory.values.get(SUBJECT, "")
        subject = reply.context.endUser.subject
        if known and subject and subject != known:
            raise ConversationLost(
                "Salesforce has forgotten whose conversation this is.",
                hint="Its token ran out while nothing could be delivered; hand over once more.",
            )
        values = {ACCESS: reply.accessToken, SUBJECT: known or subject}
        if reply.context.deviceId:
            values[DEVICE] = reply.context.deviceId
        if BEGIN not in self._memory.values:
            values[BEGIN] = reply.lastEventId or "0"
        await self._memory.save(values)
        return reply.accessToken


def check_awake(response: httpx.Response) -> None:
    """Raises Undelivered where it will be better later."""
    status = response.status_code
    if status in LATER or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Undelivered(
            f"Salesforce answered with HTTP {status}.",
            hint="It is busy or broken; later it may work again.",
            retry_after=retry_after(response.headers),
        )


def read_reply(response: httpx.Response, shape: type[Shape]) -> Shape:
    """Raises Denied, and HandoffError where what answers is no Salesforce."""
    if not response.is_success:
        raise failure(response)
    if shape is NoReply:
        return shape()
    try:
        return shape.model_validate_json(response.content)
    except ValidationError:
        # Not chained: it quotes what it was given.
        raise HandoffError(
            f"What answers at {response.url.host} is no Messaging for In-App and Web.",
            hint="Check handoff.salesforce.url.",
        ) from None


def failure(response: httpx.Response) -> Denied:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    said = problem.get("message") if isinstance(problem, dict) else None
    words = f": {said[:LONGEST_REASON]}" if isinstance(said, str) and said else ""
    status = response.status_code
    return Denied(f"Salesforce refused with HTTP {status}{words}", code=status)


def unreachable(away: httpx.HTTPError) -> Undelivered:
    return Undelivered(
        f"Salesforce cannot be reached ({type(away).__name__}).",
        hint="Check handoff.salesforce.url and the network.",
    )
