"""Dev, test and sealed: a case's split follows from its id and never changes. And fixed samples of
a dataset."""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from math import ceil
from typing import Literal, get_args

from ombud.errors import BadRequest, UnknownName
from ombud.types import Case

Split = Literal["dev", "test", "sealed"]
SPLITS: tuple[Split, ...] = get_args(Split)
OPEN = "open"
"""Dev and test together: everything but the sealed split."""


def split_of(case_id: str) -> Split:
    """Compute the split of a case: first 8 hex digits of sha256(id), mod 10; 0-5 dev, 6-7 test, 8-9
    sealed."""
    digest = sha256(case_id.encode()).hexdigest()
    place = int(digest[:8], 16) % 10
    if place < 6:
        return "dev"
    return "test" if place < 8 else "sealed"


def select_split(cases: Iterable[Case], split: str) -> tuple[Case, ...]:
    """Select the cases of one split, or of the `open` ones, in their order; raises UnknownName for
    another word."""
    if split not in (*SPLITS, OPEN):
        raise UnknownName(
            f"No split is called `{split}`.", hint=f"Known: {', '.join((*SPLITS, OPEN))}."
        )
    wanted = {"dev", "test"} if split == OPEN else {split}
    selected = []
    for case in cases:
        if split_of(case.id) in wanted:
            selected.append(case)
    return tuple(selected)


def draw_sample(cases: Sequence[Case], share: float, seed: int = 0) -> tuple[Case, ...]:
    """Draw a stratified sample: a fixed subset with the same share of every type (rounded up), in
    the cases' order; raises BadRequest.

    Which cases are in it follows from the seed and their ids alone: a larger share holds the
    smaller one."""
    if not 0 < share <= 1:
        raise BadRequest(
            f"A sample of {share:g} cannot be drawn.", hint="A share between 0 and 1, such as 0.2."
        )
    by_type: dict[str, list[Case]] = {}
    for case in cases:
        by_type.setdefault(case.type, []).append(case)
    drawn: set[str] = set()
    for of_type in by_type.values():
        ids = sorted([case.id for case in of_type], key=partial(_lot, seed))
        # 0.07 x 100 is 7.000000000000001: what is only the error of the product is not rounded up.
        size = ceil(round(share * len(ids), 9))
        drawn.update(ids[: max(size, 1)])
    return tuple(case for case in cases if case.id in drawn)


def _lot(seed: int, case_id: str) -> bytes:
    """Return the bytes by which the draw sorts a case."""
    return sha256(f"{seed}/{case_id}".encode()).digest()
