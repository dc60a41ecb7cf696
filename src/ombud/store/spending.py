"""Daily costs of models, counted in the database so that all processes of a workspace share one
budget."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Float,
    String,
    Table,
    delete,
    func,
    select,
    text,
    update,
)

from ombud.store.database import Store
from ombud.store.tables import metadata
from ombud.store.tables import spending as table

# What people and groups have spent today, for their own budgets: digests in place of names.
own_spending = Table(
    "own_spending",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("owner", String(64), primary_key=True),
    Column("price", Float, nullable=False),
)

FRESH = text(
    "INSERT INTO spending (day, model, calls, tokens_in, tokens_out, price) "
    "VALUES (:day, :model, 0, 0, 0, 0) ON CONFLICT DO NOTHING"
)
FRESH_OWNER = text(
    "INSERT INTO own_spending (day, owner, price) VALUES (:day, :owner, 0) ON CONFLICT DO NOTHING"
)
LONGEST = 200
"""Characters of a model's name that are stored."""


class Spending(NamedTuple):
    """The cost of one model on one day."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: float
    """US dollars of the calls whose price is known."""


def add_spending(store: Store, day: str, spent: Spending, owners: Collection[str] = ()) -> float:
    """Add to the totals of a day, such as 2026-01-31, of the model and of the owners, and return
    the day's total of all models in US dollars."""
    model = spent.model[:LONGEST]
    with store.write() as db:
        db.execute(FRESH, {"day": day, "model": model})
        own_row = update(table).where(
            table.c.day == day,
            table.c.model == model,
        )
        # Added in SQL, so that concurrent additions are not lost.
        more = {
            table.c.calls: table.c.calls + spent.calls,
            table.c.tokens_in: table.c.tokens_in + spent.tokens_in,
            table.c.tokens_out: table.c.tokens_out + spent.tokens_out,
            table.c.price: table.c.price + spent.price,
        }
        db.execute(own_row.values(more))
        _charge(db, day, spent.price, owners)
        return total_of(db, day)


def _charge(db: Connection, day: str, price: float, owners: Collection[str]) -> None:
    """Add to the totals of the owners, in one order for all writers, and forget earlier days."""
    if not owners:
        return
    db.execute(delete(own_spending).where(own_spending.c.day < day))
    for owner in sorted(owners):
        db.execute(FRESH_OWNER, {"day": day, "owner": owner})
        row = update(own_spending).where(
            own_spending.c.day == day,
            own_spending.c.owner == owner,
        )
        db.execute(row.values({own_spending.c.price: own_spending.c.price + price}))


def spent_by(store: Store, day: str, owners: Collection[str]) -> dict[str, float]:
    """Return the US dollars that each owner has caused on a day."""
    query = select(own_spending.c.owner, own_spending.c.price).where(
        own_spending.c.day == day,
        own_spending.c.owner.in_(owners),
    )
    spent = dict.fromkeys(owners, 0.0)
    with store.read() as db:
        spent.update((row.owner, row.price) for row in db.execute(query))
    return spent


def spent_on(store: Store, day: str) -> float:
    """Return the US dollars spent on all models on a day."""
    with store.read() as db:
        return total_of(db, day)


def total_of(db: Connection, day: str) -> float:
    query = select(func.sum(table.c.price)).where(table.c.day == day)
    return float(db.execute(query).scalar() or 0.0)


def read_spending(store: Store, day: str) -> list[Spending]:
    """Return a day's rows, most expensive model first."""
    of_day = select(table).where(table.c.day == day)
    dearest_first = of_day.order_by(table.c.price.desc(), table.c.model)
    with store.read() as db:
        return [
            Spending(row.model, row.calls, row.tokens_in, row.tokens_out, row.price)
            for row in db.execute(dearest_first)
        ]
