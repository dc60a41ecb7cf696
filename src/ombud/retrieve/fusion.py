"""Many rankings into one. Rankings are of one question, so a chunk that several hold is likelier to
matter."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from ombud.errors import UnknownName

Scores = Sequence[tuple[str, float]]
"""(chunk id, score), best first."""
Weighted = Sequence[tuple[Scores, float]]


RRF_DAMPING = 60
"""As published."""


def fuse(name: str, rankings: Weighted) -> dict[str, float]:
    """Return the fused score by chunk id, higher is better; raises UnknownName."""
    if name not in FUSIONS:
        raise UnknownName(
            f"No fusion is called `{name}`.", hint=f"Known: {', '.join(sorted(FUSIONS))}."
        )
    return FUSIONS[name](rankings)


def rrf(rankings: Weighted) -> dict[str, float]:
    """Fuse by reciprocal rank, the sum of weight / (RRF_DAMPING + rank): Cormack, Clarke, Büttcher,
    SIGIR 2009."""
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        for rank, (identity, _) in enumerate(ranking, start=1):
            fused[identity] += weight / (RRF_DAMPING + rank)
    return dict(fused)


def combsum(rankings: Weighted) -> dict[str, float]:
    """Sum of weight x min-max normalised score: Fox, Shaw, TREC-2, 1994."""
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        for identity, score in min_max(ranking).items():
            fused[identity] += weight * score
    return dict(fused)


def weighted(rankings: Weighted) -> dict[str, float]:
    """Combine scores convexly, each over its ranking's best, with weights that add up to 1. The
    least score is taken as 0, the theoretical minimum: Bruch, Gai, Ingber, TOIS 2023."""
    total = sum(weight for _, weight in rankings) or 1.0
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for identity, score in ranking:
            share = max(0.0, score) / best if best > 0 else 0.0
            fused[identity] += weight / total * share
    return dict(fused)


def min_max(ranking: Scores) -> Mapping[str, float]:
    """Scale scores to 0..1; equal scores all become 1."""
    if not ranking:
        return {}
    scores = [score for _, score in ranking]
    low = min(scores)
    spread = max(scores) - low
    if not spread:
        return {identity: 1.0 for identity, _ in ranking}
    return {identity: (score - low) / spread for identity, score in ranking}


FUSIONS: dict[str, Callable[[Weighted], dict[str, float]]] = {
    "rrf": rrf,
    "combsum": combsum,
    "weighted": weighted,
}
