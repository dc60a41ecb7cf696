"""Times of the hand-overs to our own desk, for its report."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import or_, select

from ombud.store.database import Store
from ombud.store.events.delivery import OWN_DESKS
from ombud.store.events.log import event_of
from ombud.store.tables import event as events
from ombud.store.tables import session as sessions
from ombud.types import (
    Closed,
    Ended,
    Event,
    HandedOver,
    Joined,
    Rated,
    Said,
    Session,
    Transferred,
)


class HandoffTimes(NamedTuple):
    """A hand-over: when it was asked for, taken, first answered and ended, and how it was rated."""

    owner: str
    """Digest of the employee's secret, which tells people apart."""
    country: str
    topic: str
    handed_over: datetime
    joined: datetime | None = None
    responded: datetime | None = None
    ended: datetime | None = None
    rating: int | None = None


def list_handoff_times(store: Store, since: str) -> list[HandoffTimes]:
    """Return the hand-overs to our own desk from a moment on, without those erased since.

    since: as the store writes times, in ISO 8601 and UTC."""
    from_advisor = (events.c.kind == "message") & (events.c.by == "advisor")
    others = ["handoff", "joined", "transferred", "ended", "closed", "rating"]
    query = (
        select(events, sessions.c.owner, sessions.c.session)
        .join(sessions, sessions.c.conversation_id == events.c.conversation_id)
        .where(
            events.c.at >= since,
            events.c.content != "",
            or_(events.c.kind.in_(others), from_advisor),
        )
        .order_by(events.c.conversation_id, events.c.place)
    )
    times: list[HandoffTimes] = []
    with store.read() as db:
        current, conversation = None, ""
        for row in db.execute(query):
            event = event_of(row)
            if event.conversation_id != conversation:
                times += filter(None, [current])
                current, conversation = None, event.conversation_id
            if isinstance(event.what, HandedOver):
                times += filter(None, [current])
                current = begin_times(event.what, event.at, row.owner, row.session)
            elif current is not None:
                current = add_event(current, event)
    return [*times, *filter(None, [current])]


def begin_times(
    what: HandedOver, at: datetime, owner: str, stored_session: str
) -> HandoffTimes | None:
    """Begin the times of a hand-over; None if it is not to our own desk."""
    if what.desk not in OWN_DESKS:
        return None
    country = Session.model_validate_json(stored_session).asker.country
    return HandoffTimes(owner=owner, country=country or "", topic=what.topic, handed_over=at)


def add_event(times: HandoffTimes, event: Event) -> HandoffTimes:
    match event.what:
        case Joined():
            return times._replace(joined=times.joined or event.at)
        case Said():
            return times._replace(responded=times.responded or event.at)
        case Transferred(topic=topic):
            return times._replace(topic=topic or times.topic)
        case Ended() | Closed():
            return times._replace(ended=times.ended or event.at)
        case Rated(score=score):
            return times._replace(rating=score)
    return times
