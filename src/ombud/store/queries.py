"""What many queries need: values in batches, and counts."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, func, select, text

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The values in their order, `size` at a time; the last batch may be shorter."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def count_where(db: Connection, *conditions: ColumnElement[bool]) -> int:
    """Rows of the conditions' table that meet all of them."""
    query = select(func.count()).where(*conditions)
    return int(db.execute(query).scalar_one())


def seconds_now(db: Connection) -> float:
    """Seconds since 1970 by the database's clock: those of machines differ."""
    return float(db.execute(_CLOCKS[db.dialect.name]).scalar_one())


_CLOCKS = {
    # Not the beginning of the transaction, which may have waited.
    "postgresql": text("SELECT extract(epoch FROM clock_timestamp())"),
    # A day of Julian's count has 86,400 seconds; 1970 began at 2,440,587.5 of them.
    "sqlite": text("SELECT (julianday('now') - 2440587.5) * 86400.0"),
}
