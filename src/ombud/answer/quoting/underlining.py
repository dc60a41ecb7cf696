"""What can be measured of a sentence, list item or table row beside a question: would a person
underline it?"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import log

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.spans import (
    LIST_MARK,
    AnswerSpan,
    SpanRow,
    coverage,
    is_row,
    told,
    words_in,
)
from ombud.models import EmbeddedText, Embedder, late
from ombud.text import analyse, split_sentences
from ombud.types import Query, Question

COSINES = (
    "cosine", "cosine_turn", "cosine_asks", "cosine_parts", "cosine_chunk", "cosine_gap", "cosine_gap_all",
    "cosine_beside",
)  # fmt: skip
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
    "terms", "terms_asks", "terms_turn", "terms_heads", "hit_score", "asked_number", "number", "asked_whether", "modal",
    "row", "item", "position", "first", "length", "short", "long", "question", "about_page", "points_back", "link",
    "local",
)  # fmt: skip
SPAN_FEATURES = (*COSINES, *NEARNESS, *SPARSE_SPAN_FEATURES)
SHORT, LONG, LONGEST = 8, 45, 60
"""Words of a sentence."""
ASKS_NUMBER = re.compile(
    r"\b(how (many|much|long|often|far|old|early|late|soon|high|big)|when|until|deadline|days?|weeks?|months?|hours?"
    r"|percent|cap|limit|rate|cost|per|allowance|amount|max\w*|min\w*)\b",
    re.IGNORECASE,
)
HOLDS_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice|double|quarter|none|nothing)\b",
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
Numbers = npt.NDArray[np.float64]


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
    parts = [
        question.text[start:end].strip() for start, end in split_sentences(question.text, "en")
    ] or [question.text]
    asks = " ".join(part for part in parts if part.endswith("?")) or question.text
    read = [told(span) for span in spans]
    columns = {
        **_cosines(query.passage, question.text, asks, parts, spans, read, embedder),
        **_terms(weights, asks, question.text, spans, read),
        **_shapes(asks, question.text, spans),
        **_places(spans),
    }
    return [{name: float(columns[name][i]) for name in SPAN_FEATURES} for i in range(len(spans))]


def _cosines(
    passage: str,
    turn: str,
    asks: str,
    parts: Sequence[str],
    spans: Sequence[AnswerSpan],
    read: Sequence[str],
    embedder: Embedder | None,
) -> dict[str, Numbers]:
    """To the whole search passage, to the last turn, to its sentences that ask and to the nearest
    of its sentences; of the latter also what the chunk and the neighbours have, for a sentence
    rarely answers alone."""
    if embedder is None:
        return dict.fromkeys((*COSINES, *NEARNESS), np.zeros(len(spans)))
    under = [span.hit.chunk.trail[-1] if span.hit.chunk.trail else "" for span in spans]
    texts = [
        f"{head}: {span.lead} {text}" for head, span, text in zip(under, spans, read, strict=True)
    ]
    readings = embedder.read([turn, asks, passage, *parts, *texts])
    of_texts = readings[3 + len(parts) :]
    vectors = np.stack([reading.windows[0] for reading in readings])
    asked, said = vectors[[2, 0, 1, *range(3, 3 + len(parts))]], vectors[3 + len(parts) :]
    found = np.asarray(asked @ said.T, dtype=np.float64)
    near = found[2]
    chunk, beside = np.zeros(len(spans)), np.zeros(len(spans))
    for run in _runs(spans):
        chunk[run] = near[run].max()
        for i in run:
            around = [j for j in (i - 1, i + 1) if run[0] <= j <= run[-1]]
            beside[i] = near[around].max() if around else near[i]
    columns = (
        found[0],
        found[1],
        near,
        found[3:].max(axis=0),
        chunk,
        near - chunk,
        near - near.max(),
        beside,
    )
    return dict(zip(COSINES, columns, strict=True)) | _nearness(
        readings[0].tokens, readings[1].tokens, of_texts
    )


def _nearness(
    turn: late.TokenVectors | None, asks: late.TokenVectors | None, texts: Sequence[EmbeddedText]
) -> dict[str, Numbers]:
    """Of the tokens of a span to those of the last turn and of its sentences that ask: from there,
    beside the nearest span, and back."""
    said = [reading.tokens for reading in texts if reading.tokens]
    if turn is None or asks is None or len(said) < len(texts):
        return dict.fromkeys(NEARNESS, np.full(len(texts), np.nan))
    there = [late.interact(asked, said) for asked in (asks, turn)]
    back = [late.answered(asked, said) for asked in (asks, turn)]
    return dict(zip(NEARNESS, (*there, *(near - near.max() for near in there), *back), strict=True))


def _terms(
    weights: Mapping[str, float],
    asks: str,
    turn: str,
    spans: Sequence[AnswerSpan],
    read: Sequence[str],
) -> dict[str, Numbers]:
    """Shares of the question's terms that a span holds: with its headings, alone, and its headings
    alone."""
    held = [
        set(analyse(text, span.hit.chunk.language)) for span, text in zip(spans, read, strict=True)
    ]
    holders = Counter(term for terms in held for term in terms)
    rare = {term: log((len(spans) + 1) / count) for term, count in holders.items()}
    rows = []
    for span, text, terms in zip(spans, read, held, strict=True):
        chunk = span.hit.chunk
        asked, said = (set(analyse(one, chunk.language)) for one in (asks, turn))
        heads = set(analyse(" ".join(chunk.trail), chunk.language))
        whole = " ".join((*chunk.trail, chunk.header, span.lead, text))
        rows.append((
            coverage(weights, set(analyse(whole, chunk.language))),
            coverage({term: rare.get(term, log(len(spans) + 1)) for term in asked}, terms),
            coverage({term: rare.get(term, log(len(spans) + 1)) for term in said}, terms),
            len(asked & heads) / max(1, len(heads)),
        ))  # fmt: skip
    return dict(
        zip(("terms", "terms_asks", "terms_turn", "terms_heads"), np.array(rows).T, strict=True)
    )


def _shapes(asks: str, turn: str, spans: Sequence[AnswerSpan]) -> dict[str, Numbers]:
    number, whether = bool(ASKS_NUMBER.search(turn)), bool(ASKS_WHETHER.match(asks))
    texts = [span.text for span in spans]
    words = np.array([words_in(text) for text in texts])
    holds = _flags(HOLDS_NUMBER.search(text) for text in texts)
    modal = _flags(MODAL.search(text) for text in texts)
    return {
        "asked_number": holds * number,
        "number": holds,
        "asked_whether": modal * whether,
        "modal": modal,
        "row": _flags(is_row(text) for text in texts),
        "item": _flags(LIST_MARK.match(text) for text in texts),
        "length": np.minimum(words, LONGEST) / LONGEST,
        "short": _flags(words < SHORT),
        "long": _flags(words > LONG),
        "question": _flags(text.rstrip().endswith("?") for text in texts),
        "points_back": _flags(POINTS_BACK.match(text) for text in texts),
        "link": _flags(LINK.search(text) for text in texts),
    }


def _places(spans: Sequence[AnswerSpan]) -> dict[str, Numbers]:
    chunks = [span.hit.chunk for span in spans]
    best = max(span.hit.score for span in spans) or 1.0
    begins = {run[0] for run in _runs(spans)}
    return {
        "hit_score": np.array([span.hit.score / best for span in spans]),
        "position": np.array(
            [
                (span.start - chunk.start) / max(1, len(chunk.text))
                for span, chunk in zip(spans, chunks, strict=True)
            ]
        ),
        "first": _flags(i in begins for i in range(len(spans))),
        "about_page": _flags(
            ABOUT_PAGE.search(chunk.trail[-1] if chunk.trail else "") for chunk in chunks
        ),
        "local": _flags(chunk.countries for chunk in chunks),
    }


def _runs(spans: Sequence[AnswerSpan]) -> list[list[int]]:
    """Places of the spans of one chunk, chunk by chunk."""
    return [list(run) for _, run in groupby(range(len(spans)), key=lambda i: spans[i].hit.chunk.id)]


def _flags(found: Iterable[object]) -> Numbers:
    return np.array([bool(one) for one in found], dtype=np.float64)
