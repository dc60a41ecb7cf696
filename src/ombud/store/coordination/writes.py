"""Writes to an index, recorded before they begin.

No engine knows our leases: a process that was paused during a write may finish it after another has
taken over. The record tells later syncs to check these documents again.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from ombud.store.coordination.tables import index_write as table
from ombud.store.database import Store
from ombud.store.lease import Lease
from ombud.store.queries import seconds_now

LONGEST_PAUSE = 3600.0
"""Seconds after which a process that has not ended its write counts as dead."""


def begin_writes(store: Store, ids: Sequence[str], lease: Lease) -> None:
    """Record writes that are about to begin. Raises Busy if the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        now = seconds_now(db)
        end_writes(db, ids, lease)
        if ids:
            rows = [{"document_id": one, "fence": lease.fence, "at": now} for one in ids]
            db.execute(insert(table), rows)


def end_writes(db: Connection, ids: Sequence[str], lease: Lease) -> None:
    """Record that the writes begun under this lease have ended."""
    own = (table.c.fence == lease.fence) & table.c.document_id.in_(list(ids))
    db.execute(delete(table).where(own))


def unended_writes(store: Store) -> frozenset[str]:
    """Return the ids of documents whose index rows an interrupted process may have written."""
    with store.read() as db:
        return frozenset(db.execute(select(table.c.document_id)).scalars())


def forget_writes(store: Store, lease: Lease) -> None:
    """Drop records of other processes that are too old to be still writing; call it once their
    documents were checked."""
    with store.write() as db:
        lease.guard(db)
        is_old = table.c.at < seconds_now(db) - LONGEST_PAUSE
        db.execute(delete(table).where(is_old, table.c.fence != lease.fence))
