"""TF-IDF in place of BM25 on the sparse side, as Wombat had it."""

import math
from collections import Counter
from collections.abc import Mapping

from ombud.index import Engine, Leg
from ombud.retrieve.strategies.own_words import chunk_terms
from ombud.types import Chunk

CANDIDATES = 1000
"""BM25's best, which are weighed anew: what TF-IDF likes stands among them."""


async def by_tfidf(leg: Leg, terms: str, engine: Engine) -> Leg:
    """Order the leg by the cosine of TF-IDF vectors: Salton, Buckley, 1988, with the smoothing of
    scikit-learn.

    Weights are (1 + ln tf) x (ln((1 + N) / (1 + n)) + 1). A chunk's other terms count as held by
    one chunk in a hundred, because looking up each frequency would be slow."""
    question_counts = Counter(terms.split())
    stats = await engine.stats(list(question_counts))
    idf: dict[str, float] = {}
    for term, holders in stats.documents_with.items():
        idf[term] = _idf(stats.chunks, holders)
    otherwise = _idf(stats.chunks, stats.chunks // 100)
    query = _weights(question_counts, idf, otherwise)
    query_length = _length(query)
    scored: list[tuple[Chunk, float]] = []
    for chunk, _ in leg.hits:
        weights = _weights(Counter(chunk_terms(chunk)), idf, otherwise)
        shared = 0.0
        for term, weight in query.items():
            shared += weight * weights.get(term, 0.0)
        cosine = shared / _length(weights) / query_length
        scored.append((chunk, cosine))
    scored.sort(key=lambda row: (-row[1], row[0].id))
    return leg._replace(hits=tuple(scored))


def _weights(counts: Counter[str], idf: Mapping[str, float], otherwise: float) -> dict[str, float]:
    """Weight terms by (1 + ln tf) x idf; `otherwise` is the idf of terms outside the question."""
    weights: dict[str, float] = {}
    for term, count in counts.items():
        frequency = 1 + math.log(count)
        weights[term] = frequency * idf.get(term, otherwise)
    return weights


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0


def _idf(chunks: int, holders: int) -> float:
    return math.log((1 + chunks) / (1 + holders)) + 1
