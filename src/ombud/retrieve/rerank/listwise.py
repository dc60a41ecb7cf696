"""A chat model puts windows of passages in order."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from ombud.errors import MalformedOutput
from ombud.models import at_most
from ombud.retrieve.rerank.task import RerankTask, passage_text
from ombud.types import Hit

WINDOW = 10
STRIDE = 5
"""Passages that one listwise call orders, and how far the next window lies nearer to the front."""
ONE_CALL = 25
ONE_CALL_CHARACTERS = 40_000
"""Passages, and characters of them, that are ordered in one call: about 10,000 tokens, which every
model in use reads."""


class Permutation(BaseModel):
    order: Annotated[list[int], at_most(ONE_CALL)] = Field(
        description="Numbers of the passages, the most relevant first."
    )


async def by_listwise(task: RerankTask) -> list[int]:
    """Rerank in one call if all passages fit, else in windows from back to front: Sun et al.,
    RankGPT, EMNLP 2023. A window without a usable order stays as it is and is noted; a failed call
    ends the reranking."""
    order = list(range(len(task.hits)))
    count = len(task.hits)
    every_window = [(0, count)] if fits_one_call(task.hits) else list(windows(count))
    unusable = 0
    for start, end in every_window:
        window = order[start:end]
        numbers = await _numbers(task, window)
        order[start:end] = permuted(window, numbers)
        if not any(1 <= number <= len(window) for number in numbers):
            unusable += 1
    if unusable:
        which = f"{unusable} of {len(every_window)} windows"
        task.note(f"rerank: listwise gave no usable order for {which}, which kept theirs")
    return order


def fits_one_call(hits: Sequence[Hit]) -> bool:
    characters = sum(len(passage_text(hit)) for hit in hits)
    return len(hits) <= ONE_CALL and characters <= ONE_CALL_CHARACTERS


async def _numbers(task: RerankTask, window: Sequence[int]) -> list[int]:
    """Return the model's order, counted from 1; empty if it gives none."""
    passages: list[str] = []
    for number, place in enumerate(window, start=1):
        passages.append(passage_text(task.hits[place], number))
    text = "\n\n".join(passages)
    try:
        permutation = await task.ask(
            "listwise",
            Permutation,
            text,
            count=str(len(window)),
        )
    except MalformedOutput:
        return []
    return permutation.order


def windows(count: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) from back to front. The last window begins at 0 even if the stride does
    not divide."""
    end = count
    while True:
        start = max(0, end - WINDOW)
        yield start, end
        if start == 0:
            return
        end -= STRIDE


def permuted(window: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """Reorder a window by numbers that count from 1. Unknown and repeated numbers are dropped;
    items without a number come last in their old order."""
    order: dict[int, None] = {}
    for number in numbers:
        if 1 <= number <= len(window):
            order[window[number - 1]] = None
    order.update(dict.fromkeys(window))
    return list(order)
