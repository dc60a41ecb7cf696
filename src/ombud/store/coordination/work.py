"""A work queue in SQL: one process enqueues documents, others take one each and return the result.

No two processes take the same item at once (`SKIP LOCKED`). A claim expires; a result returned
after the claim has gone to another process is discarded.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from ombud.store.coordination.tables import work as table
from ombud.store.database import Store
from ombud.store.lease import Lease
from ombud.store.queries import seconds_now

CLAIM_SECONDS = 30.0
"""Time after which a killed process's document is free again; a claim is renewed three times within
it."""
MOST_CLAIMS = 3
"""Claims after which a document that kills its process is given up."""


class WorkItem(NamedTuple):
    """A document to parse and embed, claimed by one process."""

    number: int
    claim: int
    facts: str
    data: bytes


class WorkResult(NamedTuple):
    """The result of one item."""

    number: int
    result: bytes | None
    """None if the item failed."""
    reason: str


def begin_work(store: Store, lease: Lease) -> None:
    """Discard the leftovers of earlier syncs. Raises Busy if the lease is lost."""
    with store.write() as db:
        lease.guard(db)
        db.execute(delete(table))


def put_work(store: Store, lease: Lease, recipe: str, facts: str, data: bytes) -> int:
    """Enqueue an item and return its number. Raises Busy if the lease is lost."""
    values = {"recipe": recipe, "facts": facts, "data": data}
    with store.write() as db:
        lease.guard(db)
        row = insert(table).values(
            fence=lease.fence, state="waiting", claim=0, expires=0.0, reason="", **values
        )
        return int(db.execute(row.returning(table.c.number)).scalar_one())


def claim_work(store: Store, recipe: str) -> WorkItem | None:
    """Claim the oldest item that waits or whose claim has expired; None if there is none."""
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
            end_item(db, (row.number, row.claim), None, "Each process that read it was killed.")
            return None
        item = WorkItem(row.number, row.claim + 1, row.facts, row.data)
        taken = update(table).where(table.c.number == item.number)
        db.execute(taken.values(state="taken", claim=item.claim, expires=now + CLAIM_SECONDS))
        return item


def renew_work(store: Store, item: WorkItem) -> bool:
    """Renew a claim; False if another process has it or the item was discarded."""
    with store.write() as db:
        own = update(table).where(is_ours(item.number, item.claim))
        renewed = db.execute(own.values(expires=seconds_now(db) + CLAIM_SECONDS))
        return bool(renewed.rowcount)


def finish_work(store: Store, item: WorkItem, result: bytes | None, reason: str = "") -> bool:
    """Store the result of an item; False if the claim was lost, and then nothing is stored."""
    with store.write() as db:
        return end_item(db, (item.number, item.claim), result, reason)


def take_results(store: Store, numbers: Sequence[int], lease: Lease) -> list[WorkResult]:
    """Return the finished ones of these items and remove them from the queue. Raises Busy if the
    lease is lost."""
    has_ended = table.c.state.in_(("done", "failed")) & table.c.number.in_(list(numbers))
    columns = (table.c.number, table.c.result, table.c.reason)
    with store.write() as db:
        lease.guard(db)
        rows = db.execute(select(*columns).where(has_ended)).all()
        taken = [row.number for row in rows]
        if taken:
            db.execute(delete(table).where(table.c.number.in_(taken)))
        return [WorkResult(*row) for row in rows]


def end_item(db: Connection, claimed: tuple[int, int], result: bytes | None, reason: str) -> bool:
    state = "failed" if result is None else "done"
    own = update(table).where(is_ours(*claimed))
    ended = own.values(state=state, result=result, reason=reason, data=b"")
    return bool(db.execute(ended).rowcount)


def is_ours(number: int, claim: int) -> ColumnElement[bool]:
    return (table.c.number == number) & (table.c.claim == claim) & (table.c.state == "taken")
