"""How sure we are that the documents answer: a logistic curve over the signals, calibrated on
held-out questions.

The shipped weights were fitted on the dev split of the sample's cases (`make confidence`); without
vectors a second set, fitted on sparse search alone, is used."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

SHIPPED = Path(__file__).parent / "confidence.json"
FEATURES = (
    "cosine", "cosine_span", "coverage_best", "coverage_all", "known_terms", "rare_held", "length",
    "sparse_share", "span_match",
)  # fmt: skip
SPARSE_FEATURES = (
    "coverage_best", "coverage_all", "known_terms", "rare_held", "length", "sparse_share", "span_terms",
)  # fmt: skip
"""Without vectors."""


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


@cache
def load_weights(path: Path = SHIPPED, *, dense: bool) -> ConfidenceWeights:
    content = json.loads(path.read_text(encoding="utf-8"))["hybrid" if dense else "sparse"]
    values: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in content.items()
    }
    return ConfidenceWeights(**values)


def _logistic(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -z))  # the plain form overflows
