"""TF-IDF in place of BM25 on the sparse side, as Wombat had it."""

import math
from collections import Counter

from ombud.index import Engine, Leg
from ombud.text import analyse
from ombud.types import Chunk

CANDIDATES = 1000
"""BM25's best, which are weighed anew: what TF-IDF likes stands among them."""


def by_tfidf(leg: Leg, terms: str, engine: Engine) -> Leg:
    """The leg in the order of the cosine of TF-IDF vectors over the question's terms and the whole
    chunk.

    Weights are (1 + ln tf) x (ln((1 + N) / (1 + n)) + 1) with vectors of length 1: Salton, Buckley,
    1988, with the smoothing of scikit-learn. The length of a chunk's vector counts its terms of the
    question exactly and the others
    as held by one chunk in a hundred: their own frequencies would cost a look-up each.
    """
    asked = Counter(terms.split())
    stats = engine.stats(list(asked))
    idf = {term: _idf(stats.chunks, n) for term, n in stats.documents_with.items()}
    other = _idf(stats.chunks, stats.chunks // 100)
    query = {term: (1 + math.log(n)) * idf.get(term, other) for term, n in asked.items()}
    length = math.sqrt(sum(w * w for w in query.values())) or 1.0
    scored = [(chunk, _cosine(query, idf, other, chunk) / length) for chunk, _ in leg.hits]
    return leg._replace(hits=tuple(sorted(scored, key=lambda row: (-row[1], row[0].id))))


def _cosine(query: dict[str, float], idf: dict[str, float], other: float, chunk: Chunk) -> float:
    held = Counter(analyse("\n".join((*chunk.trail, chunk.header, chunk.text)), chunk.language))
    weights = {term: (1 + math.log(n)) * idf.get(term, other) for term, n in held.items()}
    length = math.sqrt(sum(w * w for w in weights.values())) or 1.0
    return sum(w * weights.get(term, 0.0) for term, w in query.items()) / length


def _idf(chunks: int, holders: int) -> float:
    return math.log((1 + chunks) / (1 + holders)) + 1
