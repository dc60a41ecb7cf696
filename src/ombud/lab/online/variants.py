"""Experiments compared on the people who are assigned to them, since their start.

B are those who got the experiment's plan; A, the control group, are those who could have got it: of
its countries, with an id by which they are assigned. People are the units, not answers: one who
asks twenty times is not twenty people. So each figure is the mean over people of each one's own
mean, and a difference is tested by drawing anew who is in A and who in B (permutation of
people)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from math import sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from ombud.lab.extra import lab_library
from ombud.lab.statistics import (
    RESAMPLES,
    Mean,
    holm,
    mean,
    smallest_difference,
    standard_error,
)
from ombud.settings import Experiment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.05
LEAST_PEOPLE = 5
"""Of each side, for a difference to be tested at all."""
GUARDS: Mapping[str, int] = {"answered": 1, "thumbs up": 1, "to a person": -1}
"""Figures that stop a variant when they get worse, and which way is better."""


class LiveAnswer(NamedTuple):
    """The figures of one answer that variants are compared by; contains no text of it."""

    variant: str
    """Names of the experiments whose plan it had, joined by +; empty = of none."""
    person: str
    """Whoever asked: a pseudonym, the conversation's owner or the conversation."""
    outcome: str
    """answered, partly, not found or to a person."""
    price: float | None
    seconds: float | None
    thumb: int | None = None
    """1 or -1, where somebody rated it."""
    at: str = ""
    """Time in UTC, ISO 8601."""
    country: str = ""
    is_assigned: bool = True
    """Whether the asker has an id: nobody without one takes part."""
    grades: Mapping[str, float] = {}
    """Judged metric -> value, of the share that a judge grades."""

    def figures(self) -> dict[str, float | None]:
        return {
            "answered": float(self.outcome == "answered"),
            "not found": float(self.outcome == "not found"),
            "to a person": float(self.outcome == "to a person"),
            "thumbs up": None if self.thumb is None else float(self.thumb > 0),
            "price": self.price,
            "seconds": self.seconds,
            **self.grades,
        }


class ExperimentScope(NamedTuple):
    """The people who can be in an experiment, and its start."""

    name: str
    countries: Collection[str] = ()
    """Empty = all."""
    since: str = ""
    """Time in UTC, ISO 8601; empty = the first answer of B."""


@dataclass(frozen=True, slots=True)
class LiveFigure:
    """A figure of one group of an experiment."""

    variant: str
    """Name of the experiment."""
    group: str
    """A: the control group; B: those who got its plan."""
    figure: str
    mean: Mean
    """Over people, of each one's own mean."""
    people: int
    answers: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """By permutation of people."""
    adjusted: float | None = None
    """After Holm's correction over all variants and figures."""
    detectable: float | None = None
    """The least difference that so many people can show."""

    @property
    def moved(self) -> bool:
        return self.adjusted is not None and self.adjusted <= LEVEL

    @property
    def gain(self) -> float:
        """Return how far a guard moved beyond noise, above 0 if it got better; 0 otherwise."""
        if not self.moved or self.difference is None:
            return 0.0
        return self.difference * GUARDS.get(self.figure, 0)


@dataclass(frozen=True, slots=True)
class VariantAdvice:
    variant: str
    advice: str
    """keep collecting, turn it off, or take it over."""
    why: str


def experiment_scopes(
    experiments: Mapping[str, Experiment], answers: Iterable[LiveAnswer]
) -> list[ExperimentScope]:
    """Return the scopes of the settings' experiments, and of those that only answers name."""
    scopes: dict[str, ExperimentScope] = {}
    for name, one in experiments.items():
        since = one.since.astimezone(UTC).isoformat() if one.since else ""
        scopes[name] = ExperimentScope(name, one.countries, since)
    for answer in answers:
        for name in filter(None, answer.variant.split("+")):
            scopes.setdefault(name, ExperimentScope(name))
    return list(scopes.values())


def compare_variants(
    answers: Iterable[LiveAnswer], scopes: Iterable[ExperimentScope]
) -> list[LiveFigure]:
    """Return rows by experiment, then figure, A before B."""
    collected = list(answers)
    names = dict.fromkeys(name for answer in collected for name in answer.figures())
    rows: list[LiveFigure] = []
    for scope in scopes:
        control, treated = _groups(collected, scope)
        for figure in names:
            first, second = (_by_person(own, figure) for own in (control, treated))
            before = _row(scope.name, ("A", first), figure)
            after = _row(scope.name, ("B", second), figure)
            if min(len(first), len(second)) >= LEAST_PEOPLE:
                sides = [list(map(fmean, own.values())) for own in (first, second)]
                after = _compared(after, *sides)
            rows += [before, after]
    ps = {number: row.p for number, row in enumerate(rows) if row.p is not None}
    adjusted = holm(ps)
    return [replace(row, adjusted=adjusted.get(number)) for number, row in enumerate(rows)]


def _groups(
    answers: Sequence[LiveAnswer], scope: ExperimentScope
) -> tuple[list[LiveAnswer], list[LiveAnswer]]:
    """Return the answers of A and of B since the start; who was in both is in neither."""
    can_be_in = [answer for answer in answers if _can_be_in(answer, scope)]
    times = [answer.at for answer in can_be_in if _is_in(answer, scope)]
    start = scope.since or min(times, default="")
    groups: dict[bool, list[LiveAnswer]] = {False: [], True: []}
    for answer in can_be_in:
        if answer.at >= start:
            groups[_is_in(answer, scope)].append(answer)
    both = _people(groups[False]) & _people(groups[True])
    return _without(groups[False], both), _without(groups[True], both)


def _people(answers: Iterable[LiveAnswer]) -> set[str]:
    return {answer.person for answer in answers}


def _is_in(answer: LiveAnswer, scope: ExperimentScope) -> bool:
    return scope.name in answer.variant.split("+")


def _can_be_in(answer: LiveAnswer, scope: ExperimentScope) -> bool:
    return answer.is_assigned and (not scope.countries or answer.country in scope.countries)


def _without(answers: Sequence[LiveAnswer], people: Collection[str]) -> list[LiveAnswer]:
    return [answer for answer in answers if answer.person not in people]


def advise(rows: Sequence[LiveFigure]) -> list[VariantAdvice]:
    """Recommend for each variant: off if a guard got worse beyond noise, adopt if one got better
    and none worse."""
    moved: dict[str, list[LiveFigure]] = {}
    for row in rows:
        moved.setdefault(row.variant, []).extend([row] if row.gain else [])
    return [_advice(variant, own) for variant, own in moved.items()]


def _advice(variant: str, moved: Sequence[LiveFigure]) -> VariantAdvice:
    worse = [row for row in moved if row.gain < 0]
    if worse:
        return VariantAdvice(variant, "turn it off", _named(worse))
    if moved:
        return VariantAdvice(variant, "take it over", _named(moved))
    return VariantAdvice(variant, "keep collecting", "no measurable difference between A and B")


def _named(rows: Sequence[LiveFigure]) -> str:
    return ", ".join(f"{row.figure} {row.difference:+.3f}" for row in rows)


def _row(variant: str, group: tuple[str, Mapping[str, list[float]]], figure: str) -> LiveFigure:
    name, by_person = group
    values = list(map(fmean, by_person.values()))
    return LiveFigure(
        variant=variant,
        group=name,
        figure=figure,
        mean=mean(values),
        people=len(values),
        answers=sum(map(len, by_person.values())),
    )


def _by_person(answers: Sequence[LiveAnswer], figure: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for answer in answers:
        value = answer.figures().get(figure)
        if value is not None:
            values.setdefault(answer.person, []).append(value)
    return values


def _compared(row: LiveFigure, first: Sequence[float], second: Sequence[float]) -> LiveFigure:
    import numpy as np

    def gap(other: "NDArray[np.float64]", plain: "NDArray[np.float64]", axis: int = -1) -> Any:
        return other.mean(axis=axis) - plain.mean(axis=axis)

    sides = (np.asarray(second), np.asarray(first))
    test = lab_library("scipy.stats").permutation_test(
        sides, gap, vectorized=True, n_resamples=RESAMPLES, batch=100, rng=0
    )
    observed = float(test.statistic)
    errors = [standard_error(list(side)) for side in (first, second)]
    spread = sqrt(sum(error[0] ** 2 for error in errors if error))
    return replace(
        row,
        difference=observed,
        low=observed - 1.96 * spread,
        high=observed + 1.96 * spread,
        p=float(test.pvalue),
        detectable=smallest_difference(spread, len(first) + len(second)) if spread else None,
    )
