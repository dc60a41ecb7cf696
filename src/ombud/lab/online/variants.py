"""Variants of the assistant compared on the people who got them.

People are the units, not answers: who belongs to which variant is drawn by person, and one who
asks twenty times is not twenty people. So each figure is the mean over people of each one's own
mean, and a difference is tested by drawing anew who got which variant (permutation of people)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from ombud.lab.statistics import Mean, holm, mean, smallest_difference, standard_error

DRAWS = 5000
LEVEL = 0.05
LEAST_PEOPLE = 5
"""Of each side, for a difference to be tested at all."""
GUARDS: Mapping[str, int] = {"answered": 1, "thumbs up": 1, "to a person": -1}
"""Figures that stop a variant when they get worse, and which way is better."""


class LiveAnswer(NamedTuple):
    """What is compared of one answer. Holds no word of it."""

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

    def figures(self) -> dict[str, float | None]:
        return {
            "answered": float(self.outcome == "answered"),
            "not found": float(self.outcome == "not found"),
            "to a person": float(self.outcome == "to a person"),
            "thumbs up": None if self.thumb is None else float(self.thumb > 0),
            "price": self.price,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class LiveFigure:
    """One figure of one variant, beside those who got none."""

    variant: str
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
        """Of a guard that moved beyond noise: above 0 where it got better; else 0."""
        if not self.moved or self.difference is None:
            return 0.0
        return self.difference * GUARDS.get(self.figure, 0)


@dataclass(frozen=True, slots=True)
class VariantAdvice:
    variant: str
    advice: str
    """keep collecting, turn it off, or take it over."""
    why: str


def compare_variants(answers: Iterable[LiveAnswer]) -> list[LiveFigure]:
    """Rows by variant, the one without experiments first, then figure."""
    by_variant: dict[str, list[LiveAnswer]] = {"": []}
    for answer in answers:
        by_variant.setdefault(answer.variant, []).append(answer)
    rows: list[LiveFigure] = []
    for variant in sorted(by_variant):
        for figure in LiveAnswer("", "", "", None, None).figures():
            rows.append(_row(variant, figure, by_variant[variant], by_variant[""]))
    ps = {number: row.p for number, row in enumerate(rows) if row.p is not None}
    adjusted = holm(ps)
    return [replace(row, adjusted=adjusted.get(number)) for number, row in enumerate(rows)]


def advise(rows: Sequence[LiveFigure]) -> list[VariantAdvice]:
    """What to do with each variant: off where a guard got worse beyond noise, taken over where one
    got better and none worse."""
    moved: dict[str, list[LiveFigure]] = {}
    for row in rows:
        if row.variant:
            moved.setdefault(row.variant, []).extend([row] if row.gain else [])
    return [_advice(variant, own) for variant, own in moved.items()]


def _advice(variant: str, moved: Sequence[LiveFigure]) -> VariantAdvice:
    worse = [row for row in moved if row.gain < 0]
    if worse:
        return VariantAdvice(variant, "turn it off", _named(worse))
    if moved:
        return VariantAdvice(variant, "take it over", _named(moved))
    return VariantAdvice(variant, "keep collecting", "nothing moved beyond noise")


def _named(rows: Sequence[LiveFigure]) -> str:
    return ", ".join(f"{row.figure} {row.difference:+.3f}" for row in rows)


def _row(
    variant: str, figure: str, own: Sequence[LiveAnswer], plain: Sequence[LiveAnswer]
) -> LiveFigure:
    second = _by_person(own, figure)
    values = list(map(fmean, second.values()))
    row = LiveFigure(
        variant=variant,
        figure=figure,
        mean=mean(values),
        people=len(values),
        answers=sum(map(len, second.values())),
    )
    first = list(map(fmean, _by_person(plain, figure).values()))
    if not variant or min(len(first), len(values)) < LEAST_PEOPLE:
        return row
    return _compared(row, first, values)


def _by_person(answers: Sequence[LiveAnswer], figure: str) -> dict[str, list[float]]:
    given: dict[str, list[float]] = {}
    for answer in answers:
        value = answer.figures()[figure]
        if value is not None:
            given.setdefault(answer.person, []).append(value)
    return given


def _compared(row: LiveFigure, first: Sequence[float], second: Sequence[float]) -> LiveFigure:
    import numpy as np

    values = np.asarray([*first, *second])
    is_second = np.arange(len(values)) >= len(first)

    def gap(chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float:
        return float(values[chosen].mean() - values[~chosen].mean())

    observed = gap(is_second)
    random = np.random.default_rng(0)
    drawn = np.asarray([gap(random.permutation(is_second)) for _ in range(DRAWS)])
    extreme = int((np.abs(drawn) >= abs(observed) - 1e-12).sum())
    errors = [standard_error(list(side)) for side in (first, second)]
    spread = sqrt(sum(error[0] ** 2 for error in errors if error))
    return replace(
        row,
        difference=observed,
        low=observed - 1.96 * spread,
        high=observed + 1.96 * spread,
        p=(extreme + 1) / (DRAWS + 1),
        detectable=smallest_difference(spread, len(values)) if spread else None,
    )
