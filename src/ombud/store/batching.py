"""Values in batches, for queries that take only so many of them at once."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The values in their order, `size` at a time; the last batch may be shorter."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
