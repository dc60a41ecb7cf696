"""What can be measured of a sentence, list item or table row beside a question: would a person
underline it?"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.answer.confidence import Basis
from ombud.answer.quoting.matters import MATTERS, Vectors, matter_columns
from ombud.answer.quoting.reading import READ
from ombud.answer.quoting.spans import (
    LIST_MARK,
    AnswerSpan,
    SpanRow,
    candidate_spans,
    coverage,
    goes_on_in_item,
    is_row,
    runs_of_chunks,
    spoken_text,
    words_in,
)
from ombud.models import EmbeddedText, Embedder, late
from ombud.text import analyse, remembered, split_sentences
from ombud.types import Chunk, Evidence, Hit, Query, Question

COSINES = (
    "cosine",
    "cosine_turn",
    "cosine_asks",
    "cosine_parts",
    "cosine_chunk",
    "cosine_gap",
    "cosine_gap_all",
    "cosine_beside",
)
"""Of vectors; all 0 where there is no embedder."""
NEARNESS = (
    "late_asks",
    "late_turn",
    "late_asks_gap",
    "late_turn_gap",
    "late_asks_back",
    "late_turn_back",
)
"""Of single tokens; unknown where the embedder tells none apart."""
SPARSE_SPAN_FEATURES = (
    "terms",
    "terms_asks",
    "terms_turn",
    "terms_heads",
    "hit_score",
    "asked_number",
    "number",
    "asked_whether",
    "modal",
    "row",
    "item",
    "position",
    "first",
    "length",
    "short",
    "long",
    "question",
    "about_page",
    "points_back",
    "link",
    "local",
)
SPAN_FEATURES = (*COSINES, *NEARNESS, *MATTERS, *SPARSE_SPAN_FEATURES)
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
ABOUT_PAGE = re.compile(
    r"versions?\b|related|history of this|change log|document control|see also", re.IGNORECASE
)
ASKS_WHETHER = re.compile(
    r"\W*(can|may|do|does|did|is|are|am|was|will|must|could|should|would|have|has)\b", re.IGNORECASE
)
MODAL = re.compile(
    r"\b(must|may|can|shall|should|will|not|never|only|entitled|need|needs|required|cannot)\b",
    re.IGNORECASE,
)
POINTS_BACK = re.compile(
    r"\W*(this|that|it|they|these|those|he|she|see|here|for more|if you have questions)\b",
    re.IGNORECASE,
)
LINK = re.compile(r"https?://|\]\(|@")


FORM = (
    "number",
    "modal",
    "row",
    "item",
    "length",
    "short",
    "long",
    "question",
    "points_back",
    "link",
    "about_page",
)
"""Of a span alone."""
MOST_READ = 10_000
"""Spans whose reading is remembered, 2 kB each."""


class _Reading(NamedTuple):
    """What a span is by itself, whatever is asked."""

    with_head: str
    """What is embedded."""
    terms: frozenset[str]
    terms_around: frozenset[str]
    """With those of what stands above it."""
    terms_of_heads: frozenset[str]
    form: tuple[float, ...]
    """FORM."""


class _Asked(NamedTuple):
    """The question in the readings that spans are compared with."""

    passage: str
    """The whole search text."""
    turn: str
    """What was written last."""
    asks: str
    """The sentences of it that ask; all of it where none does."""
    sentences: Sequence[str]


def span_features(
    question: Question,
    query: Query,
    weights: Mapping[str, float],
    spans: Sequence[AnswerSpan],
    embedder: Embedder | None,
) -> list[SpanRow]:
    """SPAN_FEATURES of each span, each between -1 and 1, or not a number where it is unknown.

    weights: index terms of the search text with their inverse document frequencies.
    """
    if not spans:
        return []
    asked = _asked(question, query)
    readings = list(map(_reading, spans))
    columns = {
        **_vector_columns(asked, spans, readings, embedder),
        **_term_columns(weights, asked, spans, readings),
        **_form_columns(asked, readings),
        **_place_columns(spans),
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
    """What is embedded of a span: under its heading, the cells of a row after their columns."""
    return _reading(span).with_head


class _Words(NamedTuple):
    """Of a span, with what stands above it."""

    text: str
    spoken: str
    lead: str
    trail: tuple[str, ...]
    header: str
    language: str


def _reading(span: AnswerSpan) -> _Reading:
    chunk = span.hit.chunk
    words = _Words(
        text=span.text,
        spoken=spoken_text(span),
        # What goes on in an item was taught without it.
        lead="" if goes_on_in_item(span) else span.lead,
        trail=chunk.trail,
        header=chunk.header,
        language=chunk.language,
    )
    return _read(words)


@remembered(MOST_READ)
def _read(said: _Words) -> _Reading:
    text, spoken, lead, trail, header, language = said
    heading = trail[-1] if trail else ""
    words = words_in(text)
    form = (
        bool(HOLDS_NUMBER.search(text)),
        bool(MODAL.search(text)),
        is_row(text),
        bool(LIST_MARK.match(text)),
        min(words, LONGEST) / LONGEST,
        words < SHORT,
        words > LONG,
        text.rstrip().endswith("?"),
        bool(POINTS_BACK.match(text)),
        bool(LINK.search(text)),
        bool(ABOUT_PAGE.search(heading)),
    )
    around = " ".join((*trail, header, lead, spoken))
    return _Reading(
        with_head=f"{heading}: {lead} {spoken}",
        terms=frozenset(analyse(spoken, language)),
        terms_around=frozenset(analyse(around, language)),
        terms_of_heads=frozenset(analyse(" ".join(trail), language)),
        form=tuple(map(float, form)),
    )


def _asked(question: Question, query: Query) -> _Asked:
    text = question.text
    sentences: list[str] = []
    for start, end in split_sentences(text, "en"):
        sentences.append(text[start:end].strip())
    sentences = sentences or [text]
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    return _Asked(
        passage=query.passage,
        turn=text,
        asks=" ".join(asking) or text,
        sentences=sentences,
    )


def _vector_columns(
    asked: _Asked,
    spans: Sequence[AnswerSpan],
    read: Sequence[_Reading],
    embedder: Embedder | None,
) -> dict[str, Numbers]:
    if embedder is None:
        return dict.fromkeys((*COSINES, *NEARNESS, *MATTERS), np.zeros(len(spans)))
    with_heads = [reading.with_head for reading in read]
    questions = [asked.turn, asked.asks, asked.passage, *asked.sentences]
    readings = embedder.read([*questions, *with_heads])
    of_questions = readings[: len(questions)]
    of_spans = readings[len(questions) :]
    turn, asks, passage, *_ = of_questions
    vectors = np.stack([reading.windows[0] for reading in of_spans])
    return {
        **_cosines(of_questions, vectors, runs_of_chunks(spans)),
        **_nearness(turn.tokens, asks.tokens, of_spans),
        **matter_columns(passage.windows[0], vectors, embedder.fingerprint),
    }


def _cosines(
    of_questions: Sequence[EmbeddedText],
    spans: Vectors,
    runs: Sequence[Sequence[int]],
) -> dict[str, Numbers]:
    """To the whole search passage, to the last turn, to its sentences that ask and to the nearest
    of its sentences; of the one to what asks also what the chunk and the neighbours have, for a
    sentence rarely answers alone.

    of_questions: last turn, what asks, search passage, each sentence. spans: shape (spans,
    dimension). runs: `runs_of_chunks`."""
    questions = np.stack([reading.windows[0] for reading in of_questions])
    cosines = np.asarray(questions @ spans.T, dtype=np.float64)
    turn, asks, passage = cosines[:3]
    chunk = np.zeros(len(spans))
    beside = np.zeros(len(spans))
    for run in runs:
        chunk[run] = asks[run].max()
        for place in run:
            beside[place] = _of_neighbours(asks, place, run)
    return {
        "cosine": passage,
        "cosine_turn": turn,
        "cosine_asks": asks,
        "cosine_parts": cosines[3:].max(axis=0),
        "cosine_chunk": chunk,
        "cosine_gap": asks - chunk,
        "cosine_gap_all": asks - asks.max(),
        "cosine_beside": beside,
    }


def _of_neighbours(values: Numbers, place: int, run: Sequence[int]) -> float:
    """The highest value of those right before and after in the run; its own where it is alone."""
    around: list[int] = []
    if place > run[0]:
        around.append(place - 1)
    if place < run[-1]:
        around.append(place + 1)
    return float(values[around or [place]].max())


def _nearness(
    turn: late.TokenVectors | None, asks: late.TokenVectors | None, texts: Sequence[EmbeddedText]
) -> dict[str, Numbers]:
    """Of the tokens of a span to those of the last turn and of its sentences that ask: from there,
    beside the nearest span, and back."""
    tokens = [reading.tokens for reading in texts if reading.tokens]
    if turn is None or asks is None or len(tokens) < len(texts):
        return dict.fromkeys(NEARNESS, np.full(len(texts), np.nan))
    to_asks, back_to_asks = late.interact(asks, tokens), late.answered(asks, tokens)
    to_turn, back_to_turn = to_asks, back_to_asks
    if turn is not asks:  # most turns are one sentence
        to_turn, back_to_turn = late.interact(turn, tokens), late.answered(turn, tokens)
    return {
        "late_asks": to_asks,
        "late_turn": to_turn,
        "late_asks_gap": to_asks - to_asks.max(),
        "late_turn_gap": to_turn - to_turn.max(),
        "late_asks_back": back_to_asks,
        "late_turn_back": back_to_turn,
    }


def _term_columns(
    weights: Mapping[str, float],
    asked: _Asked,
    spans: Sequence[AnswerSpan],
    readings: Sequence[_Reading],
) -> dict[str, Numbers]:
    """Shares of the question's terms that a span holds: with its headings, alone, and its headings
    alone."""
    holders = Counter[str]()
    for reading in readings:
        holders.update(reading.terms)
    rarity = _Rarity(len(spans), holders)
    asked_in: dict[str, tuple[Mapping[str, float], Mapping[str, float]]] = {}
    rows: list[tuple[float, ...]] = []
    for span, reading in zip(spans, readings, strict=True):
        language = span.hit.chunk.language
        if language not in asked_in:
            asked_in[language] = rarity.of(asked.asks, language), rarity.of(asked.turn, language)
        asks, turn = asked_in[language]
        row = (
            coverage(weights, reading.terms_around),
            coverage(asks, reading.terms),
            coverage(turn, reading.terms),
            len(asks.keys() & reading.terms_of_heads) / max(1, len(reading.terms_of_heads)),
        )
        rows.append(row)
    names = ("terms", "terms_asks", "terms_turn", "terms_heads")
    return dict(zip(names, np.array(rows).T, strict=True))


class _Rarity(NamedTuple):
    spans: int
    holders: Mapping[str, int]
    """Term -> spans that hold it."""

    def of(self, text: str, language: str) -> dict[str, float]:
        """Each term of a text, and how few of the spans hold it."""
        weights: dict[str, float] = {}
        for term in set(analyse(text, language)):
            weights[term] = log((self.spans + 1) / self.holders.get(term, 1))
        return weights


def _form_columns(asked: _Asked, readings: Sequence[_Reading]) -> dict[str, Numbers]:
    asks_number = bool(ASKS_NUMBER.search(asked.turn))
    asks_whether = bool(ASKS_WHETHER.match(asked.asks))
    table = np.array([reading.form for reading in readings]).T
    columns: dict[str, Numbers] = dict(zip(FORM, table, strict=True))
    return {
        "asked_number": columns["number"] * asks_number,
        "asked_whether": columns["modal"] * asks_whether,
        **columns,
    }


def _place_columns(spans: Sequence[AnswerSpan]) -> dict[str, Numbers]:
    scores = np.array([span.hit.score for span in spans])
    best = scores.max() or 1.0
    first_of_run = {run[0] for run in runs_of_chunks(spans)}
    return {
        "hit_score": scores / best,
        "position": np.array(list(map(_position, spans))),
        "first": _flags(place in first_of_run for place in range(len(spans))),
        "local": _flags(span.hit.chunk.countries for span in spans),
    }


def _position(span: AnswerSpan) -> float:
    """How far down its chunk a span begins, 0 to 1."""
    chunk = span.hit.chunk
    return (span.start - chunk.start) / max(1, len(chunk.text))


def _flags(values: Iterable[object]) -> Numbers:
    return np.array(list(map(bool, values)), dtype=np.float64)
