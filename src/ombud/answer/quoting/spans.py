"""Answers without a model: the passages a careful colleague would have underlined, word for
word."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer.confidence import estimate_confidence, load_weights
from ombud.models import Embedder
from ombud.text import OPEN_END, analyse, read_rows, split_sentences
from ombud.types import Evidence, Hit

MOST_SPANS = 4
"""A table counts as one."""
MOST_WORDS = 150
LEAST_SHARE = 0.5
"""A further span must be this share as likely as the best one. The three were chosen on dev: gold
quotes cited in .66 of the sample's answerable questions, median 108 words; with a fifth span .68
and 128 words. """
MOST_ROWS = 4
ALIKE = 0.2
"""Odds of a further row of a table, beside those of its likeliest."""
LEAST_WORDS = 4
"""Shorter sentences are remains of headings and numbering."""
POOL = 24
"""Spans that are looked at; the rest is far from answering."""
RULES = 0.6
"""A local span this near to the best one shows that the country has a rule of its own."""
REDUNDANT = 0.86
"""Cosine above which a span says again what another said."""
SHIPPED = Path(__file__).with_name("spans.json")
TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
RULE_ROW = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
LEAD_IN = re.compile(r":\s*$")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


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
    spans: Sequence[AnswerSpan], rows: Sequence[SpanRow], *, dense: bool
) -> list[AnswerSpan]:
    """Spans likeliest to answer first; rows are their `features`."""
    model = load_weights(SHIPPED, dense=dense)
    scored = [
        s._replace(score=estimate_confidence(row, model))
        for s, row in zip(spans, rows, strict=True)
    ]
    return sorted(scored, key=lambda span: (-span.score, span.hit.chunk.uri, span.start))


def candidate_spans(evidence: Evidence) -> list[AnswerSpan]:
    """Sentences, list items and table rows of all evidence, in its order."""
    return [span for hit in evidence.hits for span in _spans(hit)]


def coverage(weights: Mapping[str, float], held: set[str]) -> float:
    """Share of the question's terms, by weight, that a text holds."""
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in held) / total if total else 0.0


def words_in(text: str) -> int:
    """Words; two characters of Chinese, Japanese or Korean, which has no spaces between words,
    count as one."""
    return len(text.split()) + len(CJK.findall(text)) // 2


def chunk_terms(hit: Hit) -> set[str]:
    text = " ".join((*hit.chunk.trail, hit.chunk.header, hit.chunk.text))
    return set(analyse(text, hit.chunk.language))


def choose(spans: Sequence[AnswerSpan], embedder: Embedder | None) -> list[AnswerSpan]:
    """The few spans that make the answer: good enough beside the best, saying different things, in
    reading order.

    A country's own rule speaks instead of the global one on its topic, unless that one is
    mandatory: then the best of the mandatory one stands beside it."""
    ruled = _topics(
        span
        for span in spans[:POOL]
        if span.hit.chunk.countries and span.score >= RULES * spans[0].score
    )
    kept = [span for span in spans[:POOL] if not _overridden(span, ruled)]
    pool = [span for span in kept if span.score >= LEAST_SHARE * kept[0].score]
    floors = [span for span in spans if span.hit.chunk.mandatory and span.hit.chunk.topic in ruled]
    floors.sort(
        key=lambda span: (span.hit.chunk.start, -span.score)
    )  # a policy says its rule first
    vectors = embedder.embed([span.text for span in pool]) if embedder and pool else None
    chosen: list[int] = []
    words = 0
    for i, span in enumerate(pool):
        length = words_in(span.text)
        if chosen and (words + length > MOST_WORDS or _full([pool[j] for j in chosen], span)):
            continue
        if _repeats(i, chosen, pool, vectors):
            continue
        chosen.append(i)
        words += length
    best = [pool[i] for i in chosen if pool[i] not in floors]
    return _reading_order([*best, *floors[:1]])


def _full(chosen: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    """Whether there is no room for a span: the rows of one table take one place together, if they
    are as likely."""
    beside = [one for one in chosen if is_row(one.text) and one.hit.chunk.id == span.hit.chunk.id]
    if beside and is_row(span.text):
        return len(beside) == MOST_ROWS or _odds(span) < ALIKE * max(map(_odds, beside))
    tables = {one.hit.chunk.id for one in chosen if is_row(one.text)}
    return len(tables) + sum(not is_row(one.text) for one in chosen) >= MOST_SPANS


def _odds(span: AnswerSpan) -> float:
    return span.score / max(1e-9, 1 - span.score)


def _topics(spans: Iterable[AnswerSpan]) -> set[str]:
    return {span.hit.chunk.topic for span in spans if span.hit.chunk.topic}


def _overridden(span: AnswerSpan, ruled: set[str]) -> bool:
    chunk = span.hit.chunk
    return not chunk.countries and not chunk.mandatory and chunk.topic in ruled


def _spans(hit: Hit) -> list[AnswerSpan]:
    chunk, found, lead = hit.chunk, [], ""
    for start, end in split_sentences(chunk.text, chunk.language):
        text = chunk.text[start:end]
        if not text.strip() or RULE_ROW.match(text) or _is_head(chunk.text, end):
            continue
        item = bool(LIST_MARK.match(text))
        leads = not item and bool(
            LEAD_IN.search(text) or _goes_on(text, chunk.text[end:], chunk.trail)
        )
        lead = lead if item else text if leads else ""
        if leads or (words_in(text) < LEAST_WORDS and not item and not is_row(text)):
            continue
        found.append(AnswerSpan(hit, chunk.start + start, chunk.start + end, text, lead=lead))
    return found


def _goes_on(text: str, below: str, trail: Sequence[str]) -> bool:
    """Whether a sentence without an end goes on in the list below it; headings have none either."""
    if not OPEN_END.search(text) or not LIST_MARK.match(below.lstrip("\n")):
        return False
    # Short sections are cut together, and "Who may go / How to apply" is then the heading of both.
    return not text.startswith("#") and not any(text.strip("*_ ") in heading for heading in trail)


def _is_head(text: str, end: int) -> bool:
    """A table's first row stands above its rule: it names the columns and answers nothing."""
    following = text[end:].lstrip("\n").split("\n", 1)[0]
    return bool(RULE_ROW.match(following))


def is_row(text: str) -> bool:
    return bool(TABLE_ROW.match(text))


def table_head(span: AnswerSpan) -> str:
    """The header and rule that a row stands under; blank columns where the table has none in
    reach."""
    lines = (span.hit.chunk.header or span.hit.chunk.text).split("\n")
    for above, line in pairwise(lines):
        if RULE_ROW.match(line) and TABLE_ROW.match(above):
            return f"{above}\n{line}"
    columns = span.text.strip().strip("|").count("|") + 1
    return "|" + "   |" * columns + "\n|" + " --- |" * columns


def told(span: AnswerSpan) -> str:
    """The span's text; of a table row each cell after the name of its column, for "30 days" alone
    says little."""
    if not is_row(span.text):
        return span.text
    return read_rows(f"{table_head(span)}\n{span.text}")


def _repeats(
    i: int,
    chosen: Sequence[int],
    pool: Sequence[AnswerSpan],
    vectors: npt.NDArray[np.float32] | None,
) -> bool:
    if any(pool[i].text.strip() == pool[j].text.strip() for j in chosen):
        return True
    return vectors is not None and any(float(vectors[i] @ vectors[j]) > REDUNDANT for j in chosen)


def _reading_order(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """By document, the one with the best span first and local ones before global ones, then as they
    stand in it."""
    best: dict[str, tuple[bool, float]] = {}
    for span in spans:
        rank = (not span.hit.chunk.countries, -span.score)
        best[span.hit.chunk.uri] = min(best.get(span.hit.chunk.uri, rank), rank)
    return sorted(
        spans, key=lambda span: (best[span.hit.chunk.uri], span.hit.chunk.uri, span.start)
    )
