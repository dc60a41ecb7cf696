"""Rank metrics as ir_measures computes them through trec_eval, for the hits of a case and for plain
id rankings.

Ties: documents of one score are ordered by descending id, and scores that are equal in single
precision are ties, as in trec_eval. A query of the qrels that the run lacks scores 0, one that only
the run has is not scored. A query without any relevant document has no value (trec_eval says 0):
it would pull a mean down that no system can lift."""

from collections import Counter
from collections.abc import Iterable, Mapping
from ctypes import c_float
from functools import lru_cache
from math import isnan
from typing import Any

from ombud.errors import UnknownName
from ombud.lab.extra import lab_library
from ombud.lab.metrics.metric import Metric
from ombud.types import Score

Qrels = Mapping[str, Mapping[str, int]]
"""query id -> document id -> grade; 0 and less is not relevant."""
Rankings = Mapping[str, Mapping[str, float]]
"""query id -> document id -> score, higher is better."""

NO_RELEVANT = "no relevant document is known"
RANK_METRICS = {
    "hit": "Success",
    "map": "AP",
    "mrr": "RR",
    "ndcg": "nDCG",
    "ndcg_exp": "nDCG",
    "precision": "P",
    "recall": "R",
}
"""Name -> what ir_measures calls it."""
_HIGHEST_GRADE = 20
"""trec_eval counts documents by grade in an array as long as the highest gain."""


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Sort ids by descending score, then descending id; a score that is not a number comes last."""
    return sorted(scores, key=lambda name: (_number(scores[name]), name), reverse=True)


def score_rankings(qrels: Qrels, run: Rankings, metrics: Iterable[Metric]) -> tuple[Score, ...]:
    """Return one score for each query of the qrels and each metric; raises UnknownName for a metric
    that needs more than ids."""
    wanted = tuple(metrics)
    for metric in wanted:
        if metric.name not in RANK_METRICS:
            supported = ", ".join(sorted(RANK_METRICS))
            raise UnknownName(
                f"`{metric}` cannot be computed from ids alone.", hint=f"From ids: {supported}."
            )
    graded: dict[str, dict[str, int]] = {}
    numbered: dict[str, dict[str, float]] = {}
    for query, grades in qrels.items():
        if any(grade > 0 for grade in grades.values()):
            graded[query] = {name: _capped(grade) for name, grade in grades.items()}
            numbered[query] = {name: _number(at) for name, at in run.get(query, {}).items()}
    values = {metric: _calculate(metric, graded, numbered) for metric in wanted}
    rows = []
    for query in qrels:
        for metric in wanted:
            value = values[metric].get(query)
            reason = NO_RELEVANT if value is None else ""
            rows.append(Score(case_id=query, metric=str(metric), value=value, reason=reason))
    return tuple(rows)


@lru_cache(maxsize=4096)
def score_gains(metric: Metric, gains: tuple[int, ...], relevant: tuple[int, ...]) -> float:
    """A rank metric of one ranking. gains: grade at each rank; relevant: all grades above 0, those
    that were not found too."""
    names = [f"{rank:06}" for rank in range(len(gains))]
    grades = {name: gain for name, gain in zip(names, gains, strict=True) if gain > 0}
    missed = Counter(relevant) - Counter(gains)
    for number, grade in enumerate(missed.elements()):
        grades[f"missed {number}"] = grade
    scores = {name: -float(rank) for rank, name in enumerate(names)}
    return _calculate(metric, {"": grades}, {"": scores})[""]


def _calculate(metric: Metric, qrels: Qrels, run: Rankings) -> dict[str, float]:
    """Map each query to its value."""
    library = lab_library("ir_measures")
    measure = _measure(library, metric, qrels)
    values: dict[str, float] = {}
    if not qrels:
        return values
    for row in library.pytrec_eval.iter_calc([measure], qrels, run):
        values[row.query_id] = row.value
        # trec_eval knows no cut-off of the reciprocal rank.
        if metric.name == "mrr" and metric.cutoff and row.value * metric.cutoff < 1 - 1e-9:
            values[row.query_id] = 0.0
    return values


def _measure(library: Any, metric: Metric, qrels: Qrels) -> Any:
    measure = getattr(library, RANK_METRICS[metric.name])
    if metric.name == "ndcg_exp":  # Burges et al. 2005
        grades = {grade for of_query in qrels.values() for grade in of_query.values()}
        measure = measure(gains={grade: 2**grade - 1 for grade in grades})
    has_cutoff = metric.cutoff and metric.name not in {"mrr", "map"}
    return measure @ metric.cutoff if has_cutoff else measure


def _number(score: float) -> float:
    return float("-inf") if isnan(score) else c_float(score).value


def _capped(grade: int) -> int:
    return min(max(grade, 0), _HIGHEST_GRADE)
