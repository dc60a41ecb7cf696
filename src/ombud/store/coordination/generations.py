"""Records which generation of an index is live; changes are guarded by a lease's fencing token."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select, update

from ombud.store.coordination.tables import index_generation as table
from ombud.store.database import Store
from ombud.store.lease import Lease

LIVE, BEFORE, DRAFT, GONE = "live", "before", "draft", "gone"


def live_generation(store: Store, place: str) -> str | None:
    """Return the name of the live generation; None if none was ever recorded."""
    query = select(table.c.name).where(table.c.place == place, table.c.state == LIVE)
    with store.read() as db:
        return db.execute(query).scalar()


def generations_of(store: Store, place: str) -> dict[str, str]:
    """Return name -> live, before, draft or gone (to be removed)."""
    query = select(table.c.name, table.c.state).where(table.c.place == place)
    with store.read() as db:
        return {row.name: row.state for row in db.execute(query)}


def begin_generation(store: Store, place: str, name: str, lease: Lease) -> None:
    """Record a generation that is being built, and mark leftovers of earlier builds for removal.
    Raises Busy if the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        set_states(db, place, {DRAFT: GONE})
        insert_state(db, place, name, DRAFT)


def switch_generation(store: Store, place: str, name: str, lease: Lease, before: str) -> None:
    """Make a generation live in place of `before`. Raises Busy if the lease is lost; then nothing
    has changed."""
    with store.write() as db:
        lease.guard(db)
        set_states(db, place, {BEFORE: GONE, DRAFT: GONE})
        insert_state(db, place, before, BEFORE)
        insert_state(db, place, name, LIVE)


def retire_before(store: Store, place: str) -> None:
    """Mark every generation but the live one for removal."""
    with store.write() as db:
        set_states(db, place, {BEFORE: GONE})


def forget_generations(store: Store, place: str, names: Iterable[str]) -> None:
    """Drop the records of removed generations."""
    with store.write() as db:
        is_gone = (table.c.place == place) & (table.c.state == GONE)
        db.execute(delete(table).where(is_gone, table.c.name.in_(list(names))))


def set_states(db: Connection, place: str, states: dict[str, str]) -> None:
    for old, new in states.items():
        is_old = (table.c.place == place) & (table.c.state == old)
        db.execute(update(table).where(is_old).values(state=new))


def insert_state(db: Connection, place: str, name: str, state: str) -> None:
    db.execute(delete(table).where(table.c.place == place, table.c.name == name))
    db.execute(insert(table).values(place=place, name=name, state=state))
