"""What is torn out of a short paragraph, list or table is put back: a sentence without the one it
goes on from, or one row of four, leaves a reader guessing."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.runs import item_of, kind_of, pieces_in, run_of
from ombud.answer.quoting.spans import AnswerSpan, goes_on_in_item, section_of, words_in


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
WHOLE_SECTION = 80
"""Words up to which the section that leads is shown whole."""
MOST_ADDED = 60
"""Words that this may add to what was chosen. Two readers, who did not know which was which, called
59 and 61 of 113 answers of dev right with the section or its opening, 54 and 56 without; they would
rather have them in 48 and 45, not have them in 30 and 27."""
MOST_OPENED = 120
"""Words of the section or its opening with what else was chosen: of 55 pairs a reader would rather
have the answer with this in 24, without it in 11."""
OPENING = 35
"""Words up to which the first sentence of a longer section opens the answer."""
REPLY = re.compile(
    r"\W*(?:yes|no|it depends|only if|not (?:always|usually|yet))\b\s*[,.;:–-]", re.IGNORECASE
)
"""How what answers the question above it begins."""


def opened(chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The chosen spans, the section in which they lead whole where it is short, else with the
    sentence that opens it, which is the rule of which the others tell the rest.

    everything: all spans that may be quoted. What else was chosen follows as far as there is
    room. A table that leads stays first: of 38 such answers of dev none was better with a sentence
    before it, and two were worse."""
    if not chosen or kind_of(chosen[0]) == "row":
        return list(chosen)
    section = _section(chosen[0], everything)
    added = _words([span for span in section if span not in chosen])
    is_short = _words(section) <= WHOLE_SECTION and added <= MOST_ADDED
    shown = section if is_short else _opening(section, chosen)
    for span in chosen:
        if span not in shown and _words([*shown, span]) <= MOST_OPENED:
            shown.append(span)
    return shown


def _section(lead: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The spans of a passage under the same heading, in reading order."""
    section: list[AnswerSpan] = []
    for span in everything:
        is_near = span.hit.chunk.id == lead.hit.chunk.id
        if is_near and section_of(span) == section_of(lead):
            section.append(span)
    return sorted(section, key=lambda span: span.start)


def _opening(section: Sequence[AnswerSpan], chosen: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """What is chosen of a section, behind its first sentence where that is one and short."""
    own = [span for span in chosen if span in section]
    first = section[0]
    is_sentence = kind_of(first) == "text" and words_in(first.text) <= OPENING
    return own if first in own or not is_sentence else [first, *own]


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
        family = _with_exchange(_family(span, everything), everything)
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


def _with_exchange(
    family: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]
) -> list[AnswerSpan]:
    """With the reply behind a question that a page asks, and the question before a reply: "Yes."
    alone tells nobody to what."""
    whole = list(family)
    first, last = family[0], family[-1]
    if REPLY.match(first.text):
        before = [span for span in _section(first, everything) if span.start < first.start]
        if before and _asks(before[-1]):
            whole.insert(0, before[-1])
    if _asks(last):
        after = [span for span in _section(last, everything) if span.start > last.start]
        whole += _family(after[0], everything) if after else []
    return whole


def _asks(span: AnswerSpan) -> bool:
    return span.text.rstrip(" *_").endswith("?")


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
