"""Writes to an index, noted before they begin.

No engine knows our leases: a process that was paused in the middle of a write may end it after
another has taken over. Its note tells the syncs after it to look at these documents again.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from ombud.store.coordination.tables import index_write as table
from ombud.store.database import Store
from ombud.store.lease import Lease
from ombud.store.queries import seconds_now

LONGEST_PAUSE = 3600.0
"""Seconds after which a process that has not ended its write is taken for ended."""


def begin_writes(store: Store, ids: Sequence[str], lease: Lease) -> None:
    """Raises Busy where the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        now = seconds_now(db)
        end_writes(db, ids, lease)
        if ids:
            rows = [{"document_id": one, "fence": lease.fence, "at": now} for one in ids]
            db.execute(insert(table), rows)


def end_writes(db: Connection, ids: Sequence[str], lease: Lease) -> None:
    """What was begun under this lease has ended."""
    own = (table.c.fence == lease.fence) & table.c.document_id.in_(list(ids))
    db.execute(delete(table).where(own))


def unended_writes(store: Store) -> frozenset[str]:
    """Ids of documents of which the index may hold what an interrupted process wrote."""
    with store.read() as db:
        return frozenset(db.execute(select(table.c.document_id)).scalars())


def forget_writes(store: Store, lease: Lease) -> None:
    """After everything was looked at: notes of others that are too old to be of somebody who still
    writes."""
    with store.write() as db:
        lease.guard(db)
        is_old = table.c.at < seconds_now(db) - LONGEST_PAUSE
        db.execute(delete(table).where(is_old, table.c.fence != lease.fence))
