"""One incremental sync: compare, parse, chunk, embed, commit; then delete what is gone and update
the graph.

Order of writes: add or update = one index commit that replaces all chunks of the documents, then
their digests in SQL; delete = tombstone in SQL, index, then the row. The next sync finishes one
that was killed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

from ombud.documents import DocumentParser, describe_loss, holds_documents, open_parsers
from ombud.errors import Busy, SourceError
from ombud.index import Row, blocking
from ombud.ingest.changes import DocumentChange, StoredDocuments, SyncPlan, plan_changes
from ombud.ingest.graph_updates import check_graph, update_graph
from ombud.ingest.handing_out import HandedOut
from ombud.ingest.originals import drop_originals
from ombud.ingest.parts import IngestParts, OnProgress
from ombud.ingest.reading import ChunkedDocument, DocumentReader, embed_ahead, read_ahead
from ombud.ingest.report import Failure, LossLine, SyncReport
from ombud.settings import Settings
from ombud.sources import Source
from ombud.store import (
    Lease,
    SavedDocument,
    acquire_lease,
    begin_writes,
    bury_documents,
    cut_document,
    document_ends,
    document_entries,
    document_ids,
    find_document,
    forget_document,
    forget_writes,
    list_documents,
    save_documents,
    save_end,
    save_facts,
    save_stamps,
    successors,
    tombstones,
    unended_writes,
)

FEW_DELETIONS = 10
"""Documents that may be deleted whatever their share of the source."""


def sync_sources(
    parts: IngestParts,
    sources: Sequence[Source],
    *,
    allow_deletes: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> list[SyncReport]:
    """Bring the index in line with the sources; raises Busy while another process syncs.

    A document that cannot be read is a `Failure` in the report and does not stop the others."""
    check_graph(parts)
    reports: list[SyncReport] = []
    with acquire_lease(parts.store, "sync") as lease:
        reconcile(parts)
        run = SyncRun(parts, lease, allow_deletes, on_progress)
        with ExitStack() as stack:
            parsers = open_parsers(parts.settings.documents)
            for parser in parsers:
                stack.callback(parser.close)
            parsers[0].warm()  # loads its formats while the first source is listed
            for source in sources:
                reports.append(run.sync(source, parsers))
        settle_ends(parts)
        forget_writes(parts.store, lease)
        if any(report.changed for report in reports):
            on_progress("optimise", 0, 1)
            blocking(parts.engine.maintain())
    return reports


def add_documents(
    parts: IngestParts, source: Source, on_progress: OnProgress = lambda *_: None
) -> tuple[Failure, ...]:
    """Index the documents of a source and delete none; return those that could not be read.

    Successors end their predecessors as in a sync."""
    check_graph(parts)
    with acquire_lease(parts.store, "sync") as lease:
        run = SyncRun(parts, lease, allow_deletes=False, on_progress=on_progress)
        with ExitStack() as stack:
            parsers = open_parsers(parts.settings.documents)
            for parser in parsers:
                stack.callback(parser.close)
            failed = run.add(source, parsers)
        settle_ends(parts)
        on_progress("optimise", 0, 1)
        blocking(parts.engine.maintain())
    return failed


def waiting_changes(parts: IngestParts, source: Source) -> tuple[str, ...]:
    """List the uris of documents that the next sync of the source would change or delete. Raises
    SourceError if the source cannot be listed."""
    stored = stored_documents(parts, source.name)
    plan = plan_changes(source, stored, parts.settings, lambda *_: None)
    uris = [change.ref.uri for change in plan.changes]
    uris += [entry.uri for entry in plan.gone]
    return tuple(sorted(uris))


def stored_documents(parts: IngestParts, source: str) -> StoredDocuments:
    """Load what is stored of a source. Documents that a killed process was writing get a chunk
    count that is never right, so that they are read again."""
    stored = list_documents(parts.store, source)
    chunks = blocking(parts.engine.documents())
    chunks.update(dict.fromkeys(unended_writes(parts.store), -1))
    return StoredDocuments(
        entries=document_entries(parts.store, source),
        documents={document.id: document for document in stored},
        chunks=chunks,
    )


def delete_documents(
    parts: IngestParts,
    ids: Sequence[str],
    lease: Lease | None = None,
    *,
    keep_cited: bool = False,
) -> None:
    """Delete documents: hide them at once, then remove them from the index, then from the store.

    keep_cited: keep texts that stored answers cite. Raises Busy if a sync has lost its lease."""
    bury_documents(parts.store, ids, lease)
    blocking(parts.engine.delete(ids))
    drop_originals(parts.originals, ids)
    forget_document(parts.store, ids, keep_cited=keep_cited)
    settle_ends(parts)


def settle_ends(parts: IngestParts) -> None:
    """Update the last day of predecessors that are in other sources, whose successor was deleted,
    or that a killed sync left."""
    for document in document_ends(parts.store):
        blocking(parts.engine.revise(document))
        save_end(parts.store, document)


def reconcile(parts: IngestParts) -> None:
    """Finish deletions of a killed process, and delete chunks without a document."""
    buried = tombstones(parts.store)
    indexed = blocking(parts.engine.documents())
    orphans = indexed.keys() - document_ids(parts.store).keys()
    if buried or orphans:
        blocking(parts.engine.delete(sorted(orphans | set(buried))))
        drop_originals(parts.originals, buried)
        forget_document(parts.store, buried)


@dataclass
class SyncProgress:
    """The plan of one source and what was done of it so far."""

    plan: SyncPlan
    begins: Mapping[str, date]
    """Document id -> the day its successor takes its place."""
    done: list[DocumentChange] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    lost: list[LossLine] = field(default_factory=list)
    deleted: int = 0
    note: str = ""


class SyncRun:
    """A sync, source by source, under one lease."""

    def __init__(
        self, parts: IngestParts, lease: Lease, allow_deletes: bool, on_progress: OnProgress
    ) -> None:
        self._parts = parts
        self._lease = lease
        self._allow_deletes = allow_deletes
        self._on_progress = on_progress

    def sync(self, source: Source, parsers: Sequence[DocumentParser]) -> SyncReport:
        """Sync one source."""
        parts = self._parts
        entries = document_entries(parts.store, source.name)
        try:
            plan = self._plan(source)
        except SourceError as failed:
            return SyncReport(name=source.name, note=f"{failed} {failed.hint} Nothing was changed.")
        others = list_documents(parts.store, but=source.name)
        progress = SyncProgress(plan, begins=successors([*plan.documents, *others]))
        progress.failed += plan.failed
        if not self._allow_deletes:
            progress.note = too_many_gone(parts.settings, plan, len(entries))
        self._update_facts(progress)
        self._update_content(progress, source, parsers)
        if plan.stamps:
            save_stamps(parts.store, plan.stamps)
        self._delete_gone(progress)
        graph = update_graph(parts, source.name, self._lease, self._on_progress)
        progress.failed += graph.failed
        progress.note = f"{progress.note} {graph.note}".strip()
        return make_report(source.name, progress)

    def add(self, source: Source, parsers: Sequence[DocumentParser]) -> tuple[Failure, ...]:
        """Sync one source without deleting anything; return what could not be read."""
        parts = self._parts
        plan = self._plan(source)
        others = list_documents(parts.store)
        progress = SyncProgress(plan, begins=successors([*plan.documents, *others]))
        progress.failed += plan.failed
        self._update_facts(progress)
        self._update_content(progress, source, parsers)
        graph = update_graph(parts, source.name, self._lease, self._on_progress)
        return (*progress.failed, *graph.failed)

    def _plan(self, source: Source) -> SyncPlan:
        parts = self._parts
        stored = stored_documents(parts, source.name)
        return plan_changes(source, stored, parts.settings, self._on_progress)

    def _update_facts(self, progress: SyncProgress) -> None:
        """Update documents of which only metadata have changed."""
        parts = self._parts
        for change in progress.plan.changes:
            if change.content:
                continue
            before = find_document(parts.store, change.document.id)
            # Facts that parsing yielded stay where the source has none.
            parsed_facts = {
                "title": change.document.title or before.title,
                "language": change.document.language or before.language,
                "loss": before.loss,
                "parser": before.parser,
            }
            document = change.document.model_copy(update=parsed_facts)
            document = cut_document(document, progress.begins)
            begin_writes(parts.store, [document.id], self._lease)
            blocking(parts.engine.revise(document))
            chunks = document_ids(parts.store)[document.id]
            save_facts(parts.store, document, change.sync_stamp(chunks), self._lease)

    def _update_content(
        self, progress: SyncProgress, source: Source, parsers: Sequence[DocumentParser]
    ) -> None:
        """Parse, embed and commit documents whose bytes or recipe have changed."""
        content = [change for change in progress.plan.changes if change.content]
        failed_before = len(progress.failed)
        for batch in self._batches(source, parsers, content, progress.failed):
            self._lease.check()
            self._commit(batch, progress.begins)
            self._drop(progress, [one for item in batch for one in item.gone])
            progress.done += [item.change for item in batch]
            note_losses(progress, batch)
            read = len(progress.done) + len(progress.failed) - failed_before
            self._on_progress("index", read, len(content))

    def _batches(
        self,
        source: Source,
        parsers: Sequence[DocumentParser],
        content: Sequence[DocumentChange],
        failed: list[Failure],
    ) -> Iterator[list[ChunkedDocument]]:
        here = content
        if self._parts.settings.sync.workers == "queue":
            # A message becomes several documents, but a worker returns one: read it here.
            here = [change for change in content if holds_documents(change.ref.uri)]
            handed_out = [change for change in content if not holds_documents(change.ref.uri)]
            work = HandedOut(self._parts, source, self._lease, parsers)
            yield from work.batches(handed_out, failed)
        reader = DocumentReader(self._parts, source, parsers)
        yield from embed_ahead(read_ahead(reader, here, failed), self._parts)

    def _commit(self, batch: Sequence[ChunkedDocument], begins: Mapping[str, date]) -> None:
        parts = self._parts
        saved: list[SavedDocument] = []
        rows: list[Row] = []
        for item in batch:
            document = cut_document(item.document, begins)
            end = {"effective_to": document.effective_to}
            for row in item.rows:
                rows.append(row._replace(chunk=row.chunk.model_copy(update=end)))
            stamp = item.change.sync_stamp(len(item.chunks))
            saved.append(SavedDocument(document, stamp, item.abbreviations))
        ids = [one.document.id for one in saved]
        begin_writes(parts.store, ids, self._lease)
        blocking(parts.engine.upsert(ids, rows))
        try:
            save_documents(parts.store, saved, self._lease)
        except Busy:
            # The lease is lost. Of this batch, take back what was deleted meanwhile; the next sync
            # reads the rest again.
            orphans = set(ids) - document_ids(parts.store).keys()
            if orphans:
                blocking(parts.engine.delete(sorted(orphans)))
            raise

    def _delete_gone(self, progress: SyncProgress) -> None:
        """Delete what is gone; if too much is, only copies. Texts of moved documents stay for the
        answers that cite them."""
        plan = progress.plan
        elsewhere = {*plan.moved.values(), *plan.copies}
        gone = plan.copies if progress.note else [*plan.copies, *(one.id for one in plan.gone)]
        self._drop(progress, [one for one in gone if one in elsewhere], keep_cited=True)
        self._drop(progress, [one for one in gone if one not in elsewhere])

    def _drop(
        self, progress: SyncProgress, gone: Sequence[str], *, keep_cited: bool = False
    ) -> None:
        if gone:
            self._lease.check()
            delete_documents(self._parts, gone, self._lease, keep_cited=keep_cited)
            progress.plan.incomplete.difference_update(gone)
            progress.deleted += len(gone)


def too_many_gone(settings: Settings, plan: SyncPlan, total: int) -> str:
    """Explain why nothing is deleted; empty if deleting is allowed."""
    gone = {entry.uri for entry in plan.gone}
    # Attached files go with their message and are not counted.
    apart = [uri for uri in gone if gone.isdisjoint(map(str, PurePosixPath(uri).parents))]
    lost = len(apart) - len(plan.moved)
    if lost <= 0:
        return ""
    is_few = lost <= FEW_DELETIONS or lost <= settings.sync.largest_loss * total
    if is_few and lost < total:  # all gone is an unmounted drive, however few they are
        return ""
    return (
        f"{lost} of {total} documents are gone from the source, so none was deleted. "
        "If that is meant, run the sync again with --allow-deletes."
    )


def note_losses(progress: SyncProgress, batch: Sequence[ChunkedDocument]) -> None:
    """Add the documents of a batch that were read in part to the report."""
    incomplete = progress.plan.incomplete
    for item in batch:
        document, ref, loss = item.document, item.change.ref, item.document.loss
        incomplete.discard(document.id)
        if loss:
            incomplete.add(document.id)
            summary = describe_loss(loss)
            progress.lost.append(LossLine(uri=ref.uri, name=ref.name, summary=summary, loss=loss))


def make_report(name: str, progress: SyncProgress) -> SyncReport:
    plan = progress.plan
    moved = new = 0
    for change in progress.done:
        moved += change.document.id in plan.moved
        new += change.new
    facts_only = sum(not change.content for change in plan.changes)
    return SyncReport(
        name=name,
        added=new - moved,
        updated=len(progress.done) - new + facts_only,
        moved=moved,
        deleted=max(0, progress.deleted - moved),
        unchanged=plan.unchanged,
        failed=tuple(progress.failed),
        lost=tuple(progress.lost),
        incomplete=len(plan.incomplete),
        left_out=tuple(plan.left_out),
        reread=plan.reread,
        note=progress.note,
    )
