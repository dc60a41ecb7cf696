"""What can be measured of a sentence, list item or table row beside a question: would a person
underline it?"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.confidence import Basis
from ombud.answer.quoting.reading import READ
from ombud.answer.quoting.spans import (
    LIST_MARK,
    AnswerSpan,
    SpanRow,
    candidate_spans,
    coverage,
    goes_on_in_item,
    is_row,
    points_back,
    readable_text,
    runs_of_chunks,
    section_of,
    words_in,
)
from ombud.models import Embedder
from ombud.text import analyse, remembered, split_sentences
from ombud.types import Chunk, Evidence, Hit, Query, Question

COSINES = (
    "cosine",
    "cosine_asks",
    "cosine_chunk",
    "cosine_gap",
    "cosine_gap_all",
)
"""Of vectors; all 0 where there is no embedder."""
SPARSE_SPAN_FEATURES = (
    "terms",
    "terms_asks",
    "hit_score",
    "asked_number",
    "number",
    "row",
    "item",
    "length",
    "short",
    "long",
    "question",
    "points_back",
)
SPAN_FEATURES = (*COSINES, *SPARSE_SPAN_FEATURES)
READ_SPAN_FEATURES = (*READ, *SPAN_FEATURES)
SPAN_FEATURES_OF: Mapping[Basis, Sequence[str]] = {
    "read": READ_SPAN_FEATURES,
    "hybrid": SPAN_FEATURES,
    "sparse": SPARSE_SPAN_FEATURES,
}
Numbers = npt.NDArray[np.float64]
SHORT = 8
LONG = 45
LONGEST = 60
"""Words of a sentence."""
ASKS_NUMBER = re.compile(
    r"\b(how (many|much|long|often|far|old|early|late|soon|high|big)|when|until|deadline"
    r"|days?|weeks?|months?|hours?|percent|cap|limit|rate|cost|per|allowance|amount|max\w*"
    r"|min\w*)\b",
    re.IGNORECASE,
)
HOLDS_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice|double|quarter"
    r"|none|nothing)\b",
    re.IGNORECASE,
)


FORM = (
    "number",
    "row",
    "item",
    "length",
    "short",
    "long",
    "question",
    "points_back",
)
"""Of a span alone."""
MOST_READ = 10_000
"""Spans whose reading is remembered, 2 kB each."""


class _Reading(NamedTuple):
    """The features of a span that do not depend on the question."""

    with_head: str
    """What is embedded."""
    terms: frozenset[str]
    terms_around: frozenset[str]
    """With those of what stands above it."""
    form: tuple[float, ...]
    """FORM."""


def span_features(
    question: Question,
    query: Query,
    weights: Mapping[str, float],
    spans: Sequence[AnswerSpan],
    embedder: Embedder | None,
) -> list[SpanRow]:
    """Return SPAN_FEATURES of each span, between -1 and 1, or NaN where unknown.

    weights: index terms of the search text with their inverse document frequencies."""
    if not spans:
        return []
    asks = asking_sentences(question.text)
    readings = list(map(_reading, spans))
    form = np.array([reading.form for reading in readings]).T
    columns: dict[str, Numbers] = {
        **vector_columns((query.passage, asks), spans, readings, embedder),
        **term_columns(weights, asks, spans, readings),
        **dict(zip(FORM, form, strict=True)),
    }
    columns["asked_number"] = columns["number"] * bool(ASKS_NUMBER.search(question.text))
    scores = np.array([span.hit.score for span in spans])
    columns["hit_score"] = scores / (scores.max() or 1.0)
    table = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in table]


def read_ahead(chunk: Chunk, embedder: Embedder | None) -> None:
    """Read what of a passage does not depend on a question, so that no question waits for it."""
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=0.0),)))
    texts = [_reading(span).with_head for span in spans]
    if embedder and texts:
        embedder.read(texts)


def _reading(span: AnswerSpan) -> _Reading:
    chunk = span.hit.chunk
    readable = readable_text(span)
    # What goes on in an item was taught without it.
    lead = "" if goes_on_in_item(span) else span.lead
    trail = (*chunk.trail[:-1], section_of(span))
    return _read(
        text=span.text,
        readable=readable,
        with_head=f"{trail[-1]}: {lead} {readable}",
        around=" ".join((*trail, chunk.header, lead, readable)),
        language=chunk.language,
    )


@remembered(MOST_READ)
def _read(text: str, readable: str, with_head: str, around: str, language: str) -> _Reading:
    words = words_in(text)
    form = (
        bool(HOLDS_NUMBER.search(text)),
        is_row(text),
        bool(LIST_MARK.match(text)),
        min(words, LONGEST) / LONGEST,
        words < SHORT,
        words > LONG,
        text.rstrip().endswith("?"),
        points_back(text),
    )
    return _Reading(
        with_head=with_head,
        terms=frozenset(analyse(readable, language)),
        terms_around=frozenset(analyse(around, language)),
        form=tuple(map(float, form)),
    )


def asking_sentences(text: str) -> str:
    """Return the sentences of a question that ask; all of it where none does."""
    sentences = [text[start:end].strip() for start, end in split_sentences(text, "en")]
    return " ".join(sentence for sentence in sentences if sentence.endswith("?")) or text


def vector_columns(
    texts: tuple[str, str],
    spans: Sequence[AnswerSpan],
    readings: Sequence[_Reading],
    embedder: Embedder | None,
) -> dict[str, Numbers]:
    """Compare spans with the search passage and with the asking sentences, the latter also by
    chunk: a sentence rarely answers alone."""
    if embedder is None:
        return dict.fromkeys(COSINES, np.zeros(len(spans)))
    embedded = embedder.read([*texts, *(reading.with_head for reading in readings)])
    vectors = np.stack([text.windows[0] for text in embedded])
    passage, asks = np.asarray(vectors[:2] @ vectors[2:].T, dtype=np.float64)
    chunk = np.zeros(len(spans))
    for run in runs_of_chunks(spans):
        chunk[run] = asks[run].max()
    return {
        "cosine": passage,
        "cosine_asks": asks,
        "cosine_chunk": chunk,
        "cosine_gap": asks - chunk,
        "cosine_gap_all": asks - asks.max(),
    }


def term_columns(
    weights: Mapping[str, float],
    asks: str,
    spans: Sequence[AnswerSpan],
    readings: Sequence[_Reading],
) -> dict[str, Numbers]:
    """Return the shares of the question's terms that a span has, with and without its headings.
    Without them, a term weighs the more the fewer spans have it."""
    holders = Counter[str]()
    for reading in readings:
        holders.update(reading.terms)
    rarity: dict[str, dict[str, float]] = {}
    for language in {span.hit.chunk.language for span in spans}:
        terms = set(analyse(asks, language))
        rarity[language] = {term: log((len(spans) + 1) / (holders[term] or 1)) for term in terms}
    rows: list[tuple[float, float]] = []
    for span, reading in zip(spans, readings, strict=True):
        share = coverage(rarity[span.hit.chunk.language], reading.terms)
        rows.append((coverage(weights, reading.terms_around), share))
    return dict(zip(("terms", "terms_asks"), np.array(rows).T, strict=True))
