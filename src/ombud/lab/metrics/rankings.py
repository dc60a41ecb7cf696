"""Rank formulas, as trec_eval defines them, and scores of plain id rankings.

Ties: documents of one score are ordered by descending id, as trec_eval does (their order in the
file and the rank column do not count). Scores that are equal in single precision are ties, because
trec_eval reads them so. A query of the qrels that the run lacks is an empty ranking and scores 0,
as with `trec_eval -c` and in ir_measures; a query that only the run has is not scored. A query
without any relevant document has no value (trec_eval says 0): it would pull a mean down that no
system can lift."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import c_float
from math import isnan, log2

from ombud.errors import UnknownName
from ombud.lab.metrics.metric import Metric
from ombud.types import Score

Qrels = Mapping[str, Mapping[str, int]]
"""query id -> document id -> grade; 0 and less is not relevant."""
Rankings = Mapping[str, Mapping[str, float]]
"""query id -> document id -> score, higher is better."""

NO_RELEVANT = "no relevant document is known"


def recall(gains: Sequence[int], relevant: Sequence[int], k: int) -> float:
    """Relevant among the first k / relevant. gains: grade at each rank; relevant: all grades above
    0, not empty."""
    return _count_relevant(gains[:k]) / len(relevant)


def precision(gains: Sequence[int], k: int) -> float:
    """Relevant among the first k / k, however short the ranking is."""
    return _count_relevant(gains[:k]) / k if k else 0.0


def success(gains: Sequence[int], k: int) -> float:
    """1 if any of the first k is relevant, else 0 (trec_eval: success)."""
    return float(_count_relevant(gains[:k]) > 0)


def reciprocal_rank(gains: Sequence[int], k: int) -> float:
    """1 / rank of the first relevant one among the first k, 0 if there is none."""
    for rank, gain in enumerate(gains[:k], start=1):
        if gain > 0:
            return 1 / rank
    return 0.0


def average_precision(gains: Sequence[int], relevant: Sequence[int]) -> float:
    """Sum of the precision at each relevant rank / number of relevant ones (trec_eval: map)."""
    found = 0
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        if gain > 0:
            found += 1
            total += found / rank
    return total / len(relevant)


def ndcg(gains: Sequence[int], relevant: Sequence[int], k: int) -> float:
    """DCG of the first k / DCG of the best order of all relevant ones, gain = grade (Järvelin &
    Kekäläinen 2002)."""
    best = sorted(relevant, reverse=True)
    return _discounted(gains[:k]) / _discounted(best[:k])


def ndcg_exp(gains: Sequence[int], relevant: Sequence[int], k: int) -> float:
    """nDCG with gain = 2^grade - 1 (Burges et al. 2005)."""
    raised_gains = list(map(_raised, gains))
    raised_relevant = list(map(_raised, relevant))
    return ndcg(raised_gains, raised_relevant, k)


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Ids by descending score, then descending id; a score that is no number stands last."""
    return sorted(scores, key=lambda name: (_number(scores[name]), name), reverse=True)


def score_rankings(qrels: Qrels, run: Rankings, metrics: Iterable[Metric]) -> tuple[Score, ...]:
    """One score a query of the qrels and metric; raises UnknownName for a metric that needs more
    than ids."""
    asked = tuple(metrics)
    for metric in asked:
        if metric.name not in RANK_METRICS:
            known = ", ".join(sorted(RANK_METRICS))
            raise UnknownName(
                f"`{metric}` cannot be computed from ids alone.", hint=f"From ids: {known}."
            )
    rows = []
    for query, grades in qrels.items():
        names = ranked(run.get(query, {}))
        gains = [max(grades.get(name, 0), 0) for name in names]
        relevant = [grade for grade in grades.values() if grade > 0]
        for metric in asked:
            rows.append(
                Score(
                    case_id=query,
                    metric=str(metric),
                    value=score_gains(metric, gains, relevant) if relevant else None,
                    reason="" if relevant else NO_RELEVANT,
                )
            )
    return tuple(rows)


def score_gains(metric: Metric, gains: Sequence[int], relevant: Sequence[int]) -> float:
    """A rank metric of one ranking; without a cut-off the whole ranking counts."""
    return RANK_METRICS[metric.name](gains, relevant, metric.cutoff or len(gains))


def _count_relevant(gains: Sequence[int]) -> int:
    return sum(gain > 0 for gain in gains)


def _number(score: float) -> float:
    return float("-inf") if isnan(score) else c_float(score).value


def _raised(grade: int) -> int:
    return 2 ** min(grade, 512) - 1 if grade > 0 else 0


def _discounted(gains: Sequence[int]) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        if gain > 0:
            total += gain / log2(rank + 1)
    return total


RANK_METRICS: dict[str, Callable[[Sequence[int], Sequence[int], int], float]] = {
    "hit": lambda gains, _, k: success(gains, k),
    "map": lambda gains, relevant, _: average_precision(gains, relevant),
    "mrr": lambda gains, _, k: reciprocal_rank(gains, k),
    "ndcg": ndcg,
    "ndcg_exp": ndcg_exp,
    "precision": lambda gains, _, k: precision(gains, k),
    "recall": recall,
}
