"""Bringing what people say to a desk that is not ours, and back.

A process holds the leases of some lines. For each it runs one worker with two loops: one sends what
the outbox holds, in order; the other hears what the desk tells and keeps it. A worker that is
killed leaves its line to another process within one lease. What is written is written under the
lease's fence, in one transaction; what is sent again carries the same id.
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
    NotFound,
    OmbudError,
    StoreError,
    Undelivered,
)
from ombud.handoff.desks.desk import Desk, DeskEvent, Line, Outgoing, Sleep
from ombud.handoff.receiving import keep_event, lose_line
from ombud.handoff.transcripts import WHO, parts_of, transcript
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
    read_events,
    read_line,
    read_session,
    save_memory,
    seal_soon,
    tickets_due,
)
from ombud.types import (
    Closed,
    Delivered,
    Ended,
    Event,
    HandedOver,
    NewEvent,
    Seen,
    Session,
    Ticket,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")

LINES = 1000
"""Lines that one process works on at most."""
TICK = 0.25
"""Seconds between two looks for what other processes have left to do. What this one writes wakes
its worker at once."""
FIRST_WAIT = 1.0
GROWTH = 1.5
LONGEST_WAIT = 30.0
"""Seconds between two tries: the first, how it grows, the most. With jitter, so that a desk that
comes back is not met by all at once."""
BUDGET = 8
"""Tries after which a message is parked and shown as not delivered yet: after about a minute. It
is still tried."""
LOST_AFTER = 5
"""Times in a row that a desk must refuse a conversation before it counts as lost."""

OnTyping = Callable[[str, str, bool], None]
"""Conversation, who, and whether they type or have stopped."""


def wait_before(tries: int, draw: Callable[[], float] = random.random) -> float:
    """Seconds before the next try, half of it by chance (`draw`: 0 to 1)."""
    wait: float = min(FIRST_WAIT * GROWTH**tries, LONGEST_WAIT)
    return wait * (0.5 + draw() / 2)


class Pace(NamedTuple):
    """How time passes: a test's own, or the machine's."""

    sleep: Sleep = asyncio.sleep
    wait: Callable[[int], float] = wait_before
    """Tries so far -> seconds before the next."""


class Delivery:
    """The workers of one desk in this process."""

    def __init__(
        self,
        store: Store,
        desk: Desk,
        name: str,
        *,
        on_typing: OnTyping = lambda *_: None,
        pace: Pace = Pace(),  # noqa: B008 - frozen
    ) -> None:
        self._store = store
        self._desk = desk
        self._name = name
        self._on_typing = on_typing
        self._pace = pace
        self._workers: dict[str, _Worker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Deliver until cancelled; then every lease is given back."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    await self._look()
                except StoreError as failed:  # a database that restarts
                    logger.warning("Delivery waits for the store: %s", failed)
                self._woken.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        await self._woken.wait()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            await self._desk.close()

    def wake(self) -> None:
        """Something was written to the outbox; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    async def tell_typing(self, ticket_id: str, is_typing: bool) -> None:
        """Tell the desk that the employee types; no more than a courtesy, so never tried twice."""
        worker = self._workers.get(ticket_id)
        if worker is not None:
            await worker.tell_typing(is_typing)

    async def _look(self) -> None:
        store, name = self._store, self._name
        wanted = await asyncio.to_thread(lines_with_work, store, name)
        for ticket in self._workers.keys() - set(wanted):
            self._workers[ticket].end()
        free = [ticket for ticket in wanted if ticket not in self._workers]
        room = LINES - len(self._workers)
        if free and room > 0:
            names = [f"line/{ticket}" for ticket in free]
            for lease in await self._acquire(names, room):
                self._start(lease)
        for ticket in await asyncio.to_thread(tickets_due, store, name):
            if ticket in self._workers:
                self._workers[ticket].wake()

    async def _acquire(self, names: Sequence[str], room: int) -> list[Lease]:
        """Also where this is cancelled, no lease is left to nobody."""
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
            self._store, self._desk, lease, ticket_id, on_typing=self._on_typing, pace=self._pace
        )
        self._workers[ticket_id] = worker
        self._tasks[ticket_id] = asyncio.create_task(self._work(ticket_id, worker, lease))

    async def _work(self, ticket_id: str, worker: "_Worker", lease: Lease) -> None:
        try:
            await worker.run()
        except Busy:
            logger.info("Another process delivers %s now", ticket_id)
        except Exception:  # one line must not end the others
            logger.exception("The line %s broke off; it is taken up again", ticket_id)
        finally:
            del self._workers[ticket_id]
            del self._tasks[ticket_id]
            with suppress(StoreError):
                await asyncio.shield(asyncio.to_thread(lease.release))


class _StoredMemory:
    """What a line remembers, in its row of the store."""

    def __init__(self, worker: "_Worker", row: LineRow) -> None:
        self._worker = worker
        self.values: Mapping[str, str] = row.memory
        self.cursor = row.cursor

    async def save(self, values: Mapping[str, str]) -> None:
        await self._worker.write(lambda db: save_memory(db, self._worker.ticket_id, values))
        self.values = {**self.values, **values}


class _Worker:
    """One line. Everything it writes is refused once another process has its lease."""

    def __init__(
        self,
        store: Store,
        desk: Desk,
        lease: Lease,
        ticket_id: str,
        *,
        on_typing: OnTyping,
        pace: Pace,
    ) -> None:
        self.ticket_id = ticket_id
        self._store = store
        self._desk = desk
        self._lease = lease
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
        """The line was closed by somebody else, and nothing is left to send."""
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
        """Do `work(connection)` in a transaction that the lease's fence guards. Raises Busy where
        it is another's."""

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
            said = Outgoing(id=str(uuid.uuid4()), kind="typing", is_typing=is_typing)
            await self._line.send(said)

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
        """Until somebody wakes this worker, its line ends, or that time is over."""
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
            append_in(db, self._conversation_id, _always(NewEvent(by="system", what=arrived)))

    async def _tell(self, line: Line, row: OutboxRow, event: Event) -> None:
        if row.kind == "open":
            await line.open()
            events = await asyncio.to_thread(read_events, self._store, event.conversation_id)
            before = [earlier for earlier in events if earlier.place < event.place]
            await self._send_text(line, f"{self.ticket_id}/history", transcript(before))
        elif row.kind == "close":
            await line.close()
        elif isinstance(event.what, Seen):
            with suppress(HandoffError):  # a courtesy: what follows must not wait for it
                await line.send(Outgoing(id=event.id, kind="read"))
        elif event.by == "user":
            await self._send_text(line, event.id, event.text)
        else:
            await self._send_text(line, event.id, f"{WHO[event.by]}: {event.text}")

    async def _send_text(self, line: Line, identity: str, text: str) -> None:
        """One message, or numbered parts of it; sent again, each has the id that it had before."""
        if not text:
            return
        for place, part in enumerate(parts_of(text, self._desk.longest_message)):
            is_whole = place == 0 and "/" not in identity
            own_id = identity if is_whole else str(uuid.uuid5(_PARTS, f"{identity}/{place}"))
            await line.send(Outgoing(id=own_id, text=part))

    async def _is_lost(self, failed: OmbudError) -> bool:
        """End the hand-over where the desk has refused the conversation often enough."""
        if not isinstance(failed, ConversationLost):
            return False
        self._refusals += 1
        if self._refusals < LOST_AFTER:
            return False
        logger.warning("The line %s is lost: %s", self.ticket_id, failed)
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
        is_parked = not failed.retryable or row.tries + 1 >= BUDGET
        logger.warning("Not delivered yet (%s): %s", self.ticket_id, failed)

        def put_off(db: Connection) -> None:
            mark_failed(db, row, error=str(failed), wait=wait, parked=is_parked)
            if is_parked and row.state == "waiting":
                parked = Delivered(event_id=row.event_id, state="parked")
                append_in(db, self._conversation_id, _always(NewEvent(by="system", what=parked)))

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
                        # A desk lets go of a conversation as soon as it is asked for more.
                        await self._all_sent.wait()
                if not self._ended.is_set():
                    raise Undelivered("The desk has ended its stream.")
            except (HandoffError, StoreError) as failed:
                if isinstance(failed, IllegalTransition):
                    raise
                if await self._is_lost(failed):
                    return
                logger.info("The line %s is opened again: %s", self.ticket_id, failed)
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


def ticket_of(store: Store, row: LineRow) -> Ticket:
    """The hand-over of a line, as its desk is told of it. Raises NotFound where it was erased."""
    session = read_session(store, row.conversation_id)
    events = read_events(store, row.conversation_id)
    for event in events:
        if isinstance(event.what, HandedOver) and event.what.ticket_id == row.ticket_id:
            return Ticket(
                id=row.ticket_id,
                conversation_id=row.conversation_id,
                desk=row.desk,
                reason=event.what.reason,
                topic=event.what.topic,
                asker=session.asker,
            )
    raise NotFound(f"The hand-over `{row.ticket_id}` was erased.")


def end_of(store: Store, row: LineRow) -> int | None:
    """Find the place of the event that ended a line's hand-over; None while it is open."""
    is_open = False
    for event in read_events(store, row.conversation_id):
        if isinstance(event.what, HandedOver):
            is_open = event.what.ticket_id == row.ticket_id
        elif is_open and isinstance(event.what, Ended | Closed):
            return event.place
    return None


def _always(event: NewEvent) -> Callable[[Session], list[NewEvent]]:
    def decide(session: Session) -> list[NewEvent]:
        del session
        return [event]

    return decide


_PARTS = uuid.UUID("6c1c1f0e-2f5b-4c52-9e0b-1d3c6a1f7b21")
"""Namespace of the ids of numbered parts (RFC 9562, version 5)."""
