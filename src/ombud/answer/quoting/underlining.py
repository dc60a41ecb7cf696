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


class _QuestionTexts(NamedTuple):
    """The question in the readings that spans are compared with."""

    passage: str
    """The whole search text."""
    turn: str
    """What was written last."""
    asks: str
    """The sentences of it that ask; all of it where none does."""


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
    texts = _question_texts(question, query)
    readings = list(map(_reading, spans))
    columns = {
        **vector_columns(texts, spans, readings, embedder),
        **term_columns(weights, texts, spans, readings),
        **form_columns(texts, readings),
        "hit_score": hit_scores(spans),
    }
    table = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in table]


def read_ahead(chunk: Chunk, embedder: Embedder | None) -> None:
    """Read what of a passage does not depend on a question, so that no question waits for it."""
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=0.0),)))
    texts = list(map(text_with_head, spans))
    if embedder and texts:
        embedder.read(texts)


def text_with_head(span: AnswerSpan) -> str:
    """Return the text of a span to embed: under its heading, a row's cells after their columns."""
    return _reading(span).with_head


class _SpanText(NamedTuple):
    """The text of a span and what stands above it."""

    text: str
    readable: str
    lead: str
    trail: tuple[str, ...]
    header: str
    language: str


def _reading(span: AnswerSpan) -> _Reading:
    chunk = span.hit.chunk
    words = _SpanText(
        text=span.text,
        readable=readable_text(span),
        # What goes on in an item was taught without it.
        lead="" if goes_on_in_item(span) else span.lead,
        trail=(*chunk.trail[:-1], section_of(span)),
        header=chunk.header,
        language=chunk.language,
    )
    return _read(words)


@remembered(MOST_READ)
def _read(span_text: _SpanText) -> _Reading:
    text, readable, lead, trail, header, language = span_text
    heading = trail[-1] if trail else ""
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
    around = " ".join((*trail, header, lead, readable))
    return _Reading(
        with_head=f"{heading}: {lead} {readable}",
        terms=frozenset(analyse(readable, language)),
        terms_around=frozenset(analyse(around, language)),
        form=tuple(map(float, form)),
    )


def _question_texts(question: Question, query: Query) -> _QuestionTexts:
    text = question.text
    sentences: list[str] = []
    for start, end in split_sentences(text, "en"):
        sentences.append(text[start:end].strip())
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    return _QuestionTexts(
        passage=query.passage,
        turn=text,
        asks=" ".join(asking) or text,
    )


def vector_columns(
    texts: _QuestionTexts,
    spans: Sequence[AnswerSpan],
    read: Sequence[_Reading],
    embedder: Embedder | None,
) -> dict[str, Numbers]:
    if embedder is None:
        return dict.fromkeys(COSINES, np.zeros(len(spans)))
    with_heads = [reading.with_head for reading in read]
    readings = embedder.read([texts.passage, texts.asks, *with_heads])
    vectors = np.stack([reading.windows[0] for reading in readings])
    cosines = np.asarray(vectors[:2] @ vectors[2:].T, dtype=np.float64)
    return cosine_columns(cosines, runs_of_chunks(spans))


def cosine_columns(cosines: Numbers, runs: Sequence[Sequence[int]]) -> dict[str, Numbers]:
    """Compare spans with the search passage and with the asking sentences, the latter also by
    chunk: a sentence rarely answers alone.

    cosines: shape (2, spans). runs: `runs_of_chunks`."""
    passage, asks = cosines
    chunk = np.zeros(len(asks))
    for run in runs:
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
    texts: _QuestionTexts,
    spans: Sequence[AnswerSpan],
    readings: Sequence[_Reading],
) -> dict[str, Numbers]:
    """Return the shares of the question's terms that a span has, with and without its headings."""
    holders = Counter[str]()
    for reading in readings:
        holders.update(reading.terms)
    rarity = _Rarity(len(spans), holders)
    weights_in: dict[str, Mapping[str, float]] = {}
    rows: list[tuple[float, float]] = []
    for span, reading in zip(spans, readings, strict=True):
        language = span.hit.chunk.language
        if language not in weights_in:
            weights_in[language] = rarity.of(texts.asks, language)
        share = coverage(weights_in[language], reading.terms)
        rows.append((coverage(weights, reading.terms_around), share))
    return dict(zip(("terms", "terms_asks"), np.array(rows).T, strict=True))


class _Rarity(NamedTuple):
    spans: int
    holders: Mapping[str, int]
    """Term -> spans that hold it."""

    def of(self, text: str, language: str) -> dict[str, float]:
        """Weight each term of a text by how few spans have it."""
        weights: dict[str, float] = {}
        for term in set(analyse(text, language)):
            weights[term] = log((self.spans + 1) / self.holders.get(term, 1))
        return weights


def form_columns(texts: _QuestionTexts, readings: Sequence[_Reading]) -> dict[str, Numbers]:
    asks_number = bool(ASKS_NUMBER.search(texts.turn))
    table = np.array([reading.form for reading in readings]).T
    columns: dict[str, Numbers] = dict(zip(FORM, table, strict=True))
    return {"asked_number": columns["number"] * asks_number, **columns}


def hit_scores(spans: Sequence[AnswerSpan]) -> Numbers:
    """Return the score of each span's passage relative to the best."""
    scores = np.array([span.hit.score for span in spans])
    best = scores.max() or 1.0
    return np.asarray(scores / best)
