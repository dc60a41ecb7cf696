"""Maximal marginal relevance, and how alike passages are."""

import asyncio
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ombud.index import Vector
from ombud.retrieve.rerank.task import RerankTask
from ombud.retrieve.terms import chunk_terms
from ombud.types import Chunk

Likeness = npt.NDArray[np.float64]
"""Shape (passages, passages), 1 on the diagonal."""
BALANCE = 0.7
"""Lambda of MMR: the share of relevance, the rest is novelty. Measured on 184 dev cases:
quote@1000w .845 -> .845 where one passage settles the question and .699 -> .706 where several do;
from .5 down both fall. """


async def by_mmr(task: RerankTask) -> list[int]:
    """Maximal marginal relevance over the fused scores: no model, but fewer passages that say the
    same."""
    chunk_ids = [hit.chunk.id for hit in task.hits]
    vectors = await task.index.engine.vectors(chunk_ids)
    return await asyncio.to_thread(_order, task, vectors)


def _order(task: RerankTask, vectors: Mapping[str, Vector]) -> list[int]:
    chunks = [hit.chunk for hit in task.hits]
    # All or none: cosines of vectors and of words are not on one scale.
    if all(len(vectors.get(chunk.id, ())) for chunk in chunks):
        likeness = likeness_of_vectors([vectors[chunk.id] for chunk in chunks])
    else:
        likeness = likeness_of_terms(chunks)
    return mmr([hit.score for hit in task.hits], likeness, BALANCE)


def mmr(relevance: Sequence[float], likeness: Likeness, balance: float) -> list[int]:
    """Places, best first: again and again the one with the most of balance x relevance - (1 -
    balance) x likeness to the nearest already taken (Carbonell, Goldstein, SIGIR 1998). Relevance
    is min-max normalised first; of equals the earlier one is taken."""
    worth = _normalised(np.asarray(relevance, np.float64))
    nearest = np.zeros(len(worth))
    order: list[int] = []
    while len(order) < len(worth):
        gain = balance * worth - (1 - balance) * nearest
        gain[order] = -np.inf
        best = int(gain.argmax())
        # The first one taken sets likenesses that may be negative; later ones only raise them.
        if order:
            nearest = np.maximum(nearest, likeness[best])
        else:
            nearest = likeness[best].copy()
        order.append(best)
    return order


def _normalised(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """To 0..1; all 1 where they are equal."""
    spread = np.ptp(values) if len(values) else 0.0
    if not spread:
        return np.ones(len(values))
    normalised: npt.NDArray[np.float64] = (values - values.min()) / spread
    return normalised


def likeness_of_vectors(vectors: Sequence[Vector]) -> Likeness:
    """Cosine of the nearest windows of each two passages; vectors: (windows, dimension) each, of
    length 1."""
    counts = list(map(len, vectors[:-1]))
    starts = np.cumsum([0, *counts])
    every = np.concatenate(vectors).astype(np.float64)
    rows = np.maximum.reduceat(every @ every.T, starts, axis=0)
    nearest: Likeness = np.maximum.reduceat(rows, starts, axis=1)
    return nearest


def likeness_of_terms(chunks: Sequence[Chunk]) -> Likeness:
    """Cosine of the passages' sets of index terms: shared / sqrt(terms of the one x terms of the
    other)."""
    term_sets = [set(chunk_terms(chunk)) for chunk in chunks]
    alike = np.eye(len(term_sets))
    for i, one in enumerate(term_sets):
        for j, other in enumerate(term_sets[:i]):
            cosine = _cosine(one, other)
            alike[i, j] = cosine
            alike[j, i] = cosine
    return alike


def _cosine(one: set[str], other: set[str]) -> float:
    if not one or not other:
        return 0.0
    shared = len(one & other)
    return shared / math.sqrt(len(one) * len(other))
