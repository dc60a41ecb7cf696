"""The graph brought in line with the index: what changed is read, what is gone is dropped, the rest
is left alone.

It looks at the chunks that the index holds, so it does not matter who put them there; a sync that
is killed in the middle is finished by the next one. Nothing is embedded again."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ombud.errors import BadSetting, ModelError
from ombud.graph import DocumentTriplets, GraphExtractor, ModelAway, ModelExtractor, near_pairs
from ombud.index import blocking
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.report import Failure
from ombud.models import Chat
from ombud.store import (
    Extracted,
    Lease,
    clear_graph,
    document_ids,
    entity_names,
    graph_digests,
    list_documents,
    read_extracted,
    save_graph,
    save_same,
)
from ombud.types import Document

BATCH_CHUNKS = 64
"""Chunks that are read together: enough for all calls of a model, little enough to lose at a
kill."""
ChunkIds = Mapping[str, Sequence[str]]
"""Document id -> ids of its chunks in the index."""


class GraphUpdate(NamedTuple):
    failed: list[Failure]
    """Documents of which some passages could not be read; the next sync tries these again."""
    note: str = ""
    """Why the graph is not complete, where it is not."""


def check_graph(parts: IngestParts) -> None:
    """Raises BadSetting where the settings ask for what cannot be."""
    if parts.settings.index.graph == "model":
        _chat_model(parts)


def update_graph(
    parts: IngestParts, source: str, lease: Lease, on_progress: OnProgress
) -> GraphUpdate:
    """Read what the index holds of a source and the graph does not; `index.graph` = none empties
    the graph."""
    digests = graph_digests(parts.store)
    if parts.settings.index.graph == "none":
        if digests:
            clear_graph(parts.store)
        return GraphUpdate([])
    gone = digests.keys() - document_ids(parts.store).keys()
    if gone:
        clear_graph(parts.store, gone)
    extractor = GraphExtractor(parts.settings.index.graph, _model_extractor(parts))
    chunk_ids = _chunk_ids(parts)
    changed: list[Document] = []
    for document in list_documents(parts.store, source):
        digest = extractor.digest(chunk_ids.get(document.id, ()))
        if digests.get(document.id) != digest:
            changed.append(document)
    if not changed:
        return GraphUpdate([])
    update = _Update(parts, extractor, chunk_ids)
    return asyncio.run(update.run(changed, lease, on_progress))


def _model_extractor(parts: IngestParts) -> ModelExtractor | None:
    settings = parts.settings
    if settings.index.graph != "model":
        return None
    return ModelExtractor(
        chat=_chat_model(parts),
        organisation=settings.general.name,
        seconds=settings.models.timeout_seconds,
        prompts=parts.prompts,
    )


def _chat_model(parts: IngestParts) -> Chat:
    chat = parts.chat()
    if chat is None:
        raise BadSetting(
            "index.graph = `model` needs a chat model.",
            hint='Set models.chat, or take index.graph = "rules".',
        )
    return chat


def _chunk_ids(parts: IngestParts) -> dict[str, list[str]]:
    by_document: dict[str, list[str]] = {}
    for chunk_id in blocking(parts.engine.chunk_ids()):
        document_id = chunk_id.partition("-")[0]
        by_document.setdefault(document_id, []).append(chunk_id)
    return by_document


class _Update:
    """One run over the documents of a source that have changed."""

    def __init__(self, parts: IngestParts, extractor: GraphExtractor, chunk_ids: ChunkIds) -> None:
        self._parts = parts
        self._extractor = extractor
        self._chunk_ids = chunk_ids

    async def run(
        self, documents: Sequence[Document], lease: Lease, on_progress: OnProgress
    ) -> GraphUpdate:
        failed: list[Failure] = []
        new_keys: set[str] = set()
        done = 0
        for batch in _batches(documents, self._chunk_ids):
            lease.check()
            try:
                results = await asyncio.gather(*(self._read(document) for document in batch))
            except ModelAway as away:
                left = len(documents) - done
                note = f"The graph lacks {left} documents: {away.why} The next sync goes on."
                return GraphUpdate(failed, note)
            for document, result in zip(batch, results, strict=True):
                failed += self._failures(document, result)
                if result.is_saved:
                    new_keys |= result.triplets.keys
            done += len(batch)
            on_progress("graph", done, len(documents))
        return GraphUpdate(failed, await self._merge(new_keys))

    async def _read(self, document: Document) -> "_DocumentUpdate":
        """Read a document and keep what it says."""
        store = self._parts.store
        chunk_ids = sorted(self._chunk_ids.get(document.id, ()))
        chunks = await self._parts.engine.get(chunk_ids)
        before = Extracted({}, ())
        if self._extractor.model:
            before = read_extracted(store, document.id)
        triplets = await self._extractor.read(document, chunk_ids, chunks, before)
        is_saved = await asyncio.to_thread(self._save, document, triplets)
        return _DocumentUpdate(triplets, is_saved)

    def _save(self, document: Document, triplets: DocumentTriplets) -> bool:
        return save_graph(
            self._parts.store,
            document.id,
            triplets.digest,
            triplets.extracted,
            triplets.names,
        )

    async def _merge(self, new_keys: set[str]) -> str:
        """Let the model say which near-equal entities are one. Why it did not, else nothing."""
        model = self._extractor.model
        if model is None:
            return ""
        names = entity_names(self._parts.store)
        pairs = near_pairs(new_keys & names.keys(), names)
        try:
            same = await model.same_entities(pairs, names)
        except ModelError as failed:
            return f"Near-equal entities of the graph were not merged: {failed}"
        save_same(self._parts.store, same)
        return ""

    def _failures(self, document: Document, result: "_DocumentUpdate") -> Iterator[Failure]:
        errors = result.triplets.errors
        if errors:
            chunks = len(self._chunk_ids.get(document.id, ()))
            reason = f"{len(errors)} of {chunks} passages are not in the graph: {errors[0]}"
            yield Failure(uri=document.uri, reason=reason.strip())


class _DocumentUpdate(NamedTuple):
    triplets: DocumentTriplets
    is_saved: bool
    """False where the document was deleted meanwhile."""


def _batches(documents: Iterable[Document], chunk_ids: ChunkIds) -> Iterator[list[Document]]:
    batch: list[Document] = []
    chunks = 0
    for document in documents:
        batch.append(document)
        chunks += len(chunk_ids.get(document.id, ()))
        if chunks >= BATCH_CHUNKS:
            yield batch
            batch = []
            chunks = 0
    if batch:
        yield batch
