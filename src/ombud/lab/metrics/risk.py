"""When to answer and when to say "not in the documents": a threshold on dev, and what it risks on
test."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from ombud.errors import LabError
from ombud.lab.metrics.losses import cited
from ombud.lab.report.summary import cluster_of
from ombud.lab.statistics import Mean, mean
from ombud.types import Answer, Case, Observation

COVERAGES = tuple(share / 10 for share in range(1, 11))
GRID = [step / 200 for step in range(1, 200)]
"""Thresholds that are tried."""
SIGNAL = "confidence"


class Decision(NamedTuple):
    """The decision to answer or deny one question, for any threshold of confidence."""

    confidence: float
    answerable: bool
    """The documents hold an answer."""
    right: bool
    """An answer was wanted, and it cites the evidence."""
    cluster: str

    def is_right_at(self, threshold: float) -> bool:
        """Tell whether the threshold answers what can be answered and denies what cannot."""
        return (self.confidence >= threshold) == self.answerable


@dataclass(frozen=True, slots=True)
class Risk:
    """Share of answers that should not have been given, among the most confident."""

    coverage: float
    threshold: float
    unanswerable: Mean
    """Answered though the documents do not answer."""
    wrong: Mean
    """The same, or answered without citing the evidence."""


def decisions(observations: Sequence[Observation]) -> tuple[Decision, ...]:
    """List the cases that were answered or denied by confidence; `undecided` counts the others.
    Raises LabError if no answer has a confidence."""
    made = [decision for seen in observations if (decision := _decision(seen)) is not None]
    if not made and undecided(observations):
        raise LabError(
            "The target does not say how sure it was.", hint="Ask it with a token of scope lab."
        )
    if len({decision.answerable for decision in made}) < 2:
        raise LabError(
            "A threshold needs questions with an answer and questions without.",
            hint="Add cases with expect = deny.",
        )
    return tuple(made)


def _decision(seen: Observation) -> Decision | None:
    if seen.answer is None or not _is_decision(seen.case, seen.answer):
        return None
    confidence = _confidence(seen.answer)
    if confidence is None:
        return None
    answerable = seen.case.expect == "answer"
    cites = any(cited(seen.answer, item) for item in seen.case.evidence)
    return Decision(
        confidence=confidence,
        answerable=answerable,
        right=answerable and cites,
        cluster=cluster_of(seen.case),
    )


def undecided(observations: Sequence[Observation]) -> int:
    """Count the answers that no threshold could change: they were given before any search, such as
    to an injection."""
    return sum(
        seen.answer is not None
        and _is_decision(seen.case, seen.answer)
        and _confidence(seen.answer) is None
        for seen in observations
    )


def _confidence(answer: Answer) -> float | None:
    confidence = answer.trace.signals.get(SIGNAL)
    return confidence if confidence is not None and isfinite(confidence) else None


def _is_decision(case: Case, answer: Answer) -> bool:
    """Tell whether the assistant had to decide between answering and saying that the documents do
    not."""
    return case.expect in {"answer", "deny"} and answer.action != "handoff"


def choose_threshold(decided: Sequence[Decision], most: float | None = None) -> float:
    """Choose the threshold that decides most questions rightly: the middle of the widest range of
    best ones.

    most: instead, the lowest threshold at which no larger share of the answers is to questions
    without one. Raises LabError without decisions, or when there is no such threshold."""
    _most_confident_first(decided)
    if most is not None:
        return _lowest_threshold(decided, most)
    right = [_right_at(decided, confidence) for confidence in GRID]
    # The best ones may lie apart, with worse ones between: their mean could be the worst of all.
    stretches: list[list[float]] = [[]]
    for confidence, count in zip(GRID, right, strict=True):
        if count == max(right):
            stretches[-1].append(confidence)
        elif stretches[-1]:
            stretches.append([])
    widest = max(stretches, key=len)
    return round((widest[0] + widest[-1]) / 2, 4)


def _lowest_threshold(decided: Sequence[Decision], most: float) -> float:
    for confidence in GRID:
        answered = []
        for one in decided:
            if one.confidence >= confidence:
                answered.append(one.answerable)
        if not answered or answered.count(False) / len(answered) <= most:
            return confidence
    raise LabError(f"No threshold keeps the share at {most:g}.", hint="Allow a larger share.")


def _right_at(decided: Sequence[Decision], confidence: float) -> int:
    """Count the decisions that a threshold gets right."""
    return sum(one.is_right_at(confidence) for one in decided)


def decision_accuracy(decided: Sequence[Decision], at: float) -> Mean:
    """Share of questions that a threshold answers or denies rightly."""
    values = [float(one.is_right_at(at)) for one in decided]
    return mean(values, [one.cluster for one in decided])


def risk_coverage(decided: Sequence[Decision]) -> tuple[Risk, ...]:
    """Compute the risk at each coverage, most confident first (El-Yaniv & Wiener 2010); raises
    LabError without decisions."""
    order = _most_confident_first(decided)
    clusters = [one.cluster for one in order]
    unanswerable = [float(not one.answerable) for one in order]
    wrong = [float(not one.right) for one in order]
    rows = []
    for coverage in COVERAGES:
        count = max(1, round(coverage * len(order)))
        risk = Risk(
            coverage=coverage,
            threshold=order[count - 1].confidence,
            unanswerable=mean(unanswerable[:count], clusters[:count]),
            wrong=mean(wrong[:count], clusters[:count]),
        )
        rows.append(risk)
    return tuple(rows)


def risk_area(decided: Sequence[Decision]) -> float:
    """Area under the risk-coverage curve, 0 best: the mean risk over all coverages (Geifman &
    El-Yaniv 2017).

    Raises LabError without decisions.
    """
    order = _most_confident_first(decided)
    wrong = 0
    total = 0.0
    for count, one in enumerate(order, 1):
        wrong += not one.answerable
        total += wrong / count
    return total / len(order)


def _most_confident_first(decided: Sequence[Decision]) -> list[Decision]:
    """Sort by confidence; of equally confident decisions the wrong ones come first, so that the
    order of the dataset flatters nobody."""
    if not decided:
        raise LabError(
            "There is no decision to measure.", hint="Cases to answer and cases to deny are needed."
        )
    return sorted(decided, key=lambda one: (-one.confidence, one.answerable, one.right))
