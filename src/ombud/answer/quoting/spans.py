"""The pieces of the evidence that may answer: sentences, list items and table rows, word for
word."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from ombud.answer.confidence import (
    Basis,
    ConfidenceWeights,
    estimate_each,
    load_weights,
)
from ombud.text import read_rows, remembered, split_sentences
from ombud.types import Evidence, Hit

OPEN_END = re.compile(r"[\w,;–—-][*_]*\s*$")
"""No full stop: what stands above a list goes on in its items."""
LEAST_WORDS = 4
"""Shorter sentences are remains of headings and numbering."""
SHIPPED = Path(__file__).with_name("spans.json")
TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
RULE_ROW = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
LEAD_IN = re.compile(r":\s*$")
ANNOUNCES = re.compile(
    r"\b(?:following|listed below|(?:list|table|steps?|items|points|questions) below)\b",
    re.IGNORECASE,
)
"""What speaks of a list or a table that stands below it."""
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
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


def rank_spans(
    spans: Sequence[AnswerSpan], rows: Sequence[SpanRow], basis: Basis
) -> list[AnswerSpan]:
    """Spans likeliest to answer first; rows are their `features`."""
    return rank_by(spans, rows, load_weights(SHIPPED, basis=basis))


def span_scores(rows: Sequence[SpanRow], basis: Basis) -> list[float]:
    """How likely, 0 to 1, each span answers, by its features."""
    return estimate_each(rows, load_weights(SHIPPED, basis=basis))


def rank_by(
    spans: Sequence[AnswerSpan], rows: Sequence[SpanRow], weights: ConfidenceWeights
) -> list[AnswerSpan]:
    """The same with other weights than those that ship."""
    scored: list[AnswerSpan] = []
    for span, score in zip(spans, estimate_each(rows, weights), strict=True):
        scored.append(span._replace(score=score))
    return sorted(scored, key=_rank)


def _rank(span: AnswerSpan) -> tuple[float, str, int]:
    return -span.score, span.hit.chunk.uri, span.start


def candidate_spans(evidence: Evidence) -> list[AnswerSpan]:
    """Sentences, list items and table rows of all evidence, in its order."""
    spans: list[AnswerSpan] = []
    for hit in evidence.hits:
        spans += _spans(hit)
    return spans


def coverage(weights: Mapping[str, float], held: Set[str]) -> float:
    """Share of the question's terms, by weight, that a text holds."""
    total = sum(weights.values())
    if not total:
        return 0.0
    covered = 0.0
    for term, weight in weights.items():
        if term in held:
            covered += weight
    return covered / total


def runs_of_chunks(spans: Sequence[AnswerSpan]) -> list[list[int]]:
    """Places of the spans of one chunk, chunk by chunk."""
    runs: list[list[int]] = []
    last_chunk = None
    for place, span in enumerate(spans):
        if span.hit.chunk.id != last_chunk:
            runs.append([])
        runs[-1].append(place)
        last_chunk = span.hit.chunk.id
    return runs


def words_in(text: str) -> int:
    """Words; two characters of Chinese, Japanese or Korean, which has no spaces between words,
    count as one."""
    words = len(text.split())
    characters = len(CJK.findall(text))
    return words + characters // 2


def is_row(text: str) -> bool:
    return bool(TABLE_ROW.match(text))


def table_head(span: AnswerSpan) -> str:
    """The header and rule that a row stands under; blank columns where the table has none in
    reach."""
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
    """That it answers, against that it does not, times a factor."""
    return factor * span.score / max(1e-9, 1 - span.score)


def _likelier(span: AnswerSpan, factor: float) -> AnswerSpan:
    """The span with its odds times a factor."""
    weighed = odds(span, factor)
    return span._replace(score=weighed / (1 + weighed))


def weighed(
    spans: Sequence[AnswerSpan], factor: float, counts: Callable[[AnswerSpan], bool]
) -> list[AnswerSpan]:
    """Spans with the odds of those that `counts` holds of times a factor; likeliest first."""
    factored = [_likelier(span, factor) if counts(span) else span for span in spans]
    return sorted(factored, key=lambda span: -span.score)


def section_of(span: AnswerSpan) -> str:
    """The heading right above a span; empty where there is none. Of short sections that were cut as
    one, all headings but the first stand in the text."""
    chunk = span.hit.chunk
    first, *others = chunk.trail[-1].split(SEVERAL_SECTIONS) if chunk.trail else [""]
    above = chunk.text[: max(0, span.start - chunk.start)].split("\n")
    lines = {line.strip(" #*") for line in above}
    headings = [heading for heading in others if heading in lines]
    return headings[-1] if headings else first


def goes_on_in_item(span: AnswerSpan) -> bool:
    """Whether it is a further sentence of a list item, behind the one that has the mark."""
    chunk = span.hit.chunk
    is_first = bool(LIST_MARK.match(span.text))
    return not is_first and _is_inside_item(chunk.text, span.start - chunk.start)


def with_short_end(span: AnswerSpan) -> AnswerSpan:
    """A sentence with the short ones right behind it, which are too short to stand alone: "Call
    7112." may be what counts."""
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


def spoken_text(span: AnswerSpan) -> str:
    """The span's text; of a table row each cell after the name of its column, for "30 days" alone
    says little."""
    if not is_row(span.text):
        return span.text
    return read_rows(f"{table_head(span)}\n{span.text}")


def _spans(hit: Hit) -> list[AnswerSpan]:
    chunk = hit.chunk
    spans: list[AnswerSpan] = []
    for start, end, lead in _pieces(chunk.text, chunk.trail, chunk.language):
        begins, ends = chunk.start + start, chunk.start + end
        spans.append(AnswerSpan(hit, begins, ends, chunk.text[start:end], lead=lead))
    return spans


@remembered(4096)
def _pieces(
    passage: str, trail: tuple[str, ...], language: str
) -> tuple[tuple[int, int, str], ...]:
    """Start, end and lead of each."""
    pieces: list[tuple[int, int, str]] = []
    lead = ""
    for start, end in _sentences(passage, language):
        text = passage[start:end]
        if not text.strip() or RULE_ROW.match(text):
            continue
        if _is_table_head(passage, end):
            continue
        is_item = bool(LIST_MARK.match(text))
        if not is_item and _leads_in(text, passage[end:], trail):
            lead = text
            continue
        if not is_item and not _is_inside_item(passage, start):
            lead = ""
        if _says_something(text, is_item=is_item):
            pieces.append((start, end, lead))
    return tuple(pieces)


def _sentences(passage: str, language: str) -> list[tuple[int, int]]:
    """Start and end of each; "No." is of the sentence behind it, which says why, and a paragraph of
    its own where it says no more."""
    sentences: list[tuple[int, int]] = []
    for start, end in split_sentences(passage, language):
        if sentences and "\n" not in passage[sentences[-1][0] : start]:
            begins, before = sentences[-1]
            if YES_OR_NO.fullmatch(passage[begins:before]):
                sentences.pop()
                start = begins
        sentences.append((start, end))
    return sentences


def _is_inside_item(passage: str, start: int) -> bool:
    """Whether the line on which something starts begins with the mark of a list."""
    return bool(LIST_MARK.match(passage[:start].rpartition("\n")[2]))


def _says_something(text: str, *, is_item: bool) -> bool:
    if is_item or is_row(text):
        return True
    return words_in(text) >= LEAST_WORDS or bool(YES_OR_NO.fullmatch(text))


def _leads_in(text: str, below: str, trail: Sequence[str]) -> bool:
    """Whether a sentence introduces the list below it."""
    return bool(LEAD_IN.search(text)) or _goes_on(text, below, trail)


def _goes_on(text: str, below: str, trail: Sequence[str]) -> bool:
    """Whether a sentence without an end goes on in the list below it; headings have none either."""
    has_list_below = LIST_MARK.match(below.lstrip("\n"))
    if not has_list_below or not OPEN_END.search(text):
        return False
    # Short sections are cut together, and "Who may go / How to apply" is then the heading of both.
    if text.startswith("#"):
        return False
    return not any(text.strip("*_ ") in heading for heading in trail)


def _is_table_head(text: str, end: int) -> bool:
    """A table's first row stands above its rule: it names the columns and answers nothing."""
    following = text[end:].lstrip("\n").split("\n", 1)[0]
    return bool(RULE_ROW.match(following))
