"""Which generation of an index counts: rows that change under the fence of a lease."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select, update

from ombud.store.coordination.tables import index_generation as table
from ombud.store.database import Store
from ombud.store.lease import Lease

LIVE, BEFORE, DRAFT, GONE = "live", "before", "draft", "gone"


def live_generation(store: Store, place: str) -> str | None:
    """Name of the generation that counts; None where none was ever noted."""
    query = select(table.c.name).where(table.c.place == place, table.c.state == LIVE)
    with store.read() as db:
        return db.execute(query).scalar()


def generations_of(store: Store, place: str) -> dict[str, str]:
    """Name -> live, before, draft or gone (it is to be removed)."""
    query = select(table.c.name, table.c.state).where(table.c.place == place)
    with store.read() as db:
        return {row.name: row.state for row in db.execute(query)}


def begin_generation(store: Store, place: str, name: str, lease: Lease) -> None:
    """Note one that is being built; what earlier builds have left is to be removed. Raises Busy
    where the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        _turn(db, place, {DRAFT: GONE})
        _put(db, place, name, DRAFT)


def switch_generation(store: Store, place: str, name: str, lease: Lease, before: str) -> None:
    """Let it count from now on instead of `before`. Raises Busy where the lease is lost: then
    nothing has changed."""
    with store.write() as db:
        lease.guard(db)
        _turn(db, place, {BEFORE: GONE, DRAFT: GONE})
        _put(db, place, before, BEFORE)
        _put(db, place, name, LIVE)


def retire_before(store: Store, place: str) -> None:
    """Of the generations only the one that counts is to be kept."""
    with store.write() as db:
        _turn(db, place, {BEFORE: GONE})


def forget_generations(store: Store, place: str, names: Iterable[str]) -> None:
    """They have been removed."""
    with store.write() as db:
        is_gone = (table.c.place == place) & (table.c.state == GONE)
        db.execute(delete(table).where(is_gone, table.c.name.in_(list(names))))


def _turn(db: Connection, place: str, states: dict[str, str]) -> None:
    for old, new in states.items():
        is_old = (table.c.place == place) & (table.c.state == old)
        db.execute(update(table).where(is_old).values(state=new))


def _put(db: Connection, place: str, name: str, state: str) -> None:
    db.execute(delete(table).where(table.c.place == place, table.c.name == name))
    db.execute(insert(table).values(place=place, name=name, state=state))
