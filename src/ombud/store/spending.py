"""What models cost, day by day, counted here so that all processes of a workspace share one
budget."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select, text, update

from ombud.store.database import Store
from ombud.store.tables import spending as table

FRESH = text(
    "INSERT INTO spending (day, model, calls, tokens_in, tokens_out, price) "
    "VALUES (:day, :model, 0, 0, 0, 0) ON CONFLICT DO NOTHING"
)
LONGEST = 200
"""Characters of a model's name that are kept."""


class Spending(NamedTuple):
    """What one model came to on one day."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: float
    """US dollars of the calls whose price is known."""


def add_spending(store: Store, day: str, spent: Spending) -> float:
    """Add to the day, such as 2026-01-31; returns what all models together came to on it, in US
    dollars."""
    model = spent.model[:LONGEST]
    with store.write() as db:
        db.execute(FRESH, {"day": day, "model": model})
        own_row = update(table).where(
            table.c.day == day,
            table.c.model == model,
        )
        # Added in the database: what another process adds at the same time is not lost.
        more = {
            table.c.calls: table.c.calls + spent.calls,
            table.c.tokens_in: table.c.tokens_in + spent.tokens_in,
            table.c.tokens_out: table.c.tokens_out + spent.tokens_out,
            table.c.price: table.c.price + spent.price,
        }
        db.execute(own_row.values(more))
        return _total(db, day)


def spent_on(store: Store, day: str) -> float:
    """US dollars of all models on a day."""
    with store.read() as db:
        return _total(db, day)


def _total(db: Connection, day: str) -> float:
    query = select(func.sum(table.c.price)).where(table.c.day == day)
    return float(db.execute(query).scalar() or 0.0)


def read_spending(store: Store, day: str) -> list[Spending]:
    """A day's rows, the dearest model first."""
    of_day = select(table).where(table.c.day == day)
    dearest_first = of_day.order_by(table.c.price.desc(), table.c.model)
    spent: list[Spending] = []
    with store.read() as db:
        for row in db.execute(dearest_first):
            spending = Spending(
                model=row.model,
                calls=row.calls,
                tokens_in=row.tokens_in,
                tokens_out=row.tokens_out,
                price=row.price,
            )
            spent.append(spending)
    return spent
