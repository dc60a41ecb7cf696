"""What an employee and an advisor can do in a conversation; each is events, in one transaction."""

import uuid
from collections.abc import Sequence
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
    OutOfHours,
    Party,
    Said,
    Seen,
    Session,
    Transferred,
)


class Advisor(NamedTuple):
    id: str
    name: str
    """As employees are shown it."""


def hand_over(
    store: Store,
    conversation_id: str,
    *,
    reason: HandoffReason,
    desk: str,
    topic: str = "",
    closed: OutOfHours | None = None,
) -> Appended:
    """Put a conversation into the queue of a desk. closed: told where nobody is there now. Raises
    IllegalTransition where it is with a person already."""
    ticket_id = str(uuid.uuid4())
    over = HandedOver(ticket_id=ticket_id, desk=desk, reason=reason, topic=topic)
    said: list[NewEvent] = [NewEvent(by="user", what=over)]
    if closed is not None:
        said.append(NewEvent(by="system", what=closed))
    return append_events(store, conversation_id, lambda _: said)


def say(store: Store, conversation_id: str, text: str, key: str) -> Appended:
    """A message of the employee to the advisor. key: UUID of the sender; the same again is the same
    message. Raises IllegalTransition where no person is asked for."""

    def decide(session: Session) -> list[NewEvent]:
        if not session.is_handed_over:
            raise IllegalTransition(
                "This conversation is with the assistant.", hint="Ask, or ask for a person first."
            )
        return [NewEvent(by="user", what=Said(text=_clean(text)), key=key)]

    return append_events(store, conversation_id, decide)


def take_back(store: Store, conversation_id: str) -> Appended:
    """The employee needs nobody any more; once it is so, again is nothing."""

    def decide(session: Session) -> list[NewEvent]:
        if not session.is_handed_over:
            return []
        return [NewEvent(by="user", what=Ended(reason="taken back"))]

    return append_events(store, conversation_id, decide)


def close(store: Store, conversation_id: str) -> Appended:
    """Nothing more is said; once closed, again is nothing."""

    def decide(session: Session) -> list[NewEvent]:
        return [] if session.state == "closed" else [NewEvent(by="user", what=Closed())]

    return append_events(store, conversation_id, decide)


def read(store: Store, conversation_id: str, place: int, by: Party) -> Appended:
    """Everything up to a place was read."""

    def decide(session: Session) -> list[NewEvent]:
        seen = min(place, session.last if by == "user" else session.visible_to_desk)
        return [NewEvent(by=by, what=Seen(place=seen))] if seen > 0 else []

    return append_events(store, conversation_id, decide)


# At our own desk ----------------------------------------------------------------------------------


def claim(store: Store, conversation_id: str, advisor: Advisor) -> Appended:
    """Take a conversation that waits. Raises Busy where another was first, IllegalTransition where
    it does not wait at this desk."""

    def decide(session: Session) -> list[NewEvent]:
        _check_own(session)
        if session.state == "live" and session.advisor_id == advisor.id:
            return []
        if session.state == "live":
            raise Busy(f"{session.advisor} has taken it already.", hint="Take another one.")
        if session.wanted not in {"", advisor.id}:
            raise Busy("It waits for somebody else by name.", hint="Ask for a transfer.")
        return [_by(Joined(name=advisor.name, advisor_id=advisor.id))]

    return append_events(store, conversation_id, decide)


def reply(store: Store, conversation_id: str, advisor: Advisor, text: str, key: str) -> Appended:
    """A message of the advisor who has the conversation. Raises Busy where another has it."""
    said = Said(text=_clean(text), name=advisor.name)
    return _by_holder(store, conversation_id, advisor, [NewEvent(by="advisor", what=said, key=key)])


def transfer(
    store: Store, conversation_id: str, advisor: Advisor, *, topic: str, to: str, note: str
) -> Appended:
    """Give it to a team (topic) or to one person (to: an advisor's id); it waits again."""
    moved = Transferred(topic=topic, advisor_id=to, note=_clean(note))
    return _by_holder(store, conversation_id, advisor, [_by(moved)])


def end(
    store: Store, conversation_id: str, advisor: Advisor, *, reason: str, note: str
) -> Appended:
    """The advisor is done and the bot is back."""
    ended = Ended(reason=_clean(reason), note=_clean(note))
    return _by_holder(store, conversation_id, advisor, [_by(ended)])


def _by_holder(
    store: Store, conversation_id: str, advisor: Advisor, events: Sequence[NewEvent]
) -> Appended:
    def decide(session: Session) -> Sequence[NewEvent]:
        _check_own(session)
        if session.state != "live":
            raise IllegalTransition("Nobody has taken this conversation.", hint="Take it first.")
        if session.advisor_id != advisor.id:
            raise Busy(f"{session.advisor} has this conversation.", hint="Ask for a transfer.")
        return events

    return append_events(store, conversation_id, decide)


def _check_own(session: Session) -> None:
    if not session.is_handed_over or session.desk not in OWN_DESKS:
        raise IllegalTransition(
            "This conversation does not wait at this desk.", hint="It may have been taken back."
        )


def _by(what: Happening) -> NewEvent:
    return NewEvent(by="advisor", what=what)


def _clean(text: str) -> str:
    """PostgreSQL has no place for a zero character, nor UTF-8 for half of a pair."""
    return text.replace("\0", "").encode("utf-8", errors="replace").decode("utf-8")
