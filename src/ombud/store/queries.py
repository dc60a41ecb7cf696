"""What many queries need: values in batches, and counts."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, func, select

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The values in their order, `size` at a time; the last batch may be shorter."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def count_where(db: Connection, *conditions: ColumnElement[bool]) -> int:
    """Rows of the conditions' table that meet all of them."""
    query = select(func.count()).where(*conditions)
    return int(db.execute(query).scalar_one())
