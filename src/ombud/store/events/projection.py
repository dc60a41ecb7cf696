"""A conversation as it stands: its events, one after another.

    bot -> queued -> live -> returned -> queued …        any of them -> closed

While it is queued the bot still answers, while it is live the bot is silent. What is not allowed as
a conversation stands is an error, wherever it comes from.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ombud.errors import IllegalTransition
from ombud.types import (
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
    Notified,
    OutOfHours,
    Queued,
    Reached,
    Relayed,
    Said,
    Seen,
    Session,
    SessionState,
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
_NOBODY: Changes = {"advisor": "", "advisor_id": "", "position": None, "wait_seconds": None}


class _Rule(NamedTuple):
    allowed: frozenset[SessionState]
    change: Callable[[Session, Any, datetime], Changes]
    """What of the session is another afterwards."""


def advance(session: Session, event: Event) -> Session:
    """The session after this event. Raises IllegalTransition."""
    changes: Changes = {"last": event.place}
    if event.what is not None:
        rule = _RULES[type(event.what)]
        _check(session, event, rule)
        changes |= rule.change(session, event.what, event.at)
    return session.model_copy(update=changes)


def project(session: Session, events: Iterable[Event]) -> Session:
    """The session after all of these."""
    for event in events:
        session = advance(session, event)
    return session


def _check(session: Session, event: Event, rule: _Rule) -> None:
    allowed = rule.allowed
    # Only whoever takes part may speak. What an advisor sent before the end may come after it.
    if isinstance(event.what, Said) and event.by == "advisor":
        allowed = LIVE | RETURNED
    if session.state in allowed:
        return
    kind = event.what.kind if event.what else "event"
    raise IllegalTransition(
        f"A conversation that is {_STATES[session.state]} has no place for `{kind}`.",
        hint=_HINTS[session.state],
    )


def _same(session: Session, what: Any, at: datetime) -> Changes:
    del session, what, at
    return {}


def _begin_answer(session: Session, what: Answering, at: datetime) -> Changes:
    del session, at
    return {"answering": what.owner, "answering_fence": what.fence}


def _end_answer(session: Session, what: Any, at: datetime) -> Changes:
    del session, what, at
    return {"answering": "", "answering_fence": 0}


def _hand_over(session: Session, what: HandedOver, at: datetime) -> Changes:
    del session
    return {
        **_NOBODY,
        "state": "queued",
        "reason": what.reason,
        "ticket_id": what.ticket_id,
        "desk": what.desk,
        "topic": what.topic,
        "since": at,
        "has_warned": False,
        "has_notified": False,
        "wanted": "",
    }


def _wait(session: Session, what: Queued, at: datetime) -> Changes:
    del at
    if session.state == "live":  # said late
        return {}
    return {"position": what.position, "wait_seconds": what.seconds}


def _join(session: Session, what: Joined, at: datetime) -> Changes:
    del session, at
    # An answer that is still being written comes too late: from here on the bot is silent.
    return {
        **_NOBODY,
        "state": "live",
        "advisor": what.name,
        "advisor_id": what.advisor_id,
        "answering": "",
        "answering_fence": 0,
    }


def _leave(session: Session, what: Left, at: datetime) -> Changes:
    del what, at
    return {} if session.state == "queued" else dict(_NOBODY, state="queued")


def _transfer(session: Session, what: Transferred, at: datetime) -> Changes:
    changes: Changes = {**_NOBODY, "state": "queued", "since": at, "has_warned": False}
    changes["has_notified"] = False
    changes["wanted"] = what.advisor_id
    changes["topic"] = what.topic or session.topic
    return changes


def _end(session: Session, what: Ended, at: datetime) -> Changes:
    del what, at
    return {**_NOBODY, **_leave_desk(session), "state": "returned", "wanted": ""}


def _close(session: Session, what: Closed, at: datetime) -> Changes:
    del what, at
    return {**_NOBODY, **_leave_desk(session), "state": "closed"}


def _leave_desk(session: Session) -> Changes:
    """Forget the ticket and let the desk see up to this event: what follows is private."""
    if not session.is_handed_over:
        return {}
    return {"ticket_id": "", "desk_until": session.last + 1}


def _warn(session: Session, what: Unclaimed, at: datetime) -> Changes:
    del session, what, at
    return {"has_warned": True}


def _notify(session: Session, what: Notified, at: datetime) -> Changes:
    del session, what, at
    return {"has_notified": True}


def _reach(session: Session, what: Reached, at: datetime) -> Changes:
    del session, at
    return {"channel": what.channel, "address": what.address}


def _relay(session: Session, what: Relayed, at: datetime) -> Changes:
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
_RULES: Mapping[type, _Rule] = {
    Said: _Rule(OPEN, _same),
    Answering: _Rule(ANSWERING, _begin_answer),
    Interrupted: _Rule(OPEN, _end_answer),
    Answered: _Rule(ANSWERING, _end_answer),
    HandedOver: _Rule(BOT, _hand_over),
    Queued: _Rule(HANDED, _wait),
    Joined: _Rule(HANDED, _join),
    Left: _Rule(HANDED, _leave),
    Transferred: _Rule(HANDED, _transfer),
    Ended: _Rule(HANDED, _end),
    Closed: _Rule(OPEN, _close),
    Seen: _Rule(ANY, _same),
    Unclaimed: _Rule(WAITING, _warn),
    Notified: _Rule(HANDED, _notify),
    OutOfHours: _Rule(HANDED, _same),
    Delivered: _Rule(ANY, _same),
    Reached: _Rule(OPEN, _reach),
    Relayed: _Rule(ANY, _relay),
}
