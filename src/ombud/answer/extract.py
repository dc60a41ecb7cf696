"""Answers without a model: the passages a careful colleague would have underlined, word for word."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer.signals import coverage
from ombud.documents import sentences
from ombud.index import analyse
from ombud.models import Embedder
from ombud.types import Evidence, Hit

MOST_SPANS = 4
MOST_WORDS = 110
LEAST_SHARE = 0.72
"""A further span must score this share of the best one."""
REDUNDANT = 0.86
"""Cosine above which a span says again what another said."""
PRIOR = 0.25
"""What the passage's own rank is worth beside its sentence's score."""
TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
RULE_ROW = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
LEAD_IN = re.compile(r":\s*$")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


class Span(NamedTuple):
    """A run of a document's text: start and end count in `Document.text`."""

    hit: Hit
    start: int
    end: int
    text: str
    score: float
    cosine: float = 0.0
    lead: str = ""
    """The line that introduces a list, for an item torn out of it."""


def best_spans(
    question: str, weights: Mapping[str, float], evidence: Evidence, embedder: Embedder | None
) -> list[Span]:
    """Spans of all evidence, best first: sentences, list items, table rows."""
    hits = evidence.hits
    candidates = [span for rank, hit in enumerate(hits) for span in _spans(hit, 1 / (1 + rank))]
    if not candidates:
        return []
    lexical = np.array([_lexical(weights, span) for span in candidates])
    prior = np.array([span.score for span in candidates])
    cosine = _cosines(question, candidates, embedder)
    scores = (0.55 * cosine + 0.45 * lexical if embedder else lexical) + PRIOR * prior
    rows = zip(candidates, scores, cosine, strict=True)
    ranked = [span._replace(score=float(s), cosine=float(c)) for span, s, c in rows]
    return sorted(ranked, key=lambda span: (-span.score, span.hit.chunk.uri, span.start))


def choose(spans: Sequence[Span], embedder: Embedder | None) -> list[Span]:
    """The few spans that make the answer: good enough beside the best, saying different things, in reading order."""
    pool = [span for span in spans[:24] if spans and span.score >= LEAST_SHARE * spans[0].score]
    vectors = embedder.embed([span.text for span in pool]) if embedder and pool else None
    chosen: list[int] = []
    words = 0
    for i, span in enumerate(pool):
        length = len(span.text.split())
        if chosen and (words + length > MOST_WORDS or len(chosen) == MOST_SPANS):
            continue
        if _repeats(i, chosen, pool, vectors):
            continue
        chosen.append(i)
        words += length
    return _reading_order([pool[i] for i in chosen])


def as_markdown(span: Span) -> str:
    """The span as it is shown: a table row under its header, a list item after its lead-in."""
    if TABLE_ROW.match(span.text):
        return f"{_table_head(span)}\n{span.text.strip()}"
    item = LIST_MARK.sub("", span.text).strip()
    return f"{span.lead.strip()} {item}" if span.lead else item


def _spans(hit: Hit, prior: float) -> list[Span]:
    chunk, found, lead = hit.chunk, [], ""
    for start, end in sentences(chunk.text, chunk.language):
        text = chunk.text[start:end]
        if not text.strip() or RULE_ROW.match(text) or _is_head(chunk.text, end):
            continue
        item = bool(LIST_MARK.match(text))
        if LEAD_IN.search(text) and not item:
            lead = text
            continue
        if not item:
            lead = ""
        found.append(Span(hit, chunk.start + start, chunk.start + end, text, prior, lead=lead if item else ""))
    return found


def _is_head(text: str, end: int) -> bool:
    """A table's first row stands above its rule: it names the columns and answers nothing."""
    following = text[end:].lstrip("\n").split("\n", 1)[0]
    return bool(RULE_ROW.match(following))


def _table_head(span: Span) -> str:
    lines = (span.hit.chunk.header or span.hit.chunk.text).split("\n")
    for above, line in pairwise(lines):
        if RULE_ROW.match(line) and TABLE_ROW.match(above):
            return f"{above}\n{line}"
    columns = span.text.strip().strip("|").count("|") + 1
    return "|" + "   |" * columns + "\n|" + " --- |" * columns


def _lexical(weights: Mapping[str, float], span: Span) -> float:
    """Coverage of the question's terms: by the span itself, and a little by the headings it stands under."""
    chunk = span.hit.chunk
    own = set(analyse(f"{span.lead} {span.text}", chunk.language))
    with_trail = own | set(analyse(" ".join((*chunk.trail, chunk.header)), chunk.language))
    return 0.7 * coverage(weights, own) + 0.3 * coverage(weights, with_trail)


def _cosines(question: str, spans: Sequence[Span], embedder: Embedder | None) -> npt.NDArray[np.float64]:
    if embedder is None:
        return np.zeros(len(spans))
    texts = [f"{span.hit.chunk.trail[-1] if span.hit.chunk.trail else ''}: {span.lead} {span.text}" for span in spans]
    vectors = embedder.embed([question, *texts])
    return np.asarray(vectors[1:] @ vectors[0], dtype=np.float64)


def _repeats(i: int, chosen: Sequence[int], pool: Sequence[Span], vectors: npt.NDArray[np.float32] | None) -> bool:
    if any(pool[i].text.strip() == pool[j].text.strip() for j in chosen):
        return True
    return vectors is not None and any(float(vectors[i] @ vectors[j]) > REDUNDANT for j in chosen)


def _reading_order(spans: Sequence[Span]) -> list[Span]:
    """By document, the one with the best span first and local ones before global ones, then as they stand in it."""
    best: dict[str, tuple[bool, float]] = {}
    for span in spans:
        rank = (not span.hit.chunk.countries, -span.score)
        best[span.hit.chunk.uri] = min(best.get(span.hit.chunk.uri, rank), rank)
    return sorted(spans, key=lambda span: (best[span.hit.chunk.uri], span.hit.chunk.uri, span.start))
