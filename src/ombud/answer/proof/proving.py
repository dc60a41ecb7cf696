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
        self._labels = labels
        self._stored = stored
        self._question = question
        self._proofs: dict[tuple[str, ...], Proof] = {}

    def prove(self, claim: DraftClaim) -> Proof:
        key = (claim.text, *claim.passages)
        if key not in self._proofs:
            self._proofs[key] = self._prove(claim)
        return self._proofs[key]

    def borne_out(self, text: str, label: str = "") -> bool:
        """Whether the passage, or all of them together, say what `text` does."""
        cited = [self._labels[label]] if label else self._labels.values()
        return not check_claim(text, [hit.chunk for hit in cited])

    def _prove(self, claim: DraftClaim) -> Proof:
        if len(claim.text) > LONGEST_CLAIM:
            return Proof(TOO_MUCH)
        problems = [_unknown(label) for label in claim.passages if label not in self._labels]
        labels = dict.fromkeys(claim.passages)
        cited = [self._labels[label] for label in labels if label in self._labels]
        problems += check_claim(claim.text, [hit.chunk for hit in cited], self._question)
        if problems:
            return Proof("; ".join(problems))
        citations = [self._citation(claim.text, hit) for hit in cited]
        valid = tuple(citation for citation in citations if citation)
        return Proof("" if valid else GONE, valid)

    def _citation(self, claim: str, hit: Hit) -> Citation | None:
        """The sentence of the passage that bears the claim out best, by its terms and its numbers,
        word for word."""
        chunk = hit.chunk
        weights = dict.fromkeys(analyse(claim, chunk.language), 1.0)
        numbers = numbers_in(claim, chunk.language)

        def support(span: tuple[int, int]) -> float:
            text = chunk.text[slice(*span)]
            terms = coverage(weights, set(analyse(text, chunk.language)))
            if not numbers:
                return terms
            shared = numbers & numbers_in(text, chunk.language)
            return terms + len(shared) / len(numbers)

        spans = evidence_spans(chunk.text, chunk.language)
        visible = [(start, end) for start, end in spans if chunk.text[start:end].strip()]
        if not visible:
            return None
        start, end = max(visible, key=support)
        return cite(hit, chunk.start + start, chunk.start + end, self._stored)


def _unknown(label: str) -> str:
    if LABEL.fullmatch(label):
        return f"there is no passage {label}"
    return "there is no passage of that label"
