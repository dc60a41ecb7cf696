"""The fused pool in a better order. Every reranker fails open: the order stays as it was, and the
trace says why."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ombud.deadlines import seconds_left
from ombud.errors import EngineError, ModelError, UnknownName
from ombud.registry import find, names
from ombud.retrieve.model import ModelUsage
from ombud.retrieve.rerank.nearness import RERANK_POOL, descending
from ombud.retrieve.rerank.task import RerankOrder, RerankParts, RerankTask
from ombud.types import Hit, Plan

GRACE = 1.0
"""Seconds over the deadline after which a reranker is cut off. Calls end at it by themselves: of
one that is cut off nobody would learn that its model is silent, and every question would wait for
it anew. """


class Reranked(NamedTuple):
    hits: tuple[Hit, ...]
    """All that came in, best first."""
    degraded: tuple[str, ...] = ()
    spent: ModelUsage = ModelUsage()
    """Also what calls came to whose order was not taken."""


async def rerank_hits(
    question_text: str, hits: Sequence[Hit], plan: Plan, index: RerankParts
) -> Reranked:
    """Reorder the best RERANK_POOL hits by plan.reranker. Raises UnknownName; any other failure
    keeps the order and is noted in `degraded`.

    Scores are reassigned in the new order and stay on the scale of the fusion, which confidence is
    calibrated on. hits: only what the asker may see, because the model reads them."""
    order_by = reranker_of(plan.reranker)
    pool = tuple(hits[:RERANK_POOL])
    if plan.reranker == "none" or len(pool) < 2:
        return Reranked(tuple(hits))
    index = index._replace(seconds=seconds_left(index.seconds))
    task = RerankTask(question_text, pool, plan, index)
    ordered = tuple(hits)
    try:
        async with asyncio.timeout(seconds_left(index.seconds + GRACE)):
            order = await order_by(task)
        if order != list(range(len(pool))):
            best = [pool[place] for place in order]
            rest = hits[len(pool) :]
            ordered = tuple(descending([*best, *rest]))
    except (TimeoutError, ModelError, EngineError) as failed:
        task.note(f"rerank: {plan.reranker} {_why(failed, task)}, kept the order")
    return Reranked(ordered, tuple(task.notes), task.spent)


def _why(failed: Exception, task: RerankTask) -> str:
    """Return only the kind of error: its message may repeat what was sent, which no trace may
    contain."""
    if task.left <= 0 or isinstance(failed, TimeoutError):
        return f"gave no order within {task.index.seconds:.0f} seconds"
    return f"failed ({type(failed).__name__})"


async def as_they_were(task: RerankTask) -> list[int]:
    return list(range(len(task.hits)))


@cache
def reranker_of(name: str) -> RerankOrder:
    """Return one of RERANKERS or of the entry point group `ombud.rerank_order`; raises UnknownName.
    It is cached. The group `ombud.reranker` has the cross-encoders that `cross-encoder` uses."""
    try:
        reranker: RerankOrder = find("rerank_order", name, RERANKERS)
    except UnknownName as unknown:
        raise UnknownName(f"No reranker is called `{name}`.", hint=unknown.hint) from None
    return reranker


RERANKERS: Mapping[str, str] = {
    "none": "ombud.retrieve.rerank.reranking:as_they_were",
    "listwise": "ombud.retrieve.rerank.listwise:by_listwise",
    "pointwise": "ombud.retrieve.rerank.pointwise:by_pointwise",
    "cross-encoder": "ombud.retrieve.rerank.cross_encoder:by_cross_encoder",
}
"""Name in `plan.reranker` -> its function."""


def reranker_names() -> tuple[str, ...]:
    """Return the names of our rerankers and of installed plugins."""
    return names("reranker", RERANKERS)
