"""The index made anew from the stored texts, beside the one that serves: no source is asked and
nobody waits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from ombud.documents import DocumentContents, DocumentParser, open_parsers
from ombud.errors import NotFound, SourceError
from ombud.index import Engine, blocking
from ombud.ingest.graph_updates import check_graph, update_graph
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.reading import chunking_of
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

BATCH_CHUNKS = 512
COPIED = 200
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
    """Lets it count. Raises Busy where another process has the lease."""


def rebuild_index(
    parts: IngestParts,
    begin: Callable[[Lease], Generation],
    on_progress: OnProgress = lambda *_: None,
) -> Rebuilt:
    """Fill a new generation from the stored texts, then let it count.

    Holds the sync's lease, so that nothing changes meanwhile but deletions, which are caught up
    with before the switch. Killed anywhere before it, the old index serves on; between the switch
    and the last counts, the next sync mends them, and also reads what a model could not read for
    the graph now. Raises Busy."""
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
            for batch in _batches(_cut(parts, parser, stored, missing)):
                lease.check()
                _add(parts, batch)
                for item in batch:
                    counts[item.document.id] = len(item.chunks)
                on_progress("rebuild", len(counts), len(stored))
        on_progress("optimise", 0, 1)
        blocking(parts.engine.maintain())
        _drop_deleted(parts, counts)
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
    """Fill a new generation with the rows of the present one, then let it count: nothing that was
    deleted is in it, while an engine may keep deleted rows in its files for long. Raises Busy."""
    with acquire_lease(parts.store, "sync") as lease:
        engine, switch = begin(lease)
        document_ids_kept = sorted(blocking(parts.engine.documents()))
        for start in range(0, len(document_ids_kept), COPIED):
            batch = document_ids_kept[start : start + COPIED]
            rows = blocking(parts.engine.rows(batch))
            blocking(engine.upsert(batch, rows))
        blocking(engine.maintain())
        switch()


def _add(parts: IngestParts, batch: Sequence[DocumentContents]) -> None:
    documents = [item.document for item in batch]
    chunks: list[Chunk] = []
    for item in batch:
        chunks += item.chunks
    rows = rows_of(documents, chunks, parts.embedder, parts.settings.index)
    blocking(parts.engine.upsert([document.id for document in documents], rows))
    for item in batch:
        save_abbreviations(parts.store, item.document.id, item.abbreviations)


def _cut(
    parts: IngestParts,
    parser: DocumentParser,
    stored: Iterable[Document],
    missing: list[Document],
) -> Iterator[DocumentContents]:
    """Documents with their chunks; those whose text is gone, or cannot be cut, go to `missing`."""
    for facts in stored:
        try:
            document = find_document(parts.store, facts.id)
            contents = parser.cut(document, chunking_of(parts, document.source))
        except (NotFound, SourceError):
            missing.append(facts)
            continue
        yield contents


def _batches(items: Iterable[DocumentContents]) -> Iterator[list[DocumentContents]]:
    batch: list[DocumentContents] = []
    chunks = 0
    for item in items:
        batch.append(item)
        chunks += len(item.chunks)
        if chunks >= BATCH_CHUNKS:
            yield batch
            batch = []
            chunks = 0
    if batch:
        yield batch


def _drop_deleted(parts: IngestParts, counts: dict[str, int]) -> None:
    """Without what was deleted while the index was built."""
    gone = sorted(counts.keys() - document_ids(parts.store).keys())
    if gone:
        blocking(parts.engine.delete(gone))
    for document_id in gone:
        del counts[document_id]
