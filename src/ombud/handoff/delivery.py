"""Delivers messages to an external desk and receives its events.

A process holds the leases of some lines and runs one worker for each, with two loops: one sends the
outbox in order, the other stores the desk's events. If a worker is killed, another process takes
over its line within one lease. Writes happen in one transaction that the lease's fencing token
guards; a repeated send carries the same id.
"""

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from ombud.errors import (
    Busy,
    ConversationLost,
    HandoffError,
    IllegalTransition,
    OmbudError,
    StoreError,
    Undelivered,
)
from ombud.handoff.briefing import end_of, history_before, ticket_of
from ombud.handoff.desks.desk import Desk, DeskEvent, Line, Outgoing, Sleep
from ombud.handoff.receiving import keep_event, lose_line
from ombud.handoff.transcripts import WHO, parts_of, source_list
from ombud.messages import message
from ombud.store import (
    Lease,
    LineRow,
    OutboxRow,
    Store,
    acquire_free,
    append_in,
    close_line,
    drop_row,
    find_event,
    lines_with_work,
    mark_failed,
    mark_sent,
    next_to_send,
    read_line,
    save_memory,
    seal_soon,
    tickets_due,
)
from ombud.types import (
    Delivered,
    Event,
    NewEvent,
    Seen,
    Session,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_LINES = 1000
"""Largest number of lines that one process works on."""
POLL_SECONDS = 0.25
"""Seconds between two polls for work of other processes; this one's wakes its worker at once."""
FIRST_WAIT = 1.0
GROWTH = 1.5
LONGEST_WAIT = 30.0
"""Seconds between two attempts: the first wait, its growth and its limit. Jitter keeps all lines
from retrying at once when a desk comes back."""
MAX_DELIVERY_ATTEMPTS = 8
"""Attempts (about a minute) after which a message is parked and shown as undelivered. It is still
retried."""
MAX_REFUSALS = 5
"""Consecutive refusals after which a conversation counts as lost."""

OnTyping = Callable[[str, str, bool], None]
"""Takes the conversation, the name, and whether they type or have stopped."""


def wait_before(tries: int, draw: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait before the next attempt; half of it is jitter (`draw`: 0 to 1)."""
    wait: float = min(FIRST_WAIT * GROWTH**tries, LONGEST_WAIT)
    return wait * (0.5 + draw() / 2)


class Pace(NamedTuple):
    """Sleep and retry waits, replaceable in tests."""

    sleep: Sleep = asyncio.sleep
    wait: Callable[[int], float] = wait_before
    """Attempts so far -> seconds before the next."""


class Delivery:
    """The workers of one desk in this process."""

    def __init__(
        self,
        store: Store,
        desk: Desk,
        name: str,
        *,
        public_url: str = "",
        on_typing: OnTyping = lambda *_: None,
        pace: Pace = Pace(),  # noqa: B008 - frozen
    ) -> None:
        """public_url: address of our own pages, for the links to sources."""
        self._store = store
        self._desk = desk
        self._name = name
        self._public_url = public_url
        self._on_typing = on_typing
        self._pace = pace
        self._workers: dict[str, _Worker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Deliver until cancelled, then release every lease."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    await self._look()
                except StoreError as failed:  # a database that restarts
                    logger.warning("Delivery waits for the database: %s", failed)
                self._woken.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._woken.wait()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            await self._desk.close()

    def wake(self) -> None:
        """Look for new work in the outbox at once; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    async def tell_typing(self, ticket_id: str, is_typing: bool) -> None:
        """Tell the desk whether the employee is typing. It is a courtesy and never retried."""
        worker = self._workers.get(ticket_id)
        if worker is not None:
            await worker.tell_typing(is_typing)

    async def _look(self) -> None:
        store, name = self._store, self._name
        busy_lines = await asyncio.to_thread(lines_with_work, store, name)
        for ticket in self._workers.keys() - set(busy_lines):
            self._workers[ticket].end()
        free = [ticket for ticket in busy_lines if ticket not in self._workers]
        room = MAX_LINES - len(self._workers)
        if free and room > 0:
            names = [f"line/{ticket}" for ticket in free]
            for lease in await self._acquire(names, room):
                self._start(lease)
        for ticket in await asyncio.to_thread(tickets_due, store, name):
            if ticket in self._workers:
                self._workers[ticket].wake()

    async def _acquire(self, names: Sequence[str], room: int) -> list[Lease]:
        """Acquire leases, and release them again if this task is cancelled meanwhile."""
        work = asyncio.ensure_future(asyncio.to_thread(acquire_free, self._store, names, room))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            for lease in await work:
                await asyncio.to_thread(lease.release)
            raise

    def _start(self, lease: Lease) -> None:
        ticket_id = lease.name.removeprefix("line/")
        worker = _Worker(
            self._store,
            self._desk,
            lease,
            ticket_id,
            public_url=self._public_url,
            on_typing=self._on_typing,
            pace=self._pace,
        )
        self._workers[ticket_id] = worker
        self._tasks[ticket_id] = asyncio.create_task(self._work(ticket_id, worker, lease))

    async def _work(self, ticket_id: str, worker: "_Worker", lease: Lease) -> None:
        try:
            await worker.run()
        except Busy:
            logger.info("Another process now delivers line %s", ticket_id)
        except Exception:  # one line must not end the others
            logger.exception("Line %s failed; it is started again", ticket_id)
        finally:
            del self._workers[ticket_id]
            del self._tasks[ticket_id]
            with suppress(StoreError):
                await asyncio.shield(asyncio.to_thread(lease.release))


class _StoredMemory:
    """The memory of a line, stored in its row."""

    def __init__(self, worker: "_Worker", row: LineRow) -> None:
        self._worker = worker
        self.values: Mapping[str, str] = row.memory
        self.cursor = row.cursor

    async def save(self, values: Mapping[str, str]) -> None:
        await self._worker.write(lambda db: save_memory(db, self._worker.ticket_id, values))
        self.values = {**self.values, **values}


class _Worker:
    """Sends and receives for one line. Its writes are refused once another process has the
    lease."""

    def __init__(
        self,
        store: Store,
        desk: Desk,
        lease: Lease,
        ticket_id: str,
        *,
        public_url: str,
        on_typing: OnTyping,
        pace: Pace,
    ) -> None:
        self.ticket_id = ticket_id
        self._store = store
        self._desk = desk
        self._lease = lease
        self._public_url = public_url
        self._on_typing = on_typing
        self._pace = pace
        self._woken = asyncio.Event()
        self._opened = asyncio.Event()
        self._ended = asyncio.Event()
        self._all_sent = asyncio.Event()
        self._line: Line | None = None
        self._listening: asyncio.Task[None] | None = None
        self._last_place: int | None = None
        self._refusals = 0

    def wake(self) -> None:
        self._woken.set()

    def end(self) -> None:
        """Stop: another process closed the line, and nothing is left to send."""
        if not self._ended.is_set() and self._listening is not None:
            self._listening.cancel()
        self._ended.set()
        self._woken.set()

    async def run(self) -> None:
        row = await asyncio.to_thread(read_line, self._store, self.ticket_id)
        if row is None:
            return
        ticket = await asyncio.to_thread(ticket_of, self._store, row)
        self._conversation_id = row.conversation_id
        self._last_place = await asyncio.to_thread(end_of, self._store, row)
        self._memory = _StoredMemory(self, row)
        self._line = self._desk.line(ticket, self._memory)
        if row.state == "closed":
            self._ended.set()
        listening = asyncio.create_task(self._listen(self._line))
        sending = asyncio.create_task(self._send_all(self._line))
        self._listening = listening
        try:
            done, _ = await asyncio.wait({listening, sending}, return_when="FIRST_EXCEPTION")
            for task in done:
                if not task.cancelled():
                    task.result()
        finally:
            for task in (listening, sending):
                task.cancel()
            await asyncio.gather(listening, sending, return_exceptions=True)

    async def write(self, work: Callable[..., T]) -> T:
        """Run `work(connection)` in a transaction guarded by the lease's fencing token. Raises Busy
        if another process has the lease."""

        def guarded() -> T:
            with self._store.write() as db:
                self._lease.guard(db)
                return work(db)

        result = await asyncio.to_thread(guarded)
        seal_soon(self._store)
        return result

    async def tell_typing(self, is_typing: bool) -> None:
        if self._line is None or not self._opened.is_set():
            return
        with suppress(HandoffError):
            outgoing = Outgoing(id=str(uuid.uuid4()), kind="typing", is_typing=is_typing)
            await self._line.send(outgoing)

    # To the desk ----------------------------------------------------------------------------------

    async def _send_all(self, line: Line) -> None:
        while True:
            self._woken.clear()
            row = await asyncio.to_thread(next_to_send, self._store, self.ticket_id)
            if row is None:
                self._opened.set()
                if self._ended.is_set():
                    self._all_sent.set()
                    return
                await self._pause(None)
                continue
            if row.kind != "open":
                self._opened.set()
            if row.seconds_left > 0:
                await self._pause(row.seconds_left)
                continue
            await self._send(line, row)

    async def _pause(self, seconds: float | None) -> None:
        """Wait until this worker is woken, its line ends, or the time is over."""
        waits: list[Awaitable[object]] = [self._woken.wait()]
        if not self._ended.is_set():
            waits.append(self._ended.wait())
        if seconds is not None:
            waits.append(self._pace.sleep(seconds))
        tasks = list(map(asyncio.ensure_future, waits))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _send(self, line: Line, row: OutboxRow) -> None:
        event = await asyncio.to_thread(find_event, self._store, row.event_id)
        if event is None or event.what is None:
            await self.write(lambda db: drop_row(db, row, "It was erased."))
            return
        if self._last_place is not None and event.place > self._last_place:
            await self.write(lambda db: drop_row(db, row, "It was written after the end."))
            return
        try:
            await self._tell(line, row, event)
        except HandoffError as failed:
            if not await self._is_lost(failed):
                await self._put_off(row, failed)
            return
        self._refusals = 0
        await self.write(lambda db: self._mark_arrived(db, row))
        if row.kind == "open":
            self._opened.set()
        if row.kind == "close":
            self._ended.set()

    def _mark_arrived(self, db: Connection, row: OutboxRow) -> None:
        mark_sent(db, row)
        if row.kind == "close":
            close_line(db, self.ticket_id)
        elif row.state == "parked":
            arrived = Delivered(event_id=row.event_id, state="delivered")
            append_in(db, self._conversation_id, append_always(NewEvent(by="system", what=arrived)))

    async def _tell(self, line: Line, row: OutboxRow, event: Event) -> None:
        if row.kind == "open":
            await line.open()
            history = await asyncio.to_thread(history_before, self._store, event, self._public_url)
            await self._send_text(line, f"{self.ticket_id}/history", history)
        elif row.kind == "close":
            await line.close()
        elif row.kind == "look":
            await line.send(Outgoing(id=event.id, kind="look"))
        elif isinstance(event.what, Seen):
            with suppress(HandoffError):  # a courtesy that must not hold up messages
                await line.send(Outgoing(id=event.id, kind="read"))
        elif event.by == "user":
            await self._send_text(line, event.id, event.text)
        else:
            sources = await asyncio.to_thread(source_list, self._store, event, self._public_url)
            text = message("notices.line", who=message(WHO[event.by]), text=event.text)
            await self._send_text(line, event.id, text + sources)

    async def _send_text(self, line: Line, identity: str, text: str) -> None:
        """Send one message, or its numbered parts. The ids of parts are derived, so that a repeat
        carries the same ones."""
        if not text:
            return
        for place, part in enumerate(parts_of(text, self._desk.longest_message)):
            is_whole = place == 0 and "/" not in identity
            own_id = (
                identity if is_whole else str(uuid.uuid5(PART_NAMESPACE, f"{identity}/{place}"))
            )
            await line.send(Outgoing(id=own_id, text=part))

    async def _is_lost(self, failed: OmbudError) -> bool:
        """Count a refusal, and end the handoff once the desk has refused the conversation often
        enough."""
        if not isinstance(failed, ConversationLost):
            return False
        self._refusals += 1
        if self._refusals < MAX_REFUSALS:
            return False
        logger.warning("Line %s is lost; its handoff ends: %s", self.ticket_id, failed)
        await self.write(lambda db: lose_line(db, self._conversation_id, self.ticket_id))
        if self._listening is not None:
            self._listening.cancel()
        self._ended.set()
        self._woken.set()
        return True

    async def _put_off(self, row: OutboxRow, failed: HandoffError) -> None:
        wait = self._pace.wait(row.tries)
        if isinstance(failed, Undelivered) and failed.retry_after:
            wait = max(wait, min(failed.retry_after, 10 * LONGEST_WAIT))
        is_parked = not failed.retryable or row.tries + 1 >= MAX_DELIVERY_ATTEMPTS
        logger.warning("Line %s: not delivered yet, will retry: %s", self.ticket_id, failed)

        def put_off(db: Connection) -> None:
            mark_failed(db, row, error=str(failed), wait=wait, parked=is_parked)
            if is_parked and row.state == "waiting":
                parked = Delivered(event_id=row.event_id, state="parked")
                append_in(
                    db, self._conversation_id, append_always(NewEvent(by="system", what=parked))
                )

        await self.write(put_off)

    # From the desk --------------------------------------------------------------------------------

    async def _listen(self, line: Line) -> None:
        await self._opened.wait()
        tries = 0
        while not self._ended.is_set():
            try:
                async for event in line.events():
                    await self._hear(event)
                    tries = self._refusals = 0
                    if event.kind == "ended":
                        # A desk forgets an ended conversation on the next request.
                        await self._all_sent.wait()
                if not self._ended.is_set():
                    raise Undelivered("The desk has ended its stream.")
            except (HandoffError, StoreError) as failed:
                if isinstance(failed, IllegalTransition):
                    raise
                if await self._is_lost(failed):
                    return
                logger.info("Line %s is reopened: %s", self.ticket_id, failed)
                await self._pace.sleep(self._pace.wait(tries))
                tries += 1

    async def _hear(self, event: DeskEvent) -> None:
        if event.kind == "typing":
            self._on_typing(self._conversation_id, event.name, event.is_typing)
            return
        seen = None
        if event.kind == "read":
            seen = await asyncio.to_thread(find_event, self._store, event.entry_id)
        place = seen.place if seen else 0
        await self.write(
            lambda db: keep_event(db, self._conversation_id, self.ticket_id, event, place)
        )
        if event.cursor:
            self._memory.cursor = event.cursor
        if event.kind == "ended":
            self._ended.set()
            self._woken.set()


def append_always(event: NewEvent) -> Callable[[Session], list[NewEvent]]:
    def decide(session: Session) -> list[NewEvent]:
        del session
        return [event]

    return decide


PART_NAMESPACE = uuid.UUID("6c1c1f0e-2f5b-4c52-9e0b-1d3c6a1f7b21")
"""Namespace of the ids of numbered parts (RFC 9562, version 5)."""
