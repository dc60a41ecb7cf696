"""What thumbs go with: does a metric say of an answer what the people say who got it?"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ombud.lab.people.agreeing import Estimate
from ombud.lab.people.alignment import align
from ombud.lab.people.ratings import Rating
from ombud.lab.statistics import holm
from ombud.store import (
    Feedback,
    Store,
    list_answers,
    list_feedback,
    list_runs,
    read_observations,
    read_scores,
)
from ombud.types import Answer

Measured = Mapping[str, Mapping[str, float | None]]
"""Metric -> answer -> its value; None where it has none."""


class ThumbCorrelation(NamedTuple):
    """How a metric of answers goes with their thumbs."""

    metric: str
    answers: int
    spearman: Estimate
    p: float | None
    """By permutation of answers."""
    adjusted: float | None = None
    """After Holm's correction over all metrics."""


def thumb_correlations(
    thumbs: Iterable[Feedback], measured: Measured, *, seed: int = 0
) -> list[ThumbCorrelation]:
    """Spearman's correlation of each metric with thumbs (1 and -1), the strongest first. Metrics of
    fewer than three rated answers are left out."""
    rows = _uncorrected(list(map(_rating, thumbs)), measured, seed)
    adjusted = holm({row.metric: row.p for row in rows if row.p is not None})
    corrected = [row._replace(adjusted=adjusted.get(row.metric)) for row in rows]
    return sorted(corrected, key=lambda row: -abs(row.spearman.value or 0.0))


def _rating(one: Feedback) -> Rating:
    return Rating(one.answer_id, float(one.thumb), one.rater, "thumb")


def _uncorrected(ratings: list[Rating], measured: Measured, seed: int) -> list[ThumbCorrelation]:
    rows: list[ThumbCorrelation] = []
    for metric, values in measured.items():
        own = [rating for rating in ratings if values.get(rating.item) is not None]
        if len({rating.item for rating in own}) < 3:
            continue
        (found,) = align(own, values, seed=seed)
        correlation = found.correlation
        rows.append(ThumbCorrelation(metric, found.items, correlation.spearman, correlation.p))
    return rows


def read_feedback(store: Store) -> tuple[list[Feedback], Measured]:
    """All thumbs, and what is known of the answers that they are on: confidence, length, citations,
    time; and scores of runs that asked this very server."""
    thumbs = list(list_feedback(store))
    rated = {one.answer_id for one in thumbs}
    measured: dict[str, dict[str, float | None]] = {}
    for kept in list_answers(store):
        if kept.id in rated and kept.answer is not None:
            for metric, value in _of_answer(kept.answer).items():
                measured.setdefault(metric, {})[kept.id] = value
    for metric, identity, value in _scores(store, rated):
        measured.setdefault(metric, {})[identity] = value
    return thumbs, measured


def _of_answer(answer: Answer) -> dict[str, float | None]:
    unconfirmed = [claim for claim in answer.claims if claim.verdict == "unconfirmed"]
    return {
        "confidence": answer.trace.signals.get("confidence"),
        "words": float(len(answer.text.split())),
        "citations": float(len(answer.citations)),
        "unconfirmed claims": float(len(unconfirmed)) if answer.claims else None,
        "answered": float(answer.outcome == "full"),
        "seconds": answer.trace.seconds.get("total"),
    }


def _scores(store: Store, rated: set[str]) -> Iterable[tuple[str, str, float | None]]:
    """(metric, answer, value). A run against a server leaves its answers there under their ids."""
    for run in list_runs(store):
        if not rated or run.target == "local":
            continue
        answers: dict[str, str] = {}
        for _, seen in read_observations(store, run.id):
            if seen.answer and seen.answer.id in rated:
                answers[seen.case.id] = seen.answer.id
        if not answers:
            continue
        for score in read_scores(store, run.id):
            if score.case_id in answers:
                yield score.metric, answers[score.case_id], score.value
