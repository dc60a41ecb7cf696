"""The ask flow over passages that were supplied, so that composing can be measured apart from
searching: the same passages for every prompt, or such as should be refused."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.answer.asking import AskRun
from ombud.answer.clarify import NOWHERE
from ombud.answer.compose.streaming import OnEvent
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Stored
from ombud.answer.triage import TriageResult
from ombud.index import Filter
from ombud.retrieve import SearchResult, by_scope
from ombud.types import Chunk, Document, Hit, Plan, ResolvedQuestion

NOTE = "search: the passages were supplied"


class SuppliedEvidence(NamedTuple):
    hits: tuple[Hit, ...]
    """Best first."""
    triage: bool = True
    """False: whatever the message is, it is answered from these passages or refused over them."""


class EvidenceRun(AskRun):
    """Answers from these passages and no others. How sure it is without a chat model rests on what
    the index finds too, for that is what confidence was fitted on."""

    def __init__(
        self,
        resolved: ResolvedQuestion,
        plan: Plan,
        where: Filter,
        parts: AnswerParts,
        on_event: OnEvent | None = None,
        *,
        supplied: SuppliedEvidence,
    ) -> None:
        known = parts._replace(stored=_with_supplied(parts.stored, supplied.hits))
        super().__init__(resolved, plan, where, known, on_event)
        self.supplied = supplied

    async def triage(self) -> None:
        if self.supplied.triage:
            await super().triage()
        else:  # what `models.sensitive` keeps from models stays kept
            self.triaged = await asyncio.to_thread(self._triaged)

    def _triaged(self) -> TriageResult:
        triaged = super()._triaged()
        if self.supplied.triage:
            return triaged
        return triaged._replace(label="ordinary", matter=None, injected=False)

    async def search(self) -> None:
        """Without a chat model the index is searched as ever, for what its answer tells of the
        question, and what it finds is left aside."""
        self.found = SearchResult(plan=self.plan)
        if self.parts.chat is None:
            await super().search()
            self.elsewhere = NOWHERE
        self.found = self.found._replace(
            evidence=by_scope(self.supplied.hits),
            degraded=(*self.found.degraded, NOTE),
        )


def _with_supplied(stored: Stored, hits: Sequence[Hit]) -> Callable[[str, str], Document | None]:
    """Documents that are no longer kept in that version, or never were, hold what was supplied of
    them."""
    supplied: dict[tuple[str, str], list[Chunk]] = {}
    for hit in hits:
        supplied.setdefault((hit.chunk.document_id, hit.chunk.version), []).append(hit.chunk)

    def find(document_id: str, version: str) -> Document | None:
        kept = stored(document_id, version)
        chunks = supplied.get((document_id, version), [])
        return kept if kept or not chunks else _document(chunks)

    return find


def _document(chunks: Sequence[Chunk]) -> Document:
    """Its text where chunks cover it, blank elsewhere."""
    letters = [" "] * max(chunk.start + len(chunk.text) for chunk in chunks)
    for chunk in chunks:
        letters[chunk.start : chunk.start + len(chunk.text)] = chunk.text
    first = chunks[0]
    return Document(
        id=first.document_id,
        source="supplied",
        uri=first.uri,
        title=first.title,
        text="".join(letters),
        digest=first.digest,
        parser=first.parser,
    )
