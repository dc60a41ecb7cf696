"""The index made anew from the stored texts, beside the one that serves: no source is asked and
nobody waits."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ombud.documents import chunk
from ombud.errors import NotFound, SourceError
from ombud.index import Engine, blocking
from ombud.ingest.graph_updates import check_graph, update_graph
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.rows import estimate, rows_of
from ombud.settings import index_for
from ombud.store import (
    Store,
    acquire_lease,
    document_ids,
    find_document,
    list_documents,
    save_abbreviations,
    save_chunks,
)
from ombud.text import find_abbreviations
from ombud.types import Chunk, Document

BATCH_CHUNKS = 512
_COPIED = 200
"""Documents at once."""


class Rebuilt(NamedTuple):
    documents: int
    chunks: int
    missing: tuple[str, ...]
    """uris whose text is no longer stored or cannot be cut: the next sync reads them again, or says
    why not."""


class Generation(NamedTuple):
    """An index that does not count yet."""

    engine: Engine
    switch: Callable[[], None]
    """Lets it count."""


def rebuild_index(
    parts: IngestParts, begin: Callable[[], Generation], tell: OnProgress = lambda *_: None
) -> Rebuilt:
    """Fill a new generation from the stored texts, then let it count.

    Holds the sync's lease, so that nothing changes meanwhile but deletions, which are caught up
    with before the switch. Killed anywhere before it, the old index serves on; between the switch
    and the last counts, the next sync mends them, and also reads what a model could not read for
    the graph now. Raises Busy."""
    check_graph(parts)
    with acquire_lease(parts.store, "sync") as lease:
        engine, switch = begin()
        parts = parts._replace(engine=engine)
        form = parts.settings.index
        known = list_documents(parts.store)
        counts: dict[str, int] = {}
        missing: list[str] = []
        for batch in _batches(_cut(parts, known, missing)):
            lease.check()
            documents = [document for document, _ in batch]
            chunks = [one for _, some in batch for one in some]
            blocking(
                parts.engine.upsert(
                    [document.id for document in documents],
                    rows_of(documents, chunks, parts.embedder, form),
                )
            )
            for document in documents:
                save_abbreviations(
                    parts.store, document.id, find_abbreviations(document.text, document.language)
                )
            counts |= {document.id: len(some) for document, some in batch}
            tell("rebuild", len(counts), len(known))
        tell("optimise", 0, 1)
        blocking(parts.engine.maintain())
        _drop_deleted(parts.engine, parts.store, counts)
        lease.check()
        switch()
        save_chunks(parts.store, {**counts, **dict.fromkeys(_ids(known, missing), 0)})
        for source in sorted({document.source for document in known}):
            update_graph(parts, source, lease, tell)
    return Rebuilt(len(counts), sum(counts.values()), tuple(missing))


def copy_index(parts: IngestParts, begin: Callable[[], Generation]) -> None:
    """Fill a new generation with the rows of the present one, then let it count: nothing that was
    deleted is in it, while an engine may keep deleted rows in its files for long. Raises Busy."""
    with acquire_lease(parts.store, "sync") as lease:
        engine, switch = begin()
        kept = sorted(blocking(parts.engine.documents()))
        for start in range(0, len(kept), _COPIED):
            some = kept[start : start + _COPIED]
            blocking(engine.upsert(some, blocking(parts.engine.rows(some))))
        blocking(engine.maintain())
        lease.check()
        switch()


def _cut(
    parts: IngestParts, known: list[Document], missing: list[str]
) -> Iterator[tuple[Document, list[Chunk]]]:
    count = parts.embedder.count if parts.embedder else estimate
    embed = parts.embedder.embed if parts.embedder else None
    for facts in known:
        try:
            document = find_document(parts.store, facts.id)
            chunks = chunk(document, index_for(parts.settings, document.source), count, embed)
        except (NotFound, SourceError):
            missing.append(facts.uri)
            continue
        yield document, chunks


def _batches(
    items: Iterator[tuple[Document, list[Chunk]]],
) -> Iterator[list[tuple[Document, list[Chunk]]]]:
    batch: list[tuple[Document, list[Chunk]]] = []
    for item in items:
        batch.append(item)
        if sum(len(chunks) for _, chunks in batch) >= BATCH_CHUNKS:
            yield batch
            batch = []
    if batch:
        yield batch


def _drop_deleted(engine: Engine, store: Store, counts: dict[str, int]) -> None:
    gone = sorted(counts.keys() - document_ids(store).keys())
    if gone:
        blocking(engine.delete(gone))
        for identity in gone:
            del counts[identity]


def _ids(known: list[Document], missing: list[str]) -> list[str]:
    return [document.id for document in known if document.uri in set(missing)]
