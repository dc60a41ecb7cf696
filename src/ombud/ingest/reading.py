"""Documents read, parsed and chunked ahead of the embedder."""

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
"""Chunks embedded and committed together: enough to sort by length, little enough to lose at a
kill."""
AHEAD = 1
"""Batches cut and waiting beside the one that is embedded, and embedded beside the one that is
committed."""


class ChunkedDocument(NamedTuple):
    """A document as it goes into the index."""

    change: DocumentChange
    document: Document
    chunks: list[Chunk]
    abbreviations: Sequence[tuple[str, str]] = ()
    """(abbreviation, expansion) pairs that it explains."""
    rows: tuple[Row, ...] = ()
    """Where it was embedded ahead, or by another process."""
    gone: frozenset[str] = frozenset()
    """Ids of documents that are no longer attached to it."""


def chunked(change: DocumentChange, contents: DocumentContents) -> ChunkedDocument:
    return ChunkedDocument(change, contents.document, contents.chunks, contents.abbreviations)


def chunking_of(parts: IngestParts, source: str) -> Chunking:
    """How the documents of a source are cut."""
    embedder = parts.embedder
    return Chunking(
        settings=index_for(parts.settings, source),
        count=embedder.count if embedder else estimate,
        embed=embedder.embed if embedder else None,
    )


class DocumentReader:
    """Reads and parses for several threads. Sources are asked by one at a time: they keep to a
    polite rate."""

    def __init__(
        self, parts: IngestParts, source: Source, parsers: Sequence[DocumentParser]
    ) -> None:
        self.width = len(parsers)
        """Threads that may read at once."""
        self._parts = parts
        self._source = source
        self._chunking = chunking_of(parts, source.name)
        self._asking = threading.Lock()
        self._free = SimpleQueue[DocumentParser]()
        for parser in parsers:
            self._free.put(parser)

    def read(self, change: DocumentChange) -> tuple[list[ChunkedDocument], list[Failure]]:
        """The document and, behind it, those that are attached to it; what of these cannot be read.
        Raises SourceError where the document itself cannot be read."""
        failed: list[Failure] = []
        with self._asking:
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
        """room: bytes that everything attached, at any depth, may have together."""
        contents = self._contents(change, data)
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

    def _contents(self, change: DocumentChange, data: bytes) -> DocumentContents:
        """Raises SourceError, also where nothing is in it."""
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
    """Parse and chunk ahead of the embedder, in a thread that waits on the parser process; whole
    batches, so that the next one is there when one is done. What cannot be read goes to
    `failed`."""
    return _ahead("parse", lambda stop: _batches(_chunked(reader, changes, failed, stop)))


def embed_ahead(
    batches: Made[list[ChunkedDocument]], parts: IngestParts
) -> Made[list[ChunkedDocument]]:
    """The same with their rows: while one batch is committed, the next one is embedded."""
    return _ahead("embed", lambda _: _embedding(batches, parts))


def _embedding(
    batches: Made[list[ChunkedDocument]], parts: IngestParts
) -> Made[list[ChunkedDocument]]:
    with closing(batches):
        for batch in batches:
            yield _embedded(batch, parts)


def _embedded(batch: Sequence[ChunkedDocument], parts: IngestParts) -> list[ChunkedDocument]:
    documents = [item.document for item in batch]
    chunks = [chunk for item in batch for chunk in item.chunks]
    rows: dict[str, list[Row]] = {document.id: [] for document in documents}
    for row in rows_of(documents, chunks, parts.embedder, parts.settings.index):
        rows[row.chunk.document_id].append(row)
    return [item._replace(rows=tuple(rows[item.document.id])) for item in batch]


def _ahead(name: str, make: Callable[[threading.Event], Made[T]]) -> Made[T]:
    """What `make` yields, made in a thread of this name up to `AHEAD` of what is asked for; it is
    closed there. make: gets what tells it to stop."""
    queue: Queue[tuple[T] | BaseException | None] = Queue(AHEAD)
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
            _let_end(thread, queue)


def _let_end(thread: threading.Thread, queue: "Queue[Any]") -> None:
    """Wait for the thread, which may be waiting for room in the queue itself."""
    while thread.is_alive():
        if not queue.empty():
            queue.get_nowait()
        thread.join(0.05)


def _chunked(
    reader: DocumentReader,
    changes: Sequence[DocumentChange],
    failed: list[Failure],
    stop: threading.Event,
) -> Made[ChunkedDocument]:
    with ThreadPoolExecutor(reader.width, thread_name_prefix="parse") as pool:
        for change, task in _in_order(pool, reader.read, changes, 2 * reader.width):
            if stop.is_set():
                return
            try:
                items, bad_ones = task.result()
            except SourceError as bad:
                failed.append(failure(change.ref, bad))
            else:
                failed += bad_ones
                yield from items


def _in_order(
    pool: Executor,
    work: Callable[[DocumentChange], T],
    changes: Sequence[DocumentChange],
    ahead: int,
) -> Iterator[tuple[DocumentChange, Future[T]]]:
    """Each change with its task, in their order; at most `ahead` are begun. What is not begun at
    the end never is."""
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


def _batches(items: Iterable[ChunkedDocument]) -> Made[list[ChunkedDocument]]:
    batch: list[ChunkedDocument] = []
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
