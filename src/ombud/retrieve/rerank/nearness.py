"""The best fused hits in a better order: how near their single tokens are to those of the
question."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ombud.models import late
from ombud.types import Hit, Plan


def by_tokens(
    asked: Sequence[late.TokenVectors], hits: Sequence[Hit], packed: Mapping[str, bytes], plan: Plan
) -> tuple[Sequence[Hit], Sequence[float]]:
    """(hits, the best plan.rerank_pool of them in their new order; nearness of these in that
    order).

    asked: tokens of each search text; packed: chunk id -> tokens. Both scores are standardised over
    the pool and added, plan.late times the nearness to the fused one. A hit without tokens, in a
    language that the embedder does not read, counts as neither near nor far. The order stays, and
    there is no nearness, where fewer than two hits or no search text have tokens."""
    pool, rest = hits[: plan.rerank_pool], hits[plan.rerank_pool :]
    asked = [tokens for tokens in asked if len(tokens.ids)]
    told = [i for i, hit in enumerate(pool) if hit.chunk.id in packed]
    if not plan.late or not asked or len(told) < 2:
        return hits, ()
    texts = [late.unpack(packed[pool[i].chunk.id]) for i in told]
    near = np.zeros(len(pool))
    near[told] = np.mean([_standard(late.interact(tokens, texts)) for tokens in asked], axis=0)
    scores = _standard(np.array([hit.score for hit in pool])) + plan.late * near
    order = np.argsort(-scores, kind="stable")
    return [*descending([pool[i] for i in order]), *rest], [float(near[i]) for i in order]


def descending(hits: Sequence[Hit]) -> Iterator[Hit]:
    """The scores that came in, best first, to the hits in their new order: they stay on the scale
    of the fusion, which confidence is calibrated on. No two are equal, for `Evidence.hits` would
    put equal ones in an order of its own."""
    last = math.inf
    for hit, score in zip(hits, sorted((h.score for h in hits), reverse=True), strict=True):
        last = min(score, math.nextafter(last, -math.inf))
        yield hit.model_copy(update={"score": last})


def _standard(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean 0, deviation 1; all 0 where they are all equal."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 1e-9 else np.zeros(len(scores))
