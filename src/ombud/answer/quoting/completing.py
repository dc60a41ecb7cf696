"""What is torn out of a short paragraph, list or table is put back: a sentence without the one it
goes on from, or one row of four, leaves a reader guessing."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.runs import kind_of, run_of
from ombud.answer.quoting.spans import AnswerSpan, words_in


class _Most(NamedTuple):
    spans: int
    words: int


MOST = {"row": _Most(6, 140), "item": _Most(7, 90), "text": _Most(10, 60)}
"""Up to which a table, a list and a paragraph are shown whole. Paragraphs of 80 words and tables of
8 rows show no more of what a person would underline for as many words."""
MOST_WORDS = 150
"""Of the whole answer; `choose` fills 100 of them."""


def completed(chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans in their order, short paragraphs, lists and tables whole, as long as there
    is room.

    everything: all spans that may be quoted. Of 157 pairs of answers to plain and terse questions
    of dev, with and without short paragraphs and tables whole, two blind readers called 88 and 86
    right, in place of 76 and 75; with lists whole, too, 80 of 142 in place of 72."""
    words = sum(words_in(span.text) for span in chosen)
    whole: list[AnswerSpan] = []
    for span in chosen:
        if span in whole:
            continue
        family = _family(span, everything)
        added = sum(words_in(other.text) for other in family if other not in chosen)
        if words + added > MOST_WORDS:
            family = [span]
            added = 0
        words += added
        whole += [other for other in family if other not in whole]
    return whole


def _family(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The short paragraph, list or table that a span is of; the span alone where that is long."""
    most = MOST[kind_of(span)]
    family = run_of(span, everything)
    words = sum(words_in(other.text) for other in family)
    return family if len(family) <= most.spans and words <= most.words else [span]
