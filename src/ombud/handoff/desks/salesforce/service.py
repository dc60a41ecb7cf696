"""Client of Messaging for In-App and Web, and the end user that it acts for.

https://developer.salesforce.com/docs/service/messaging-api describes requests and replies. Fields
that a reply adds are ignored.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import httpx
from httpx_sse import EventSource
from pydantic import BaseModel, Field, ValidationError, field_validator

from ombud.deadlines import retry_after
from ombud.errors import ConversationLost, HandoffError, Undelivered
from ombud.handoff.desks.desk import LineMemory
from ombud.handoff.desks.wire import NoReply, waiting_client

API = "/iamessage/api/v2"
STREAM = "/eventrouter/v1/sse"
TOKEN = f"{API}/authorization"
CAPABILITIES = "1"
PAGE = 50
"""Largest number of entries in one page of a listing."""
LONGEST_REASON = 200
"""Characters of the service's reason that an error repeats."""
LATER = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS}
"""Statuses worth retrying, beside every 5xx."""
GONE = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.NOT_FOUND}
ACCESS, SUBJECT, DEVICE, BEGIN = "token", "subject", "device", "begin"
"""Keys in a line's memory."""

Shape = TypeVar("Shape", bound=BaseModel)


class Denied(HandoffError):
    """The service understood the request and refused it."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message, hint="Check [handoff.salesforce] and the deployment there.")
        self.code = code


class Sender(BaseModel):
    role: str = ""
    subject: str = ""


class ConversationEntry(BaseModel):
    """An entry of a conversation. Its payload is an object in a listing and JSON text in the
    stream; its content depends on the sender."""

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


Sign = Callable[[str], str]
"""Returns a signed token for the person that a digest stands for."""


class Deployment(NamedTuple):
    """Address and names from `[handoff.salesforce]`. sign: None if nobody signs in there."""

    url: str
    organisation: str
    name: str
    sign: Sign | None = None


class Pulse(NamedTuple):
    """Timeouts and intervals in seconds."""

    reply: float = 15.0
    heartbeat: float = 90.0
    """Silence after which a stream without even a `ping` counts as dead."""
    echo: float = 2.0
    """Time to wait for the echo of a message before the listing is requested."""
    look: float = 0.2
    """Pause between two requests for a listing that lacks an announced entry."""
    position: float = 60.0
    """Age from which a place in the queue may be out of date."""


class MessagingService:
    """Requests to one deployment."""

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
        """Send a request. Raises Undelivered if the service cannot be reached, fails or asks to
        wait; refusals are left to the caller."""
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

    async def mint(self, device: str, owner: str) -> _TokenReply:
        """Request a token for an end user. owner: digest that stands for the person. Raises
        HandoffError if the person's signed token is not accepted."""
        deployment = self.deployment
        identity = deployment.sign(owner) if deployment.sign and owner else ""
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
        if identity:
            kind = "authenticated"
            body["authorizationType"] = "JWT"
            body["customerIdentityToken"] = identity
        response = await self.request("POST", f"{TOKEN}/{kind}/access-token", "", body=body)
        reply = read_reply(response, _TokenReply)
        # A wrong signature may yield the token of an anonymous user.
        if identity and "/AUTH/" not in reply.context.endUser.subject:
            raise HandoffError(
                "Salesforce does not accept the customer identity token.",
                hint="Check handoff.salesforce: key_env, key_id, issuer and deployment.",
            )
        return reply

    @asynccontextmanager
    async def stream(self, token: str, last_event_id: str) -> AsyncIterator[httpx.Response]:
        """Open the stream of all conversations of a token, from an event on."""
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
    """The person that a line acts for: a stored token, renewed when it has expired."""

    def __init__(self, service: MessagingService, memory: LineMemory, owner: str) -> None:
        self._service = service
        self._memory = memory
        self._owner = owner
        self._renewing = asyncio.Lock()

    @property
    def deployment(self) -> Deployment:
        return self._service.deployment

    @property
    def pulse(self) -> Pulse:
        return self._service.pulse

    @property
    def begin(self) -> str:
        """Return the event where the stream begins for a line that has received nothing yet."""
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
        """Send a request and parse its reply. Raises Denied, and what `MessagingService.request`
        raises."""
        token = await self._token()
        response = await self._service.request(method, path, token, body=body, query=query)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            token = await self._renew(token)
            response = await self._service.request(method, path, token, body=body, query=query)
        return read_reply(response, shape)

    @asynccontextmanager
    async def stream(self, last_event_id: str) -> AsyncIterator[EventSource]:
        token = await self._token()
        async with self._service.stream(token, last_event_id or self.begin) as response:
            if response.status_code == httpx.codes.UNAUTHORIZED:
                await self._renew(token)
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
            return token or await self._store_token(
                await self._service.mint(self._device(), self._owner)
            )

    async def _renew(self, refused: str) -> str:
        """Return another token for the same person."""
        async with self._renewing:
            token = self._memory.values.get(ACCESS, "")
            if token != refused:  # renewed by another task
                return token
            path = f"{TOKEN}/continuation-access-token"
            response = await self._service.request("GET", path, refused)
            if response.status_code not in GONE:
                return await self._store_token(read_reply(response, _TokenReply))
            return await self._store_token(await self._service.mint(self._device(), self._owner))

    def _device(self) -> str:
        return self._memory.values.get(DEVICE, "")

    async def _store_token(self, reply: _TokenReply) -> str:
        """Store a token. Raises ConversationLost if it belongs to another person, who cannot reach
        the conversations of this one."""
        current_subject = self._memory.values.get(SUBJECT, "")
        subject = reply.context.endUser.subject
        if current_subject and subject and subject != current_subject:
            raise ConversationLost(
                "Salesforce no longer assigns this conversation to its person.",
                hint="Its token ran out while nothing could be delivered; start a new handoff.",
            )
        values = {ACCESS: reply.accessToken, SUBJECT: current_subject or subject}
        if reply.context.deviceId:
            values[DEVICE] = reply.context.deviceId
        if BEGIN not in self._memory.values:
            values[BEGIN] = reply.lastEventId or "0"
        await self._memory.save(values)
        return reply.accessToken


def check_awake(response: httpx.Response) -> None:
    """Raise Undelivered for statuses worth retrying."""
    status = response.status_code
    if status in LATER or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Undelivered(
            f"Salesforce answered with HTTP {status}.",
            hint="It is busy or broken; later it may work again.",
            retry_after=retry_after(response.headers),
        )


def read_reply(response: httpx.Response, shape: type[Shape]) -> Shape:
    """Parse a reply. Raises Denied, and HandoffError if the reply is not from Salesforce."""
    if not response.is_success:
        raise failure(response)
    if shape is NoReply:
        return shape()
    try:
        return shape.model_validate_json(response.content)
    except ValidationError:
        # Not chained: the error quotes the reply.
        raise HandoffError(
            f"What answers at {response.url.host} is not Messaging for In-App and Web.",
            hint="Check handoff.salesforce.url.",
        ) from None


def failure(response: httpx.Response) -> Denied:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    reason = problem.get("message") if isinstance(problem, dict) else None
    words = f": {reason[:LONGEST_REASON]}" if isinstance(reason, str) and reason else ""
    status = response.status_code
    return Denied(f"Salesforce refused with HTTP {status}{words}", code=status)


def unreachable(away: httpx.HTTPError) -> Undelivered:
    return Undelivered(
        f"Salesforce cannot be reached ({type(away).__name__}).",
        hint="Check handoff.salesforce.url and the network.",
    )
