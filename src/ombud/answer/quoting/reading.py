"""What the small reader makes of the evidence: how likely each passage answers the question, and
each of its sentences is what answers."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.answer.quoting.confidence import estimate_each
from ombud.answer.quoting.spans import (
    AnswerSpan,
    SpanRow,
    readable_text,
    runs_of_chunks,
    span_weights,
)
from ombud.models import ReaderPassage, Reading

READ = ("read", "read_gap", "read_share", "read_passage", "read_passage_gap")
"""Features of a span that the reader gives."""
WIDEST = 10.0
"""Logits beyond this tell no more."""
MOST_READ = 4
"""Passages: on dev three to eight are as good (first sentence .504 to .508, n 240), and each takes
its time."""
Numbers = npt.NDArray[np.float64]


class ReadEvidence(NamedTuple):
    columns: dict[str, Numbers]
    """READ of each span."""
    signals: dict[str, float]
    """Of the question: how likely the best passage answers, the second, and the best sentence."""


NOT_READ = ReadEvidence({}, {})


class PassageReader(Protocol):
    """A `Reader`, or what stands for one where weights are fitted."""

    def read(self, question: str, passages: Sequence[ReaderPassage]) -> list[Reading]: ...


def read_evidence(
    question: str, spans: Sequence[AnswerSpan], rows: Sequence[SpanRow], reader: PassageReader
) -> ReadEvidence:
    """Score with the reader the MOST_READ passages that contain the likeliest spans.

    question: the full search text. rows: the other features of each span."""
    likely = estimate_each(rows, span_weights("hybrid"))
    runs = sorted(runs_of_chunks(spans), key=lambda run: -max(likely[place] for place in run))
    runs = runs[:MOST_READ]
    passages: list[ReaderPassage] = []
    for run in runs:
        passages.append(passage_of([spans[place] for place in run]))
    answerable = np.full(len(spans), -WIDEST)
    logits = np.full(len(spans), -WIDEST)
    best = [-WIDEST, -WIDEST]
    for run, reading in zip(runs, reader.read(question, passages), strict=True):
        logits[run] = np.clip(reading.pieces, -WIDEST, WIDEST)
        answerable[run] = np.clip(reading.answerable, -WIDEST, WIDEST)
        best.append(float(answerable[run[0]]))
    best.sort(reverse=True)
    columns = {
        "read": logits / WIDEST,
        "read_gap": (logits - logits.max(initial=-WIDEST)) / WIDEST,
        "read_share": _shares(logits),
        "read_passage": answerable / WIDEST,
        "read_passage_gap": (answerable - answerable.max(initial=-WIDEST)) / WIDEST,
    }
    signals = {
        "read_best": best[0],
        "read_second": best[1],
        "read_span": float(logits.max(initial=-WIDEST)),
    }
    return ReadEvidence(columns, signals)


def _shares(logits: Numbers) -> Numbers:
    """Return the softmax over spans: the reader was trained to tell the passages of a question
    apart."""
    likely: Numbers = np.exp(logits)
    shares: Numbers = likely / likely.sum() if len(likely) else likely
    return shares


def joined(features: Sequence[SpanRow], read: ReadEvidence) -> list[SpanRow]:
    """Return the features of each span, with READ where the reader scored it."""
    if not read.columns:
        return list(features)
    table = zip(*(column.tolist() for column in read.columns.values()), strict=True)
    of_spans = [dict(zip(read.columns, row, strict=True)) for row in table]
    return [own | of_span for own, of_span in zip(features, of_spans, strict=True)]


def passage_of(spans: Sequence[AnswerSpan]) -> ReaderPassage:
    """Return the spans of one chunk as input of the reader, a list's lead-in with its first
    item."""
    chunk = spans[0].hit.chunk
    heading = ": ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))
    pieces: list[str] = []
    lead = ""
    for span in spans:
        text = " ".join(readable_text(span).split())
        if span.lead and span.lead != lead:
            text = f"{span.lead.strip()} {text}"
        lead = span.lead
        pieces.append(text)
    return ReaderPassage(heading, pieces)
