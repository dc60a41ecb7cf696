"""What is torn out of a short paragraph, list or table is put back: a sentence without the one it
goes on from, or one row of four, leaves a reader guessing."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.runs import item_of, kind_of, pieces_in, run_of
from ombud.answer.quoting.spans import AnswerSpan, goes_on_in_item, words_in


class _Most(NamedTuple):
    pieces: int
    """Rows, items or sentences."""
    words: int


MOST = {"row": _Most(6, 140), "item": _Most(7, 90), "text": _Most(10, 60)}
"""Up to which a table, a list and a paragraph are shown whole. Paragraphs of 80 words and tables of
8 rows show no more of what a person would underline for as many words."""
LABEL = 6
"""Words, its mark among them, up to which the first sentence of an item names what the others
say."""
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
    if kind != "item":
        return [span]
    item = _item(span, run)
    brief = _in_brief(item, run)
    return brief if pieces_in(run) <= most.pieces and _words(brief) <= most.words else item


def _in_brief(item: Sequence[AnswerSpan], run: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """An item of a list, and what the others begin with; the item alone where they begin with a
    label that says nothing by itself."""
    brief: list[AnswerSpan] = []
    for span in run:
        if span not in item and goes_on_in_item(span):
            continue
        if span not in item and _is_label(span, item_of(span, run)):
            return list(item)
        brief.append(span)
    return brief


def _is_label(span: AnswerSpan, item: Sequence[AnswerSpan]) -> bool:
    """Whether it only names what the others of its item say: "Ill on leave."."""
    return span == item[0] and len(item) > 1 and words_in(span.text) <= LABEL


def _item(span: AnswerSpan, run: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The list item that a span is of; of a long one what it begins with, up to the span or as far
    as there is room."""
    item = item_of(span, run)
    if _words(item) <= MOST["text"].words:
        return item
    if span == item[0]:
        return _beginning(item)
    return [item[0], span] if _is_label(item[0], item) else [span]


def _beginning(item: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    kept = [item[0]]
    for span in item[1:]:
        if _words([*kept, span]) > MOST["text"].words:
            break
        kept.append(span)
    return kept


def _words(spans: Sequence[AnswerSpan]) -> int:
    return sum(words_in(span.text) for span in spans)
