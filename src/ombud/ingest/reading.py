"""Read, parse and chunk documents in threads ahead of the embedder."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from queue import Queue, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from ombud.documents import Chunking, DocumentContents, DocumentParser
from ombud.errors import SourceError
from ombud.index import Row
from ombud.ingest.changes import DocumentChange, attached_change, document_id, failure
from ombud.ingest.originals import keep_original
from ombud.ingest.parts import IngestParts
from ombud.ingest.report import Failure
from ombud.ingest.rows import estimate, rows_of
from ombud.settings import index_for
from ombud.sources import Source
from ombud.types import Chunk, Document, Loss

T = TypeVar("T")
Made = Generator[T, None, None]
BATCH_CHUNKS = 512
"""Chunks embedded and committed together: enough to sort by length, few enough to lose when
killed."""
BATCHES_AHEAD = 1
"""Batches that wait chunked while one is embedded, and embedded while one is committed."""


class ChunkedDocument(NamedTuple):
    """A document as it goes into the index."""

    change: DocumentChange
    document: Document
    chunks: list[Chunk]
    abbreviations: Sequence[tuple[str, str]] = ()
    """(abbreviation, expansion) pairs that it explains."""
    rows: tuple[Row, ...] = ()
    """Its rows, if it was embedded ahead or by another process."""
    gone: frozenset[str] = frozenset()
    """Ids of documents that are no longer attached to it."""


def chunked(change: DocumentChange, contents: DocumentContents) -> ChunkedDocument:
    return ChunkedDocument(change, contents.document, contents.chunks, contents.abbreviations)


def chunking_of(parts: IngestParts, source: str) -> Chunking:
    """Return the chunking of the documents of a source."""
    embedder = parts.embedder
    return Chunking(
        settings=index_for(parts.settings, source),
        count=embedder.count if embedder else estimate,
        embed=embedder.embed if embedder else None,
    )


class DocumentReader:
    """Reads and parses documents for several threads. Only one thread at a time reads from the
    source, to keep its rate limit."""

    def __init__(
        self, parts: IngestParts, source: Source, parsers: Sequence[DocumentParser]
    ) -> None:
        self.width = len(parsers)
        """Threads that may read at once."""
        self._parts = parts
        self._source = source
        self._chunking = chunking_of(parts, source.name)
        self._source_lock = threading.Lock()
        self._free = SimpleQueue[DocumentParser]()
        for parser in parsers:
            self._free.put(parser)

    def read(self, change: DocumentChange) -> tuple[list[ChunkedDocument], list[Failure]]:
        """Read a document and those attached to it, in this order, and report attached ones that
        cannot be read. Raises SourceError if the document itself cannot be read."""
        failed: list[Failure] = []
        with self._source_lock:
            data = self._source.read(change.ref)
        room = self._parts.settings.documents.size_mb * 2**20
        first, *attached = self._read_all(change, data, room, failed)
        still_there = {item.document.id for item in attached}
        still_there.update(document_id(one.uri) for one in failed)
        unread = tuple(one.uri.removeprefix(f"{change.ref.uri}/") for one in failed)
        loss = first.document.loss + Loss(attachments=unread)
        document = first.document.model_copy(update={"loss": loss})
        first = first._replace(document=document, gone=change.attached - still_there)
        return [first, *attached], failed

    def _read_all(
        self, change: DocumentChange, data: bytes, room: int, failed: list[Failure]
    ) -> list[ChunkedDocument]:
        """Parse a document and what is attached to it.

        room: bytes that everything attached, at any depth, may have together."""
        contents = self._parse(change, data)
        items = [chunked(change, contents)]
        room -= sum(len(file.data) for file in contents.attached)
        for file in contents.attached:
            try:
                if room < 0:
                    raise SourceError(
                        "Too much is attached.", hint="Save it as files of their own."
                    )
                inner = attached_change(change, file)
                items += self._read_all(inner, file.data, room, failed)
            except SourceError as bad:
                failed.append(failure(change.ref.inside(file.name, len(file.data)), bad))
        return items

    def _parse(self, change: DocumentChange, data: bytes) -> DocumentContents:
        """Parse one document; raises SourceError, also if it has no text."""
        parser = self._free.get()
        try:
            contents = parser.read(data, change.document, self._chunking)
        finally:
            self._free.put(parser)
        if not contents.chunks:
            raise SourceError("Nothing in it can be searched.", hint="Is it empty?")
        document = contents.document
        keep_original(
            self._parts.originals, document.id, document.digest, uri=document.uri, data=data
        )
        return contents


def read_ahead(
    reader: DocumentReader, changes: Sequence[DocumentChange], failed: list[Failure]
) -> Made[list[ChunkedDocument]]:
    """Parse and chunk batches ahead of the embedder, in a thread of their own. Documents that
    cannot be read go to `failed`."""
    return run_ahead(
        "parse", lambda stop: in_batches(read_changes(reader, changes, failed, stop), size_of)
    )


def embed_ahead(
    batches: Made[list[ChunkedDocument]], parts: IngestParts
) -> Made[list[ChunkedDocument]]:
    """Add rows to batches: while one batch is committed, the next one is embedded."""

    def embed_batches(stop: threading.Event) -> Made[list[ChunkedDocument]]:
        del stop  # `run_ahead` closes this generator, which closes the batches
        with closing(batches):
            for batch in batches:
                yield embed_batch(batch, parts)

    return run_ahead("embed", embed_batches)


def embed_batch(batch: Sequence[ChunkedDocument], parts: IngestParts) -> list[ChunkedDocument]:
    """Embed the chunks of all documents of a batch together."""
    documents = [item.document for item in batch]
    chunks = [chunk for item in batch for chunk in item.chunks]
    rows: dict[str, list[Row]] = {document.id: [] for document in documents}
    for row in rows_of(documents, chunks, parts.embedder, parts.settings.index):
        rows[row.chunk.document_id].append(row)
    return [item._replace(rows=tuple(rows[item.document.id])) for item in batch]


def run_ahead(name: str, make: Callable[[threading.Event], Made[T]]) -> Made[T]:
    """Run a generator in a thread, up to `BATCHES_AHEAD` items ahead of the consumer.

    make: opens the generator; gets an event that tells it to stop."""
    queue: Queue[tuple[T] | BaseException | None] = Queue(BATCHES_AHEAD)
    stop = threading.Event()

    def work() -> None:
        try:
            with closing(make(stop)) as items:
                for item in items:
                    queue.put((item,))
                    if stop.is_set():
                        break
            queue.put(None)
        except BaseException as broken:  # noqa: BLE001 - raised again where the sync runs
            queue.put(broken)

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    is_patient = True
    try:
        while True:
            item = queue.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    except KeyboardInterrupt:
        is_patient = False  # an embedder may never come back
        raise
    finally:
        stop.set()
        if is_patient:
            join_producer(thread, queue)


def join_producer(thread: threading.Thread, queue: "Queue[Any]") -> None:
    """Join the thread, emptying the queue that it may be waiting for."""
    while thread.is_alive():
        if not queue.empty():
            queue.get_nowait()
        thread.join(0.05)


def read_changes(
    reader: DocumentReader,
    changes: Sequence[DocumentChange],
    failed: list[Failure],
    stop: threading.Event,
) -> Made[ChunkedDocument]:
    """Read documents in several threads and yield them in their order."""
    with ThreadPoolExecutor(reader.width, thread_name_prefix="parse") as pool:
        for change, task in submit_in_order(pool, reader.read, changes, 2 * reader.width):
            if stop.is_set():
                return
            try:
                items, bad_ones = task.result()
            except SourceError as bad:
                failed.append(failure(change.ref, bad))
            else:
                failed += bad_ones
                yield from items


def submit_in_order(
    pool: Executor,
    work: Callable[[DocumentChange], T],
    changes: Sequence[DocumentChange],
    ahead: int,
) -> Iterator[tuple[DocumentChange, Future[T]]]:
    """Yield each change with its task, in order, with at most `ahead` submitted; cancel those that
    have not begun when the consumer stops."""
    begun: deque[tuple[DocumentChange, Future[T]]] = deque()
    try:
        for change in changes:
            begun.append((change, pool.submit(work, change)))
            if len(begun) >= ahead:
                yield begun.popleft()
        while begun:
            yield begun.popleft()
    finally:
        for _, task in begun:
            task.cancel()


def size_of(item: ChunkedDocument | DocumentContents) -> int:
    """Count the chunks of a document."""
    return len(item.chunks)


def in_batches(
    items: Iterable[T], size: Callable[[T], int], most: int = BATCH_CHUNKS
) -> Made[list[T]]:
    """Group items into lists of at least `most` chunks in all. size: counts the chunks of an
    item."""
    batch: list[T] = []
    chunks = 0
    for item in items:
        batch.append(item)
        chunks += size(item)
        if chunks >= most:
            yield batch
            batch = []
            chunks = 0
    if batch:
        yield batch
