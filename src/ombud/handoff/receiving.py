"""What an event of a desk is in the conversation's own words."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from sqlalchemy import Connection

from ombud.errors import IllegalTransition
from ombud.handoff.desks.desk import DeskEvent, DeskEventKind
from ombud.handoff.sharing import shared_links
from ombud.store import append_in, close_line, drop_unsent, move_cursor, receive
from ombud.types import (
    LOST,
    Delivered,
    Ended,
    Joined,
    Left,
    NewEvent,
    Queued,
    Said,
    Seen,
    Session,
    Unclaimed,
)

SOMEBODY = "An advisor"
"""Where a desk tells no name."""


def keep_event(
    db: Connection, conversation_id: str, ticket_id: str, event: DeskEvent, place: int = 0
) -> None:
    """Keep an event of a desk, that it was heard, and where to go on; nothing where it was heard
    before. place: of the message that was read, for `read`."""
    is_entry = bool(event.entry_id) and event.kind not in {"echo", "read"}
    if not is_entry or receive(db, ticket_id, event.entry_id, None):
        # A conversation that has ended meanwhile takes no more; the desk need not know.
        with suppress(IllegalTransition):
            append_in(
                db, conversation_id, lambda session: events_of(session, ticket_id, event, place)
            )
    if event.kind == "ended":
        close_line(db, ticket_id)
    if event.cursor:
        move_cursor(db, ticket_id, event.cursor)


def lose_line(db: Connection, conversation_id: str, ticket_id: str) -> None:
    """End a hand-over whose desk no longer lets us in, and drop what has not arrived there: a new
    hand-over brings it along."""
    dropped = drop_unsent(db, ticket_id, "The desk lost the conversation.")
    close_line(db, ticket_id)

    def decide(session: Session) -> list[NewEvent]:
        events: list[NewEvent] = []
        for event_id in dropped:
            lost = Delivered(event_id=event_id, state="dropped")
            events.append(NewEvent(by="system", what=lost))
        if session.ticket_id == ticket_id:
            events.append(NewEvent(by="desk", what=Ended(reason=LOST)))
        return events

    append_in(db, conversation_id, decide)


def events_of(session: Session, ticket_id: str, event: DeskEvent, place: int) -> list[NewEvent]:
    """The events to append, none where it says nothing new. place: of the message that was read,
    for `read`."""
    if session.ticket_id != ticket_id:  # of a hand-over that is over
        return _late(session, event, place)
    return _READERS[event.kind](session, event, place)


def _late(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    if event.kind == "message" and session.state == "queued":  # it waits for somebody else by now
        return _noticed(session, event, place)
    if event.kind == "message":
        return [_message(session, event)]
    return _READERS[event.kind](session, event, place) if event.kind in {"notice", "read"} else []


def _said(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    if session.state == "queued":  # who speaks is there, whatever else came late
        return [_arrival(event), _message(session, event)]
    return [_message(session, event)]


def _noticed(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    return [NewEvent(by="desk", what=_words(session, event))]


def _joined(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    is_known = session.state == "live" and session.advisor == (event.name or SOMEBODY)
    return [] if is_known or session.state not in {"queued", "live"} else [_arrival(event)]


def _left(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    return [NewEvent(by="desk", what=Left(name=event.name))] if session.state == "live" else []


def _queued(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    is_known = (session.position, session.wait_seconds) == (event.position, event.seconds)
    if session.state != "queued" or is_known:
        return []
    return [NewEvent(by="desk", what=Queued(position=event.position, seconds=event.seconds))]


def _read(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del session, event
    return [NewEvent(by="advisor", what=Seen(place=place))] if place else []


def _ended(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    if session.state not in {"queued", "live"}:
        return []
    return [NewEvent(by="desk", what=Ended(reason=event.text))]


def _failed(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del event, place
    if session.state != "queued" or session.has_warned:
        return []
    return [NewEvent(by="desk", what=Unclaimed(minutes=0))]


def _nothing(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del session, event, place
    return []


def _arrival(event: DeskEvent) -> NewEvent:
    return NewEvent(by="desk", what=Joined(name=event.name or SOMEBODY))


def _message(session: Session, event: DeskEvent) -> NewEvent:
    return NewEvent(by="advisor", what=_words(session, event))


def _words(session: Session, event: DeskEvent) -> Said:
    links = shared_links(event, event.name or SOMEBODY, session.asker.language or "")
    return Said(text=event.text, name=event.name, links=links)


_READERS: Mapping[DeskEventKind, Callable[[Session, DeskEvent, int], list[NewEvent]]] = {
    "message": _said,
    "notice": _noticed,
    "joined": _joined,
    "left": _left,
    "position": _queued,
    "waiting": _queued,
    "read": _read,
    "ended": _ended,
    "failed": _failed,
    "echo": _nothing,
    "typing": _nothing,
}
