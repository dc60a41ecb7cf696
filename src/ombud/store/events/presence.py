"""Who is at our own desk, and how long people have waited there."""

from sqlalchemy import select, text

from ombud.store.database import Store
from ombud.store.events.log import event_of
from ombud.store.queries import seconds_now
from ombud.store.tables import event as events
from ombud.store.tables import presence
from ombud.types import HandedOver, Joined

HERE = 60.0
"""Seconds after which an advisor whose page has said nothing counts as gone."""
_SEEN = text(
    "INSERT INTO presence (advisor_id, seen, away) VALUES (:advisor, :seen, :away) "
    "ON CONFLICT (advisor_id) DO UPDATE SET seen = excluded.seen, away = excluded.away"
)
_LAST = 400
"""Events among which the last waits are looked for."""


def note_presence(store: Store, advisor_id: str, *, away: bool = False) -> None:
    with store.write() as db:
        seen = {"advisor": advisor_id, "seen": seconds_now(db), "away": away}
        db.execute(_SEEN, seen)


def present_advisors(store: Store) -> set[str]:
    """Ids of those whose page is open and who are not away."""
    with store.read() as db:
        since = seconds_now(db) - HERE
        query = select(presence.c.advisor_id).where(presence.c.seen > since, ~presence.c.away)
        return set(db.execute(query).scalars())


def recent_waits(store: Store) -> list[float]:
    """Seconds between a hand-over and its advisor's coming, of the last ones."""
    query = (
        select(events)
        .where(events.c.kind.in_(["handoff", "joined"]), events.c.content != "")
        .order_by(events.c.number.desc())
        .limit(_LAST)
    )
    with store.read() as db:
        rows = db.execute(query).all()
    asked: dict[str, float] = {}
    waits: list[float] = []
    for row in reversed(rows):
        event = event_of(row)
        if isinstance(event.what, HandedOver):
            asked[event.conversation_id] = event.at.timestamp()
        elif isinstance(event.what, Joined) and event.conversation_id in asked:
            waits.append(event.at.timestamp() - asked.pop(event.conversation_id))
    return waits[-20:]
