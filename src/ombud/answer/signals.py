"""What can be measured of a question and its evidence before anything is written: the input of abstention."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ombud.index import Engine, analyse
from ombud.retrieve import Found
from ombud.types import Hit

DEPTH = 5
"""Hits looked at: what is further down rarely decides whether the documents answer."""


def measure(terms: Sequence[str], found: Found, engine: Engine, best_span: float) -> dict[str, float]:
    """Signals between 0 and 1, the higher the likelier that the documents answer.

    terms: index terms of the question. best_span: cosine of the question and its best sentence, 0 without vectors.
    """
    weights = term_weights(terms, engine)
    hits = found.evidence.hits[:DEPTH]
    covered = [_covered(weights, [hit]) for hit in hits]
    sparse, dense = (_tops(found, leg) for leg in ("sparse", "dense"))
    return {
        "cosine": max(0.0, found.best.get("dense", 0.0)),
        "cosine_span": max(0.0, best_span),
        "coverage_best": max(covered, default=0.0),
        "coverage_all": _covered(weights, hits),
        "agreement": len(sparse & dense) / DEPTH,
        "known_terms": _known(weights, terms, engine),
        "rarest_covered": _rarest(weights, hits),
    }


def term_weights(terms: Sequence[str], engine: Engine) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + .5) / (n + .5)) as in BM25."""
    stats = engine.stats(list(dict.fromkeys(terms)))
    return {term: math.log(1 + (stats.chunks - n + 0.5) / (n + 0.5)) for term, n in stats.documents_with.items()}


def coverage(weights: Mapping[str, float], text_terms: set[str]) -> float:
    """Share of the question's terms, by weight, that a text holds."""
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in text_terms) / total if total else 0.0


def chunk_terms(hit: Hit) -> set[str]:
    text = " ".join((*hit.chunk.trail, hit.chunk.header, hit.chunk.text))
    return set(analyse(text, hit.chunk.language))


def _covered(weights: Mapping[str, float], hits: Sequence[Hit]) -> float:
    return coverage(weights, set().union(*(chunk_terms(hit) for hit in hits)) if hits else set())


def _tops(found: Found, leg: str) -> set[str]:
    rows = [row for ranking in found.rankings if f"/{leg}/" in ranking.leg for row in ranking.rows]
    return {row[0] for row in sorted(rows, key=lambda row: -row[2])[:DEPTH]}


def _known(weights: Mapping[str, float], terms: Sequence[str], engine: Engine) -> float:
    if not terms:
        return 0.0
    counts = engine.stats(list(weights)).documents_with
    return sum(counts[term] > 0 for term in terms) / len(terms)


def _rarest(weights: Mapping[str, float], hits: Sequence[Hit]) -> float:
    """Share of the two rarest terms that the evidence holds: they are what the question is about."""
    rare = sorted(weights, key=lambda term: -weights[term])[:2]
    held = set().union(*(chunk_terms(hit) for hit in hits)) if hits else set()
    return float(np.mean([term in held for term in rare])) if rare else 0.0
