"""A follow-up is likelier to be answered where the answer before it stood."""

import re
from collections.abc import Sequence

from ombud.answer.quoting.spans import AnswerSpan, weighed, words_in
from ombud.types import Question

FAVOUR = 2.0
"""Factor of the odds of a span whose document the last answer quoted. On dev of the conversations
people write the right page came first in 36 of 66 follow-ups without it, in 38 with 2 and in 42
with 4; but with 4 three of 54 new subjects were answered from the page before."""
LEAST_WORDS = 5
"""Words of a sentence by which a quote is told from a chance."""


def favour_shown(spans: Sequence[AnswerSpan], question: Question) -> list[AnswerSpan]:
    """Spans with those of the documents that the last answer quoted made likelier, likeliest
    first. question: as it was searched for, so without history where it opens a new subject."""
    answers = [turn.content for turn in question.history if turn.role == "assistant"]
    if not answers:
        return list(spans)
    shown = _documents_in(answers[-1], spans)
    return weighed(spans, FAVOUR, lambda span: span.hit.chunk.uri in shown)


def _documents_in(answer: str, spans: Sequence[AnswerSpan]) -> set[str]:
    """Uris of the documents of which a heading or a sentence stands in an answer."""
    plain = _plain(answer)
    shown: set[str] = set()
    for span in spans:
        chunk = span.hit.chunk
        titles = {f"**{heading}**" for heading in (chunk.title, *chunk.trail)}
        is_quoted = words_in(span.text) >= LEAST_WORDS and _plain(span.text) in plain
        if is_quoted or any(title in answer for title in titles):
            shown.add(chunk.uri)
    return shown


def _plain(text: str) -> str:
    """Letters and figures alone: markers, marks and line breaks aside."""
    return re.sub(r"[\W_]+", " ", re.sub(r"\[\d+\]", "", text)).strip().lower()
