"""Claims that give a rule which another one overrides."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.text import numbers_in
from ombud.types import Citation, Contradiction, Hit


class _Rule(NamedTuple):
    chunk_id: str
    text: str
    figure: str


class Overridden:
    """The rules among the passages of an answer that do not count, and those that count instead.

    contradictions: of the evidence. labels: label -> passage; only what is shown is compared."""

    def __init__(self, contradictions: Sequence[Contradiction], labels: Mapping[str, Hit]) -> None:
        self._label_of = {hit.chunk.id: label for label, hit in labels.items()}
        self._rules: list[tuple[_Rule, _Rule]] = []
        for contradiction in contradictions:
            first = _Rule(contradiction.first, contradiction.first_says, contradiction.first_figure)
            second = _Rule(
                contradiction.second, contradiction.second_says, contradiction.second_figure
            )
            if contradiction.counting and {first.chunk_id, second.chunk_id} <= set(self._label_of):
                counts_first = contradiction.counting == first.chunk_id
                self._rules.append((second, first) if counts_first else (first, second))

    def objection(self, text: str, citations: Sequence[Citation]) -> str:
        """Why a claim may not stand as the rule; empty where it may. One that says what counts
        beside it may: "26 days in Great Britain (the global policy says 25)"."""
        for overridden, counting in self._rules:
            if not _rests_on(citations, overridden) or not _says(text, overridden):
                continue
            if not _says(text, counting):
                label = self._label_of[counting.chunk_id]
                return f"what {label} says counts instead: {counting.text.strip()}"
        return ""


def _rests_on(citations: Sequence[Citation], rule: _Rule) -> bool:
    """Whether what is cited is the sentence of a rule."""
    for citation in citations:
        if citation.chunk_id == rule.chunk_id:
            quote = " ".join(citation.quote.split())
            sentence = " ".join(rule.text.split())
            if quote in sentence or sentence in quote:
                return True
    return False


def _says(text: str, rule: _Rule) -> bool:
    figures = numbers_in(rule.figure, "en")
    return bool(figures) and figures <= numbers_in(text, "en")
