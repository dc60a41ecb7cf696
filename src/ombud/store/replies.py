"""Replies of the lab's judges, paid for once however often a run is repeated, and their agreement
with people."""

from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.store.database import Store
from ombud.store.tables import lab_alignment as alignments
from ombud.store.tables import lab_reply as replies


class StoredReply(NamedTuple):
    """A judge's reply with its cost."""

    model: str
    reply: str
    """JSON of the value, or of the reason why there is none."""
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0
    """US dollars; None if unknown."""


class JudgeCosts(NamedTuple):
    """The cost of all replies of a run, including those reused from other runs."""

    replies: int
    tokens_in: int
    tokens_out: int
    price: float | None
    """US dollars; None if that of any reply is unknown."""


def find_reply(store: Store, run_id: str, key: str) -> StoredReply | None:
    """Return this run's reply, or that of another run, which is then stored for this one at no
    cost."""
    query = select(replies).where(replies.c.key == key)
    with store.read() as db:
        rows = db.execute(query).all()
    for row in rows:
        if row.run_id == run_id:
            return StoredReply(row.model, row.reply, row.tokens_in, row.tokens_out, row.price)
    if not rows:
        return None
    reused = StoredReply(rows[0].model, rows[0].reply)
    save_reply(store, run_id, key, reused)
    return reused


def save_reply(store: Store, run_id: str, key: str, reply: StoredReply) -> None:
    """Store a reply; of two at the same time the last one wins."""
    own = (replies.c.run_id == run_id) & (replies.c.key == key)
    with store.write() as db:
        db.execute(delete(replies).where(own))
        db.execute(insert(replies).values(run_id=run_id, key=key, **reply._asdict()))


def judge_costs(store: Store, run_id: str) -> JudgeCosts:
    columns = replies.c
    query = select(
        func.count(),
        func.coalesce(func.sum(columns.tokens_in), 0),
        func.coalesce(func.sum(columns.tokens_out), 0),
        func.coalesce(func.sum(columns.price), 0.0),
        func.count(columns.price),
    ).where(columns.run_id == run_id)
    with store.read() as db:
        count, tokens_in, tokens_out, price, priced = db.execute(query).one()
    return JudgeCosts(
        replies=count,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        price=price if priced == count else None,
    )


class StoredAlignment(NamedTuple):
    """Agreement of a judge with people on one version of a metric."""

    metric: str
    judge: str
    version: int
    criterion: str
    """What people rated."""
    items: int
    spearman: float | None


def save_alignment(store: Store, alignment: StoredAlignment) -> None:
    """Store an alignment in place of an earlier one."""
    columns = alignments.c
    own = (columns.metric == alignment.metric) & (columns.judge == alignment.judge)
    with store.write() as db:
        db.execute(delete(alignments).where(own & (columns.version == alignment.version)))
        db.execute(insert(alignments).values(**alignment._asdict()))


def list_alignments(store: Store) -> list[StoredAlignment]:
    with store.read() as db:
        rows = db.execute(select(alignments)).all()
    return [StoredAlignment(**row._mapping) for row in rows]
