"""Bring the knowledge graph in line with the index: read changed documents, drop deleted ones.

It compares with the chunks in the index, whoever put them there, so the next sync finishes one
that was killed. Nothing is embedded again."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ombud.errors import BadSetting, ModelError
from ombud.graph import DocumentTriplets, GraphExtractor, ModelAway, ModelExtractor, near_pairs
from ombud.index import blocking
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.reading import in_batches
from ombud.ingest.report import Failure
from ombud.models import Chat
from ombud.store import (
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
"""Chunks that are read together: enough for all parallel calls, few enough to lose when killed."""
ChunkIds = Mapping[str, Sequence[str]]
"""Document id -> ids of its chunks in the index."""


class GraphUpdate(NamedTuple):
    failed: list[Failure]
    """Documents of which some passages could not be read; the next sync tries these again."""
    note: str = ""
    """Why the graph is incomplete; empty if it is complete."""


def check_graph(parts: IngestParts) -> None:
    """Raise BadSetting if the settings ask for a graph and there is no chat model."""
    if parts.settings.index.graph == "model":
        require_chat(parts)


def update_graph(
    parts: IngestParts, source: str, lease: Lease, on_progress: OnProgress
) -> GraphUpdate:
    """Extract triplets of the documents of a source that changed; with `index.graph` = none, empty
    the graph."""
    digests = graph_digests(parts.store)
    if parts.settings.index.graph == "none":
        if digests:
            clear_graph(parts.store)
        return GraphUpdate([])
    gone = digests.keys() - document_ids(parts.store).keys()
    if gone:
        clear_graph(parts.store, gone)
    model = ModelExtractor(
        chat=require_chat(parts),
        organisation=parts.settings.general.name,
        seconds=parts.settings.models.timeout_seconds,
        prompts=parts.prompts,
    )
    extractor = GraphExtractor(model)
    chunk_ids = indexed_chunk_ids(parts)
    changed: list[Document] = []
    for document in list_documents(parts.store, source):
        digest = extractor.digest(chunk_ids.get(document.id, ()))
        if digests.get(document.id) != digest:
            changed.append(document)
    if not changed:
        return GraphUpdate([])
    update = UpdateRun(parts, extractor, chunk_ids)
    return asyncio.run(update.run(changed, lease, on_progress))


def require_chat(parts: IngestParts) -> Chat:
    """Open the chat model of the graph; raises BadSetting if none is configured."""
    chat = parts.chat()
    if chat is None:
        raise BadSetting(
            "index.graph = `model` needs a chat model.",
            hint='Set models.chat, or index.graph = "none".',
        )
    return chat


def indexed_chunk_ids(parts: IngestParts) -> dict[str, list[str]]:
    """Group the ids of all chunks in the index by document id."""
    by_document: dict[str, list[str]] = {}
    for chunk_id in blocking(parts.engine.chunk_ids()):
        document_id = chunk_id.partition("-")[0]
        by_document.setdefault(document_id, []).append(chunk_id)
    return by_document


class UpdateRun:
    """A run over the changed documents of a source."""

    def __init__(self, parts: IngestParts, extractor: GraphExtractor, chunk_ids: ChunkIds) -> None:
        self._parts = parts
        self._extractor = extractor
        self._chunk_ids = chunk_ids

    async def run(
        self, documents: Sequence[Document], lease: Lease, on_progress: OnProgress
    ) -> GraphUpdate:
        """Read the documents in batches, then merge near-equal entities."""
        failed: list[Failure] = []
        new_keys: set[str] = set()
        done = 0
        sizes = {one.id: len(self._chunk_ids.get(one.id, ())) for one in documents}
        for batch in in_batches(documents, lambda one: sizes[one.id], BATCH_CHUNKS):
            lease.check()
            try:
                results = await asyncio.gather(*(self._read(document) for document in batch))
            except ModelAway as away:
                unread = len(documents) - done
                note = f"The graph lacks {unread} documents: {away.why} The next sync goes on."
                return GraphUpdate(failed, note)
            for document, result in zip(batch, results, strict=True):
                failed += self._failures(document, result)
                if result.is_saved:
                    new_keys |= result.triplets.keys
            done += len(batch)
            on_progress("graph", done, len(documents))
        return GraphUpdate(failed, await self._merge(new_keys))

    async def _read(self, document: Document) -> "DocumentUpdate":
        """Extract the triplets of a document and save them."""
        store = self._parts.store
        chunk_ids = sorted(self._chunk_ids.get(document.id, ()))
        chunks = await self._parts.engine.get(chunk_ids)
        before = read_extracted(store, document.id)
        triplets = await self._extractor.read(document, chunk_ids, chunks, before)
        save = partial(save_graph, store, document.id, triplets.digest)
        is_saved = await asyncio.to_thread(save, triplets.extracted, triplets.names)
        return DocumentUpdate(triplets, is_saved)

    async def _merge(self, new_keys: set[str]) -> str:
        """Let the model merge near-equal entities; return why it did not, else an empty string."""
        names = entity_names(self._parts.store)
        pairs = near_pairs(new_keys & names.keys(), names)
        try:
            same = await self._extractor.model.same_entities(pairs, names)
        except ModelError as failed:
            return f"Near-equal entities of the graph were not merged: {failed}"
        save_same(self._parts.store, same)
        return ""

    def _failures(self, document: Document, result: "DocumentUpdate") -> Iterator[Failure]:
        errors = result.triplets.errors
        if errors:
            chunks = len(self._chunk_ids.get(document.id, ()))
            reason = f"{len(errors)} of {chunks} passages are not in the graph: {errors[0]}"
            yield Failure(uri=document.uri, reason=reason.strip())


class DocumentUpdate(NamedTuple):
    triplets: DocumentTriplets
    is_saved: bool
    """False if the document was deleted meanwhile."""
