"""What is torn from a short paragraph or a short table is put back: a sentence without the one it
goes on from, or one row of four, leaves a reader guessing."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.runs import kind_of, run_of
from ombud.answer.quoting.spans import AnswerSpan, words_in


class _Most(NamedTuple):
    spans: int
    words: int


MOST = {"row": _Most(6, 140), "item": _Most(5, 70), "text": _Most(10, 60)}
"""Up to which a table, a list and a paragraph are shown whole."""
MOST_WORDS = 150
"""Of the whole answer; `choose` fills 110 of them."""


def completed(chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans in their order, short paragraphs and tables whole, as long as there is room.

    everything: all spans that may be quoted. On dev (plain, terse and own, n 271) the sentence that
    a person would underline is shown in .745 of the answers, in .723 without."""
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
