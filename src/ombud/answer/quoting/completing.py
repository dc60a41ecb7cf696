"""What is torn out of a short paragraph, list or table is put back: a sentence without the one it
goes on from, or one row of four, leaves a reader guessing."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.runs import item_of, kind_of, pieces_in, run_of
from ombud.answer.quoting.spans import AnswerSpan, words_in


class _Most(NamedTuple):
    pieces: int
    """Rows, items or sentences."""
    words: int


MOST = {"row": _Most(6, 140), "item": _Most(7, 90), "text": _Most(10, 60)}
"""Up to which a table, a list and a paragraph are shown whole. Paragraphs of 80 words and tables of
8 rows show no more of what a person would underline for as many words."""
LABEL = 6
"""Words up to which the first sentence of an item is what the others are about: "Ill on leave."."""
MOST_WORDS = 150
"""Of the whole answer; `choose` fills 100 of them."""


def completed(chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans in their order, short paragraphs, lists and tables whole, as long as there
    is room.

    everything: all spans that may be quoted. Of 157 pairs of answers to plain and terse questions
    of dev, with and without short paragraphs and tables whole, two blind readers called 88 and 86
    right, in place of 76 and 75; with lists whole, too, 80 of 142 in place of 72."""
    words = _words(chosen)
    whole: list[AnswerSpan] = []
    for span in chosen:
        if span in whole:
            continue
        family = _family(span, everything)
        added = _words([other for other in family if other not in chosen])
        if words + added > MOST_WORDS:
            family = [span]
            added = 0
        words += added
        whole += [other for other in family if other not in whole]
    return whole


def _family(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The short paragraph, list or table that a span is of, or its item of a long list; the span
    alone where that is long."""
    kind = kind_of(span)
    most = MOST[kind]
    run = run_of(span, everything)
    if pieces_in(run) <= most.pieces and _words(run) <= most.words:
        return run
    return _item(span, run) if kind == "item" else [span]


def _item(span: AnswerSpan, run: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The list item that a span is of; of a long one what it begins with, up to the span or as far
    as there is room."""
    item = item_of(span, run)
    if _words(item) <= MOST["text"].words:
        return item
    label = item[0]
    if span == label:
        return _beginning(item)
    return [label, span] if words_in(label.text) <= LABEL else [span]


def _beginning(item: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    kept = [item[0]]
    for span in item[1:]:
        if _words([*kept, span]) > MOST["text"].words:
            break
        kept.append(span)
    return kept


def _words(spans: Sequence[AnswerSpan]) -> int:
    return sum(words_in(span.text) for span in spans)
