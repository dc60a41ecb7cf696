"""Whether a claim of a draft may be shown: what it cites exists, says so, and is still stored as it
was."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ombud.answer.compose.drafts import LONGEST_CLAIM, DraftClaim
from ombud.answer.proof.citing import Stored, cite
from ombud.answer.proof.verifying import check_claim
from ombud.answer.quoting.spans import coverage
from ombud.text import analyse, evidence_spans, numbers_in
from ombud.types import Citation, Hit

LABEL = re.compile(r"[A-Z]\d{1,3}")
TOO_MUCH = "it is more than an answer may say"
GONE = "what it cites is no longer stored as it was"


class Proof(NamedTuple):
    why_not: str
    """What is wrong with the claim, said for a reader; empty where it is proven."""
    citations: tuple[Citation, ...] = ()


class Prover:
    """Proves the claims of one answer, each once: those of a stream come again with the whole
    draft.

    labels: label -> passage. question: what the claims answer.
    """

    def __init__(self, labels: Mapping[str, Hit], stored: Stored, question: str = "") -> None:
        self._labels, self._stored, self._question = labels, stored, question
        self._known: dict[tuple[str, ...], Proof] = {}

    def prove(self, claim: DraftClaim) -> Proof:
        key = (claim.text, *claim.passages)
        if key not in self._known:
            self._known[key] = self._prove(claim)
        return self._known[key]

    def borne_out(self, text: str, label: str = "") -> bool:
        """Whether the passage, or all of them together, say what `text` does."""
        cited = [self._labels[label]] if label else self._labels.values()
        return not check_claim(text, [hit.chunk for hit in cited])

    def _prove(self, claim: DraftClaim) -> Proof:
        if len(claim.text) > LONGEST_CLAIM:
            return Proof(TOO_MUCH)
        known = [label for label in dict.fromkeys(claim.passages) if label in self._labels]
        unknown = [label for label in claim.passages if label not in self._labels]
        said = [
            f"there is no passage {one if LABEL.fullmatch(one) else 'of that label'}"
            for one in unknown
        ]
        said += check_claim(
            claim.text, [self._labels[label].chunk for label in known], self._question
        )
        if said:
            return Proof("; ".join(said))
        found = [self._cited(claim.text, self._labels[label]) for label in known]
        citations = tuple(one for one in found if one)
        return Proof("" if citations else GONE, citations)

    def _cited(self, claim: str, hit: Hit) -> Citation | None:
        """The sentence of the passage that bears the claim out best, by its terms and its numbers,
        word for word."""
        chunk = hit.chunk
        weights = dict.fromkeys(analyse(claim, chunk.language), 1.0)
        counted = numbers_in(claim, chunk.language)

        def borne_out(span: tuple[int, int]) -> float:
            text = chunk.text[slice(*span)]
            figures = (
                len(counted & numbers_in(text, chunk.language)) / len(counted) if counted else 0.0
            )
            return coverage(weights, set(analyse(text, chunk.language))) + figures

        spans = [
            (s, e) for s, e in evidence_spans(chunk.text, chunk.language) if chunk.text[s:e].strip()
        ]
        if not spans:
            return None
        start, end = max(spans, key=borne_out)
        return cite(hit, chunk.start + start, chunk.start + end, self._stored)
