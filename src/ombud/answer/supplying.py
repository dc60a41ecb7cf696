"""The ask flow for others than employees: over passages that were supplied, so that composing can
be measured apart from searching, and for an advisor."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.answer.asking import AskRun
from ombud.answer.clarifying import NOWHERE
from ombud.answer.compose.streaming import OnEvent
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Stored
from ombud.answer.triage.checking import TriageResult
from ombud.index import Filter
from ombud.retrieve import SearchResult, by_scope
from ombud.types import Chunk, Document, Hit, Plan, ResolvedQuestion

NOTE = "search: the passages were supplied"


class SuppliedEvidence(NamedTuple):
    hits: tuple[Hit, ...]
    """Best first."""
    triage: bool = True
    """False: whatever the message is, it is answered from these passages or refused over them."""


class AdvisorRun(AskRun):
    """The ask flow for somebody who helps already: nothing is handed over, however grave. What a
    sensitive message keeps from remote models stays kept."""

    def _triaged(self) -> TriageResult:
        return _as_ordinary(super()._triaged())

    async def search(self) -> None:
        """Search without asking an advisor for a country."""
        await super().search()
        self.elsewhere = NOWHERE


class EvidenceRun(AskRun):
    """Answers from the supplied passages alone. Without a chat model the index is searched as well,
    because confidence was fitted on such searches."""

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
        with_supplied = parts._replace(stored=_with_supplied(parts.stored, supplied.hits))
        chunks = plan.model_copy(update={"evidence": "chunk"})
        super().__init__(resolved, chunks, where, with_supplied, on_event)
        self.supplied = supplied

    async def triage(self) -> None:
        if self.supplied.triage:
            await super().triage()
        else:  # what `models.sensitive` keeps from models stays kept
            self.triaged = await asyncio.to_thread(self._triaged)

    def _triaged(self) -> TriageResult:
        triaged = super()._triaged()
        return triaged if self.supplied.triage else _as_ordinary(triaged)

    async def search(self) -> None:
        """Search the index for signals where there is no chat model, and put the supplied evidence
        in place of the hits."""
        self.results = SearchResult(plan=self.plan)
        if self.parts.chat is None:
            await super().search()
            self.elsewhere = NOWHERE
        self.results = self.results._replace(
            evidence=by_scope(self.supplied.hits),
            degraded=(*self.results.degraded, NOTE),
        )


def _as_ordinary(triaged: TriageResult) -> TriageResult:
    """Return triage of a message that is answered or refused, whatever it tells: nothing is handed
    over and nobody is offered."""
    return TriageResult(scores=triaged.scores)


def _with_supplied(stored: Stored, hits: Sequence[Hit]) -> Callable[[str, str], Document | None]:
    """Return a lookup that falls back to the supplied text for documents no longer stored."""
    supplied: dict[tuple[str, str], list[Chunk]] = {}
    for hit in hits:
        supplied.setdefault((hit.chunk.document_id, hit.chunk.version), []).append(hit.chunk)

    def find(document_id: str, version: str) -> Document | None:
        document = stored(document_id, version)
        chunks = supplied.get((document_id, version), [])
        return document if document or not chunks else _document(chunks)

    return find


def _document(chunks: Sequence[Chunk]) -> Document:
    """Rebuild a document from its chunks, blank between them."""
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
