"""Answers what people write in a chat and brings them advisors' messages, each once and in order.

Everything is first an event of its conversation. One process holds the channel's lease and works
through the events of each conversation: a question is answered, an advisor's message is posted, and
then its place is recorded. A process that is killed leaves events behind, and never a lost or a
second message: whoever continues lets the platform look for what may have arrived already.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from ombud.app import Workspace, callers
from ombud.channels.chats.address import Address, Platform, Post
from ombud.errors import Busy, IllegalTransition, NotFound, OmbudError, StoreError, Undelivered
from ombud.handoff import Pace
from ombud.messages import format_opening, message, use_language
from ombud.store import (
    Lease,
    NewsCursor,
    acquire_free,
    advance,
    append_events,
    channel_sessions,
    newest,
    read_answer,
    read_events,
    read_session,
)
from ombud.types import (
    LOST,
    Answer,
    Answered,
    Delivered,
    Ended,
    Event,
    HandedOver,
    Joined,
    Left,
    NewEvent,
    OutOfHours,
    Relayed,
    Said,
    Session,
    Transferred,
    Unclaimed,
)

logger = logging.getLogger(__name__)
EVERY = 0.5
"""Seconds between two looks at what other processes wrote; this one's is noticed at once."""
RELAYED_KINDS = {
    what.model_fields["kind"].default
    for what in (
        Said,
        HandedOver,
        Joined,
        Left,
        Ended,
        OutOfHours,
        Unclaimed,
        Transferred,
        Delivered,
    )
}
AnswerQuestion = Callable[[Session, Event], Awaitable[Answer]]
"""Answers the question of an event and stores the answer."""


class Gone(OmbudError):
    """Nobody can be reached at this address any more."""


class Relay:
    """Works through the conversations of a channel."""

    def __init__(
        self,
        workspace: Workspace,
        platform: Platform,
        answer: AnswerQuestion,
        pace: Pace = Pace(),  # noqa: B008 - frozen
    ) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._platform = platform
        self._answer = answer
        self._pace = pace
        self._cursor = NewsCursor(workspace.store)
        self._lease: Lease | None = None
        self._woken = asyncio.Event()
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        """Conversations with news since their worker last looked."""
        self._unsure: set[str] = set()
        """Conversations whose next message may have been posted already."""

    async def run(self) -> None:
        """Relay until cancelled, then release the lease."""
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._woken.set)

        self._store.on_change(wake)
        try:
            while True:
                self._woken.clear()
                await self._look()
                with suppress(TimeoutError):
                    async with asyncio.timeout(EVERY):
                        await self._woken.wait()
        finally:
            await self._stop_workers()
            if self._lease is not None:
                self._lease.release()

    async def _look(self) -> None:
        """Start a worker for each conversation with news."""
        try:
            if self._lease is None:
                await self._take_over()
                return
            await asyncio.to_thread(self._lease.check)
            news = await asyncio.to_thread(self._cursor.read)
            changed = {one.conversation_id for one in news.changes if one.kind in RELAYED_KINDS}
            if changed:
                sessions = await asyncio.to_thread(
                    channel_sessions, self._store, self._platform.name, changed
                )
                for session in sessions:
                    self._start(session.id)
        except Busy:
            self._lease = None
            await self._stop_workers()
        except OmbudError as failed:  # such as a database that restarts
            logger.warning("%s waits: %s", self._platform.name, failed)

    async def _take_over(self) -> None:
        """Acquire the lease, and continue where another process left off."""
        name = f"channel/{self._platform.name}"
        work = asyncio.ensure_future(asyncio.to_thread(acquire_free, self._store, [name], 1))
        leases: list[Lease] = []
        try:
            leases = await asyncio.shield(work)
            if not leases:
                return
            self._cursor.move(*await asyncio.to_thread(newest, self._store))
            sessions = await asyncio.to_thread(channel_sessions, self._store, self._platform.name)
        except BaseException:
            for lease in await work:
                await asyncio.to_thread(lease.release)
            raise
        self._lease = leases[0]
        for session in sessions:
            if session.last > session.relayed + 1:
                self._unsure.add(session.id)
                self._start(session.id)

    def _start(self, identity: str) -> None:
        if identity in self._workers:
            self._again.add(identity)
        else:
            self._workers[identity] = asyncio.create_task(self._work(identity))

    async def _stop_workers(self) -> None:
        workers = list(self._workers.values())
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, identity: str) -> None:
        tries = 0
        try:
            while True:
                self._again.discard(identity)
                try:
                    await self._relay(identity)
                    tries = 0
                    if identity not in self._again:
                        return
                    continue
                except NotFound:  # erased meanwhile
                    return
                except Gone as gone:  # they can read it on our own page
                    logger.warning("Nobody is reached in %s: %s", self._platform.name, gone)
                    await asyncio.to_thread(record_relayed, self._workspace, identity, None)
                    return
                except Undelivered as failed:
                    wait = max(failed.retry_after or 0, self._pace.wait(tries))
                    logger.warning("A message waits for %s: %s", self._platform.name, failed)
                except Exception as failed:
                    wait = self._pace.wait(tries)
                    logger.exception("%s waits: %s", self._platform.name, type(failed).__name__)
                tries += 1
                await self._pace.sleep(wait)
        finally:
            del self._workers[identity]

    async def _relay(self, identity: str) -> None:
        """Work through the events of a conversation that were not relayed yet."""
        session = await asyncio.to_thread(read_session, self._store, identity)
        if not session.address:
            return
        use_language(session.asker.language)
        events = await asyncio.to_thread(read_events, self._store, identity)
        stands = Session(id=session.id, asker=session.asker)
        for event in events:
            before, stands = stands, advance(stands, event)
            if event.place <= session.relayed:
                continue
            answer = None
            if self._is_question(event, before):
                answer, text = await self._answer_to(session, event, events)
            else:
                text = relayed_text(event)
            if not text:
                continue
            await self._post(identity, event, text, answer)

    async def _post(self, identity: str, event: Event, text: str, answer: Answer | None) -> None:
        # Read anew: answering may have made it private.
        session = await asyncio.to_thread(read_session, self._store, identity)
        post = Post(
            session=session,
            address=Address.of(session),
            key=event.id,
            at=event.at,
            text=text,
            answer=answer,
            asks_for_person=isinstance(event.what, HandedOver),
            may_repeat=identity in self._unsure,
        )
        is_refusal = answer is None and isinstance(event.what, Said) and event.by == "user"
        if not is_refusal and not await asyncio.to_thread(
            callers.is_active, self._workspace, session.asker
        ):
            raise Gone("Their account is disabled.")
        if self._lease is not None:
            await asyncio.to_thread(self._lease.check)
        self._unsure.add(identity)
        await self._platform.deliver(post)
        await asyncio.to_thread(record_relayed, self._workspace, identity, event.place)
        self._unsure.discard(identity)

    def _is_question(self, event: Event, before: Session) -> bool:
        is_ours = isinstance(event.what, Said) and event.what.via == self._platform.name
        return is_ours and event.by == "user" and before.state != "live"

    async def _answer_to(
        self, session: Session, question: Event, events: list[Event]
    ) -> tuple[Answer | None, str]:
        """Return the stored answer to a question or make one, and its text; both empty if a person
        has taken over meanwhile."""
        for event in events:
            if event.place > question.place and isinstance(event.what, Answered):
                answer = await asyncio.to_thread(find_answer, self._workspace, event.what)
                if answer is not None and answer.question_id == question.id:
                    return answer, answer.text
        try:
            answer = await self._answer(session, question)
        except IllegalTransition:
            return None, ""
        except (Busy, StoreError, Undelivered, NotFound):
            raise
        except OmbudError as refused:
            return None, f"{refused} {refused.hint}".strip()
        except Exception as failed:  # noqa: BLE001 - the employee learns of it, the log says what
            logger.error("A question could not be answered: %s", type(failed).__name__)
            return None, message("channels.failed")
        return answer, answer.text


def find_answer(workspace: Workspace, answered: Answered) -> Answer | None:
    """Return the answer of an event; None if it was erased."""
    try:
        return read_answer(workspace.store, answered.answer_id)
    except NotFound:
        return None


def record_relayed(workspace: Workspace, conversation_id: str, place: int | None) -> None:
    """Record what was relayed; None = everything up to now."""

    def decide(stands: Session) -> list[NewEvent]:
        relayed = Relayed(place=stands.last if place is None else place)
        return [NewEvent(by="system", what=relayed)]

    append_events(workspace.store, conversation_id, decide)


def relayed_text(event: Event) -> str:
    """Return the text that informs the employee of an event; empty for their own events and those
    that do not concern them."""
    if isinstance(event.what, HandedOver | Delivered):
        return delivery_text(event.what)
    match event.what:
        case Said(name=name) if event.by in {"advisor", "desk", "system"}:
            return f"{name}: {event.text}" if name else event.text
        case Joined(name=name):
            return message("thread.joined", name=name or message("thread.advisor"))
        case Left(name=name):
            return message("thread.left", name=name) if name else message("thread.someone_left")
        case Ended(reason=reason):
            return ended_text(event, reason)
        case OutOfHours(opens=opens):
            return closed_text(opens)
        case Unclaimed(minutes=minutes, contact=contact):
            return unclaimed_text(minutes, contact)
        case Transferred():
            return message("thread.transferred")
    return ""


def delivery_text(what: HandedOver | Delivered) -> str:
    if isinstance(what, Delivered):
        return message("thread.ticket_kept") if what.state == "parked" else ""
    return message("thread.asked_for_person" if what.consent is None else "thread.ticket_sent")


def ended_text(event: Event, reason: str) -> str:
    if event.by == "user":
        return message("thread.person_not_needed")
    if event.by == "desk" and reason == LOST:
        return message("thread.connection_lost")
    return message("thread.person_ended")


def unclaimed_text(minutes: int, contact: str) -> str:
    sentences = [message("thread.unclaimed_for", count=minutes)]
    if contact:
        sentences.append(message("thread.or_contact", contact=contact))
    return " ".join(sentences)


def closed_text(opens: datetime | None) -> str:
    sentences = [message("thread.out_of_hours")]
    if opens is not None:
        sentences.append(message("thread.back_on", day=format_opening(opens)))
    return " ".join([*sentences, message("thread.leave_message")])
