"""The best fused hits in a better order: how near their single tokens are to those of the
question."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.models import late
from ombud.types import Hit, Plan


class NearestFirst(NamedTuple):
    hits: Sequence[Hit]
    nearness: Sequence[float] = ()
    """Of the first of the hits, in their order; empty where the order stayed as it was."""


def by_tokens(
    asked: Sequence[late.TokenVectors], hits: Sequence[Hit], packed: Mapping[str, bytes], plan: Plan
) -> NearestFirst:
    """The hits, the best plan.rerank_pool of them in their new order, and nearness of these in that
    order.

    asked: tokens of each search text; packed: chunk id -> tokens. Both scores are standardised over
    the pool and added, plan.late times the nearness to the fused one. A hit without tokens, in a
    language that the embedder does not read, counts as neither near nor far. The order stays, and
    there is no nearness, where fewer than two hits or no search text have tokens."""
    if not plan.late:
        return NearestFirst(hits)
    pool = hits[: plan.rerank_pool]
    rest = hits[plan.rerank_pool :]
    asked = [tokens for tokens in asked if len(tokens.ids)]
    if not asked:
        return NearestFirst(hits)
    with_tokens: list[int] = []
    texts: list[late.TokenVectors] = []
    for place, hit in enumerate(pool):
        if hit.chunk.id in packed:
            with_tokens.append(place)
            texts.append(late.unpack(packed[hit.chunk.id]))
    if len(with_tokens) < 2:
        return NearestFirst(hits)
    nearness = np.zeros(len(pool))
    nearness[with_tokens] = _mean_nearness(asked, texts)
    fused = _standardised(np.array([hit.score for hit in pool]))
    scores = fused + plan.late * nearness
    order = np.argsort(-scores, kind="stable")
    ordered = descending([pool[place] for place in order])
    return NearestFirst(
        hits=[*ordered, *rest],
        nearness=nearness[order].tolist(),
    )


def _mean_nearness(
    asked: Sequence[late.TokenVectors], texts: Sequence[late.TokenVectors]
) -> npt.NDArray[np.float64]:
    by_search_text = [_standardised(late.interact(tokens, texts)) for tokens in asked]
    mean: npt.NDArray[np.float64] = np.mean(by_search_text, axis=0)
    return mean


def descending(hits: Sequence[Hit]) -> Iterator[Hit]:
    """The scores that came in, best first, to the hits in their new order: they stay on the scale
    of the fusion, which confidence is calibrated on. No two are equal, for `Evidence.hits` would
    put equal ones in an order of its own."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    last = math.inf
    for hit, score in zip(hits, scores, strict=True):
        last = min(score, math.nextafter(last, -math.inf))
        yield hit.model_copy(update={"score": last})


def _standardised(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean 0, deviation 1; all 0 where they are all equal."""
    spread = scores.std()
    if spread <= 1e-9:
        return np.zeros(len(scores))
    standardised: npt.NDArray[np.float64] = (scores - scores.mean()) / spread
    return standardised
