"""Questions that ask the same, put together: by the vectors of an embedder, else by the terms they
share.

Stars: the question with most near ones that are not taken yet becomes the middle of a group and
takes them (Aslam,
Pelekhov, Rus: The star clustering algorithm, 2004). Unlike a chain of neighbours, everything in a
group is near its middle. Which likeness is near was chosen on the development questions of the
sample (docs/guides/audit.md)."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ombud.errors import ModelError
from ombud.models import Embedder
from ombud.text import analyse

NEAR_VECTORS, NEAR_TERMS = 0.55, 0.25
"""Least cosine of two questions of one group."""
MOST = 3000
"""Different questions that are compared, each with each."""

Matrix = npt.NDArray[np.float32]


def group(
    texts: Sequence[str], languages: Sequence[str], embedder: Embedder | None
) -> list[list[int]]:
    """Positions of the texts, together where they ask the same; the largest group first, its middle
    in front.

    languages: of each text, for its terms. Beyond `MOST` texts the rest stay alone.
    """
    vectors = _vectors(texts[:MOST], embedder) if embedder else None
    if vectors is None:
        return _stars(_terms(texts[:MOST], languages), NEAR_TERMS, len(texts))
    return _stars(vectors, NEAR_VECTORS, len(texts))


def _vectors(texts: Sequence[str], embedder: Embedder) -> Matrix | None:
    if not texts:
        return None
    try:
        return np.asarray(embedder.embed(texts), np.float32)
    except ModelError:
        return None


def _terms(texts: Sequence[str], languages: Sequence[str]) -> Matrix:
    """Unit vectors of the texts' terms, rare ones weighing more."""
    held = [
        Counter(analyse(text, language)) for text, language in zip(texts, languages, strict=False)
    ]
    spread = Counter(term for terms in held for term in terms)
    place = {term: at for at, term in enumerate(sorted(spread))}
    made = np.zeros((len(held), max(1, len(place))), np.float32)
    for at, terms in enumerate(held):
        for term in terms:
            made[at, place[term]] = 1 + math.log(len(held) / spread[term])
    length = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.maximum(length, 1e-9), np.float32)


def _stars(vectors: Matrix, near: float, count: int) -> list[list[int]]:
    like = vectors @ vectors.T if len(vectors) else np.zeros((0, 0), np.float32)
    free, joined = np.ones(len(vectors), bool), like >= near
    np.fill_diagonal(joined, True)
    groups: list[list[int]] = []
    while free.any():
        reach = (joined & free).sum(axis=1) * free
        middle = int(reach.argmax())
        taken = [int(at) for at in np.flatnonzero(joined[middle] & free) if at != middle]
        groups.append([middle, *sorted(taken, key=lambda at: -like[middle, at])])
        free[groups[-1]] = False
    return [*groups, *([at] for at in range(len(vectors), count))]
