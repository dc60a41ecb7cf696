"""A queue in SQL: one process puts documents in, others take one each and put back what came of it.

Two take the same one never at once (`SKIP LOCKED`). Who takes one holds a claim that expires; what
somebody puts back whose claim has gone to another is thrown away.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from ombud.store.coordination.tables import work as table
from ombud.store.database import Store
from ombud.store.lease import Lease
from ombud.store.queries import seconds_now

CLAIM_SECONDS = 30.0
"""How long one that was killed keeps a document from the others; renewed three times within it."""
MOST_CLAIMS = 3
"""A document that as many processes did not outlive is given up."""


class WorkItem(NamedTuple):
    """A document to be parsed and embedded, as one process has taken it."""

    number: int
    claim: int
    facts: str
    data: bytes


class WorkResult(NamedTuple):
    number: int
    result: bytes | None
    """None where it failed."""
    reason: str


def begin_work(store: Store, lease: Lease) -> None:
    """Throw away what syncs before have left. Raises Busy where the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        db.execute(delete(table))


def put_work(store: Store, lease: Lease, recipe: str, facts: str, data: bytes) -> int:
    """Number of the item. Raises Busy where the lease is lost."""
    values = {"recipe": recipe, "facts": facts, "data": data}
    with store.write() as db:
        lease.guard(db)
        row = insert(table).values(
            fence=lease.fence, state="waiting", claim=0, expires=0.0, reason="", **values
        )
        return int(db.execute(row.returning(table.c.number)).scalar_one())


def claim_work(store: Store, recipe: str) -> WorkItem | None:
    """The oldest that waits, or whose claim has expired; None where there is none."""
    columns = (table.c.number, table.c.claim, table.c.facts, table.c.data)
    with store.write() as db:
        now = seconds_now(db)
        is_free = (table.c.state == "waiting") | (
            (table.c.state == "taken") & (table.c.expires < now)
        )
        query = select(*columns).where(is_free, table.c.recipe == recipe)
        query = query.order_by(table.c.number).limit(1).with_for_update(skip_locked=True)
        row = db.execute(query).first()
        if row is None:
            return None
        if row.claim >= MOST_CLAIMS:
            _end(db, (row.number, row.claim), None, "Each process that read it was killed.")
            return None
        item = WorkItem(row.number, row.claim + 1, row.facts, row.data)
        taken = update(table).where(table.c.number == item.number)
        db.execute(taken.values(state="taken", claim=item.claim, expires=now + CLAIM_SECONDS))
        return item


def renew_work(store: Store, item: WorkItem) -> bool:
    """False where another process has it meanwhile, or nobody wants it any more."""
    with store.write() as db:
        own = update(table).where(_is_ours(item.number, item.claim))
        renewed = db.execute(own.values(expires=seconds_now(db) + CLAIM_SECONDS))
        return bool(renewed.rowcount)


def finish_work(store: Store, item: WorkItem, result: bytes | None, reason: str = "") -> bool:
    """False where the claim was lost: then nothing is kept of it."""
    with store.write() as db:
        return _end(db, (item.number, item.claim), result, reason)


def take_results(store: Store, numbers: Sequence[int], lease: Lease) -> list[WorkResult]:
    """Those of these items that have ended; they leave the queue. Raises Busy where the lease is
    lost."""
    has_ended = table.c.state.in_(("done", "failed")) & table.c.number.in_(list(numbers))
    columns = (table.c.number, table.c.result, table.c.reason)
    with store.write() as db:
        lease.guard(db)
        rows = db.execute(select(*columns).where(has_ended)).all()
        taken = [row.number for row in rows]
        if taken:
            db.execute(delete(table).where(table.c.number.in_(taken)))
        return [WorkResult(*row) for row in rows]


def _end(db: Connection, claimed: tuple[int, int], result: bytes | None, reason: str) -> bool:
    state = "failed" if result is None else "done"
    own = update(table).where(_is_ours(*claimed))
    ended = own.values(state=state, result=result, reason=reason, data=b"")
    return bool(db.execute(ended).rowcount)


def _is_ours(number: int, claim: int) -> ColumnElement[bool]:
    return (table.c.number == number) & (table.c.claim == claim) & (table.c.state == "taken")
