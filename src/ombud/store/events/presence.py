"""Which advisors are at our own desk, and how long people have waited there."""

from sqlalchemy import select, text

from ombud.store.database import Store
from ombud.store.events.log import event_of
from ombud.store.queries import seconds_now
from ombud.store.tables import event as events
from ombud.store.tables import presence
from ombud.types import HandedOver, Joined

HERE = 60.0
"""Seconds without a signal from an advisor's page after which the advisor counts as gone."""
_SEEN = text(
    "INSERT INTO presence (advisor_id, seen, away) VALUES (:advisor, :seen, :away) "
    "ON CONFLICT (advisor_id) DO UPDATE SET seen = excluded.seen, away = excluded.away"
)
_LAST = 400
"""Number of recent events searched for waits."""


def note_presence(store: Store, advisor_id: str, *, away: bool = False) -> None:
    with store.write() as db:
        seen = {"advisor": advisor_id, "seen": seconds_now(db), "away": away}
        db.execute(_SEEN, seen)


def present_advisors(store: Store) -> set[str]:
    """Return the ids of advisors whose page is open and who are not away."""
    with store.read() as db:
        since = seconds_now(db) - HERE
        query = select(presence.c.advisor_id).where(presence.c.seen > since, ~presence.c.away)
        return set(db.execute(query).scalars())


def recent_waits(store: Store) -> list[float]:
    """Return the seconds between a handoff and its advisor's arrival, for the latest ones."""
    query = (
        select(events)
        .where(events.c.kind.in_(["handoff", "joined"]), events.c.content != "")
        .order_by(events.c.number.desc())
        .limit(_LAST)
    )
    with store.read() as db:
        rows = db.execute(query).all()
    waiting_since: dict[str, float] = {}
    waits: list[float] = []
    for row in reversed(rows):
        event = event_of(row)
        if isinstance(event.what, HandedOver):
            waiting_since[event.conversation_id] = event.at.timestamp()
        elif isinstance(event.what, Joined) and event.conversation_id in waiting_since:
            waits.append(event.at.timestamp() - waiting_since.pop(event.conversation_id))
    return waits[-20:]
