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


class IndexedPassages:
    """The target's passages, fetched once and only when a case asks for them; safe to use from
    several threads."""

    def __init__(self, passages: Callable[[], Iterable[Chunk]]) -> None:
        self._passages = passages
        self._lock = threading.Lock()
        self._by_id: dict[str, Chunk] | None = None
        self._error: OmbudError | None = None
        self._by_uri: dict[str, list[Chunk]] = defaultdict(list)

    def of_document(self, uri: str) -> Sequence[Chunk]:
        self._fetch()
        return self._by_uri.get(uri, ())

    def get(self, ids: Iterable[str]) -> list[Chunk]:
        by_id = self._fetch()
        return [by_id[chunk_id] for chunk_id in ids if chunk_id in by_id]

    def _fetch(self) -> dict[str, Chunk]:
        """Fetch once; raise the OmbudError of the first fetch again, so that a target that refused
        is not asked for every case."""
        with self._lock:
            if self._error:
                raise self._error
            if self._by_id is not None:
                return self._by_id
            # Taken over only when all are there: a fetch that broke off must not make passages
            # "not indexed".
            try:
                by_id = {chunk.id: chunk for chunk in self._passages()}
            except OmbudError as error:
                self._error = error
                raise
            for chunk in by_id.values():
                self._by_uri[chunk.uri].append(chunk)
            self._by_id = by_id
            return by_id


def locate_loss(observation: Observation, passages: IndexedPassages) -> str:
    """Return the earliest of `LOSSES` over the case's evidence; empty if nothing was lost or
    wanted."""
    case = observation.case
    if case.expect not in {"answer", "handoff"} or observation.hits is None:
        return ""
    losses = []
    for item in _most_relevant(case.evidence):
        losses.append(_loss_of(item, observation, passages))
    return min(filter(None, losses), key=LOSSES.index, default="")


def _most_relevant(evidence: Sequence[Passage]) -> list[Passage]:
    """Select the items of the highest grade."""
    highest = max((item.grade for item in evidence), default=0)
    return [item for item in evidence if item.grade == highest]


def found_evidence(observation: Observation) -> bool:
    """Tell whether the search, if there was one, returned the evidence."""
    if observation.hits is None or observation.error:
        return False
    if observation.lacks:
        chunks = [hit.chunk for hit in observation.hits]
        return all(_stands(item, chunks) for item in _most_relevant(observation.case.evidence))
    return observation.lost not in LOSSES[:3]


def _loss_of(item: Passage, observation: Observation, passages: IndexedPassages) -> str:
    returned = [hit.chunk for hit in observation.hits or ()]
    answer = observation.answer
    if not _stands(item, returned):
        indexed: list[Chunk] = []
        for place in item.places:
            indexed += passages.of_document(place.document)
        if not _stands(item, indexed):
            return "not indexed"
        ranked = passages.get(sorted(_ranked_ids(observation)))
        return "ranked below k" if _stands(item, ranked) else "not retrieved"
    return "" if answer is None else _in_answer(item, returned, answer, observation.case.expect)


def _ranked_ids(observation: Observation) -> set[str]:
    """Collect the ids of all passages that any search ranked."""
    answer = observation.answer
    trace = answer.trace if answer else observation.trace
    ids: set[str] = set()
    for ranking in trace.rankings if trace else ():
        ids.update(row[0] for row in ranking.rows)
    return ids


def _in_answer(item: Passage, returned: Sequence[Chunk], answer: Answer, expect: str) -> str:
    prompt_ids = answer.trace.evidence
    if prompt_ids:
        in_prompt = [chunk for chunk in returned if chunk.id in prompt_ids]
        if not _stands(item, in_prompt):
            return "dropped from the prompt"
    if expect == "answer" and outcome_class(answer) != "answer":
        return "refused wrongly"
    return "" if cited(answer, item) else "in the prompt but missed"


def cited(answer: Answer, item: Passage) -> bool:
    """Tell whether the answer cites the evidence: its quote or, if it has none, anything in its
    document."""
    if not item.quote.strip():
        uris = {place.document for place in item.places}
        return any(citation.uri in uris for citation in answer.citations)
    return any(meets(citation, item) for citation in answer.citations)


def _stands(item: Passage, chunks: Sequence[Chunk]) -> bool:
    return any(_stands_at(place, chunks) for place in item.places)


def _stands_at(item: Passage, chunks: Sequence[Chunk]) -> bool:
    of_document = [chunk for chunk in chunks if chunk.uri == item.document]
    if not item.quote.strip():
        return bool(of_document)
    hits = [Hit(chunk=chunk, score=0.0) for chunk in of_document]
    return holds(union(pieces(hits)).get(item.document, ()), item.quote)
