"""Which of two rules counts: it opens the answer, and one sentence says why.

A country's rule counts before a global one; a mandatory global rule counts where the country gives
less."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ombud.answer import wording
from ombud.answer.quoting.runs import together
from ombud.answer.quoting.spans import AnswerSpan
from ombud.types import Contradiction, Evidence


class Precedence(NamedTuple):
    spans: tuple[AnswerSpan, ...]
    """The rule that counts, then the one that it overrides."""
    sentence: str


def find_precedence(
    contradictions: Sequence[Contradiction],
    chosen: Sequence[AnswerSpan],
    everything: Sequence[AnswerSpan],
) -> Precedence | None:
    """Of the first contradiction that what is shown speaks of; None where there is none.

    chosen: spans of the answer. everything: all spans, in which the other rule is looked for."""
    for contradiction in contradictions:
        if contradiction.kind == "conflict":
            continue
        first = _saying(contradiction.first, contradiction.first_says, everything)
        second = _saying(contradiction.second, contradiction.second_says, everything)
        if first is None or second is None or not _is_shown((first, second), chosen):
            continue
        sentence = wording.precedence(
            contradiction.kind, contradiction.first_figure, contradiction.second_figure
        )
        counts_first = contradiction.counting == contradiction.first
        spans = (first, second) if counts_first else (second, first)
        return Precedence(spans, sentence)
    return None


def opened_with(spans: Sequence[AnswerSpan], chosen: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """Some spans first, each with what goes on from it among the chosen, then the others."""
    ordered: list[AnswerSpan] = []
    for span in spans:
        ordered.append(span)
        ordered += [other for other in chosen if together(span, other)]
    return [*ordered, *(span for span in chosen if span not in ordered)]


def said_disagreements(evidence: Evidence, cited: Collection[str]) -> str:
    """Under an answer: what two documents of equal standing say, where it cites one of the two
    passages; empty where none disagree. cited: chunk ids."""
    titles = {hit.chunk.id: hit.chunk.title for hit in evidence.hits}
    sentences: list[str] = []
    for contradiction in evidence.contradictions:
        is_cited = contradiction.first in cited or contradiction.second in cited
        figures = contradiction.first_figure and contradiction.second_figure
        if contradiction.counting or not is_cited or not figures:
            continue
        sentence = wording.disagreement(
            titles[contradiction.first],
            contradiction.first_figure,
            titles[contradiction.second],
            contradiction.second_figure,
        )
        sentences.append(sentence)
    return "".join(f"\n\n{sentence}" for sentence in sentences)


def _saying(chunk_id: str, text: str, spans: Sequence[AnswerSpan]) -> AnswerSpan | None:
    for span in spans:
        if span.hit.chunk.id == chunk_id and text.strip() in span.text:
            return span
    return None


def _is_shown(pair: Sequence[AnswerSpan], chosen: Sequence[AnswerSpan]) -> bool:
    shown = {(span.hit.chunk.id, span.start) for span in chosen}
    return any((span.hit.chunk.id, span.start) in shown for span in pair)
