"""How sure we are that the documents answer: a logistic curve over the signals, calibrated on
held-out questions.

The shipped weights were fitted on the dev split of the sample's cases (`make calibrate`); without
vectors a second set, fitted on sparse search alone, is used."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.errors import BadRequest

SHIPPED = Path(__file__).parent / "confidence.json"
FEATURES = (
    "cosine", "cosine_span", "coverage_best", "coverage_all", "known_terms", "rare_held", "length",
    "sparse_share", "span_match",
)  # fmt: skip
SPARSE_FEATURES = (
    "coverage_best", "coverage_all", "known_terms", "rare_held", "length", "sparse_share", "span_terms",
)  # fmt: skip
"""Without vectors."""
STEPS, RIDGE = 60, 1.0


class ConfidenceWeights(NamedTuple):
    """Logistic regression on standardised signals."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float
    answer: float = 0.5
    """Least confidence to answer at all."""
    full: float = 0.5
    """Least confidence to call the answer whole."""
    on_topic: float = 0.0
    """Least cosine (sparse only: coverage) of a question about the organisation's policies at
    all."""
    in_scope: float = 0.5
    """Least confidence at which a question that triage takes for out of scope is answered all the
    same."""


def estimate_confidence(signals: Mapping[str, float], weights: ConfidenceWeights) -> float:
    """Probability, 0 to 1, that the evidence answers the question. A signal that is not a number
    counts as average."""
    x = np.nan_to_num(
        (np.array([signals[f] for f in weights.features]) - weights.mean) / weights.scale
    )
    return float(_logistic(np.atleast_1d(x @ np.array(weights.weight) + weights.bias))[0])


def fit_confidence(
    rows: Sequence[Mapping[str, float]], answerable: Sequence[bool], features: Sequence[str]
) -> ConfidenceWeights:
    """Ridge-penalised logistic regression by Newton's method; both classes weigh the same.

    rows: signals of each question. The caller sets the thresholds. Raises BadRequest without
    questions of both kinds."""
    if len(set(answerable)) < 2:
        raise BadRequest(
            "A fit needs questions with an answer and questions without.",
            hint="Add the missing kind.",
        )
    x = np.array([[row[f] for f in features] for row in rows])
    y = np.array(answerable, float)
    mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    design = np.hstack([(x - mean) / scale, np.ones((len(x), 1))])
    balance = np.where(y > 0, 0.5 / max(y.mean(), 1e-9), 0.5 / max(1 - y.mean(), 1e-9))
    beta = _newton(design, y, balance)
    return ConfidenceWeights(
        tuple(features),
        _tuple(mean),
        _tuple(scale),
        _tuple(beta[:-1]),
        round(float(beta[-1]), 4),
        0.5,
        0.5,
        0.0,
    )


@cache
def load_weights(path: Path = SHIPPED, *, dense: bool) -> ConfidenceWeights:
    content = json.loads(path.read_text(encoding="utf-8"))["hybrid" if dense else "sparse"]
    values: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in content.items()
    }
    return ConfidenceWeights(**values)


def _newton(
    design: npt.NDArray[np.float64], y: npt.NDArray[np.float64], balance: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    beta = np.zeros(design.shape[1])
    penalty = RIDGE * np.eye(design.shape[1])
    penalty[-1, -1] = 0
    for _ in range(STEPS):
        p = _logistic(design @ beta)
        gradient = design.T @ (balance * (y - p)) - penalty @ beta
        hessian = (design * (balance * p * (1 - p))[:, None]).T @ design + penalty
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def _logistic(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -z))  # the plain form overflows


def _tuple(values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(v), 4) for v in values)
