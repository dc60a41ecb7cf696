"""Converts desk events into the events of a conversation."""

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
"""Name of an advisor whose desk does not tell it."""


def keep_event(
    db: Connection, conversation_id: str, ticket_id: str, event: DeskEvent, place: int = 0
) -> None:
    """Store a desk event and its cursor, unless it was received before. place: of the message that
    was read, for `read`."""
    is_entry = bool(event.entry_id) and event.kind not in {"echo", "read"}
    if not is_entry or receive(db, ticket_id, event.entry_id, None):
        # A conversation that has ended meanwhile accepts no more events; the desk need not know.
        with suppress(IllegalTransition):
            append_in(
                db, conversation_id, lambda session: events_of(session, ticket_id, event, place)
            )
    if event.kind == "ended":
        close_line(db, ticket_id)
    if event.cursor:
        move_cursor(db, ticket_id, event.cursor)


def lose_line(db: Connection, conversation_id: str, ticket_id: str) -> None:
    """End a handoff whose desk no longer lets us in, and drop its unsent messages; a new handoff
    sends them along."""
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
    """Return the events to append; none if nothing is new. place: of the message that was read, for
    `read`."""
    if session.ticket_id != ticket_id:  # of an earlier handoff
        return late_events(session, event, place)
    return CONVERTERS[event.kind](session, event, place)


def late_events(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    if event.kind == "message" and session.state == "queued":  # it waits for another advisor by now
        return notice(session, event, place)
    if event.kind == "message":
        return [message_event(session, event)]
    return CONVERTERS[event.kind](session, event, place) if event.kind in {"notice", "read"} else []


def advisor_message(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    if session.state == "queued":  # whoever writes has joined, even if `joined` arrives later
        return [arrival(event), message_event(session, event)]
    return [message_event(session, event)]


def notice(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    return [NewEvent(by="desk", what=said_by_desk(session, event))]


def joined(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    has_joined = session.state == "live" and session.advisor == (event.name or SOMEBODY)
    return [] if has_joined or session.state not in {"queued", "live"} else [arrival(event)]


def advisor_gone(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    return [NewEvent(by="desk", what=Left(name=event.name))] if session.state == "live" else []


def queued(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    is_unchanged = (session.position, session.wait_seconds) == (event.position, event.seconds)
    if session.state != "queued" or is_unchanged:
        return []
    return [NewEvent(by="desk", what=Queued(position=event.position, seconds=event.seconds))]


def seen(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del session, event
    return [NewEvent(by="advisor", what=Seen(place=place))] if place else []


def ended(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del place
    if session.state not in {"queued", "live"}:
        return []
    return [NewEvent(by="desk", what=Ended(reason=event.text))]


def unclaimed(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del event, place
    if session.state != "queued" or session.has_warned:
        return []
    return [NewEvent(by="desk", what=Unclaimed(minutes=0))]


def no_events(session: Session, event: DeskEvent, place: int) -> list[NewEvent]:
    del session, event, place
    return []


def arrival(event: DeskEvent) -> NewEvent:
    return NewEvent(by="desk", what=Joined(name=event.name or SOMEBODY))


def message_event(session: Session, event: DeskEvent) -> NewEvent:
    return NewEvent(by="advisor", what=said_by_desk(session, event))


def said_by_desk(session: Session, event: DeskEvent) -> Said:
    links = shared_links(event, event.name or SOMEBODY, session.asker.language or "")
    return Said(text=event.text, name=event.name, links=links)


CONVERTERS: Mapping[DeskEventKind, Callable[[Session, DeskEvent, int], list[NewEvent]]] = {
    "message": advisor_message,
    "notice": notice,
    "joined": joined,
    "left": advisor_gone,
    "position": queued,
    "waiting": queued,
    "read": seen,
    "ended": ended,
    "failed": unclaimed,
    "echo": no_events,
    "typing": no_events,
}
