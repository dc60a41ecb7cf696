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
from itertools import chain

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
    term_counts: list[Counter[str]] = []
    for text, language in zip(texts, languages, strict=False):
        term_counts.append(Counter(analyse(text, language)))
    texts_with = Counter(chain.from_iterable(term_counts))
    columns = {term: column for column, term in enumerate(sorted(texts_with))}
    shape = (len(term_counts), max(1, len(columns)))
    matrix = np.zeros(shape, np.float32)
    for row, terms in enumerate(term_counts):
        for term in terms:
            rarity = math.log(len(term_counts) / texts_with[term])
            matrix[row, columns[term]] = 1 + rarity
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, 1e-9), np.float32)


def _stars(vectors: Matrix, near: float, count: int) -> list[list[int]]:
    groups: list[list[int]] = []
    if len(vectors):
        cosines = vectors @ vectors.T
        near_ones = cosines >= near
        np.fill_diagonal(near_ones, True)
        free = np.ones(len(vectors), bool)
        while free.any():
            reach = (near_ones & free).sum(axis=1) * free
            middle = int(reach.argmax())
            free[middle] = False
            others: list[int] = np.flatnonzero(near_ones[middle] & free).tolist()
            others.sort(key=lambda position: -cosines[middle, position])
            groups.append([middle, *others])
            free[others] = False
    for position in range(len(vectors), count):
        groups.append([position])
    return groups
