"""Any other system: what happens is posted to it, and it posts what its advisors do.

Every request is a JSON object, signed as `ombud.handoff.signatures` says, either way.

**To the system** goes `{"type", "id", "ticket": {"id", "reason", "topic", "country", "language"}}`
with, by type:

* `open`: nothing more; somebody asks for a person
* `message`: `text`; longer ones come in parts, in order
* `typing`: `is_typing`; `read`: `entry_id`, the entry of the system's own that was read, empty
  where it is all of them
* `close`: nothing more; the employee has left

One conversation's requests come one after another, and each comes again until the system answers:

* 2xx: it has it. 409: it had it already; both are the end of it
* 429 or 503, with Retry-After where it knows: later. The same go for 408, every other 5xx, and no
  answer at all
* 410: it no longer has the ticket; said again and again, it ends here, too
* anything else: it will not have it, and people are told

A try that was not answered may have arrived, so that the system keeps each `id` once. `id` is that
of the header `webhook-id` too, the same for every try; timestamp and signature are new each time.

**From the system** comes `{"type", "id", "ticket": {"id"}}` to the route of the server, with, by
type (the kinds of `DeskEvent`):

* `message`: `text`, `name` of the advisor; `files` and `links`, each a list of `{"name", "url"}`,
  in place of the text or beside it. People can open addresses of http and https
* `notice`: `text`, of no person, such as an automatic reply
* `joined`, `left`: `name`; `typing`: `name`, `is_typing`
* `read`: its `id` is ours, of the last message that was read
* `position`: `position` from 1 or `seconds` to wait; `waiting`: nothing more
* `ended`, `failed`: `text`, why

`id` is else the system's own, the same for every try: what has been had is not had again. `typing`,
`position` and `waiting` may go without. Types that we do not know are passed over: the reply says
`{"heard": false}`, and the log names the type.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple, get_args

import httpx
from pydantic import BaseModel, Field, ValidationError

from ombud.deadlines import retry_after
from ombud.errors import BadRequest, ConversationLost, HandoffError, Undelivered
from ombud.handoff.desks.desk import DeskEvent, DeskEventKind, DeskLink, LineMemory, Outgoing
from ombud.handoff.desks.wire import check_address, waiting_client
from ombud.handoff.signatures import sign_webhook, signing_key
from ombud.settings import HandoffSettings
from ombud.types import Ticket

logger = logging.getLogger(__name__)
REPLY_SECONDS = 15.0
"""Shortest time to wait for a reply that Standard Webhooks recommends."""
LONGEST_MESSAGE = 10_000
HAD_ALREADY = httpx.codes.CONFLICT
LATER = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS}
"""Statuses worth retrying, beside every 5xx."""
INCOMING = set(get_args(DeskEventKind)) - {"echo"}
MOST_LINKS = 20
"""Largest number of files, or of links, in one message."""
WITHOUT_ID = {"typing", "position", "waiting"}
"""Events that matter only at the moment they arrive."""
OPENED, CLOSED = "opened", "closed"
"""Keys in a line's memory. An attempt to open may have arrived, so its end is sent as well."""

Clock = Callable[[], float]
"""Seconds since 1970."""


class TicketName(BaseModel):
    id: str = Field(min_length=1, max_length=100)


class SentLink(BaseModel):
    name: str = Field("", max_length=1000)
    url: str = Field("", max_length=10_000)


class WebhookEntry(BaseModel):
    """An event that the other system posts; unknown fields are ignored."""

    type: DeskEventKind
    id: str = Field("", max_length=200)
    ticket: TicketName
    text: str = ""
    files: list[SentLink] = Field([], max_length=MOST_LINKS)
    links: list[SentLink] = Field([], max_length=MOST_LINKS)
    name: str = Field("", max_length=200)
    position: int | None = Field(None, ge=1)
    seconds: float | None = Field(None, ge=0, allow_inf_nan=False)
    is_typing: bool = False


class InboundEvent(NamedTuple):
    ticket_id: str
    event: DeskEvent


def inbound(payload: dict[str, Any]) -> InboundEvent | None:
    """Convert a payload that `verify_webhook` returned; None for an unknown type. Raises
    BadRequest."""
    if payload.get("type") not in list(INCOMING):
        # It may be a note that the employee must not see.
        logger.warning(
            "The webhook posted an unknown type, which is ignored: %.50r", payload.get("type")
        )
        return None
    try:
        entry = WebhookEntry.model_validate(payload)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"`{place}` of what was posted: {first['msg']}") from None
    if entry.type not in WITHOUT_ID and not entry.id:
        raise BadRequest(f"A `{entry.type}` was posted without an `id`.")
    links = [DeskLink(kind="file", name=one.name, url=one.url) for one in entry.files]
    links += [DeskLink(kind="link", name=one.name, url=one.url) for one in entry.links]
    if entry.type in {"message", "notice"} and not entry.text.strip() and not links:
        raise BadRequest(f"A `{entry.type}` was posted without a `text`.")
    event = DeskEvent(
        kind=entry.type,
        entry_id=entry.id,
        text=entry.text,
        links=tuple(links),
        name=entry.name,
        position=entry.position,
        seconds=entry.seconds,
        is_typing=entry.is_typing,
    )
    return InboundEvent(entry.ticket.id, event)


class WebhookPost:
    """Posts signed requests to one address."""

    def __init__(self, url: str, key: bytes, clock: Clock) -> None:
        self._url, self._key, self._clock = url, key, clock
        self._client = waiting_client(REPLY_SECONDS)

    async def post(self, payload: dict[str, Any]) -> None:
        """Post a payload; returns once the other system has it. Raises Undelivered if a later
        attempt may succeed, HandoffError if not."""
        body = json.dumps(payload).encode()
        headers = sign_webhook(payload["id"], body, self._key, self._clock())
        headers["content-type"] = "application/json"
        try:
            response = await self._client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as away:
            raise Undelivered(
                f"The desk's webhook cannot be reached ({type(away).__name__}).",
                hint="Check handoff.webhook.url and the network.",
            ) from away
        status = response.status_code
        if response.is_success or status == HAD_ALREADY:
            return
        if status in LATER or response.is_server_error:
            raise Undelivered(
                f"The desk's webhook answered with HTTP {status}.",
                hint="It is busy or broken; later it may work again.",
                retry_after=retry_after(response.headers),
            )
        refusal = ConversationLost if status == httpx.codes.GONE else HandoffError
        raise refusal(
            f"The desk's webhook refused with HTTP {status}.",
            hint="Check handoff.webhook.url, and that both sides have the same secret.",
        )

    async def close(self) -> None:
        await self._client.aclose()


class WebhookLine:
    def __init__(self, out: WebhookPost, ticket: Ticket, memory: LineMemory) -> None:
        self._out = out
        self._ticket = ticket
        self._memory = memory
        self._over = asyncio.Event()

    async def open(self) -> None:
        if self._memory.values.get(OPENED) == "yes":
            return
        await self._memory.save({OPENED: "tried"})
        await self._tell("open", f"open-{self._ticket.id}")
        await self._memory.save({OPENED: "yes"})

    async def send(self, outgoing: Outgoing) -> None:
        if outgoing.kind == "message":
            await self._tell("message", outgoing.id, text=outgoing.text)
        elif outgoing.kind == "typing":
            await self._tell("typing", outgoing.id, is_typing=outgoing.is_typing)
        else:
            await self._tell("read", outgoing.id, entry_id=outgoing.entry_id)

    async def events(self) -> AsyncIterator[DeskEvent]:
        """Wait for the end of the line. Events arrive by the server's route, so this yields
        none."""
        await self._over.wait()
        nothing: tuple[DeskEvent, ...] = ()
        for event in nothing:
            yield event

    async def close(self) -> None:
        if OPENED in self._memory.values and CLOSED not in self._memory.values:
            await self._tell("close", f"close-{self._ticket.id}")
            await self._memory.save({CLOSED: "yes"})
        self._over.set()

    async def _tell(self, kind: str, message_id: str, **what: str | bool) -> None:
        ticket = self._ticket
        named = {
            "id": ticket.id,
            "reason": ticket.reason,
            "topic": ticket.topic,
            "country": ticket.asker.country,
            "language": ticket.asker.language,
        }
        await self._out.post({"type": kind, "id": message_id, "ticket": named, **what})


class WebhookDesk:
    longest_message = LONGEST_MESSAGE

    def __init__(self, out: WebhookPost) -> None:
        self._out = out

    def line(self, ticket: Ticket, memory: LineMemory) -> WebhookLine:
        return WebhookLine(self._out, ticket, memory)

    async def close(self) -> None:
        await self._out.close()


def open_webhook(settings: HandoffSettings, clock: Clock = time.time) -> WebhookDesk:
    """Open the desk of the settings. Raises BadSetting if the address or the secret is missing."""
    webhook = settings.webhook
    url = check_address(webhook.url, "handoff.webhook.url", "https://desk.example.org/ombud")
    return WebhookDesk(WebhookPost(url, signing_key(webhook.secret_env), clock))
