"""Projects the state of a conversation from its events.

    bot -> queued -> live -> returned -> queued …        any of them -> closed

The bot answers while a conversation is queued and is silent while it is live. Events that a state
does not allow are errors, wherever they come from.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ombud.errors import IllegalTransition
from ombud.types import (
    LOST,
    Answered,
    Answering,
    Closed,
    Delivered,
    Ended,
    Event,
    HandedOver,
    Interrupted,
    Joined,
    Left,
    Noted,
    Notified,
    OutOfHours,
    Queued,
    Rated,
    Reached,
    Relayed,
    Said,
    Seen,
    Session,
    SessionState,
    Snoozed,
    Transferred,
    Unclaimed,
)

BOT: frozenset[SessionState] = frozenset({"bot", "returned"})
WAITING: frozenset[SessionState] = frozenset({"queued"})
LIVE: frozenset[SessionState] = frozenset({"live"})
RETURNED: frozenset[SessionState] = frozenset({"returned"})
HANDED = WAITING | LIVE
ANSWERING = BOT | WAITING
OPEN = BOT | HANDED
ANY: frozenset[SessionState] = OPEN | {"closed"}

Changes = dict[str, Any]
_NOBODY: Changes = {
    "advisor": "",
    "advisor_id": "",
    "position": None,
    "wait_seconds": None,
    "snoozed_until": None,
}


class EventRule(NamedTuple):
    allowed: frozenset[SessionState]
    change: Callable[[Session, Any, datetime], Changes]
    """Returns the fields of the session that change."""


def advance(session: Session, event: Event) -> Session:
    """Return the session after this event. Raises IllegalTransition."""
    changes: Changes = {"last": event.place}
    if event.what is not None:
        rule = _RULES[type(event.what)]
        check_allowed(session, event, rule)
        changes |= rule.change(session, event.what, event.at)
    return session.model_copy(update=changes)


def project(session: Session, events: Iterable[Event]) -> Session:
    """Return the session after all these events."""
    for event in events:
        session = advance(session, event)
    return session


def check_allowed(session: Session, event: Event, rule: EventRule) -> None:
    allowed = rule.allowed
    # Only participants may write, but an advisor's message may arrive after the end.
    if isinstance(event.what, Said) and event.by == "advisor":
        allowed = LIVE | RETURNED
    if session.state in allowed:
        return
    kind = event.what.kind if event.what else "event"
    raise IllegalTransition(
        f"A conversation that is {_STATES[session.state]} has no place for `{kind}`.",
        hint=_HINTS[session.state],
    )


def no_change(session: Session, what: Any, at: datetime) -> Changes:
    del session, what, at
    return {}


def begin_answer(session: Session, what: Answering, at: datetime) -> Changes:
    del session, at
    return {"answering": what.owner, "answering_fence": what.fence}


def end_answer(session: Session, what: Any, at: datetime) -> Changes:
    del session, what, at
    return {"answering": "", "answering_fence": 0}


def hand_over(session: Session, what: HandedOver, at: datetime) -> Changes:
    del session
    return {
        **_NOBODY,
        "state": "queued",
        "reason": what.reason,
        "ticket_id": what.ticket_id,
        "desk": what.desk,
        "topic": what.topic,
        "since": at,
        "handed_over": at,
        "has_response": False,
        "has_warned": False,
        "has_notified": False,
        "wanted": "",
        "may_rate": False,
        "rating": None,
    }


def update_queue(session: Session, what: Queued, at: datetime) -> Changes:
    del at
    if session.state == "live":  # reported late
        return {}
    return {"position": what.position, "wait_seconds": what.seconds}


def join(session: Session, what: Joined, at: datetime) -> Changes:
    del session, at
    # Drops an answer that is still being written: the bot is silent from here on.
    return {
        **_NOBODY,
        "state": "live",
        "advisor": what.name,
        "advisor_id": what.advisor_id,
        "answering": "",
        "answering_fence": 0,
    }


def say(session: Session, what: Said, at: datetime) -> Changes:
    del at
    # Only advisors have a name.
    return {"has_response": session.state == "live"} if what.name else {"snoozed_until": None}


def snooze(session: Session, what: Snoozed, at: datetime) -> Changes:
    del session, at
    return {"snoozed_until": what.until}


def leave(session: Session, what: Left, at: datetime) -> Changes:
    del what, at
    return {} if session.state == "queued" else dict(_NOBODY, state="queued")


def transfer(session: Session, what: Transferred, at: datetime) -> Changes:
    changes: Changes = {**_NOBODY, "state": "queued", "since": at, "has_warned": False}
    changes["has_notified"] = False
    changes["wanted"] = what.advisor_id
    changes["topic"] = what.topic or session.topic
    return changes


def end_handoff(session: Session, what: Ended, at: datetime) -> Changes:
    del at
    may_rate = session.state == "live" and what.reason != LOST
    left = leave_desk(session)
    return {**_NOBODY, **left, "state": "returned", "wanted": "", "may_rate": may_rate}


def rate(session: Session, what: Rated, at: datetime) -> Changes:
    del session, at
    return {"may_rate": False, "rating": what.score}


def close(session: Session, what: Closed, at: datetime) -> Changes:
    del what, at
    may_rate = session.may_rate or session.state == "live"
    return {**_NOBODY, **leave_desk(session), "state": "closed", "may_rate": may_rate}


def leave_desk(session: Session) -> Changes:
    """Forget the ticket; later events are private from the desk."""
    if not session.is_handed_over:
        return {}
    return {"ticket_id": "", "desk_until": session.last + 1}


def warn_unclaimed(session: Session, what: Unclaimed, at: datetime) -> Changes:
    del session, what, at
    return {"has_warned": True}


def notify(session: Session, what: Notified, at: datetime) -> Changes:
    del session, what, at
    return {"has_notified": True}


def reach(session: Session, what: Reached, at: datetime) -> Changes:
    del session, at
    return {"channel": what.channel, "address": what.address}


def label(session: Session, what: Noted, at: datetime) -> Changes:
    del at
    return {
        "tags": session.tags if what.tags is None else what.tags,
        "urgent": session.urgent if what.urgent is None else what.urgent,
    }


def relay(session: Session, what: Relayed, at: datetime) -> Changes:
    del at
    return {"relayed": max(session.relayed, what.place)}


_STATES: Mapping[SessionState, str] = {
    "bot": "with the assistant",
    "queued": "waiting for a person",
    "live": "with a person",
    "returned": "back with the assistant",
    "closed": "closed",
}
_HINTS: Mapping[SessionState, str] = {
    "bot": "Hand it over first.",
    "queued": "Somebody must take it first.",
    "live": "It is already with a person.",
    "returned": "Hand it over once more.",
    "closed": "Start a new one.",
}
_RULES: Mapping[type, EventRule] = {
    Said: EventRule(OPEN, say),
    Answering: EventRule(ANSWERING, begin_answer),
    Interrupted: EventRule(OPEN, end_answer),
    Answered: EventRule(ANSWERING, end_answer),
    HandedOver: EventRule(BOT, hand_over),
    Queued: EventRule(HANDED, update_queue),
    Joined: EventRule(HANDED, join),
    Left: EventRule(HANDED, leave),
    Transferred: EventRule(HANDED, transfer),
    Ended: EventRule(HANDED, end_handoff),
    Closed: EventRule(OPEN, close),
    Noted: EventRule(ANY, label),
    Snoozed: EventRule(LIVE, snooze),
    Rated: EventRule(RETURNED | {"closed"}, rate),
    Seen: EventRule(ANY, no_change),
    Unclaimed: EventRule(WAITING, warn_unclaimed),
    Notified: EventRule(HANDED, notify),
    OutOfHours: EventRule(HANDED, no_change),
    Delivered: EventRule(ANY, no_change),
    Reached: EventRule(OPEN, reach),
    Relayed: EventRule(ANY, relay),
}
