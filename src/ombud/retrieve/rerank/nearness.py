"""The best fused hits in a better order: how near their single tokens are to those of the
question."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.models import late
from ombud.types import Hit, Plan

RERANK_POOL = 25
"""Best fused hits that are put in order anew."""


class NearestFirst(NamedTuple):
    hits: Sequence[Hit]
    nearness: Sequence[float] = ()
    """Of the first of the hits, in their order; empty where the order stayed as it was."""


def by_tokens(
    question_tokens: Sequence[late.TokenVectors],
    hits: Sequence[Hit],
    packed: Mapping[str, bytes],
    plan: Plan,
) -> NearestFirst:
    """Reorder the best RERANK_POOL hits by late interaction, and return them with the nearness of
    each.

    Both scores are standardised over the pool and added, plan.late times nearness to the fused
    score. A hit without tokens counts as average; with fewer than two hits or no search text with
    tokens, the order stays and nearness is empty.

    question_tokens: tokens of each search text. packed: chunk id -> tokens."""
    if not plan.late:
        return NearestFirst(hits)
    pool = hits[:RERANK_POOL]
    rest = hits[RERANK_POOL:]
    question_tokens = [tokens for tokens in question_tokens if len(tokens.ids)]
    if not question_tokens:
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
    nearness[with_tokens] = mean_nearness(question_tokens, texts)
    fused = _standardised(np.array([hit.score for hit in pool]))
    scores = fused + plan.late * nearness
    order = np.argsort(-scores, kind="stable")
    ordered = descending([pool[place] for place in order])
    return NearestFirst(
        hits=[*ordered, *rest],
        nearness=nearness[order].tolist(),
    )


def mean_nearness(
    question_tokens: Sequence[late.TokenVectors], texts: Sequence[late.TokenVectors]
) -> npt.NDArray[np.float64]:
    by_search_text = [_standardised(late.interact(tokens, texts)) for tokens in question_tokens]
    mean: npt.NDArray[np.float64] = np.mean(by_search_text, axis=0)
    return mean


def descending(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Assign the old scores, best first, to the hits in their new order, because confidence is
    calibrated on the scale of the fusion. No two are equal: `Evidence.hits` would reorder ties."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    last = math.inf
    for hit, score in zip(hits, scores, strict=True):
        last = min(score, math.nextafter(last, -math.inf))
        yield hit.model_copy(update={"score": last})


def _standardised(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Standardise to mean 0 and deviation 1; equal scores all become 0."""
    spread = scores.std()
    if spread <= 1e-9:
        return np.zeros(len(scores))
    standardised: npt.NDArray[np.float64] = (scores - scores.mean()) / spread
    return standardised
