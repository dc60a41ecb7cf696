"""A logistic curve over a few signals: ridge-penalised, by Newton's method, in numpy alone."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ombud.answer import ConfidenceWeights
from ombud.errors import BadRequest

STEPS = 60
RIDGE = 1.0
TOLERANCE = 1e-8
Numbers = npt.NDArray[np.float64]
FeatureRow = Mapping[str, float]


def fit_logistic(
    rows: Sequence[FeatureRow],
    labels: Sequence[bool],
    features: Sequence[str],
    *,
    balanced: bool = True,
) -> ConfidenceWeights:
    """A curve whose thresholds the caller sets. balanced: both classes weigh the same in total;
    else each row weighs the same, and what comes out is a share of such rows. A value that is not a
    number counts as average.

    Raises BadRequest without rows of both kinds."""
    if len(set(labels)) < 2:
        raise BadRequest(
            "A fit needs questions with an answer and questions without.",
            hint="Add the missing kind.",
        )
    values = _without_gaps(np.array([_values(row, features) for row in rows]))
    positive = np.array(labels, float)
    mean = values.mean(axis=0)
    scale = np.maximum(values.std(axis=0), 1e-6)
    standardised = (values - mean) / scale
    design = np.hstack([standardised, np.ones((len(values), 1))])
    share = positive.mean() if balanced else 0.5
    of_positive = 0.5 / max(share, 1e-9)
    of_negative = 0.5 / max(1 - share, 1e-9)
    importance = np.where(positive > 0, of_positive, of_negative)
    coefficients = _newton(design, positive, importance)
    return ConfidenceWeights(
        features=tuple(features),
        mean=_rounded(mean),
        scale=_rounded(scale),
        weight=_rounded(coefficients[:-1]),
        bias=round(float(coefficients[-1]), 4),
    )


def _values(row: FeatureRow, features: Sequence[str]) -> list[float]:
    return [row[feature] for feature in features]


def _without_gaps(values: Numbers) -> Numbers:
    """The mean of a column where a row has no number."""
    means = np.nanmean(values, axis=0)
    return np.where(np.isnan(values), means, values)


def _newton(design: Numbers, positive: Numbers, importance: Numbers) -> Numbers:
    """Coefficients, the last the bias, which alone is not penalised."""
    coefficients = np.zeros(design.shape[1])
    penalty = RIDGE * np.eye(design.shape[1])
    penalty[-1, -1] = 0
    for _ in range(STEPS):
        probability = _logistic(design @ coefficients)
        error = importance * (positive - probability)
        gradient = design.T @ error - penalty @ coefficients
        curvature = importance * probability * (1 - probability)
        hessian = (design * curvature[:, None]).T @ design + penalty
        step = np.linalg.solve(hessian, gradient)
        coefficients += step
        if np.abs(step).max() < TOLERANCE:
            break
    return coefficients


def _logistic(scores: Numbers) -> Numbers:
    return np.exp(-np.logaddexp(0.0, -scores))  # the plain form overflows


def _rounded(values: Numbers) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)
