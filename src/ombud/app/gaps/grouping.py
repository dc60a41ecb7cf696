"""Groups questions that ask the same, by embeddings or else by shared terms.

Star clustering (Aslam, Pelekhov, Rus, 2004): the question with the most unassigned neighbours
becomes the centre of a group and takes them. Unlike in chains, everything in a group is near its
centre. The thresholds were chosen on development questions.
"""

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
"""Minimum cosine of two questions in one group."""
MOST = 3000
"""Largest number of distinct questions, which are compared pairwise."""

Matrix = npt.NDArray[np.float32]


def group(
    texts: Sequence[str], languages: Sequence[str], embedder: Embedder | None
) -> list[list[int]]:
    """Return positions of the texts in groups, largest group first, its centre in front.

    languages: of each text, for its terms. Beyond `MOST` texts the rest stay ungrouped.
    """
    vectors = embed_texts(texts[:MOST], embedder) if embedder else None
    if vectors is None:
        return star_clusters(term_vectors(texts[:MOST], languages), NEAR_TERMS, len(texts))
    return star_clusters(vectors, NEAR_VECTORS, len(texts))


def embed_texts(texts: Sequence[str], embedder: Embedder) -> Matrix | None:
    if not texts:
        return None
    try:
        return np.asarray(embedder.embed(texts), np.float32)
    except ModelError:
        return None


def term_vectors(texts: Sequence[str], languages: Sequence[str]) -> Matrix:
    """Return unit vectors of the texts' terms, weighted by rarity."""
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


def star_clusters(vectors: Matrix, near: float, count: int) -> list[list[int]]:
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
