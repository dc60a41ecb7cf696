"""Pseudo-relevance feedback: a second look with the words and vectors of what the first one
found."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ombud.index import Engine, Filter, Leg, Vector
from ombud.retrieve.terms import chunk_terms

BELIEVED = 10
"""First hits that are taken for relevant."""
NEW_TERMS = 10
KEPT = 0.5
"""Share of the original vector in Rocchio's."""


class FeedbackSearch(NamedTuple):
    """What the first search looked for, and where."""

    terms: str
    vector: Vector | None
    where: Filter
    k: int
    engine: Engine


async def more_legs(legs: Sequence[Leg], first: FeedbackSearch) -> tuple[Leg, ...]:
    """The legs with a second sparse one over the terms of RM3, and the dense one searched with
    Rocchio's vector.

    RM3 interpolates the question with the terms of its best hits; BM25 is linear in the weights of
    terms, so fusing a leg for each at equal weight does the same (Abdul-Jaleel et al., TREC 2004).
    Rocchio, 1971, without negatives."""
    by_name = {leg.name: leg for leg in legs}
    sparse = by_name.get("sparse")
    dense = by_name.get("dense")
    made: list[Leg] = []
    if sparse:
        made.append(sparse)
        made += await _with_new_terms(sparse, first)
    if dense:
        made += await _with_moved_vector(dense, first)
    return tuple(made)


async def _with_new_terms(sparse: Leg, first: FeedbackSearch) -> Sequence[Leg]:
    terms = _relevance_terms(sparse, first.terms.split())
    if not terms:
        return ()
    text = " ".join(terms)
    return await first.engine.search(
        text,
        None,
        first.where,
        first.k,
        "sparse",
    )


async def _with_moved_vector(dense: Leg, first: FeedbackSearch) -> Sequence[Leg]:
    moved = await _rocchio(dense, first.vector, first.engine)
    if moved is None:
        return (dense,)
    return await first.engine.search(
        "",
        moved,
        first.where,
        first.k,
        "dense",
    )


def _relevance_terms(leg: Leg, asked: Sequence[str]) -> list[str]:
    """Terms by sum over hits of P(hit) x P(term | hit), hits weighed by their scores; the
    question's own left out."""
    best = leg.hits[:BELIEVED]
    total = sum(score for _, score in best) or 1.0
    weights: dict[str, float] = defaultdict(float)
    for chunk, score in best:
        counts = Counter(chunk_terms(chunk))
        terms = counts.total()
        for term, count in counts.items():
            weights[term] += score / total * count / terms
    new = [term for term in weights if term not in asked]
    new.sort(key=lambda term: (-weights[term], term))
    return new[:NEW_TERMS]


async def _rocchio(leg: Leg, vector: Vector | None, engine: Engine) -> Vector | None:
    chunk_ids = [chunk.id for chunk, _ in leg.hits[:BELIEVED]]
    windows_of = await engine.vectors(chunk_ids)
    if vector is None or not windows_of:
        return None
    nearest: list[Vector] = []
    for windows in windows_of.values():
        # Of several windows of a chunk, the one that was found.
        found = int(np.argmax(windows @ vector))
        nearest.append(windows[found])
    moved = KEPT * vector + (1 - KEPT) * np.mean(nearest, axis=0)
    length = float(np.linalg.norm(moved))
    return (moved / length).astype(np.float32) if length else None
