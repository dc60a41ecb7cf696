"""Teaching confidence: a logistic curve over the signals of a question, and the thresholds at which
ombud answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ombud.answer import FEATURES, SPARSE_FEATURES, ConfidenceWeights, estimate_confidence
from ombud.training.logistic import FeatureRow, fit_logistic

FULL_SHARE = 0.25
"""Share of the answerable questions whose answer is not called whole."""
OFF_TOPIC_SHARE = 0.03
"""Share of the questions about the policies that count as off topic."""
GRID = np.linspace(0.02, 0.98, 97)


@dataclass(frozen=True, slots=True)
class QuestionSignals:
    """One labelled question with what was measured of its search."""

    signals: FeatureRow
    answerable: bool
    on_topic: bool
    """About the organisation's policies at all."""


def train_confidence(questions: Sequence[QuestionSignals], *, dense: bool) -> ConfidenceWeights:
    """Weights and thresholds. dense: with the signals that need vectors.

    Raises BadRequest without questions of both kinds."""
    weights = fit_logistic(
        [question.signals for question in questions],
        [question.answerable for question in questions],
        FEATURES if dense else SPARSE_FEATURES,
    )
    return _with_thresholds(weights, questions, dense=dense)


def _with_thresholds(
    weights: ConfidenceWeights, questions: Sequence[QuestionSignals], *, dense: bool
) -> ConfidenceWeights:
    """The confidence that tells most answerable from unanswerable questions, and the one of a whole
    answer."""
    confidences = np.array([estimate_confidence(one.signals, weights) for one in questions])
    answerable = np.array([question.answerable for question in questions])
    # One row a threshold, one column a question.
    would_answer = confidences >= GRID[:, None]
    right = np.mean(would_answer == answerable, axis=1)
    best = np.flatnonzero(right >= right.max() - 1e-9)
    answer = float(np.mean(GRID[best]))
    full = float(np.quantile(confidences[answerable], FULL_SHARE))
    signal = "cosine" if dense else "coverage_all"
    topical = []
    for question in questions:
        if question.on_topic:
            topical.append(question.signals[signal])
    on_topic = float(np.quantile(topical, OFF_TOPIC_SHARE))
    return weights._replace(
        answer=round(answer, 3), full=round(max(full, answer), 3), on_topic=round(on_topic, 3)
    )
