"""The few spans that make an answer, as a careful colleague would have underlined them."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.spans import AnswerSpan, is_row, odds, words_in
from ombud.models import Embedder, is_remote

MOST_SPANS = 6
"""A table counts as one."""
MOST_WORDS = 110
"""Short paragraphs, lists and tables are made whole after that. With 100 the gold quote was shown
in .734 of dev (n 271), with this in .753 and 5 words more, with 120 in .760."""
STRETCH = 50
"""Words of the stretch that leads; with 40 to 60 the answer held the gold quote in .64 of dev, with
80 in .63."""
LONGEST_RUN = 12
"""Spans of the stretch; a list of thirty names answers nobody."""
SPEAKING = 4
"""Spans of a passage that speak for it: ten that hardly answer are no more than one that does."""
LEADS = 0.6
"""Share of the best span's likelihood that the first of the stretch must have: at .2 the gold quote
was shown first in .30 of dev, from .6 on in .37."""
TRIMMED = 0.2
"""The same of the last."""
LEAST_SHARE = 0.25
"""A further span must be this share as likely as the best one; .2 shows the gold quote in one
answer of a hundred more, and another sentence that does not answer in many."""
LEAST_ELSEWHERE = 0.4
"""The same of one of another page. Readers of 342 answers of dev found a tail on another subject in
95; with .4 the gold quote is shown in as many (258 of 339) as with .25, and four words fewer are
read; with .6 in eight fewer."""
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
RULES = 0.3
"""A local span this likely beside the best one shows that the country has a rule of its own. Topics
are wide: at a tenth, a country's page on notice silenced the global one on referral bonuses; what
is shown first on dev is the same up to .5."""
RULES_ABOVE_FLOOR = 0.1
"""The same where a mandatory global rule is on the topic: a floor is there for local rules to go
beyond it, and is often worded more like the question."""
REDUNDANT = 0.86
"""Cosine above which a span says again what another said."""


def choose(
    spans: Sequence[AnswerSpan], embedder: Embedder | None, *, sure: bool = True
) -> list[AnswerSpan]:
    """The few spans that make the answer: the best stretch of one passage first, then what else is
    good enough beside it and says something different, in reading order.

    sure: whether it answers; of what only may, more pages are shown.

    A country's own rule speaks instead of the global one on its topic, unless that one is
    mandatory: then the best of the mandatory one stands beside it."""
    ruled = _locally_ruled_topics(spans[:POOL])
    counting = [span for span in spans if not _is_overridden(span, ruled)]
    floors = _floors(spans, ruled)
    leading = [span for span in counting if span not in floors]
    stretch = best_stretch(leading or counting)
    beside = _beside(stretch, counting, embedder, sure=sure)
    others = [span for span in beside if span not in floors]
    floor = [span for span in floors[:1] if span not in stretch]
    return [*stretch, *_in_reading_order([*others, *floor])]


def best_stretch(spans: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Spans that follow each other in one passage, in reading order, of which a reader gets most:
    the largest sum of squared likelihoods within STRETCH words, that of its passage's likeliest
    spans beside it, unlikely ends cut off.

    A sentence torn out says little: of the sums tried on dev, squares held the gold quote most
    often, .69 of the sample and .45 of the handbooks beside .67 and .40 of single sentences (both
    with stretches of 80 words). With the passage's beside it, one that answers leads in eight
    more of 855 messages (of dev, and read fresh), in four not any more."""
    best: list[AnswerSpan] = []
    most = -1.0
    for passage in _by_passage(spans):
        likeliest = sorted(passage, key=lambda span: -span.score)[:SPEAKING]
        of_passage = _sum_of_squares(likeliest)
        for stretch in _stretches(passage):
            worth = of_passage + _sum_of_squares(stretch)
            if worth > most:
                most = worth
                best = stretch
    return _likely_rows(_trimmed(best))


def _sum_of_squares(spans: Sequence[AnswerSpan]) -> float:
    return sum(span.score**2 for span in spans)


def _likely_rows(stretch: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """A stretch with the few rows of its table that are about as likely as the likeliest."""
    rows = sorted((span for span in stretch if is_row(span.text)), key=odds, reverse=True)
    likely: list[AnswerSpan] = []
    for row in rows[:MOST_ROWS]:
        if odds(row) >= ALIKE * odds(rows[0]):
            likely.append(row)
    return [span for span in stretch if not is_row(span.text) or span in likely]


def _by_passage(spans: Sequence[AnswerSpan]) -> list[list[AnswerSpan]]:
    of_chunk: dict[str, list[AnswerSpan]] = {}
    for span in spans:
        of_chunk.setdefault(span.hit.chunk.id, []).append(span)
    passages = list(of_chunk.values())
    for passage in passages:
        passage.sort(key=lambda span: span.start)
    return passages


def _stretches(passage: Sequence[AnswerSpan]) -> Iterator[list[AnswerSpan]]:
    """From each span of a passage as far as there is room; a long span stands alone."""
    lengths = [words_in(span.text) for span in passage]
    for first in range(len(passage)):
        words = lengths[first]
        end = first + 1
        last = min(len(passage), first + LONGEST_RUN)
        while end < last and words + lengths[end] <= STRETCH:
            words += lengths[end]
            end += 1
        yield list(passage[first:end])


def _trimmed(stretch: list[AnswerSpan]) -> list[AnswerSpan]:
    """A stretch without the unlikely spans at its ends; what a sentence points back to stays."""
    if not stretch:
        return []
    best = max(span.score for span in stretch)
    while len(stretch) > 1 and stretch[-1].score < TRIMMED * best:
        stretch = stretch[:-1]
    while len(stretch) > 1 and stretch[0].score < LEADS * best:
        if POINTS_BACK.match(stretch[1].text):
            break
        stretch = stretch[1:]
    return stretch


def _beside(
    stretch: Sequence[AnswerSpan],
    spans: Sequence[AnswerSpan],
    embedder: Embedder | None,
    *,
    sure: bool,
) -> list[AnswerSpan]:
    """What else is shown: likely beside the best of the stretch, saying something different, as
    long as there is room."""
    chosen = list(stretch)
    elsewhere = LEAST_ELSEWHERE if sure else LEAST_SHARE
    candidates = [
        span for span in _pool(stretch, spans[:POOL], elsewhere) if _has_room(chosen, span)
    ]
    meanings = _Meanings(embedder, [*stretch, *candidates]) if embedder else None
    for span in candidates:
        if not _has_room(chosen, span):
            continue
        if meanings and meanings.says_again(span, chosen):
            continue
        chosen.append(span)
    return chosen[len(stretch) :]


def _has_room(chosen: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    """Whether a span may stand beside those that are chosen, by its length and its words; what may
    not now may not beside more."""
    words = sum(words_in(other.text) for other in chosen)
    if words + words_in(span.text) > MOST_WORDS:
        return False
    return not _is_full(chosen, span) and not _has_text(chosen, span)


class _Meanings:
    """Vectors of spans: those that nobody compares are not made, unless they come from another
    machine, which is asked once for all."""

    def __init__(self, embedder: Embedder, spans: Sequence[AnswerSpan]) -> None:
        self._embedder = embedder
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}
        if is_remote(embedder):
            texts = [span.text for span in spans]
            self._vectors.update(zip(texts, embedder.embed(texts), strict=True))

    def says_again(self, span: AnswerSpan, chosen: Sequence[AnswerSpan]) -> bool:
        """Whether it says what one of those chosen has said."""
        own = self._of(span)
        return any(float(own @ self._of(other)) > REDUNDANT for other in chosen)

    def _of(self, span: AnswerSpan) -> npt.NDArray[np.float32]:
        if span.text not in self._vectors:
            self._vectors[span.text] = self._embedder.embed([span.text])[0]
        return self._vectors[span.text]


def _pool(
    stretch: Sequence[AnswerSpan], spans: Sequence[AnswerSpan], elsewhere: float
) -> list[AnswerSpan]:
    """The spans beside the stretch that are good enough beside the best of it."""
    best = max((span.score for span in stretch), default=0.0)
    pages = {span.hit.chunk.uri for span in stretch}
    pool: list[AnswerSpan] = []
    for span in spans:
        share = LEAST_SHARE if span.hit.chunk.uri in pages else elsewhere
        if span not in stretch and span.score >= share * best:
            pool.append(span)
    return pool


def _locally_ruled_topics(spans: Sequence[AnswerSpan]) -> set[str]:
    """Topics on which a country has a rule of its own that is near to the best span."""
    floored = {span.hit.chunk.topic for span in spans if span.hit.chunk.mandatory}
    topics: set[str] = set()
    for span in spans:
        chunk = span.hit.chunk
        share = RULES_ABOVE_FLOOR if chunk.topic in floored else RULES
        is_near = span.score >= share * spans[0].score
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
        likeliest = max(map(odds, beside))
        return len(beside) == MOST_ROWS or odds(span) < ALIKE * likeliest
    return len(rows_of) + sentences >= MOST_SPANS


def _has_text(chosen: Sequence[AnswerSpan], span: AnswerSpan) -> bool:
    texts = [other.text.strip() for other in chosen]
    return span.text.strip() in texts


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
