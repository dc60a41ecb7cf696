"""One sync: compare, parse, chunk, embed, commit; then let go of what is gone, and bring the graph
in line.

Order of writes: add or update = one index commit replacing all chunks of the documents, then their
digests in SQL; delete = tombstone in SQL, index, then the row. A sync killed anywhere is finished
by the next one."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import date
from queue import Queue, SimpleQueue
from typing import NamedTuple

from ombud.documents import DocumentParser, chunk, open_parsers
from ombud.errors import SourceError
from ombud.index import blocking
from ombud.ingest.changes import DocumentChange, SyncPlan, failure, plan_changes
from ombud.ingest.graph_updates import check_graph, update_graph
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.report import Failure, SyncReport
from ombud.ingest.rows import estimate, rows_of
from ombud.settings import Settings, index_for
from ombud.sources import Source
from ombud.store import (
    Lease,
    acquire_lease,
    bury_documents,
    cut_document,
    document_ends,
    document_entries,
    document_ids,
    find_document,
    forget_document,
    list_documents,
    save_document,
    save_end,
    save_facts,
    save_stamps,
    successors,
    tombstones,
)
from ombud.text import find_abbreviations
from ombud.types import Chunk, Document

BATCH_CHUNKS = 512
"""Chunks embedded and committed together: enough to sort by length, little enough to lose at a
kill."""
AHEAD = 1
"""Batches cut and waiting beside the one that is embedded."""
FEW = 10
"""Documents that may vanish without the share being looked at."""


class ChunkedDocument(NamedTuple):
    """A document as it goes into the index."""

    change: DocumentChange
    document: Document
    chunks: list[Chunk]


def sync_sources(
    parts: IngestParts,
    sources: Sequence[Source],
    *,
    allow_deletes: bool = False,
    tell: OnProgress = lambda *_: None,
) -> list[SyncReport]:
    """Bring the index to what the sources hold now; raises Busy when another process does just
    that.

    One bad document is one `Failure` in its source's report and never stops the rest.
    """
    check_graph(parts)
    with acquire_lease(parts.store, "sync") as lease:
        _reconcile(parts)
        with ExitStack() as stack:
            parsers = open_parsers(parts.settings.documents)
            for parser in parsers:
                stack.callback(parser.close)
            parsers[0].warm()  # loads its formats while the first source is listed
            reports = [
                _sync_source(parts, source, parsers, lease, allow_deletes, tell)
                for source in sources
            ]
        _settle_ends(parts)
        if any(r.added or r.updated or r.moved or r.deleted for r in reports):
            tell("optimise", 0, 1)
            blocking(parts.engine.maintain())
    return reports


def delete_documents(parts: IngestParts, ids: Sequence[str]) -> None:
    """Remove documents everywhere: hidden at once, then out of the index, then out of the store."""
    bury_documents(parts.store, ids)
    blocking(parts.engine.delete(ids))
    forget_document(parts.store, ids)
    _settle_ends(parts)


def _settle_ends(parts: IngestParts) -> None:
    """Predecessors in other sources, of deleted successors, or left over by a killed sync."""
    for document in document_ends(parts.store):
        blocking(parts.engine.revise(document))
        save_end(parts.store, document)


def _reconcile(parts: IngestParts) -> None:
    """Finish what a killed process began, and drop chunks that no document owns."""
    buried = tombstones(parts.store)
    orphans = blocking(parts.engine.documents()).keys() - document_ids(parts.store).keys()
    if buried or orphans:
        blocking(parts.engine.delete(sorted(orphans | set(buried))))
        forget_document(parts.store, buried)


def _sync_source(
    parts: IngestParts,
    source: Source,
    parsers: Sequence[DocumentParser],
    lease: Lease,
    allow_deletes: bool,
    tell: OnProgress,
) -> SyncReport:
    known = document_entries(parts.store, source.name)
    try:
        stored = {document.id: document for document in list_documents(parts.store, source.name)}
        plan = plan_changes(
            source, known, stored, blocking(parts.engine.documents()), parts.settings, tell
        )
    except SourceError as failed:
        return SyncReport(name=source.name, note=f"{failed} {failed.hint} Nothing was changed.")
    note = _too_many_gone(parts.settings, plan, len(known), allow_deletes)
    others = list_documents(parts.store, but=source.name)
    begins = successors([*plan.documents, *others])
    failed_documents = list(plan.failed)
    _take_facts(parts, [c for c in plan.changes if not c.content], begins)
    content = [c for c in plan.changes if c.content]
    done: list[DocumentChange] = []
    for batch in _cut_all(parts, _Reader(source, parsers), content, failed_documents):
        lease.check()
        _commit(parts, batch, begins)
        done += [item.change for item in batch]
        tell("index", len(done) + len(failed_documents) - len(plan.failed), len(content))
    if plan.stamps:
        save_stamps(parts.store, plan.stamps)
    gone = [] if note else [e.id for e in plan.gone]
    if gone:
        lease.check()
        delete_documents(parts, gone)
    graph = update_graph(parts, source.name, lease, tell)
    note = f"{note} {graph.note}".strip()
    return _report(source.name, plan, done, len(gone), [*failed_documents, *graph.failed], note)


def _too_many_gone(settings: Settings, plan: SyncPlan, known: int, allow: bool) -> str:
    lost = len(plan.gone) - len(plan.moved)
    few = lost <= FEW or lost <= settings.sync.largest_loss * known
    if (
        allow or lost <= 0 or (few and lost < known)
    ):  # all gone is an unmounted drive, however few they are
        return ""
    return (
        f"{lost} of {known} documents are gone from the source, so none was deleted. "
        "If that is meant, run the sync again with --allow-deletes."
    )


def _report(
    name: str,
    plan: SyncPlan,
    done: list[DocumentChange],
    gone: int,
    failed: list[Failure],
    note: str,
) -> SyncReport:
    finished = {c.document.id for c in done}
    moved = len(finished & plan.moved.keys())
    facts_only = sum(not c.content for c in plan.changes)
    return SyncReport(
        name=name,
        added=sum(c.new for c in done) - moved,
        updated=sum(not c.new for c in done) + facts_only,
        moved=moved,
        deleted=max(0, gone - moved),
        unchanged=plan.unchanged,
        failed=tuple(failed),
        skipped=plan.skipped,
        note=note,
    )


def _take_facts(
    parts: IngestParts, changes: Sequence[DocumentChange], begins: Mapping[str, date]
) -> None:
    for change in changes:
        old = find_document(parts.store, change.document.id)
        # What parsing found out stays where the source says nothing.
        found = {
            "title": change.document.title or old.title,
            "language": change.document.language or old.language,
        }
        document = cut_document(change.document.model_copy(update=found), begins)
        blocking(parts.engine.revise(document))
        count = document_ids(parts.store)[document.id]
        save_facts(parts.store, document, change.kept(count))


def _cut_all(
    parts: IngestParts, reader: "_Reader", changes: list[DocumentChange], failed: list[Failure]
) -> Iterator[list[ChunkedDocument]]:
    """Parse and chunk ahead of the embedder, in a thread that waits on the parser process; whole
    batches, so that the next one is there when one is done."""
    queue: Queue[list[ChunkedDocument] | BaseException | None] = Queue(AHEAD)
    stop = threading.Event()

    def cuts() -> Iterator[ChunkedDocument]:
        with ThreadPoolExecutor(reader.width, thread_name_prefix="parse") as pool:
            for change, task in _in_order(
                pool, lambda change: _cut(parts, reader, change), changes, 2 * reader.width
            ):
                if stop.is_set():
                    return
                try:
                    yield task.result()
                except SourceError as bad:
                    failed.append(failure(change.ref.uri, bad))

    def work() -> None:
        try:
            for batch in _batches(cuts()):
                queue.put(batch)
            queue.put(None)
        except BaseException as broken:  # noqa: BLE001 - raised again where the sync runs
            queue.put(broken)

    thread = threading.Thread(target=work, name="parse", daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        while thread.is_alive():  # it may be waiting for room in the queue
            if not queue.empty():
                queue.get_nowait()
            thread.join(0.05)


def _in_order(
    pool: Executor,
    work: Callable[[DocumentChange], ChunkedDocument],
    changes: Sequence[DocumentChange],
    ahead: int,
) -> Iterator[tuple[DocumentChange, Future[ChunkedDocument]]]:
    """Each change with its task, in their order; at most `ahead` are begun. What is not begun at
    the end never is."""
    begun: deque[tuple[DocumentChange, Future[ChunkedDocument]]] = deque()
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


class _Reader:
    """Reads and parses for several threads. Sources are asked by one at a time: they keep to a
    polite rate."""

    def __init__(self, source: Source, parsers: Sequence[DocumentParser]) -> None:
        self.source, self.width, self._asking = source, len(parsers), threading.Lock()
        self._free = SimpleQueue[DocumentParser]()
        for parser in parsers:
            self._free.put(parser)

    def read(self, change: DocumentChange) -> Document:
        with self._asking:
            data = self.source.read(change.ref)
        parser = self._free.get()
        try:
            return parser.parse(data, change.document)
        finally:
            self._free.put(parser)


def _cut(parts: IngestParts, reader: _Reader, change: DocumentChange) -> ChunkedDocument:
    document = reader.read(change)
    count = parts.embedder.count if parts.embedder else estimate
    embed = parts.embedder.embed if parts.embedder else None
    chunks = chunk(document, index_for(parts.settings, reader.source.name), count, embed)
    if not chunks:
        raise SourceError("Nothing in it can be searched.", hint="Is it empty?")
    return ChunkedDocument(change, document, chunks)


def _batches(items: Iterator[ChunkedDocument]) -> Iterator[list[ChunkedDocument]]:
    batch: list[ChunkedDocument] = []
    chunks = 0
    for item in items:
        batch.append(item)
        chunks += len(item.chunks)
        if chunks >= BATCH_CHUNKS:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


def _commit(
    parts: IngestParts, batch: Sequence[ChunkedDocument], begins: Mapping[str, date]
) -> None:
    shown = [cut_document(item.document, begins) for item in batch]
    chunks = [
        c.model_copy(update={"effective_to": document.effective_to})
        for item, document in zip(batch, shown, strict=True)
        for c in item.chunks
    ]
    rows = rows_of(shown, chunks, parts.embedder, parts.settings.index)
    blocking(parts.engine.upsert([document.id for document in shown], rows))
    for item, document in zip(batch, shown, strict=True):
        explained = find_abbreviations(item.document.text, item.document.language)
        save_document(parts.store, document, item.change.kept(len(item.chunks)), explained)
