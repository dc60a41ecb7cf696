"""Teaching confidence: boosted trees over the signals of a question, and the thresholds at which
ombud answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ombud.answer import FEATURES_OF, Basis, ConfidenceWeights, estimate_confidence
from research.training.boosting import fit_boosted
from research.training.logistic import FeatureRow, Numbers

PRECISION: Mapping[Basis, float] = {"read": 0.75, "hybrid": 0.7, "sparse": 0.65}
"""Share of right ones among the answers that are called the answer, on questions that the trees
were not taught. Labels name one place, so that more are right than this says."""
FEWEST = 20
"""Questions that must be answered for their share to count."""
NEVER_SHOWN = 0.02
"""Share of the answerable questions for which not even the closest passages are shown."""
STRANGE_SHOWN = 0.1
"""Share of the messages that are off topic for which some are; triage turns most of these away
before."""
OFF_TOPIC_SHARE = 0.03
"""Share of the questions about the policies that count as off topic."""
FOLDS = 5


@dataclass(frozen=True, slots=True)
class QuestionSignals:
    """One labelled question with what was measured of its search."""

    signals: FeatureRow
    answerable: bool
    right: bool
    """The section that leads holds what a person cited."""
    on_topic: bool
    """About the organisation's policies at all."""


def train_confidence(questions: Sequence[QuestionSignals], basis: Basis) -> ConfidenceWeights:
    """Trees and thresholds. basis: which signals there are.

    The thresholds are chosen on what trees say of questions that they were not taught. Raises
    BadRequest without questions of both kinds."""
    features = FEATURES_OF[basis]
    weights = _fit(questions, features)
    return _with_thresholds(weights, questions, _unseen(questions, features), basis)


def _fit(questions: Sequence[QuestionSignals], features: Sequence[str]) -> ConfidenceWeights:
    boosted = fit_boosted(
        [question.signals for question in questions],
        [question.right for question in questions],
        features,
    )
    return ConfidenceWeights(
        features=tuple(features),
        mean=(),
        scale=(),
        weight=(),
        bias=boosted.bias,
        trees=boosted.trees,
    )


def _unseen(questions: Sequence[QuestionSignals], features: Sequence[str]) -> Numbers:
    """The confidence of each question by trees that were taught the other folds."""
    confidences = np.zeros(len(questions))
    for fold in range(FOLDS):
        others = [question for n, question in enumerate(questions) if n % FOLDS != fold]
        weights = _fit(others, features)
        for place in range(fold, len(questions), FOLDS):
            confidences[place] = estimate_confidence(questions[place].signals, weights)
    return confidences


def _with_thresholds(
    weights: ConfidenceWeights,
    questions: Sequence[QuestionSignals],
    confidences: Numbers,
    basis: Basis,
) -> ConfidenceWeights:
    """Least confidence to call the section that leads the answer, and to show the closest ones."""
    answerable = np.array([question.answerable for question in questions])
    off_topic = np.array([not question.on_topic for question in questions])
    right = np.array([question.right for question in questions])
    answer = _least_for(PRECISION[basis], confidences, right)
    closest = float(np.quantile(confidences[answerable], NEVER_SHOWN))
    if off_topic.any():
        closest = max(closest, float(np.quantile(confidences[off_topic], 1 - STRANGE_SHOWN)))
    signal = "coverage_all" if basis == "sparse" else "cosine"
    topical: list[float] = []
    for question in questions:
        if question.on_topic:
            topical.append(question.signals[signal])
    return weights._replace(
        answer=round(answer, 3),
        closest=round(min(closest, answer), 3),
        on_topic=round(float(np.quantile(topical, OFF_TOPIC_SHARE)), 3),
    )


def _least_for(precision: float, confidences: Numbers, right: npt.NDArray[np.bool_]) -> float:
    """Return the least confidence from which, of the questions that are as sure, this share is
    right; the highest one seen where no such share is reached."""
    order = np.argsort(-confidences, kind="stable")
    counts = np.arange(1, len(order) + 1)
    shares = np.cumsum(right[order]) / counts
    enough = np.flatnonzero((shares >= precision) & (counts >= FEWEST))
    last = enough[-1] if len(enough) else 0
    return float(confidences[order[last]])
