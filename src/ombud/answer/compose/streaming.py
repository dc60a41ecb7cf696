"""Claims while a model is still writing them: each is checked as soon as it is whole."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ombud.answer.proof.citing import inert
from ombud.answer.proof.drafts import DraftClaim, ListParser
from ombud.answer.proof.proving import Prover
from ombud.types import Citation, Claim

OnClaim = Callable[[int, str, Sequence[Citation]], None]
"""Gets a claim that is supported: its place in the answer from 0, its text, its citations. One of
the same place replaces the one before."""
OnEvent = Callable[[str, dict[str, Any]], None]


class StreamingVerifier:
    """Reads a reply piece by piece and shows each claim of it that is supported without asking
    another model."""

    def __init__(self, prover: Prover, on_claim: OnClaim) -> None:
        self._prover = prover
        self._on_claim = on_claim
        self._loop = asyncio.get_running_loop()
        self._parser = ListParser(DraftClaim)
        self._shown: list[DraftClaim] = []
        self.shown: list[DraftClaim] = []
        """Of the reply that got furthest."""

    def feed(self, piece: str | None) -> None:
        """Read a piece, from any thread. None is a break: another reply begins."""
        self._loop.call_soon_threadsafe(self._take, piece)

    def _take(self, piece: str | None) -> None:
        if piece is None:
            self._parser = ListParser(DraftClaim)
            self._shown = []
            return
        for claim in self._parser.read(piece):
            self.show(claim)

    def show(self, claim: DraftClaim) -> None:
        """Show a claim if it is supported."""
        proof = self._prover.prove(claim)
        if proof.state != "supported" or claim in self._shown:
            return
        self._on_claim(len(self._shown), inert(claim.text.strip()), proof.citations)
        self._shown.append(claim)
        if len(self._shown) > len(self.shown):
            self.shown = list(self._shown)


class ClaimStream:
    """The claims that a listener has got so far: a changed one is sent again, in its place."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._shown: dict[int, dict[str, Any]] = {}

    def show(
        self, index: int, text: str, citations: Sequence[Citation], *, early: bool = True
    ) -> None:
        """Send a claim. early: before the whole answer is known, which may say it in other
        words."""
        event = {
            "index": index,
            "text": text,
            "citations": [citation.model_dump(mode="json") for citation in citations],
        }
        if self._shown.get(index) != event:
            self._shown[index] = event
            self._on_event("claim", {**event, "early": early})

    def show_all(self, claims: Sequence[Claim], citations: Sequence[Citation]) -> None:
        """Send those of the whole answer."""
        for place, claim in enumerate(claims):
            self.show(place, claim.text, [citations[n] for n in claim.citations], early=False)
