"""Where a failed case lost its evidence on the way from the documents into the answer."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ombud.errors import OmbudError
from ombud.lab.cases.quotes import holds, pieces, union
from ombud.lab.metrics.answers import meets, outcome_class
from ombud.types import Answer, Chunk, Hit, Observation, Passage

LOSSES = (
    "not indexed",
    "not retrieved",
    "ranked below k",
    "dropped from the prompt",
    "refused wrongly",
    "in the prompt but missed",
)
"""From the first place where evidence can be lost to the last."""


class Shelf:
    """The target's passages, fetched once and only when a case asks for them; safe to use from
    several threads."""

    def __init__(self, passages: Callable[[], Iterable[Chunk]]) -> None:
        self._passages, self._lock = passages, threading.Lock()
        self._by_id: dict[str, Chunk] | None = None
        self._failed: OmbudError | None = None
        self._by_uri: dict[str, list[Chunk]] = defaultdict(list)

    def of_document(self, uri: str) -> Sequence[Chunk]:
        self._fetch()
        return self._by_uri.get(uri, ())

    def get(self, ids: Iterable[str]) -> list[Chunk]:
        known = self._fetch()
        return [known[identity] for identity in ids if identity in known]

    def _fetch(self) -> dict[str, Chunk]:
        """Raises the OmbudError of the first fetch again, without asking a target that said no at
        every case."""
        with self._lock:
            if self._failed:
                raise self._failed
            if self._by_id is None:
                # Taken over only when all are there: a fetch that broke off must not make passages
                # "not indexed".
                try:
                    found = {chunk.id: chunk for chunk in self._passages()}
                except OmbudError as failed:
                    self._failed = failed
                    raise
                for chunk in found.values():
                    self._by_uri[chunk.uri].append(chunk)
                self._by_id = found
            return self._by_id


def locate(observation: Observation, shelf: Shelf) -> str:
    """One of `LOSSES`, the earliest over the case's evidence; empty where nothing was lost or
    wanted."""
    case = observation.case
    if case.expect not in {"answer", "handoff"} or observation.hits is None:
        return ""
    needed = [item for item in case.evidence if item.grade == max(e.grade for e in case.evidence)]
    lost = [place for item in needed if (place := _place(item, observation, shelf))]
    return min(lost, key=LOSSES.index, default="")


def found_evidence(observation: Observation) -> bool:
    """Whether the search, where there was one, brought the evidence back."""
    return (
        observation.hits is not None
        and not observation.error
        and observation.lost not in LOSSES[:3]
    )


def _place(item: Passage, observation: Observation, shelf: Shelf) -> str:
    hits, answer = observation.hits or (), observation.answer
    trace = answer.trace if answer else observation.trace
    if not _stands(item, [hit.chunk for hit in hits]):
        if not _stands(item, shelf.of_document(item.document)):
            return "not indexed"
        ranked = {row[0] for ranking in (trace.rankings if trace else ()) for row in ranking.rows}
        return "ranked below k" if _stands(item, shelf.get(sorted(ranked))) else "not retrieved"
    return "" if answer is None else _in_answer(item, hits, answer, observation.case.expect)


def _in_answer(item: Passage, hits: Sequence[Hit], answer: Answer, expect: str) -> str:
    shown = set(answer.trace.evidence)
    if shown and not _stands(item, [hit.chunk for hit in hits if hit.chunk.id in shown]):
        return "dropped from the prompt"
    if expect == "answer" and outcome_class(answer) != "answer":
        return "refused wrongly"
    return "" if cited(answer, item) else "in the prompt but missed"


def cited(answer: Answer, item: Passage) -> bool:
    """Whether the answer cites the evidence: its quote, or, where it has none, anything of its
    document."""
    if not item.quote.strip():
        return any(citation.uri == item.document for citation in answer.citations)
    return any(meets(citation, item) for citation in answer.citations)


def _stands(item: Passage, chunks: Sequence[Chunk]) -> bool:
    mine = [Hit(chunk=chunk, score=0.0) for chunk in chunks if chunk.uri == item.document]
    if not item.quote.strip():
        return bool(mine)
    return holds(union(pieces(mine)).get(item.document, ()), item.quote)
