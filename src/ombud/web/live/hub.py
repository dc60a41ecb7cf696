"""Who watches what, and how they hear of it: one look at the store for all sockets of a process."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from ombud.app import Workspace, advising
from ombud.cpu_time import MeteredThreads
from ombud.errors import OmbudError
from ombud.store import News, NewsCursor, TypingSignal, newest

logger = logging.getLogger(__name__)
T = TypeVar("T")

TICK = 0.15
"""Seconds between two looks, for what other processes write; this one's own is told at once."""
QUEUE_PAUSE = 1.0
"""Seconds between two tellings of the queue: it moves more often than people read."""
THREADS = 4
MOVES = frozenset({"handoff", "joined", "left", "transferred", "ended", "closed"})
"""Kinds of events by which the queue changes."""
TALK = frozenset({"message", "read", "note", "snooze"})
"""Kinds by which only the desk's lists look different."""
TALK_PAUSE = 3.0
"""Seconds between two tellings of the desk for these."""


class Watcher(Protocol):
    """A socket, as the hub sees it; each call returns at once."""

    is_desk: bool

    def watches(self, conversation_id: str) -> bool: ...

    def tell_changed(self, conversation_id: str) -> None: ...

    def tell_queue(self) -> None: ...

    def tell_typing(self, signal: TypingSignal) -> None: ...


class Hub:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.places: Mapping[str, advising.Place] = {}
        """Of those who wait at our own desk, as they were told last."""
        self._watchers: set[Watcher] = set()
        self._woken = asyncio.Event()
        self._threads = MeteredThreads(THREADS, thread_name_prefix="live")
        self._cursor = NewsCursor(workspace.store)
        self._queue_moved = True
        self._queue_told = 0.0
        self._has_talked = False

    def add(self, watcher: Watcher) -> None:
        self._watchers.add(watcher)

    def remove(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)

    async def thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run work in a thread of the hub's own, so that answers being written delay no message."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, work, *arguments)

    async def run(self) -> None:
        """Tell everybody what happens, until cancelled."""
        store = self.workspace.store
        loop = asyncio.get_running_loop()
        store.on_change(lambda: _wake(loop, self._woken))
        self._cursor.move(*await self.thread(newest, store))
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        await self._woken.wait()
                self._woken.clear()
                try:
                    await self._look()
                except OmbudError as failed:  # such as a database that restarts
                    logger.warning("News cannot be read: %s", failed)
                    await asyncio.sleep(1.0)
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _look(self) -> None:
        if not self._watchers and not self._cursor.has_gaps:
            # Nobody listens; whoever comes reads from the store what there is. Whoever came while
            # this was looked up may have read before its newest: for them it is told again.
            ends = await self.thread(newest, self.workspace.store)
            if not self._watchers:
                self._cursor.move(*ends)
            return
        news = await self.thread(self._cursor.read)
        self._note(news)
        for conversation_id in {change.conversation_id for change in news.changes}:
            for watcher in self._watching(conversation_id):
                watcher.tell_changed(conversation_id)
        for signal in news.typing:
            for watcher in self._watching(signal.conversation_id):
                watcher.tell_typing(signal)
        await self._tell_queue()

    def _note(self, news: News) -> None:
        for change in news.changes:
            self._queue_moved = self._queue_moved or change.kind in MOVES
            self._has_talked = self._has_talked or change.kind in TALK

    def _watching(self, conversation_id: str) -> Iterable[Watcher]:
        return [one for one in self._watchers if one.watches(conversation_id)]

    async def _tell_queue(self) -> None:
        since = time.monotonic() - self._queue_told
        if self._queue_moved and since >= QUEUE_PAUSE:
            await self._tell_places()
        elif not self._has_talked or since < TALK_PAUSE:
            return
        self._has_talked = False
        self._queue_told = time.monotonic()
        for watcher in list(self._watchers):
            if watcher.is_desk:
                watcher.tell_queue()

    async def _tell_places(self) -> None:
        self._queue_moved = False
        before = self.places
        self.places = await self.thread(advising.places, self.workspace)
        for conversation_id, place in self.places.items():
            if before.get(conversation_id) != place:
                for watcher in self._watching(conversation_id):
                    watcher.tell_changed(conversation_id)


def _wake(loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(woken.set)
