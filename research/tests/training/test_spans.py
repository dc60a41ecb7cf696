"""Teaching which sentences a person would underline."""

import pytest

from ombud.answer import SPAN_FEATURES_OF
from ombud.errors import BadRequest
from research.training.spans import QuestionSpans, train_spans, underlined_among_best


def spans(*terms: float, underlined: int | None) -> QuestionSpans:
    """One span for each share of the question's terms."""
    features = []
    for place, share in enumerate(terms):
        noise = {name: float(place % 2) for name in SPAN_FEATURES_OF["sparse"]}
        features.append(noise | {"terms": share})
    return QuestionSpans(features, [place == underlined for place in range(len(terms))])


QUESTIONS = [
    spans(0.9, 0.1, 0.2, underlined=0),
    spans(0.2, 0.8, 0.1, underlined=1),
    spans(0.1, 0.3, 0.7, underlined=2),
]


def test_the_span_that_answers_stands_first() -> None:
    weights = train_spans(QUESTIONS, "sparse")
    for question in QUESTIONS:
        assert underlined_among_best(question, weights, 3) == [True, True, True]


def test_a_span_that_is_not_the_best_is_among_more() -> None:
    weights = train_spans(QUESTIONS, "sparse")
    second = spans(0.9, 0.5, 0.1, underlined=1)
    assert underlined_among_best(second, weights, 3) == [False, True, True]


def test_questions_without_an_underlined_span_teach_nothing() -> None:
    nothing = spans(0.9, 0.8, underlined=None)
    assert train_spans([*QUESTIONS, nothing], "sparse") == train_spans(QUESTIONS, "sparse")
    with pytest.raises(BadRequest):
        train_spans([nothing], "sparse")
