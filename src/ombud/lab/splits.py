"""Dev, test and sealed: a case's split follows from its id and never changes."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, get_args

from ombud.errors import UnknownName
from ombud.types import Case

Split = Literal["dev", "test", "sealed"]
SPLITS: tuple[Split, ...] = get_args(Split)


def split_of(case_id: str) -> Split:
    """The split of a case: first 8 hex digits of sha256(id), mod 10; 0-5 dev, 6-7 test, 8-9 sealed."""
    place = int(sha256(case_id.encode()).hexdigest()[:8], 16) % 10
    return "dev" if place < 6 else "test" if place < 8 else "sealed"


def select(cases: Iterable[Case], split: str) -> tuple[Case, ...]:
    """The cases of one split, in their order; raises UnknownName for another word."""
    if split not in SPLITS:
        raise UnknownName(f"No split is called `{split}`.", hint=f"Known: {', '.join(SPLITS)}.")
    return tuple(case for case in cases if split_of(case.id) == split)
