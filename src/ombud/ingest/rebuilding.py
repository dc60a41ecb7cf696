"""Rebuild the index from the stored texts, beside the one that serves: no source is read and no
search waits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from ombud.documents import DocumentContents, DocumentParser, open_parsers
from ombud.errors import NotFound, SourceError
from ombud.index import Engine, blocking
from ombud.ingest.graph_updates import check_graph, update_graph
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.reading import chunking_of, in_batches, size_of
from ombud.ingest.rows import rows_of
from ombud.store import (
    Lease,
    acquire_lease,
    document_ids,
    find_document,
    list_documents,
    save_abbreviations,
    save_chunks,
)
from ombud.types import Chunk, Document

COPY_BATCH = 200
"""Documents that are copied at a time."""


class Rebuilt(NamedTuple):
    documents: int
    chunks: int
    missing: tuple[str, ...]
    """uris whose text is no longer stored or cannot be chunked; the next sync reads them again or
    reports why not."""


class Generation(NamedTuple):
    """A new index that does not serve yet."""

    engine: Engine
    switch: Callable[[], None]
    """Lets it serve. Raises Busy if another process has the lease."""


def rebuild_index(
    parts: IngestParts,
    begin: Callable[[Lease], Generation],
    on_progress: OnProgress = lambda *_: None,
) -> Rebuilt:
    """Fill a new generation from the stored texts, then let it serve. Raises Busy.

    It holds the sync's lease, so only deletions happen meanwhile, and these are repeated before
    the switch. If it is killed before the switch, the old index serves on; if after, the next sync
    completes counts and graph."""
    check_graph(parts)
    with acquire_lease(parts.store, "sync") as lease:
        generation = begin(lease)
        parts = parts._replace(engine=generation.engine)
        stored = list_documents(parts.store)
        counts: dict[str, int] = {}
        missing: list[Document] = []
        with ExitStack() as stack:
            parser, *_ = open_parsers(parts.settings.documents)
            stack.callback(parser.close)
            for batch in in_batches(chunk_stored(parts, parser, stored, missing), size_of):
                lease.check()
                index_batch(parts, batch)
                for item in batch:
                    counts[item.document.id] = len(item.chunks)
                on_progress("rebuild", len(counts), len(stored))
        on_progress("optimise", 0, 1)
        blocking(parts.engine.maintain())
        deleted = sorted(counts.keys() - document_ids(parts.store).keys())
        if deleted:
            blocking(parts.engine.delete(deleted))
        for document_id in deleted:
            del counts[document_id]
        generation.switch()
        uncounted = {document.id: 0 for document in missing}
        save_chunks(parts.store, counts | uncounted)
        for source in sorted({document.source for document in stored}):
            update_graph(parts, source, lease, on_progress)
    return Rebuilt(
        documents=len(counts),
        chunks=sum(counts.values()),
        missing=tuple(document.uri for document in missing),
    )


def copy_index(parts: IngestParts, begin: Callable[[Lease], Generation]) -> None:
    """Fill a new generation with the rows of the current one, then let it serve. Raises Busy.

    Nothing that was deleted is in it, while the files of an engine may hold deleted rows."""
    with acquire_lease(parts.store, "sync") as lease:
        engine, switch = begin(lease)
        indexed = sorted(blocking(parts.engine.documents()))
        for start in range(0, len(indexed), COPY_BATCH):
            batch = indexed[start : start + COPY_BATCH]
            rows = blocking(parts.engine.rows(batch))
            blocking(engine.upsert(batch, rows))
        blocking(engine.maintain())
        switch()


def index_batch(parts: IngestParts, batch: Sequence[DocumentContents]) -> None:
    """Embed the chunks of documents and write them to the index."""
    documents = [item.document for item in batch]
    chunks: list[Chunk] = []
    for item in batch:
        chunks += item.chunks
    rows = rows_of(documents, chunks, parts.embedder, parts.settings.index)
    blocking(parts.engine.upsert([document.id for document in documents], rows))
    for item in batch:
        save_abbreviations(parts.store, item.document.id, item.abbreviations)


def chunk_stored(
    parts: IngestParts,
    parser: DocumentParser,
    stored: Iterable[Document],
    missing: list[Document],
) -> Iterator[DocumentContents]:
    """Yield documents with their chunks; those whose text is gone or cannot be chunked go to
    `missing`."""
    for facts in stored:
        try:
            document = find_document(parts.store, facts.id)
            contents = parser.cut(document, chunking_of(parts, document.source))
        except (NotFound, SourceError):
            missing.append(facts)
            continue
        yield contents
