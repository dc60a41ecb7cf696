"""What judges of the lab replied (a verdict is paid for once, whatever is stopped or run again),
and how far they agree with people."""

from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.store.database import Store
from ombud.store.tables import lab_alignment as alignments
from ombud.store.tables import lab_reply as replies


class KeptReply(NamedTuple):
    model: str
    reply: str
    """JSON of the value, or of why there is none."""
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0
    """US dollars; None where it is not known."""


class JudgeCosts(NamedTuple):
    """Of all replies that a run holds, also of those that were taken from another run."""

    replies: int
    tokens_in: int
    tokens_out: int
    price: float | None
    """US dollars; None where that of some reply is not known."""


def find_reply(store: Store, run_id: str, key: str) -> KeptReply | None:
    """That of this run, or of any other, which then is this one's too and cost it nothing."""
    query = select(replies).where(replies.c.key == key)
    with store.read() as db:
        rows = db.execute(query).all()
    for row in rows:
        if row.run_id == run_id:
            return KeptReply(row.model, row.reply, row.tokens_in, row.tokens_out, row.price)
    if not rows:
        return None
    found = KeptReply(rows[0].model, rows[0].reply)
    keep_reply(store, run_id, key, found)
    return found


def keep_reply(store: Store, run_id: str, key: str, reply: KeptReply) -> None:
    """The last of two that came at once counts."""
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


class KeptAlignment(NamedTuple):
    """Of one judge on one metric, in one version of it."""

    metric: str
    judge: str
    version: int
    criterion: str
    """What people rated."""
    items: int
    spearman: float | None


def keep_alignment(store: Store, found: KeptAlignment) -> None:
    """The last one counts."""
    columns = alignments.c
    own = (columns.metric == found.metric) & (columns.judge == found.judge)
    with store.write() as db:
        db.execute(delete(alignments).where(own & (columns.version == found.version)))
        db.execute(insert(alignments).values(**found._asdict()))


def list_alignments(store: Store) -> list[KeptAlignment]:
    with store.read() as db:
        rows = db.execute(select(alignments)).all()
    return [KeptAlignment(**row._mapping) for row in rows]
