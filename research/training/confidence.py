"""Teaching confidence: boosted trees over the signals of a question, and the thresholds at which
ombud answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ombud.answer import FEATURES_OF, Basis, ConfidenceWeights, estimate_confidence
from research.training.boosting import fit_boosted
from research.training.logistic import FeatureRow, Numbers

FULL_SHARE = 0.25
"""Share of the answerable questions whose answer is not called whole."""
CERTAIN_WRONG = 0.15
"""Share of the questions on policies without an answer that are answered as if certain: of near
misses that were written apart a third of it, of those that were written from the pages more."""
NEVER_SHOWN = 0.02
"""Share of the answerable questions for which not even the closest passages are shown."""
STRANGE_SHOWN = 0.1
"""Share of the messages that are off topic for which some are; triage turns most of these away
before."""
LEAST_ABOVE = 0.2
"""How far from the threshold of an answer to certainty that of a whole one is at least."""
OFF_TOPIC_SHARE = 0.03
"""Share of the questions about the policies that count as off topic."""
FOLDS = 5


@dataclass(frozen=True, slots=True)
class QuestionSignals:
    """One labelled question with what was measured of its search."""

    signals: FeatureRow
    answerable: bool
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
        [question.answerable for question in questions],
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
    """Least confidence to answer as if certain, to call an answer whole, and to show the closest
    passages."""
    answerable = np.array([question.answerable for question in questions])
    off_topic = np.array([not question.on_topic for question in questions])
    answer = float(np.quantile(confidences[~answerable & ~off_topic], 1 - CERTAIN_WRONG))
    closest = float(np.quantile(confidences[answerable], NEVER_SHOWN))
    if off_topic.any():
        closest = max(closest, float(np.quantile(confidences[off_topic], 1 - STRANGE_SHOWN)))
    full = float(np.quantile(confidences[answerable], FULL_SHARE))
    signal = "coverage_all" if basis == "sparse" else "cosine"
    topical: list[float] = []
    for question in questions:
        if question.on_topic:
            topical.append(question.signals[signal])
    return weights._replace(
        answer=round(answer, 3),
        closest=round(min(closest, answer), 3),
        full=round(max(full, answer + LEAST_ABOVE * (1 - answer)), 3),
        on_topic=round(float(np.quantile(topical, OFF_TOPIC_SHARE)), 3),
    )
