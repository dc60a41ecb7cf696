"""What happens in a conversation of Salesforce from a cursor on: all of it, in order.

The stream may lose, repeat and mix up events; the listing of a conversation holds its messages in
their order. So the stream says only that something is new, and the listing what.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import NamedTuple

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError
from pydantic import BaseModel, ValidationError

from ombud.errors import Undelivered
from ombud.handoff.desks.desk import DeskEvent
from ombud.handoff.desks.salesforce.entries import LISTED, read_entry, read_listed
from ombud.handoff.desks.salesforce.service import (
    API,
    PAGE,
    ConversationEntry,
    ConversationStatus,
    EndUser,
    EntryPage,
    unreachable,
)

LOOKS = 3
"""How often a listing is asked for an entry that the stream has told of."""
REMEMBERED = 1000
"""Entries whose repetition is known at once; of others, the store knows."""
REPLAYED = 5
"""Events of the stream that are asked for again after it broke: it may have mixed them up."""
NEEDS_ADVISOR = {"INITIAL", "NEEDS_ROUTING", "TRANSFER"}
IN_LISTING = set(LISTED.values())


class Bookmark(NamedTuple):
    """How far a conversation was heard: an event of the stream up to which nothing is missing, and
    the time of the last entry in milliseconds."""

    event_id: str = ""
    timestamp: int = 0

    @classmethod
    def read(cls, cursor: str) -> "Bookmark":
        """Of a cursor; the beginning where it is none of ours."""
        event_id, _, timestamp = cursor.rpartition(" ")
        return cls(event_id, int(timestamp)) if timestamp.isdecimal() else cls()

    def __str__(self) -> str:
        return f"{self.event_id} {self.timestamp}"


class RecentEvents:
    """The last events of a stream that were kept, over its interruptions."""

    def __init__(self) -> None:
        self.ids: deque[str] = deque(maxlen=REPLAYED)

    def add(self, event_id: str) -> None:
        """Note an event, unless it is an old one that came again."""
        is_old = event_id.isdecimal() and any(
            one.isdecimal() and int(one) > int(event_id) for one in list(self.ids)[:1]
        )
        if event_id and event_id not in self.ids and not is_old:
            self.ids.append(event_id)

    def resume_from(self, before: str) -> str:
        """The event after which to ask again."""
        return self.ids[0] if len(self.ids) == REPLAYED else before


class _Envelope(BaseModel):
    conversationId: str = ""  # noqa: N815 - theirs
    conversationEntry: ConversationEntry = ConversationEntry()  # noqa: N815


class ConversationFeed:
    def __init__(
        self, user: EndUser, conversation_id: str, cursor: str, recent: "RecentEvents"
    ) -> None:
        self._user = user
        self._recent = recent
        self._conversation_id = conversation_id
        self._bookmark = Bookmark.read(cursor)
        self._had: deque[str] = deque(maxlen=REMEMBERED)
        self._is_waiting = True
        """Whether nobody has taken the conversation, as far as is known."""

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        """Until the stream breaks, which raises Undelivered, or ends. The last event of what was
        told at once moves the cursor; those before it are read again where it was not kept."""
        async with self._user.stream(self._bookmark.event_id) as source:
            # From here on nothing is missed; what was before stands in the listing.
            for event in self._noted(await self._news()):
                yield event
            async with aclosing(self._arriving(source)) as arriving:
                async for event in arriving:
                    yield event

    async def _arriving(self, source: EventSource) -> AsyncGenerator[DeskEvent, None]:
        """What the stream tells; where it does not tell the place in the queue, what is asked."""
        stream = source.aiter_sse()
        pending: asyncio.Task[ServerSentEvent] | None = None
        clock = asyncio.get_running_loop().time
        ask_at = clock() + self._user.pulse.position
        try:
            while True:
                pending = pending or asyncio.create_task(_next(stream))
                wait = max(0.0, ask_at - clock()) if self._is_waiting else None
                done, _ = await asyncio.wait({pending}, timeout=wait)
                if not done:
                    told = await self._asked()
                else:
                    heard, pending = pending.result(), None
                    told = await self._told(heard)
                if not done or any(event.kind == "position" for event in told):
                    ask_at = clock() + self._user.pulse.position
                for event in self._noted(told):
                    yield event
                if done:
                    self._recent.add(heard.id)  # everything it tells was kept
        finally:
            if pending is not None:
                pending.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await pending
            await stream.aclose()

    async def _told(self, heard: ServerSentEvent) -> list[DeskEvent]:
        if heard.id in self._recent.ids:
            return []
        self._bookmark = self._bookmark._replace(
            event_id=self._recent.resume_from(self._bookmark.event_id)
        )
        try:
            envelope = _Envelope.model_validate_json(heard.data)
        except ValidationError:  # such as a `ping`
            return []
        if envelope.conversationId != self._conversation_id:
            return []
        entry = envelope.conversationEntry
        if heard.event in IN_LISTING:
            return [] if entry.identifier in self._had else await self._news(entry)
        told = read_entry(heard.event, entry)
        if any(event.kind == "ended" for event in told):
            return [*await self._news(), *told]
        return told

    async def _news(self, told: ConversationEntry | None = None) -> list[DeskEvent]:
        """What the listing has that was not heard yet. told: the entry that must be among it; a
        listing that does not come to know it is not believed."""
        for look in range(LOOKS):
            if look:
                await asyncio.sleep(self._user.pulse.look)
            listed = await self._listed()
            if told is None or any(entry.identifier == told.identifier for entry in listed):
                break
        else:
            listed.append(told) if told else None
        news: list[DeskEvent] = []
        for entry in listed:
            if entry.identifier not in self._had:
                self._had.append(entry.identifier)
                news.extend(read_listed(entry))
            latest = max(self._bookmark.timestamp, entry.transcriptedTimestamp)
            self._bookmark = self._bookmark._replace(timestamp=latest)
        return news

    async def _listed(self) -> list[ConversationEntry]:
        """All entries from the last one that was heard on."""
        entries: dict[str, ConversationEntry] = {}
        since = self._bookmark.timestamp
        while True:
            page = await list_entries(self._user, self._conversation_id, since=since)
            entries.update((entry.identifier, entry) for entry in page)
            if len(page) < PAGE:
                return list(entries.values())
            last = page[-1].transcriptedTimestamp
            # More entries of one moment than a page holds cannot be asked for.
            since = last if last > since else since + 1

    async def _asked(self) -> list[DeskEvent]:
        """What stands there where nothing was told for long."""
        path = f"{API}/conversation/{self._conversation_id}"
        status = await self._user.ask("GET", path, ConversationStatus)
        news = await self._news()
        if status.routingStatus in NEEDS_ADVISOR:
            return [DeskEvent(kind="waiting"), *news]
        self._is_waiting = False
        return news

    def _noted(self, told: Sequence[DeskEvent]) -> Sequence[DeskEvent]:
        """The same, of which the last moves the cursor: with it, all before are kept."""
        for event in told:
            if event.kind == "joined":
                self._is_waiting = False
            elif event.kind in {"left", "waiting", "position"}:
                self._is_waiting = True
        if not told:
            return told
        return [*told[:-1], told[-1].model_copy(update={"cursor": str(self._bookmark)})]


async def list_entries(
    user: EndUser, conversation_id: str, *, since: int = 0, from_end: bool = False
) -> list[ConversationEntry]:
    """A page of a conversation: the first from a time on in their order, or its last messages."""
    query = {"limit": str(PAGE), "direction": "FromEnd" if from_end else "FromStart"}
    query["entryTypeFilter"] = "Message" if from_end else ",".join(LISTED)
    if since:
        query["startTimestamp"] = str(since)
    path = f"{API}/conversation/{conversation_id}/entries"
    page = await user.ask("GET", path, EntryPage, query=query)
    return page.conversationEntries


async def _next(stream: AsyncGenerator[ServerSentEvent, None]) -> ServerSentEvent:
    """Raises Undelivered where the stream breaks or ends."""
    try:
        return await anext(stream)
    except StopAsyncIteration:
        raise Undelivered("Salesforce has ended its stream.") from None
    except (httpx.HTTPError, httpx.StreamError) as away:
        if isinstance(away, httpx.HTTPError):
            raise unreachable(away) from away
        raise Undelivered("The stream of Salesforce broke off.") from away
    except (SSEError, json.JSONDecodeError) as wrong:
        raise Undelivered("What answers is no stream of events.") from wrong
