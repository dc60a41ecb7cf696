"""Helpers of many queries: batches of values, and counts."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, func, select, text

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the values in their order, `size` at a time; the last batch may be shorter."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def count_where(db: Connection, *conditions: ColumnElement[bool]) -> int:
    """Count the rows that meet all conditions."""
    query = select(func.count()).where(*conditions)
    return int(db.execute(query).scalar_one())


def seconds_now(db: Connection) -> float:
    """Return seconds since 1970 by the database's clock, because clocks of machines differ."""
    return float(db.execute(_CLOCKS[db.dialect.name]).scalar_one())


_CLOCKS = {
    # Not the transaction's start, because it may have waited.
    "postgresql": text("SELECT extract(epoch FROM clock_timestamp())"),
    # Julian days have 86,400 seconds; 1970 began at day 2,440,587.5.
    "sqlite": text("SELECT (julianday('now') - 2440587.5) * 86400.0"),
}
