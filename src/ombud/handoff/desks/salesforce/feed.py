"""Reads the events of a Salesforce conversation from a cursor on, complete and in order.

The stream may lose, repeat and reorder events, while the listing of a conversation has its messages
in order. So the stream only tells that something is new, and the messages come from the listing.
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

LISTING_ATTEMPTS = 3
"""How often the listing is requested for an entry that the stream announced."""
REMEMBERED = 1000
"""Entries whose repetition is recognised in memory; the store recognises older ones."""
REPLAYED = 5
"""Stream events requested again after an interruption, because they may have been out of order."""
NEEDS_ADVISOR = {"INITIAL", "NEEDS_ROUTING", "TRANSFER"}
IN_LISTING = set(LISTED.values())


class Bookmark(NamedTuple):
    """Position in a conversation: the stream event up to which nothing is missing, and the time of
    the last entry in milliseconds."""

    event_id: str = ""
    timestamp: int = 0

    @classmethod
    def read(cls, cursor: str) -> "Bookmark":
        """Parse a cursor; returns the beginning for a cursor that we did not write."""
        event_id, _, timestamp = cursor.rpartition(" ")
        return cls(event_id, int(timestamp)) if timestamp.isdecimal() else cls()

    def __str__(self) -> str:
        return f"{self.event_id} {self.timestamp}"


class RecentEvents:
    """The last stored events of a stream, remembered across interruptions."""

    def __init__(self) -> None:
        self.ids: deque[str] = deque(maxlen=REPLAYED)

    def add(self, event_id: str) -> None:
        """Remember an event, unless it is an old one that was repeated."""
        is_old = event_id.isdecimal() and any(
            one.isdecimal() and int(one) > int(event_id) for one in list(self.ids)[:1]
        )
        if event_id and event_id not in self.ids and not is_old:
            self.ids.append(event_id)

    def resume_from(self, before: str) -> str:
        """Return the event after which to resume the stream."""
        return self.ids[0] if len(self.ids) == REPLAYED else before


class _Envelope(BaseModel):
    conversationId: str = ""  # noqa: N815 - theirs
    conversationEntry: ConversationEntry = ConversationEntry()  # noqa: N815


class ConversationFeed:
    """The events of one conversation, merged from its stream and its listing."""

    def __init__(
        self, user: EndUser, conversation_id: str, cursor: str, recent: "RecentEvents"
    ) -> None:
        self._user = user
        self._recent = recent
        self._conversation_id = conversation_id
        self._bookmark = Bookmark.read(cursor)
        self._processed: deque[str] = deque(maxlen=REMEMBERED)
        self._is_waiting = True
        """True while no advisor has taken the conversation, as far as we know."""

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        """Yield events until the stream ends or breaks, which raises Undelivered. Of the events
        that arrive together only the last moves the cursor, so that all are read again if it was
        not stored."""
        async with self._user.stream(self._bookmark.event_id) as source:
            # The open stream misses nothing from here on; earlier entries are in the listing.
            for event in self._track_waiting(await self._fetch_new()):
                yield event
            async with aclosing(self._stream_events(source)) as arriving:
                async for event in arriving:
                    yield event

    async def _stream_events(self, source: EventSource) -> AsyncGenerator[DeskEvent, None]:
        """Yield what the stream announces; poll where it does not report the place in the queue."""
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
                    events = await self._poll()
                else:
                    received, pending = pending.result(), None
                    events = await self._convert(received)
                if not done or any(event.kind == "position" for event in events):
                    ask_at = clock() + self._user.pulse.position
                for event in self._track_waiting(events):
                    yield event
                if done:
                    self._recent.add(received.id)  # all of its events were stored
        finally:
            if pending is not None:
                pending.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await pending
            await stream.aclose()

    async def _convert(self, received: ServerSentEvent) -> list[DeskEvent]:
        if received.id in self._recent.ids:
            return []
        self._bookmark = self._bookmark._replace(
            event_id=self._recent.resume_from(self._bookmark.event_id)
        )
        try:
            envelope = _Envelope.model_validate_json(received.data)
        except ValidationError:  # such as a `ping`
            return []
        if envelope.conversationId != self._conversation_id:
            return []
        entry = envelope.conversationEntry
        if received.event in IN_LISTING:
            return [] if entry.identifier in self._processed else await self._fetch_new(entry)
        events = read_entry(received.event, entry)
        if any(event.kind == "ended" for event in events):
            return [*await self._fetch_new(), *events]
        return events

    async def _fetch_new(self, announced: ConversationEntry | None = None) -> list[DeskEvent]:
        """Return new events of the listing. A listing that never contains the announced entry is
        late, so the entry is added to it."""
        for look in range(LISTING_ATTEMPTS):
            if look:
                await asyncio.sleep(self._user.pulse.look)
            listed = await self._fetch_entries()
            if announced is None or any(
                entry.identifier == announced.identifier for entry in listed
            ):
                break
        else:
            listed.append(announced) if announced else None
        news: list[DeskEvent] = []
        for entry in listed:
            if entry.identifier not in self._processed:
                self._processed.append(entry.identifier)
                news.extend(read_listed(entry))
            latest = max(self._bookmark.timestamp, entry.transcriptedTimestamp)
            self._bookmark = self._bookmark._replace(timestamp=latest)
        return news

    async def _fetch_entries(self) -> list[ConversationEntry]:
        """Fetch all entries from the last received one on."""
        entries: dict[str, ConversationEntry] = {}
        since = self._bookmark.timestamp
        while True:
            page = await list_entries(self._user, self._conversation_id, since=since)
            entries.update((entry.identifier, entry) for entry in page)
            if len(page) < PAGE:
                return list(entries.values())
            last = page[-1].transcriptedTimestamp
            # A page cannot hold more entries of one millisecond, so step over it.
            since = last if last > since else since + 1

    async def _poll(self) -> list[DeskEvent]:
        """Poll the conversation after a long silence."""
        path = f"{API}/conversation/{self._conversation_id}"
        status = await self._user.ask("GET", path, ConversationStatus)
        news = await self._fetch_new()
        if status.routingStatus in NEEDS_ADVISOR:
            return [DeskEvent(kind="waiting"), *news]
        self._is_waiting = False
        return news

    def _track_waiting(self, events: Sequence[DeskEvent]) -> Sequence[DeskEvent]:
        """Update the waiting state, and attach the cursor to the last event."""
        for event in events:
            if event.kind == "joined":
                self._is_waiting = False
            elif event.kind in {"left", "waiting", "position"}:
                self._is_waiting = True
        if not events:
            return events
        return [*events[:-1], events[-1].model_copy(update={"cursor": str(self._bookmark)})]


async def list_entries(
    user: EndUser, conversation_id: str, *, since: int = 0, from_end: bool = False
) -> list[ConversationEntry]:
    """Fetch a page of a conversation: the first entries from a time on, or its last messages."""
    query = {"limit": str(PAGE), "direction": "FromEnd" if from_end else "FromStart"}
    query["entryTypeFilter"] = "Message" if from_end else ",".join(LISTED)
    if since:
        query["startTimestamp"] = str(since)
    path = f"{API}/conversation/{conversation_id}/entries"
    page = await user.ask("GET", path, EntryPage, query=query)
    return page.conversationEntries


async def _next(stream: AsyncGenerator[ServerSentEvent, None]) -> ServerSentEvent:
    """Return the next event. Raises Undelivered if the stream breaks or ends."""
    try:
        return await anext(stream)
    except StopAsyncIteration:
        raise Undelivered("Salesforce has ended its stream.") from None
    except (httpx.HTTPError, httpx.StreamError) as away:
        if isinstance(away, httpx.HTTPError):
            raise unreachable(away) from away
        raise Undelivered("The stream of Salesforce broke off.") from away
    except (SSEError, json.JSONDecodeError) as wrong:
        raise Undelivered("The reply is not a stream of events.") from wrong
