"""The graph brought in line with the index: what changed is read, what is gone is dropped, the rest
is left alone.

It looks at the chunks that the index holds, so it does not matter who put them there; a sync that
is killed in the middle is finished by the next one. Nothing is embedded again."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from ombud.errors import BadSetting, ModelError
from ombud.graph import (
    Asker,
    Away,
    Read,
    StatedTriplet,
    as_read,
    edges_of,
    names_of,
    near_pairs,
    triplets_of,
)
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.report import Failure
from ombud.models import Chat
from ombud.store import (
    Edge,
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

RULES_BY = "1"
"""Changes when the rules give other triplets from the same passages: everything is then read
anew."""
BATCH_CHUNKS = 64
"""Chunks that are read together: enough for all calls of a model, little enough to lose at a
kill."""


class Updated(NamedTuple):
    failed: list[Failure]
    """Documents of which some passages could not be read; the next sync tries these again."""
    note: str = ""
    """Why the graph is not complete, where it is not."""


def check_graph(parts: IngestParts) -> None:
    """Raises BadSetting where the settings ask for what cannot be."""
    if parts.settings.index.graph == "model":
        _model(parts)


def update_graph(parts: IngestParts, source: str, lease: Lease, tell: OnProgress) -> Updated:
    """Read what the index holds of a source and the graph does not; `index.graph` = none empties
    the graph."""
    known = graph_digests(parts.store)
    if parts.settings.index.graph == "none":
        if known:
            clear_graph(parts.store)
        return Updated([])
    if gone := known.keys() - document_ids(parts.store).keys():
        clear_graph(parts.store, gone)
    asker = _asker(parts)
    recipe = [parts.settings.index.graph, *(asker.recipe if asker else (RULES_BY,))]
    chunks = _chunk_ids(parts)
    documents = [
        document
        for document in list_documents(parts.store, source)
        if known.get(document.id) != _digest(recipe, sorted(chunks.get(document.id, ())))
    ]
    return (
        asyncio.run(_update(parts, asker, recipe, documents, chunks, lease, tell))
        if documents
        else Updated([])
    )


def _asker(parts: IngestParts) -> Asker | None:
    if parts.settings.index.graph != "model":
        return None
    settings = parts.settings
    return Asker(
        _model(parts), settings.general.name, settings.models.timeout_seconds, parts.prompts
    )


def _model(parts: IngestParts) -> Chat:
    chat = parts.chat()
    if chat is None:
        raise BadSetting(
            "index.graph = `model` needs a chat model.",
            hint='Set models.chat, or take index.graph = "rules".',
        )
    return chat


def _chunk_ids(parts: IngestParts) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for identity in parts.engine.chunk_ids():
        found.setdefault(identity.partition("-")[0], []).append(identity)
    return found


async def _update(
    parts: IngestParts,
    asker: Asker | None,
    recipe: Sequence[str],
    documents: Sequence[Document],
    ids: Mapping[str, Sequence[str]],
    lease: Lease,
    tell: OnProgress,
) -> Updated:
    failed: list[Failure] = []
    fresh: set[str] = set()
    done = 0
    for batch in _batches(documents, ids):
        lease.check()
        try:
            jobs = [
                _one(parts, asker, recipe, document, sorted(ids.get(document.id, ())))
                for document in batch
            ]
            results = await asyncio.gather(*jobs)
        except Away as away:
            left = len(documents) - done
            return Updated(
                failed, f"The graph lacks {left} documents: {away.why} The next sync goes on."
            )
        for document, (edges, errors) in zip(batch, results, strict=True):
            fresh |= {key for edge in edges for key in (edge.subject_key, edge.object_key)}
            failed += _failures(document, errors, len(ids.get(document.id, ())))
        done += len(batch)
        tell("graph", done, len(documents))
    return Updated(failed, await _merge(parts, asker, fresh) if asker else "")


async def _one(
    parts: IngestParts,
    asker: Asker | None,
    recipe: Sequence[str],
    document: Document,
    ids: Sequence[str],
) -> tuple[list[Edge], Sequence[ModelError]]:
    """Read a document and keep what it says; passages that a model has read before are not read
    again."""
    found = parts.engine.get(ids)
    chunks = sorted(found.values(), key=lambda chunk: (chunk.start, chunk.end))
    digests = {chunk.id: _digest(recipe, as_read(chunk)) for chunk in chunks}
    if asker:
        kept = _kept(read_extracted(parts.store, document.id))
        new = [chunk for chunk in chunks if digests[chunk.id] not in kept]
        read = await asker.read(new)
        said = {c.id: kept.get(digests[c.id], read.said.get(c.id)) for c in chunks}
    else:
        read = Read({chunk.id: list(triplets_of(chunk)) for chunk in chunks}, ())
        said = dict(read.said)
    there = {identity: triplets for identity, triplets in said.items() if triplets is not None}
    edges = edges_of(there, document.id)
    whole = "" if len(there) < len(ids) else _digest(recipe, sorted(ids))
    extracted = Extracted({identity: digests[identity] for identity in there}, edges)
    names = list(names_of(edges, document.language))
    saved = await asyncio.to_thread(save_graph, parts.store, document.id, whole, extracted, names)
    return (edges if saved else []), read.failed


def _kept(before: Extracted) -> dict[str, list[StatedTriplet]]:
    """Digest of a passage -> what it said."""
    said: dict[str, list[StatedTriplet]] = {digest: [] for digest in before.chunks.values()}
    for edge in before.edges:
        one = edge.triplet
        said[before.chunks[one.chunk_id]].append(
            StatedTriplet(one.subject, one.predicate, one.object)
        )
    return said


async def _merge(parts: IngestParts, asker: Asker, fresh: set[str]) -> str:
    """Let the model say which near-equal entities are one. Why it did not, else nothing."""
    names = entity_names(parts.store)
    try:
        pairs = await asker.same(near_pairs(fresh & names.keys(), names), names)
    except ModelError as failed:
        return f"Near-equal entities of the graph were not merged: {failed}"
    save_same(parts.store, pairs)
    return ""


def _failures(document: Document, errors: Sequence[ModelError], chunks: int) -> Iterator[Failure]:
    if errors:
        yield Failure(
            uri=document.uri,
            reason=f"{len(errors)} of {chunks} passages are not in the graph: {errors[0]}".strip(),
        )


def _batches(
    documents: Iterable[Document], ids: Mapping[str, Sequence[str]]
) -> Iterator[list[Document]]:
    batch: list[Document] = []
    chunks = 0
    for document in documents:
        batch.append(document)
        chunks += len(ids.get(document.id, ()))
        if chunks >= BATCH_CHUNKS:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, default=str).encode()).hexdigest()
