"""Claims while a model is still writing them: each is proven as soon as it is whole."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ombud.answer.compose.drafts import DraftClaim, DraftParser
from ombud.answer.compose.leaving_out import leans
from ombud.answer.proof.citing import inert
from ombud.answer.proof.proving import Prover
from ombud.types import Citation, Claim

OnClaim = Callable[[int, str, Sequence[Citation]], None]
"""Gets a claim that was proven: its place in the answer from 0, its text, its citations. One of the
same place takes the place of the one before. """
OnEvent = Callable[[str, dict[str, Any]], None]


class StreamingVerifier:
    """Reads a reply piece by piece and shows each claim of it that is proven.

    proven: of the reply that got furthest. Where the first claim of a reply is not proven, nothing
    of that reply is shown until the whole answer is there: the rest may read as the opposite.
    """

    def __init__(self, prover: Prover, on_claim: OnClaim) -> None:
        self._prover = prover
        self._on_claim = on_claim
        self._loop = asyncio.get_running_loop()
        self._parser = DraftParser()
        self._proven_now: list[DraftClaim] = []
        self._fell_before = False
        self._first_fell = False
        self.proven: list[DraftClaim] = []
        self.first_fell = False
        """Of the reply that got furthest."""

    def feed(self, piece: str | None) -> None:
        """From any thread. None is a break: what comes after it is not added to what came
        before."""
        self._loop.call_soon_threadsafe(self._take, piece)

    def _take(self, piece: str | None) -> None:
        if piece is None:
            self._parser = DraftParser()
            self._proven_now = []
            self._fell_before = False
            self._first_fell = False
            return
        for claim in self._parser.read(piece):
            self._show(claim)

    def _show(self, claim: DraftClaim) -> None:
        proof = self._prover.prove(claim)
        if proof.why_not or (self._fell_before and leans(claim.text)):
            self._fell_before = True
            self._first_fell = self._first_fell or not self._proven_now
            return
        self._fell_before = False
        place = len(self._proven_now)
        if not self._first_fell:
            self._on_claim(place, inert(claim.text.strip()), proof.citations)
        self._proven_now.append(claim)
        if len(self._proven_now) > len(self.proven):
            self.proven = list(self._proven_now)
            self.first_fell = self._first_fell


class ClaimStream:
    """The claims that were told so far: one that a repair changed is told again, in its place."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._shown: dict[int, dict[str, Any]] = {}

    def show(
        self, index: int, text: str, citations: Sequence[Citation], *, early: bool = True
    ) -> None:
        """early: before the whole answer is known, which may say it in other words."""
        event = {
            "index": index,
            "text": text,
            "citations": [citation.model_dump(mode="json") for citation in citations],
        }
        if self._shown.get(index) != event:
            self._shown[index] = event
            self._on_event("claim", {**event, "early": early})

    def show_all(self, claims: Sequence[Claim], citations: Sequence[Citation]) -> None:
        """Those of the whole answer."""
        for place, claim in enumerate(claims):
            self.show(place, claim.text, [citations[n] for n in claim.citations], early=False)
