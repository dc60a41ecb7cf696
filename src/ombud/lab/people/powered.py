"""A mean of people's ratings from few of them and many scores of a judge.

Prediction-powered inference with its power tuned to the data (Angelopoulos, Duchi, Zrnic 2023,
"PPI++", arXiv:2311.01453): the judge may be as wrong as it likes, the estimate stays unbiased; how
good the judge is decides only how narrow the interval is."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import NamedTuple


class PoweredMean(NamedTuple):
    value: float
    low: float
    high: float
    """95 %, for many items."""
    power: float
    """Share of the judge that was used: 0 = it does not help."""
    people_low: float
    people_high: float
    """What the people's ratings alone would give."""


def powered_mean(
    labels: Sequence[float], scores: Sequence[float], others: Sequence[float]
) -> PoweredMean | None:
    """labels, scores: of the items that people rated, in one order; others: the judge's scores of
    the rest. None with fewer than two of either."""
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels have {len(scores)} scores")
    rated, rest = len(labels), len(others)
    if rated < 2 or rest < 2:
        return None
    spread = variance([*scores, *others])
    power = 0.0
    if spread > 0:
        power = _covariance(labels, scores) / ((1 + rated / rest) * spread)
        power = max(0.0, min(1.0, power))
    errors = [label - power * score for label, score in zip(labels, scores, strict=True)]
    value = power * fmean(others) + fmean(errors)
    z = NormalDist().inv_cdf(0.975)
    half = z * sqrt(power**2 * variance(others) / rest + variance(errors) / rated)
    alone = z * sqrt(variance(labels) / rated)
    mean = fmean(labels)
    return PoweredMean(
        value=value,
        low=value - half,
        high=value + half,
        power=power,
        people_low=mean - alone,
        people_high=mean + alone,
    )


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    own, other = fmean(first), fmean(second)
    products = [(a - own) * (b - other) for a, b in zip(first, second, strict=True)]
    return sum(products) / (len(products) - 1)
