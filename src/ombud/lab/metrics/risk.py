"""When to answer and when to say "not in the documents": a threshold on dev, and what it risks on
test."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import NamedTuple

from ombud.errors import LabError
from ombud.lab.metrics.losses import cited
from ombud.lab.report.summary import cluster_of
from ombud.lab.statistics import Mean, mean
from ombud.types import Observation

COVERAGES = tuple(share / 10 for share in range(1, 11))
SIGNAL = "confidence"


class Decision(NamedTuple):
    """One question, answered however unsure the assistant was."""

    confidence: float
    answerable: bool
    """The documents hold an answer."""
    right: bool
    """An answer was wanted, and it cites the evidence."""
    cluster: str


@dataclass(frozen=True, slots=True)
class Risk:
    """Of the most confident share of questions: how many answers should not have been given."""

    coverage: float
    threshold: float
    unanswerable: Mean
    """Answered though the documents do not answer."""
    wrong: Mean
    """The same, or answered without citing the evidence."""


def decisions(observations: Sequence[Observation]) -> tuple[Decision, ...]:
    """Of the cases to answer or deny; raises LabError when the answers do not say how sure they
    were."""
    found = []
    for seen in observations:
        if (
            seen.answer is None
            or seen.case.expect not in {"answer", "deny"}
            or seen.answer.action == "handoff"
        ):
            continue
        sure = seen.answer.trace.signals.get(SIGNAL)
        if sure is None or not isfinite(sure):
            raise LabError(
                "The target does not say how sure it was.", hint="Ask it with a token of scope lab."
            )
        wanted = seen.case.expect == "answer"
        cites = any(cited(seen.answer, item) for item in seen.case.evidence)
        found.append(Decision(sure, wanted, wanted and cites, cluster_of(seen.case)))
    if len({one.answerable for one in found}) < 2:
        raise LabError(
            "A threshold needs questions with an answer and questions without.",
            hint="Add cases with expect = deny.",
        )
    return tuple(found)


def threshold(given: Sequence[Decision], most: float | None = None) -> float:
    """The least confidence to answer that decides most questions rightly: the middle of the widest
    best stretch.

    most: instead, the lowest threshold at which no larger share of the answers is to questions
    without one. Raises LabError without decisions, or when there is no such threshold."""
    _ordered(given)
    grid = [step / 200 for step in range(1, 200)]
    if most is not None:
        for t in grid:
            answered = [one.answerable for one in given if one.confidence >= t]
            if not answered or answered.count(False) / len(answered) <= most:
                return t
        raise LabError(f"No threshold keeps the share at {most:g}.", hint="Allow a larger share.")
    right = [sum((one.confidence >= t) == one.answerable for one in given) for t in grid]
    # The best ones may lie apart, with worse ones between: their mean could be the worst of all.
    stretches = [
        list(some)
        for best, some in groupby(range(len(grid)), lambda at: right[at] == max(right))
        if best
    ]
    widest = max(stretches, key=len)
    return round((grid[widest[0]] + grid[widest[-1]]) / 2, 4)


def accuracy(given: Sequence[Decision], at: float) -> Mean:
    """Share of questions that a threshold answers or denies rightly."""
    values = [float((one.confidence >= at) == one.answerable) for one in given]
    return mean(values, [one.cluster for one in given])


def risk_coverage(given: Sequence[Decision]) -> tuple[Risk, ...]:
    """Risk at each coverage, most confident first (El-Yaniv & Wiener 2010); raises LabError without
    decisions."""
    order = _ordered(given)
    rows = []
    for coverage in COVERAGES:
        kept = order[: max(1, round(coverage * len(order)))]
        clusters = [one.cluster for one in kept]
        rows.append(
            Risk(
                coverage,
                kept[-1].confidence,
                mean([float(not one.answerable) for one in kept], clusters),
                mean([float(not one.right) for one in kept], clusters),
            )
        )
    return tuple(rows)


def area(given: Sequence[Decision]) -> float:
    """Area under the risk-coverage curve, 0 best: the mean risk over all coverages (Geifman &
    El-Yaniv 2017).

    Raises LabError without decisions.
    """
    order = _ordered(given)
    wrong, total = 0, 0.0
    for count, one in enumerate(order, 1):
        wrong += not one.answerable
        total += wrong / count
    return total / len(order)


def _ordered(given: Sequence[Decision]) -> list[Decision]:
    """Most confident first; of equally confident ones the worst, so that the order of the dataset
    flatters nobody."""
    if not given:
        raise LabError(
            "There is no decision to measure.", hint="Cases to answer and cases to deny are needed."
        )
    return sorted(given, key=lambda one: (-one.confidence, one.answerable, one.right))
