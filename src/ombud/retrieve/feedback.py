"""Pseudo-relevance feedback: a second look with the words and vectors of what the first one
found."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from ombud.index import Engine, Filter, Leg, Vector
from ombud.text import analyse
from ombud.types import Chunk

BELIEVED = 10
"""First hits that are taken for relevant."""
NEW_TERMS = 10
KEPT = 0.5
"""Share of the original vector in Rocchio's."""


def more_legs(
    legs: Sequence[Leg], terms: str, vector: Vector | None, where: Filter, k: int, engine: Engine
) -> tuple[Leg, ...]:
    """The legs with a second sparse one over the terms of RM3, and the dense one searched with
    Rocchio's vector.

    RM3 interpolates the question with the terms of its best hits; BM25 is linear in the weights of
    terms, so fusing a leg for each at equal weight does the same (Abdul-Jaleel et al., TREC 2004).
    Rocchio, 1971, without negatives."""
    by_name = {leg.name: leg for leg in legs}
    found: list[Leg] = []
    if sparse := by_name.get("sparse"):
        found.append(sparse)
        if new := _relevance_terms(sparse, terms.split()):
            found += engine.search(" ".join(new), None, where, k, "sparse")
    if dense := by_name.get("dense"):
        moved = _rocchio(dense, vector, engine)
        found += [dense] if moved is None else engine.search("", moved, where, k, "dense")
    return tuple(found)


def _relevance_terms(leg: Leg, asked: Sequence[str]) -> list[str]:
    """Terms by sum over hits of P(hit) x P(term | hit), hits weighed by their scores; the
    question's own left out."""
    best = leg.hits[:BELIEVED]
    total = sum(score for _, score in best) or 1.0
    weights: dict[str, float] = defaultdict(float)
    for chunk, score in best:
        held = _terms(chunk)
        for term, n in held.items():
            weights[term] += score / total * n / held.total()
    return sorted((t for t in weights if t not in asked), key=lambda t: (-weights[t], t))[
        :NEW_TERMS
    ]


def _terms(chunk: Chunk) -> Counter[str]:
    return Counter(analyse("\n".join((*chunk.trail, chunk.header, chunk.text)), chunk.language))


def _rocchio(leg: Leg, vector: Vector | None, engine: Engine) -> Vector | None:
    held = engine.vectors([chunk.id for chunk, _ in leg.hits[:BELIEVED]])
    if vector is None or not held:
        return None
    # Of several windows of a chunk, the one that was found.
    near = [windows[int(np.argmax(windows @ vector))] for windows in held.values()]
    moved = KEPT * vector + (1 - KEPT) * np.mean(near, axis=0)
    length = float(np.linalg.norm(moved))
    return (moved / length).astype(np.float32) if length else None
