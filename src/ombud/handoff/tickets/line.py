"""A handoff as a ticket: the line that delivery works on, over any `TicketSystem`.

Before a write is tried, its id is stored. If its reply was lost, the system is searched, and the
write is repeated only once `settle_seconds` have passed, as a request may be carried out late and
a search index may lag behind.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from ombud.errors import ConversationLost, Undelivered
from ombud.handoff.briefing import reason_in_words
from ombud.handoff.desks.desk import DeskEvent, DeskLink, LineMemory, Outgoing
from ombud.handoff.tickets.client import Missing, NotCarriedOut
from ombud.handoff.tickets.system import NewTicket, TicketSystem
from ombud.handoff.transcripts import linked_title
from ombud.messages import message
from ombud.settings import TicketSettings
from ombud.types import Ticket

ID, NUMBER, URL, ATTEMPT = "id", "number", "url", "attempt"
"""Keys in a line's memory."""
WITHDRAWN = "The employee has taken this request back."


class TicketDesk:
    """Opens a line for each ticket."""

    def __init__(self, system: TicketSystem, settings: TicketSettings, public_url: str) -> None:
        self.system = system
        self.settings = settings
        self.public_url = public_url.rstrip("/")
        self.longest_message = system.longest_comment
        self.polls = asyncio.Semaphore(4)
        """Tickets that are read at once, so that a restart does not meet the rate limit."""

    def line(self, ticket: Ticket, memory: LineMemory) -> "TicketLine":
        return TicketLine(self, ticket, memory)

    async def close(self) -> None:
        await self.system.close()


class TicketLine:
    """A ticket. Everything that was confirmed is known by id, from the system itself."""

    def __init__(self, desk: TicketDesk, ticket: Ticket, memory: LineMemory) -> None:
        self._desk = desk
        self._system = desk.system
        self._ticket = ticket
        self._memory = memory
        self._announced = asyncio.Event()
        self._seen: set[str] = set()
        self._arrived: set[str] | None = None
        """Ids of our messages there; None until they were listed by this process."""

    async def open(self) -> None:
        if ID in self._memory.values:
            return
        remote = await self._system.find(self._ticket.id)
        if remote is None:
            async with self._attempt(self._ticket.id):
                remote = await self._system.create(new_ticket(self._desk, self._ticket))
        await self._memory.save({ID: remote.id, NUMBER: remote.number, URL: remote.url})

    async def send(self, outgoing: Outgoing) -> None:
        if outgoing.kind == "look":
            self._announced.set()
        if outgoing.kind != "message":
            return
        attempted = self._memory.values.get(ATTEMPT, "")
        with conversation_lost_if_missing():
            if self._arrived is None or attempted.startswith(outgoing.id):
                comments = (await self._system.read(self._remote_id)).comments
                self._arrived = {comment.message_id for comment in comments}
            if outgoing.id not in self._arrived:
                async with self._attempt(outgoing.id):
                    await self._system.comment(self._remote_id, outgoing.id, outgoing.text)
        self._arrived.add(outgoing.id)

    async def events(self) -> AsyncGenerator[DeskEvent, None]:
        """Yield the ticket's number, then comments of others, until the ticket is closed."""
        memory, team = self._memory.values, self._desk.settings.team
        link = DeskLink(kind="ticket", name=memory[NUMBER], url=memory[URL])
        yield DeskEvent(kind="notice", entry_id="ticket", name=team, links=(link,))
        last_news = time.monotonic()
        while True:
            self._announced.clear()
            with conversation_lost_if_missing():
                async with self._desk.polls:
                    state = await self._system.read(self._remote_id)
            for comment in state.comments:
                if comment.message_id or comment.id in self._seen:
                    continue
                yield DeskEvent(
                    kind="message",
                    entry_id=comment.id,
                    text=comment.text,
                    name=comment.author or team,
                    links=comment.links,
                )
                self._seen.add(comment.id)
                last_news = time.monotonic()
            if state.is_closed:
                yield DeskEvent(kind="ended", entry_id="closed", text="closed")
                return
            await self._wait_for_news(time.monotonic() - last_news)

    async def close(self) -> None:
        if ID in self._memory.values:
            own_id = str(uuid.uuid5(uuid.UUID(self._ticket.id), "close"))
            await self.send(Outgoing(id=own_id, text=WITHDRAWN))

    @property
    def _remote_id(self) -> str:
        return self._memory.values[ID]

    @asynccontextmanager
    async def _attempt(self, message_id: str) -> AsyncIterator[None]:
        """Store that a write is tried. Raises Undelivered while an earlier attempt may still be
        carried out."""
        earlier, _, at = self._memory.values.get(ATTEMPT, "").partition(" ")
        if earlier == message_id:
            left = float(at) + self._desk.settings.settle_seconds - time.time()
            if left > 0:
                raise Undelivered(
                    "The ticket system has not confirmed a request.",
                    hint="It is sent again once it is certain that it did not arrive.",
                    retry_after=left,
                )
        await self._memory.save({ATTEMPT: f"{message_id} {time.time()}"})
        try:
            yield
        except NotCarriedOut:
            await self._memory.save({ATTEMPT: ""})
            raise

    async def _wait_for_news(self, quiet_seconds: float) -> None:
        """Wait for a webhook or the next look: a tenth of the time that the ticket was quiet, at
        most an hour."""
        seconds = max(self._desk.settings.poll_seconds, min(quiet_seconds / 10, 3600))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._announced.wait()


def new_ticket(desk: TicketDesk, ticket: Ticket) -> NewTicket:
    """Write the subject and description of a ticket. The transcript follows as comments."""
    asker = ticket.asker
    lines = [
        message("desk.ticket_intro", team=desk.settings.team),
        "",
        message("desk.ticket_reason", reason=reason_in_words(ticket.reason)),
        message("desk.ticket_topic", topic=ticket.topic or message("desk.not_known")),
        message("desk.ticket_country", country=asker.country or message("desk.not_told")),
        message("desk.ticket_language", language=asker.language or message("desk.not_told")),
    ]
    if ticket.consent is False:
        lines.append(message("desk.ticket_no_consent"))
    elif ticket.consent:
        lines.append(message("desk.ticket_consent"))
    if ticket.sources:
        lines += ["", message("desk.ticket_sources")]
    for source in ticket.sources:
        lines.append(f"- {linked_title(source.title, source.document_id, desk.public_url)}")
    subject = message("desk.ticket_subject")
    if ticket.topic:
        subject = message("desk.ticket_subject_topic", topic=ticket.topic)
    return NewTicket(id=ticket.id, subject=subject, description="\n".join(lines))


@contextmanager
def conversation_lost_if_missing() -> Iterator[None]:
    try:
        yield
    except Missing as missing:
        raise ConversationLost(str(missing), hint=missing.hint) from missing
