"""Teaching which sentences a person would underline: a logistic curve over the features of a
span."""

from collections.abc import Sequence
from dataclasses import dataclass

from ombud.answer import SPAN_FEATURES_OF, Basis, ConfidenceWeights, estimate_confidence
from research.training.logistic import FeatureRow, fit_logistic


@dataclass(frozen=True, slots=True)
class QuestionSpans:
    """The candidate spans of one question; position i of both is span i."""

    features: Sequence[FeatureRow]
    underlined: Sequence[bool]
    """Whether a person cited it."""


def train_spans(questions: Sequence[QuestionSpans], basis: Basis) -> ConfidenceWeights:
    """Questions of which nothing was underlined teach nothing. basis: which features there are.

    Raises BadRequest where no span is underlined."""
    rows: list[FeatureRow] = []
    labels: list[bool] = []
    for question in questions:
        if any(question.underlined):
            rows.extend(question.features)
            labels.extend(question.underlined)
    return fit_logistic(rows, labels, SPAN_FEATURES_OF[basis], balanced=False)


def underlined_among_best(
    question: QuestionSpans, weights: ConfidenceWeights, most: int
) -> list[bool]:
    """Whether an underlined span is among the best 1, 2, … `most`."""
    confidences = [estimate_confidence(row, weights) for row in question.features]
    order = sorted(range(len(confidences)), key=lambda place: -confidences[place])
    found = [question.underlined[place] for place in order[:most]]
    return [any(found[:count]) for count in range(1, most + 1)]
