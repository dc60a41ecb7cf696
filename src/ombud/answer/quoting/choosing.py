"""The few spans that make an answer, as a careful colleague would have underlined them."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.runs import kind_of, run_of
from ombud.answer.quoting.spans import LIST_MARK, AnswerSpan, is_row, words_in
from ombud.models import Embedder

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
POINTS_BACK = re.compile(
    r"\W*(this|that|it|they|these|those|he|she|however|but|also|in that case|otherwise|then|such"
    r"|if so)\b",
    re.IGNORECASE,
)
"""How a sentence begins that means little without the one before it."""
POOL = 24
"""Spans that are looked at; the rest is far from answering."""
RULES = 0.6
"""A local span this near to the best one shows that the country has a rule of its own."""
REDUNDANT = 0.86
"""Cosine above which a span says again what another said."""


def choose(spans: Sequence[AnswerSpan], embedder: Embedder | None) -> list[AnswerSpan]:
    """The few spans that make the answer: good enough beside the best, saying different things, the
    best block first and the rest in reading order.

    A country's own rule speaks instead of the global one on its topic, unless that one is
    mandatory: then the best of the mandatory one stands beside it."""
    ruled = _locally_ruled_topics(spans[:POOL])
    chosen = _distinct(_pool(spans, ruled), embedder)
    floors = _floors(spans, ruled)
    best = [span for span in chosen if span not in floors]
    return _best_block_first(_with_neighbours([*best, *floors[:1]], spans))


def _with_neighbours(
    chosen: Sequence[AnswerSpan], everything: Sequence[AnswerSpan]
) -> list[AnswerSpan]:
    """The chosen spans, each with the sentence that it points back to and the one that goes on from
    it, as long as there is room: a sentence rarely says it all."""
    words = sum(words_in(span.text) for span in chosen)
    together = list(chosen)
    for span in chosen:
        for neighbour in _neighbours(span, everything):
            length = words_in(neighbour.text)
            if neighbour in together or words + length > MOST_WORDS:
                continue
            together.append(neighbour)
            words += length
    return together


def _neighbours(span: AnswerSpan, everything: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The sentences of its paragraph that a sentence needs; none for a row or an item."""
    if kind_of(span) != "text":
        return []
    run = run_of(span, everything)
    place = run.index(span)
    before = run[place - 1 : place] if place and POINTS_BACK.match(span.text) else []
    return [*before, *run[place + 1 : place + 2]]


def _pool(spans: Sequence[AnswerSpan], ruled: set[str]) -> list[AnswerSpan]:
    """The spans that count, as long as they are good enough beside the best of them."""
    pool: list[AnswerSpan] = []
    for span in spans[:POOL]:
        if _is_overridden(span, ruled):
            continue
        best = pool[0] if pool else span
        if span.score >= LEAST_SHARE * best.score:
            pool.append(span)
    return pool


def _locally_ruled_topics(spans: Sequence[AnswerSpan]) -> set[str]:
    """Topics on which a country has a rule of its own that is near to the best span."""
    topics: set[str] = set()
    for span in spans:
        chunk = span.hit.chunk
        is_near = span.score >= RULES * spans[0].score
        if is_near and chunk.countries and chunk.topic:
            topics.add(chunk.topic)
    return topics


def _is_overridden(span: AnswerSpan, ruled: set[str]) -> bool:
    chunk = span.hit.chunk
    return not chunk.countries and not chunk.mandatory and chunk.topic in ruled


def _floors(spans: Sequence[AnswerSpan], ruled: set[str]) -> list[AnswerSpan]:
    """Spans of mandatory documents on these topics; a policy says its rule first."""
    floors: list[AnswerSpan] = []
    for span in spans:
        chunk = span.hit.chunk
        if chunk.mandatory and chunk.topic in ruled:
            floors.append(span)
    return sorted(floors, key=lambda span: (span.hit.chunk.start, -span.score))


def _distinct(pool: Sequence[AnswerSpan], embedder: Embedder | None) -> list[AnswerSpan]:
    """The best of the pool that say different things, as many as there is room for."""
    vectors = None
    if embedder and pool:
        vectors = embedder.embed([span.text for span in pool])
    chosen: list[AnswerSpan] = []
    places: list[int] = []
    words = 0
    for place, span in enumerate(pool):
        length = words_in(span.text)
        if chosen and (words + length > MOST_WORDS or _is_full(chosen, span)):
            continue
        if _has_text(chosen, span) or _is_redundant(place, places, vectors):
            continue
        chosen.append(span)
        places.append(place)
        words += length
    return chosen


def _is_full(chosen: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    """Whether there is no room for a span: the rows of one table take one place together, if they
    are as likely."""
    rows_of: dict[str, list[AnswerSpan]] = {}
    sentences = 0
    for other in chosen:
        if is_row(other.text):
            rows_of.setdefault(other.hit.chunk.id, []).append(other)
        else:
            sentences += 1
    beside = rows_of.get(span.hit.chunk.id)
    if beside and is_row(span.text):
        likeliest = max(map(_odds, beside))
        return len(beside) == MOST_ROWS or _odds(span) < ALIKE * likeliest
    return len(rows_of) + sentences >= MOST_SPANS


def _odds(span: AnswerSpan) -> float:
    return span.score / max(1e-9, 1 - span.score)


def _has_text(chosen: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    texts = [other.text.strip() for other in chosen]
    return span.text.strip() in texts


def _is_redundant(
    place: int, chosen: Sequence[int], vectors: npt.NDArray[np.float32] | None
) -> bool:
    if vectors is None:
        return False
    for other in chosen:
        cosine = float(vectors[place] @ vectors[other])
        if cosine > REDUNDANT:
            return True
    return False


def _best_block_first(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The likeliest span with what belongs to it, then the others as a reader meets them."""
    ordered = _in_reading_order(spans)
    if not ordered:
        return []
    best = max(ordered, key=lambda span: span.score)
    block = [span for span in ordered if _in_one_block(span, best)]
    return [*block, *(span for span in ordered if span not in block)]


def _in_one_block(span: AnswerSpan, best: AnswerSpan) -> bool:
    """Whether a span is the best one, a row of its table or an item of its list."""
    if span == best:
        return True
    if span.hit.chunk.id != best.hit.chunk.id:
        return False
    both_rows = is_row(span.text) and is_row(best.text)
    both_items = bool(LIST_MARK.match(span.text) and LIST_MARK.match(best.text))
    return both_rows or (both_items and span.lead == best.lead)


def _in_reading_order(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """By document, the one with the best span first and local ones before global ones, then as they
    stand in it."""
    best: dict[str, tuple[bool, float]] = {}
    for span in spans:
        chunk = span.hit.chunk
        rank = (not chunk.countries, -span.score)
        before = best.get(chunk.uri, rank)
        best[chunk.uri] = min(before, rank)

    def place(span: AnswerSpan) -> tuple[tuple[bool, float], str, int]:
        uri = span.hit.chunk.uri
        return best[uri], uri, span.start

    return sorted(spans, key=place)
