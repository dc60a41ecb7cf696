"""Maximal marginal relevance, and how alike passages are."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ombud.index import Vector
from ombud.text import analyse
from ombud.types import Chunk

Likeness = npt.NDArray[np.float64]
"""Shape (passages, passages), 1 on the diagonal."""


def mmr(relevance: Sequence[float], likeness: Likeness, balance: float) -> list[int]:
    """Places, best first: again and again the one with the most of balance x relevance - (1 -
    balance) x likeness to the nearest already taken (Carbonell, Goldstein, SIGIR 1998). Relevance
    is min-max normalised first; of equals the earlier one is taken."""
    given = np.asarray(relevance, np.float64)
    spread = np.ptp(given) if len(given) else 0.0
    worth = (given - given.min()) / spread if spread else np.ones(len(given))
    nearest = np.zeros(len(given))
    order: list[int] = []
    while len(order) < len(given):
        gain = balance * worth - (1 - balance) * nearest
        gain[order] = -np.inf
        best = int(gain.argmax())
        # The first one taken sets likenesses that may be negative; later ones only raise them.
        nearest = likeness[best].copy() if not order else np.maximum(nearest, likeness[best])
        order.append(best)
    return order


def likeness_of_vectors(vectors: Sequence[Vector]) -> Likeness:
    """Cosine of the nearest windows of each two passages; vectors: (windows, dimension) each, of
    length 1."""
    starts = np.cumsum([0, *(len(windows) for windows in vectors[:-1])])
    every = np.concatenate(vectors).astype(np.float64)
    rows = np.maximum.reduceat(every @ every.T, starts, axis=0)
    nearest: Likeness = np.maximum.reduceat(rows, starts, axis=1)
    return nearest


def likeness_of_terms(chunks: Sequence[Chunk]) -> Likeness:
    """Cosine of the passages' sets of index terms: shared / sqrt(terms of the one x terms of the
    other)."""
    sets = [set(analyse("\n".join((*c.trail, c.header, c.text)), c.language)) for c in chunks]
    alike = np.eye(len(sets))
    for i, one in enumerate(sets):
        for j, other in enumerate(sets[:i]):
            alike[i, j] = alike[j, i] = (
                len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0
            )
    return alike
