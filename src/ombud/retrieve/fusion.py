"""Many rankings into one. Rankings are of one question, so a chunk that several hold is likelier to
matter."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from ombud.errors import UnknownName

Scores = Sequence[tuple[str, float]]
"""(chunk id, score), best first."""
Weighted = Sequence[tuple[Scores, float]]


def fuse(name: str, rankings: Weighted, *, rrf_k: int = 60) -> dict[str, float]:
    """Chunk id -> fused score, higher is better; raises UnknownName."""
    if name not in FUSIONS:
        raise UnknownName(
            f"No fusion is called `{name}`.", hint=f"Known: {', '.join(sorted(FUSIONS))}."
        )
    return FUSIONS[name](rankings, rrf_k)


def rrf(rankings: Weighted, damping: int) -> dict[str, float]:
    """Reciprocal rank fusion, sum of weight / (damping + rank): Cormack, Clarke, Büttcher, SIGIR
    2009."""
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        for rank, (identity, _) in enumerate(ranking, start=1):
            fused[identity] += weight / (damping + rank)
    return dict(fused)


def combsum(rankings: Weighted, _damping: int) -> dict[str, float]:
    """Sum of weight x min-max normalised score: Fox, Shaw, TREC-2, 1994."""
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        for identity, score in _min_max(ranking).items():
            fused[identity] += weight * score
    return dict(fused)


def combmnz(rankings: Weighted, damping: int) -> dict[str, float]:
    """CombSUM times the number of rankings that hold the chunk: Fox, Shaw, TREC-2, 1994."""
    found_in: dict[str, int] = defaultdict(int)
    for ranking, weight in rankings:
        for identity, _ in ranking:
            found_in[identity] += weight > 0
    fused = combsum(rankings, damping)
    for identity in fused:
        fused[identity] *= found_in[identity]
    return fused


def weighted(rankings: Weighted, _damping: int) -> dict[str, float]:
    """Convex combination: scores over their ranking's best, from 0 as the least that BM25 and
    cosine of like texts can be, and weights that add up to 1: Bruch, Gai, Ingber, TOIS 2023,
    theoretical minimum."""
    total = sum(weight for _, weight in rankings) or 1.0
    fused: dict[str, float] = defaultdict(float)
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for identity, score in ranking:
            share = max(0.0, score) / best if best > 0 else 0.0
            fused[identity] += weight / total * share
    return dict(fused)


def _min_max(ranking: Scores) -> Mapping[str, float]:
    """Scores to 0..1; a ranking whose scores are all equal gives 1 to each."""
    if not ranking:
        return {}
    scores = [score for _, score in ranking]
    low = min(scores)
    spread = max(scores) - low
    if not spread:
        return {identity: 1.0 for identity, _ in ranking}
    return {identity: (score - low) / spread for identity, score in ranking}


FUSIONS: dict[str, Callable[[Weighted, int], dict[str, float]]] = {
    "rrf": rrf,
    "combsum": combsum,
    "combmnz": combmnz,
    "weighted": weighted,
}
