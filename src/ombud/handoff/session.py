"""What an employee and an advisor can do in a conversation. Each action appends events in one
transaction."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ombud.errors import Busy, IllegalTransition
from ombud.store import OWN_DESKS, Appended, Store, append_events
from ombud.types import (
    Closed,
    Ended,
    HandedOver,
    HandoffReason,
    Happening,
    Joined,
    NewEvent,
    Noted,
    OutOfHours,
    Party,
    Rated,
    Said,
    Seen,
    Session,
    Snoozed,
    Transferred,
)


class Advisor(NamedTuple):
    """A person who answers at our own desk."""

    id: str
    name: str
    """Display name."""


def hand_over(
    store: Store,
    conversation_id: str,
    *,
    reason: HandoffReason,
    desk: str,
    topic: str = "",
    closed: OutOfHours | None = None,
    consent: bool | None = None,
) -> Appended:
    """Put a conversation into the queue of a desk. closed: the notice to add outside opening hours.
    consent: as in `HandedOver`. Raises IllegalTransition if it is with a person already."""
    ticket_id = str(uuid.uuid4())
    over = HandedOver(ticket_id=ticket_id, desk=desk, reason=reason, topic=topic, consent=consent)
    events: list[NewEvent] = [NewEvent(by="user", what=over)]
    if closed is not None:
        events.append(NewEvent(by="system", what=closed))
    return append_events(store, conversation_id, lambda _: events)


def say(store: Store, conversation_id: str, text: str, key: str) -> Appended:
    """Send a message of the employee to the advisor. key: UUID made by the sender; a repeated key
    is the same message. Raises IllegalTransition if the conversation is not handed over."""

    def decide(session: Session) -> list[NewEvent]:
        if not session.is_handed_over:
            raise IllegalTransition(
                "This conversation is with the assistant.", hint="Ask, or ask for a person first."
            )
        return [NewEvent(by="user", what=Said(text=clean_text(text)), key=key)]

    return append_events(store, conversation_id, decide)


def take_back(store: Store, conversation_id: str) -> Appended:
    """End the employee's request for a person; repeating it does nothing."""

    def decide(session: Session) -> list[NewEvent]:
        if not session.is_handed_over:
            return []
        return [NewEvent(by="user", what=Ended(reason="taken back"))]

    return append_events(store, conversation_id, decide)


def close(store: Store, conversation_id: str) -> Appended:
    """Close a conversation for good; repeating it does nothing."""

    def decide(session: Session) -> list[NewEvent]:
        return [] if session.state == "closed" else [NewEvent(by="user", what=Closed())]

    return append_events(store, conversation_id, decide)


def read(store: Store, conversation_id: str, place: int, by: Party) -> Appended:
    """Mark everything up to a place as read."""

    def decide(session: Session) -> list[NewEvent]:
        seen = min(place, session.last if by == "user" else session.visible_to_desk)
        return [NewEvent(by=by, what=Seen(place=seen))] if seen > 0 else []

    return append_events(store, conversation_id, decide)


def rate(store: Store, conversation_id: str, score: int | None, comment: str) -> Appended:
    """Store what the employee says of a conversation with a person that has ended. score: None =
    they would rather not say. Raises IllegalTransition where they are not asked, or no longer."""

    def decide(session: Session) -> list[NewEvent]:
        if not session.may_rate:
            raise IllegalTransition(
                "There is no conversation with a person to rate.", hint="Each is rated once."
            )
        return [NewEvent(by="user", what=Rated(score=score, comment=clean_text(comment)))]

    return append_events(store, conversation_id, decide)


# At our own desk ----------------------------------------------------------------------------------


def claim(store: Store, conversation_id: str, advisor: Advisor) -> Appended:
    """Take a waiting conversation. Raises Busy if another advisor was first, IllegalTransition if
    it does not wait at this desk."""

    def decide(session: Session) -> list[NewEvent]:
        check_own_desk(session)
        if session.state == "live" and session.advisor_id == advisor.id:
            return []
        if session.state == "live":
            raise Busy(f"{session.advisor} has taken it already.", hint="Take another one.")
        if session.wanted not in {"", advisor.id}:
            raise Busy("It waits for somebody else by name.", hint="Ask for a transfer.")
        return [by_advisor(Joined(name=advisor.name, advisor_id=advisor.id))]

    return append_events(store, conversation_id, decide)


def reply(store: Store, conversation_id: str, advisor: Advisor, text: str, key: str) -> Appended:
    """Send a message of the advisor who has the conversation. Raises Busy if another has it."""
    message = Said(text=clean_text(text), name=advisor.name)
    return append_as_holder(
        store, conversation_id, advisor, [NewEvent(by="advisor", what=message, key=key)]
    )


def transfer(
    store: Store, conversation_id: str, advisor: Advisor, *, topic: str, to: str, note: str
) -> Appended:
    """Return a conversation to the queue for a team (topic) or for one person (to: an advisor's
    id)."""
    moved = Transferred(topic=topic, advisor_id=to, note=clean_text(note))
    return append_as_holder(store, conversation_id, advisor, [by_advisor(moved)])


def end(
    store: Store, conversation_id: str, advisor: Advisor, *, reason: str, note: str
) -> Appended:
    """End the handoff; the bot answers again."""
    ended = Ended(reason=clean_text(reason), note=clean_text(note))
    return append_as_holder(store, conversation_id, advisor, [by_advisor(ended)])


def snooze(
    store: Store, conversation_id: str, advisor: Advisor, until: datetime | None
) -> Appended:
    """Put the advisor's conversation away until a time; None brings it back."""
    snoozed = Snoozed(until=until, name=advisor.name)
    return append_as_holder(store, conversation_id, advisor, [by_advisor(snoozed)])


def note(
    store: Store,
    conversation_id: str,
    advisor: Advisor,
    *,
    text: str = "",
    key: str = "",
    tags: tuple[str, ...] | None = None,
    urgent: bool | None = None,
) -> Appended:
    """Add a private note of an advisor or label the conversation, in whatever state it is."""
    noted = Noted(
        text=clean_text(text),
        tags=tags,
        urgent=urgent,
        name=advisor.name,
        advisor_id=advisor.id,
    )
    new = NewEvent(by="advisor", what=noted, key=key)
    return append_events(store, conversation_id, lambda _: [new])


def append_as_holder(
    store: Store, conversation_id: str, advisor: Advisor, events: Sequence[NewEvent]
) -> Appended:
    def decide(session: Session) -> Sequence[NewEvent]:
        check_own_desk(session)
        if session.state != "live":
            raise IllegalTransition("Nobody has taken this conversation.", hint="Take it first.")
        if session.advisor_id != advisor.id:
            raise Busy(f"{session.advisor} has this conversation.", hint="Ask for a transfer.")
        return events

    return append_events(store, conversation_id, decide)


def check_own_desk(session: Session) -> None:
    if not session.is_handed_over or session.desk not in OWN_DESKS:
        raise IllegalTransition(
            "This conversation does not wait at this desk.", hint="It may have been taken back."
        )


def by_advisor(what: Happening) -> NewEvent:
    return NewEvent(by="advisor", what=what)


def clean_text(text: str) -> str:
    """Replace characters that cannot be stored: NUL in PostgreSQL, lone surrogates in UTF-8."""
    return text.replace("\0", "").encode("utf-8", errors="replace").decode("utf-8")
