"""What may be quoted as the answer: the rule and not its example, sentences and not remains of a
page."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ombud.answer.quoting.spans import (
    ANNOUNCES,
    LIST_MARK,
    SEVERAL_SECTIONS,
    AnswerSpan,
    is_row,
    section_of,
    table_head,
    words_in,
)
from ombud.text import plain_wording, remembered, term_pattern

FINISHED = re.compile(r"[.!?…:;)\]\"'”’»|。！？][*_`]*\s*(?:\[\d+\])?$")
"""How a sentence ends."""
STORY = re.compile(
    r"(?:for (?:example|instance)|(?:worked )?examples?(?: \d{1,2})?|scenario|illustration)"
    r"[*_]*\s*[:.]"
    r"|(?:suppose|imagine|say you|let's say)\b"
)
"""How an example begins that more than one sentence tells."""
VERSIONS = re.compile(
    r"^\s*\|\s*(?:version|revision|rev\.?|release|stand|révision)\s*\|.*"
    r"\b(?:chang|date|in force|änderung|datum|modif|summary|author)",
    re.IGNORECASE,
)
"""The head of a table of a page's versions."""
HEAD_ROWS = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)
"""What stands between a sentence and the first row of its table."""
LISTED_BELOW = re.compile(r"\s*(?:\||[-*+•]\s|\d+[.)]\s)")
BETWEEN_PASSAGES = 4
"""Characters of white space between a passage and the next one."""
LONG_ENOUGH = 8
"""Words from which a line without an end is taken for a sentence that lacks its full stop."""
TAG = re.compile(r"^\W*</?[a-z][^>]*>|[>»]\s*$", re.IGNORECASE)
"""A tag at the beginning, or the arrow of a menu at the end."""
MARKS = re.compile(r"^[\s*_#>\-–•\d.)(]+")
SHORT = 12
"""Words up to which a line that begins as remains do says nothing else."""


LIVES = re.compile(
    r"(?:had|(?:is|was|has been|falls|fell) (?:ill|off|hired|sick|pregnant|away)"
    r"|(?:work|earn|pass|join|start|book|mov|adopt|expect|receiv|resign|return|travel|claim|ask|us"
    r"|retir|plan|need|liv|want|stay)(?:e?s|l?ed)"
    r"|takes|took|leaves|left|breaks|broke|buys|bought|gives|gave|gets|got|spends|spent|flies|flew"
    r"|drives|drove|becomes|became)\b"
)
"""What people in examples do, as against those whom a rule names: "Sarah in Finance approves"."""


ASKERS_VOICE = re.compile(r"(?:i|my|i['’](?:m|ve|d|ll))\s(?!.*[\"”]$)")
"""How somebody begins who asks: "My train was late." before "Can I claim?" is no rule. Words that a
page puts into a reader's mouth end with their quotation mark."""


class _Terms(NamedTuple):
    asks_for_example: re.Pattern[str]
    asks_for_history: re.Pattern[str]
    history_section: re.Pattern[str]
    given_name: re.Pattern[str]
    example: re.Pattern[str]
    example_section: re.Pattern[str]
    remains: re.Pattern[str]
    signpost: re.Pattern[str]


def quotable(spans: Sequence[AnswerSpan], question: str) -> list[AnswerSpan]:
    """The spans that may be quoted, in their order. Examples and what was in force before only
    where somebody asks for them, or where nothing else is there, and so with what a page says of
    itself."""
    terms = _terms()
    asked = question.lower()
    whole = [span for span in spans if not is_remains(span)]
    if not terms.asks_for_history.search(asked):
        whole = [span for span in whole if not is_history(span)] or whole
    return whole if terms.asks_for_example.search(asked) else _rules(whole)


def _rules(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Neither examples nor questions nor what a page says of itself; all where there is nothing
    else."""
    worked = _worked_examples(spans)
    rules: list[AnswerSpan] = []
    for span in spans:
        is_told = is_example(span) or span in worked or is_asked(span)
        if not is_told and not is_signpost(span):
            rules.append(span)
    return rules or list(spans)


def is_history(span: AnswerSpan) -> bool:
    """Whether a span lists versions of its page: what they say may be in force no more."""
    if is_row(span.text) and VERSIONS.match(table_head(span)):
        return True
    return _is_under(span, _terms().history_section)


def is_example(span: AnswerSpan) -> bool:
    """Whether a span shows how a rule works out, by its own beginning or by what stands above."""
    terms = _terms()
    if _tells_of_person(span.text):
        return True
    if terms.example.match(_bare(span.text)) or terms.example.match(_bare(span.lead)):
        return True
    return _is_under(span, terms.example_section)


def _is_under(span: AnswerSpan, section: re.Pattern[str]) -> bool:
    """Whether the nearest heading of a span is one of these sections."""
    return bool(section.fullmatch(_bare(section_of(span)).rstrip(" :.")))


def is_asked(span: AnswerSpan) -> bool:
    """Whether a span is part of a question that the page goes on to answer."""
    return bool(ASKERS_VOICE.match(_bare(span.text.strip())))


def is_signpost(span: AnswerSpan) -> bool:
    """Whether a span only says what a page is about ("This page explains how leave is booked."), or
    announces what stands below it: where that is shown, `line_above_list` puts it above."""
    return bool(_terms().signpost.match(_bare(span.text))) or _announces(span)


def _announces(span: AnswerSpan) -> bool:
    if is_row(span.text) or not ANNOUNCES.search(span.text):
        return False
    chunk = span.hit.chunk
    below = chunk.text[span.end - chunk.start :]
    if below.partition("\n")[0].strip():
        return False
    return not below.strip() or bool(LISTED_BELOW.match(below))


def _worked_examples(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The sentences behind an example that is told in several, up to the end of its paragraph:
    "For example: it is June. You earn 4 hours a fortnight, and there are 14 left."."""
    in_order = sorted(spans, key=lambda span: (span.hit.chunk.document_id, span.start))
    worked = [span for span in in_order if _begins_example(span)]
    for before, span in pairwise(in_order):
        is_told = STORY.match(_bare(before.text)) or _tells_of_person(before.text)
        is_told_on = before in worked or is_told
        if is_told_on and (_is_same_paragraph(before, span) or _is_its_table(before, span)):
            worked.append(span)
    return worked


def _tells_of_person(text: str) -> bool:
    """Whether a sentence tells of one person by name, as rules do not: "Owen had 10 weeks."."""
    name, _, rest = MARKS.sub("", text).partition(" ")
    is_name = name[:1].isupper() and _terms().given_name.fullmatch(plain_wording(name).strip())
    return bool(is_name) and bool(LIVES.match(rest))


def _begins_example(span: AnswerSpan) -> bool:
    """Whether what stands before it in its line is no sentence, and says "Example."."""
    chunk = span.hit.chunk
    before = chunk.text[: span.start - chunk.start].rpartition("\n")[2]
    return bool(STORY.fullmatch(_bare(before).strip(" *_")))


def _is_its_table(before: AnswerSpan, span: AnswerSpan) -> bool:
    """Whether a row is of the table that stands right below, in which an example is worked out. A
    table that is long is a passage of its own, without what stands above it."""
    above, chunk = before.hit.chunk, span.hit.chunk
    if above.document_id != chunk.document_id or not is_row(span.text):
        return False
    if above.id == chunk.id:
        between = chunk.text[before.end - chunk.start : span.start - chunk.start]
    elif chunk.start - above.end <= BETWEEN_PASSAGES:
        between = above.text[before.end - above.start :] + chunk.text[: span.start - chunk.start]
    else:
        return False
    return not HEAD_ROWS.sub("", between).strip()


def _is_same_paragraph(before: AnswerSpan, span: AnswerSpan) -> bool:
    chunk = span.hit.chunk
    if before.hit.chunk.id != chunk.id or before.end > span.start:
        return False
    between = chunk.text[before.end - chunk.start : span.start - chunk.start]
    return "\n" not in between


def is_remains(span: AnswerSpan) -> bool:
    """Whether a span is no sentence of a policy: a placeholder, a button, a title."""
    if is_row(span.text):
        return False
    text = span.text.strip()
    if TAG.search(text) or _is_heading(text, span.hit.chunk.trail):
        return True
    words = words_in(text)
    if words <= SHORT and _terms().remains.match(_bare(text)):
        return True
    is_item = bool(LIST_MARK.match(span.text))
    return not is_item and words < LONG_ENOUGH and not FINISHED.search(text)


def _is_heading(text: str, trail: Sequence[str]) -> bool:
    """Whether a line is the heading of one of the short sections that were cut as one passage: of
    PDF files "9. Export control" looks like an item."""
    headings = trail[-1].split(SEVERAL_SECTIONS) if trail else []
    return text.strip("#* ") in headings


@remembered(20_000)
def _bare(text: str) -> str:
    return MARKS.sub("", text).lower()


@cache
def _terms() -> _Terms:
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    patterns = {name: term_pattern(terms) for name, terms in content.items()}
    return _Terms(**patterns)
