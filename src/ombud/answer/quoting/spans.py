"""The pieces of the evidence that may answer: sentences, list items and table rows, word for
word."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from ombud.answer.quoting.confidence import (
    Basis,
    ConfidenceWeights,
    estimate_each,
    load_weights,
)
from ombud.text import RULE_ROW, count_cjk, read_rows, remembered, split_sentences
from ombud.types import Evidence, Hit

OPEN_END = re.compile(r"[\w,;–—-][*_]*\s*$")
"""No full stop: what stands above a list goes on in its items."""
LEAST_WORDS = 4
"""Shorter sentences are remains of headings and numbering."""
SHIPPED = Path(__file__).with_name("spans.json")
LEAD_IN = re.compile(r":\s*$")
ANNOUNCES = re.compile(
    r"\b(?:following|listed below|(?:list|table|steps?|items|points|questions) below)\b",
    re.IGNORECASE,
)
"""What speaks of a list or a table that stands below it."""
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
POINTS_BACK = re.compile(
    r"\W*(?:this|that|it|they|these|those|he|she|however|but|also|in that case|otherwise|then|such"
    r"|if so|after (?:this|that))\b",
    re.IGNORECASE,
)
YES_OR_NO = re.compile(r"[\s*_]*(?:yes|no)[.!*_]+\s*", re.IGNORECASE)


SHORT_SENTENCE = re.compile(
    rf"[ \t]+[*_]*[A-Z0-9][^\s|]*(?:[ \t]+[^\s|]+){{0,{LEAST_WORDS - 2}}}(?<=[.!?])"
    r"[*_]*(?:(?=\s)|$)"
)
"""One of fewer words, behind another one."""


SEVERAL_SECTIONS = " / "
"""Between the headings of short sections that were cut as one."""
SpanRow = dict[str, float]


class AnswerSpan(NamedTuple):
    """A run of a document's text: start and end count in `Document.text`."""

    hit: Hit
    start: int
    end: int
    text: str
    score: float = 0.0
    """How likely it is, 0 to 1, that a person would underline it."""
    lead: str = ""
    """The line that introduces a list, for an item torn out of it."""

    @property
    def place(self) -> tuple[str, int]:
        """Return the chunk id and the start offset."""
        return self.hit.chunk.id, self.start


def span_weights(basis: Basis) -> ConfidenceWeights:
    """Return the weights that ship."""
    return load_weights(SHIPPED, basis=basis)


def rank_by(
    spans: Sequence[AnswerSpan], rows: Sequence[SpanRow], weights: ConfidenceWeights
) -> list[AnswerSpan]:
    """Return spans likeliest to answer first; rows are their features."""
    scored: list[AnswerSpan] = []
    for span, score in zip(spans, estimate_each(rows, weights), strict=True):
        scored.append(span._replace(score=score))
    return sorted(scored, key=lambda span: (-span.score, span.hit.chunk.uri, span.start))


def candidate_spans(evidence: Evidence) -> list[AnswerSpan]:
    """Return the sentences, list items and table rows of all evidence, in its order."""
    spans: list[AnswerSpan] = []
    for hit in evidence.hits:
        chunk = hit.chunk
        for start, end, lead in _pieces(chunk.text, chunk.trail, chunk.language):
            begins, ends = chunk.start + start, chunk.start + end
            spans.append(AnswerSpan(hit, begins, ends, chunk.text[start:end], lead=lead))
    return spans


def coverage(weights: Mapping[str, float], covering: Set[str]) -> float:
    """Return the weighted share of the question's terms that a text has."""
    total = sum(weights.values())
    if not total:
        return 0.0
    covered = 0.0
    for term, weight in weights.items():
        if term in covering:
            covered += weight
    return covered / total


def points_back(text: str) -> bool:
    """Tell whether a sentence means little without the one before it."""
    return bool(POINTS_BACK.match(text))


def runs_of_chunks(spans: Sequence[AnswerSpan]) -> list[list[int]]:
    """Group the places of spans by chunk."""
    runs: list[list[int]] = []
    last_chunk = None
    for place, span in enumerate(spans):
        if span.hit.chunk.id != last_chunk:
            runs.append([])
        runs[-1].append(place)
        last_chunk = span.hit.chunk.id
    return runs


def words_in(text: str) -> int:
    """Count words. Two characters of Chinese, Japanese or Korean count as one, because these have
    no spaces."""
    return len(text.split()) + count_cjk(text) // 2


def is_row(text: str) -> bool:
    row = text.strip()
    return len(row) > 1 and row[0] == row[-1] == "|" and "\n" not in row


def table_head(span: AnswerSpan) -> str:
    """Return the header and rule above a row; blank columns if none is in reach."""
    chunk = span.hit.chunk
    *before, _ = chunk.text[: max(0, span.start - chunk.start)].split("\n")
    # A chunk of several short sections may hold several tables.
    own = list(takewhile(is_row, reversed(before)))[::-1]
    if len(own) == len(before):
        own = [*chunk.header.split("\n"), *own]
    for above, line in pairwise(own):
        if RULE_ROW.match(line) and is_row(above):
            return f"{above}\n{line}"
    columns = span.text.strip().strip("|").count("|") + 1
    return "|" + "   |" * columns + "\n|" + " --- |" * columns


def odds(span: AnswerSpan, factor: float = 1.0) -> float:
    """Return the odds of a probability, times a factor."""
    return factor * span.score / max(1e-9, 1 - span.score)


def weighed(
    spans: Sequence[AnswerSpan], factor: float, counts: Callable[[AnswerSpan], bool]
) -> list[AnswerSpan]:
    """Multiply the odds of the spans that `counts` accepts by a factor, and sort likeliest
    first."""
    factored: list[AnswerSpan] = []
    for span in spans:
        likely = odds(span, factor)
        factored.append(span._replace(score=likely / (1 + likely)) if counts(span) else span)
    return sorted(factored, key=lambda span: -span.score)


def section_of(span: AnswerSpan) -> str:
    """Return the heading right above a span; may be empty. Short sections that were chunked
    together have all headings but the first in their text."""
    chunk = span.hit.chunk
    first, *others = chunk.trail[-1].split(SEVERAL_SECTIONS) if chunk.trail else [""]
    if not others:
        return first
    above = chunk.text[: max(0, span.start - chunk.start)].split("\n")
    lines = {line.strip(" #*") for line in above}
    headings = [heading for heading in others if heading in lines]
    return headings[-1] if headings else first


def goes_on_in_item(span: AnswerSpan) -> bool:
    """Tell whether a span is a further sentence of a list item."""
    chunk = span.hit.chunk
    is_first = bool(LIST_MARK.match(span.text))
    return not is_first and is_inside_item(chunk.text, span.start - chunk.start)


def run_of(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Return the rows of the span's table, the items of its list or the sentences of its paragraph,
    in reading order."""
    kind = kind_of(span)
    near: list[AnswerSpan] = []
    chunk_id = span.hit.chunk.id
    for other in everything:
        if other.hit.chunk.id == chunk_id and kind_of(other) == kind:
            near.append(other)
    near.sort(key=lambda other: other.start)
    first = last = [other.start for other in near].index(span.start)
    while first and is_followed_by(near[first - 1], near[first]):
        first -= 1
    while last + 1 < len(near) and is_followed_by(near[last], near[last + 1]):
        last += 1
    return near[first : last + 1]


def is_followed_by(first: AnswerSpan, second: AnswerSpan) -> bool:
    """Tell whether two spans of one chunk and kind are adjacent sentences of a paragraph, items of
    a list or rows of a table."""
    if second.start < first.end:
        return False
    chunk = first.hit.chunk
    between = chunk.text[first.end - chunk.start : second.start - chunk.start]
    if kind_of(first) == "text":
        return not between.strip("*_ ") and "\n" not in between
    return first.lead == second.lead and "\n\n" not in between


def item_of(span: AnswerSpan, run: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Return the sentences of the span's list item. run: `run_of` the span."""
    item: list[AnswerSpan] = []
    for other in run:
        if not goes_on_in_item(other):
            if other.start > span.start:
                break
            item.clear()
        item.append(other)
    return item


def pieces_in(run: Sequence[AnswerSpan]) -> int:
    """Count table rows, list items or sentences."""
    return sum(not goes_on_in_item(span) for span in run)


def kind_of(span: AnswerSpan) -> str:
    """Return row, item or text; every sentence of a list item is an item."""
    if is_row(span.text):
        return "row"
    is_item = LIST_MARK.match(span.text) or goes_on_in_item(span)
    return "item" if is_item else "text"


def with_short_end(span: AnswerSpan) -> AnswerSpan:
    """Extend a sentence by short ones right after it: "Call 7112." may be what counts."""
    chunk = span.hit.chunk
    rest = chunk.text[span.end - chunk.start :].partition("\n")[0]
    if is_row(span.text) or not SHORT_SENTENCE.match(rest):
        return span
    added = 0
    for _, end in split_sentences(rest, chunk.language):
        if not SHORT_SENTENCE.fullmatch(rest[added:end]):
            break
        added = end
    end = span.end + added
    return span._replace(end=end, text=chunk.text[span.start - chunk.start : end - chunk.start])


def readable_text(span: AnswerSpan) -> str:
    """Return the span's text, a table row with the column name before each cell."""
    if not is_row(span.text):
        return span.text
    return read_rows(f"{table_head(span)}\n{span.text}")


@remembered(4096)
def _pieces(
    passage: str, trail: tuple[str, ...], language: str
) -> tuple[tuple[int, int, str], ...]:
    """Split a passage into pieces with their start, end and lead-in."""
    pieces: list[tuple[int, int, str]] = []
    lead = ""
    for start, end in _sentences(passage, language):
        text = passage[start:end]
        if RULE_ROW.match(text) or is_table_head(passage, end):
            continue
        is_item = bool(LIST_MARK.match(text))
        if not is_item and introduces_list(text, passage[end:], trail):
            lead = text
            continue
        if not is_item and not is_inside_item(passage, start):
            lead = ""
        is_short = words_in(text) < LEAST_WORDS and not YES_OR_NO.fullmatch(text)
        if is_item or is_row(text) or not is_short:
            pieces.append((start, end, lead))
    return tuple(pieces)


def _sentences(passage: str, language: str) -> list[tuple[int, int]]:
    """Split a passage into sentences, "No." together with the reason after it in the same
    paragraph."""
    sentences: list[tuple[int, int]] = []
    for start, end in split_sentences(passage, language):
        if sentences and "\n" not in passage[sentences[-1][0] : start]:
            begins, before = sentences[-1]
            if YES_OR_NO.fullmatch(passage[begins:before]):
                sentences.pop()
                start = begins
        sentences.append((start, end))
    return sentences


def is_inside_item(passage: str, start: int) -> bool:
    """Tell whether the line of this position begins with a list marker."""
    return bool(LIST_MARK.match(passage[:start].rpartition("\n")[2]))


def introduces_list(text: str, below: str, trail: Sequence[str]) -> bool:
    """Tell whether a sentence introduces the list below it: by its words, or without end
    punctuation and not as a heading."""
    if LEAD_IN.search(text):
        return True
    has_list_below = LIST_MARK.match(below.lstrip("\n"))
    if not has_list_below or not OPEN_END.search(text):
        return False
    # Short sections are cut together, and "Who may go / How to apply" is then the heading of both.
    if text.startswith("#"):
        return False
    return not any(text.strip("*_ ") in heading for heading in trail)


def is_table_head(text: str, end: int) -> bool:
    """Tell whether a row names the columns, as the one above the rule does."""
    following = text[end:].lstrip("\n").split("\n", 1)[0]
    return bool(RULE_ROW.match(following))
