"""One sync: compare, parse, chunk, embed, commit; then let go of what is gone, and bring the graph
in line.

Order of writes: add or update = one index commit replacing all chunks of the documents, then their
digests in SQL; delete = tombstone in SQL, index, then the row. A sync killed anywhere is finished
by the next one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

from ombud.documents import DocumentParser, describe_loss, holds_documents, open_parsers
from ombud.errors import Busy, SourceError
from ombud.index import Row, blocking
from ombud.ingest.changes import DocumentChange, KnownDocuments, SyncPlan, plan_changes
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

FEW = 10
"""Documents that may vanish without the share being looked at."""


def sync_sources(
    parts: IngestParts,
    sources: Sequence[Source],
    *,
    allow_deletes: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> list[SyncReport]:
    """Bring the index to what the sources hold now; raises Busy when another process does just
    that.

    One bad document is one `Failure` in its source's report and never stops the rest.
    """
    check_graph(parts)
    reports: list[SyncReport] = []
    with acquire_lease(parts.store, "sync") as lease:
        _reconcile(parts)
        run = SyncRun(parts, lease, allow_deletes, on_progress)
        with ExitStack() as stack:
            parsers = open_parsers(parts.settings.documents)
            for parser in parsers:
                stack.callback(parser.close)
            parsers[0].warm()  # loads its formats while the first source is listed
            for source in sources:
                reports.append(run.sync(source, parsers))
        _settle_ends(parts)
        forget_writes(parts.store, lease)
        if any(report.changed for report in reports):
            on_progress("optimise", 0, 1)
            blocking(parts.engine.maintain())
    return reports


def add_documents(
    parts: IngestParts, source: Source, on_progress: OnProgress = lambda *_: None
) -> tuple[Failure, ...]:
    """Index what the source lists beside everything that is there; nothing is taken for gone.

    Successors end their predecessors as ever. Returns what could not be read."""
    check_graph(parts)
    with acquire_lease(parts.store, "sync") as lease:
        run = SyncRun(parts, lease, allow_deletes=False, on_progress=on_progress)
        with ExitStack() as stack:
            parsers = open_parsers(parts.settings.documents)
            for parser in parsers:
                stack.callback(parser.close)
            failed = run.add(source, parsers)
        _settle_ends(parts)
        on_progress("optimise", 0, 1)
        blocking(parts.engine.maintain())
    return failed


def waiting_changes(parts: IngestParts, source: Source) -> tuple[str, ...]:
    """uris of documents that the next sync of the source would take in, or let go. Reads only.

    Raises SourceError where it cannot be listed."""
    plan = plan_changes(source, _known(parts, source.name), parts.settings, lambda *_: None)
    uris = [change.ref.uri for change in plan.changes]
    uris += [entry.uri for entry in plan.gone]
    return tuple(sorted(uris))


def _known(parts: IngestParts, source: str) -> KnownDocuments:
    stored = list_documents(parts.store, source)
    chunks = blocking(parts.engine.documents())
    # What an interrupted process may still have written is read again, whatever it is.
    chunks.update(dict.fromkeys(unended_writes(parts.store), -1))
    return KnownDocuments(
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
    """Remove documents everywhere: hidden at once, then out of the index, then out of the store.

    keep_cited: texts that stored answers cite stay for these. Raises Busy where a sync has lost its
    lease."""
    bury_documents(parts.store, ids, lease)
    blocking(parts.engine.delete(ids))
    drop_originals(parts.originals, ids)
    forget_document(parts.store, ids, keep_cited=keep_cited)
    _settle_ends(parts)


def _take_back(parts: IngestParts, ids: Sequence[str]) -> None:
    """Of what was written after another had taken over: what has been deleted meanwhile. The rest
    the syncs after this one read again."""
    orphans = set(ids) - document_ids(parts.store).keys()
    if orphans:
        blocking(parts.engine.delete(sorted(orphans)))


def _settle_ends(parts: IngestParts) -> None:
    """Predecessors in other sources, of deleted successors, or left over by a killed sync."""
    for document in document_ends(parts.store):
        blocking(parts.engine.revise(document))
        save_end(parts.store, document)


def _reconcile(parts: IngestParts) -> None:
    """Finish what a killed process began, and drop chunks that no document owns."""
    buried = tombstones(parts.store)
    indexed = blocking(parts.engine.documents())
    orphans = indexed.keys() - document_ids(parts.store).keys()
    if buried or orphans:
        blocking(parts.engine.delete(sorted(orphans | set(buried))))
        drop_originals(parts.originals, buried)
        forget_document(parts.store, buried)


@dataclass
class _Progress:
    """What came of the documents of one source."""

    plan: SyncPlan
    begins: Mapping[str, date]
    """Document id -> the day its successor takes its place."""
    done: list[DocumentChange] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    lost: list[LossLine] = field(default_factory=list)
    deleted: int = 0
    note: str = ""


class SyncRun:
    """One sync, source by source, under one lease."""

    def __init__(
        self, parts: IngestParts, lease: Lease, allow_deletes: bool, on_progress: OnProgress
    ) -> None:
        self._parts = parts
        self._lease = lease
        self._allow_deletes = allow_deletes
        self._on_progress = on_progress

    def sync(self, source: Source, parsers: Sequence[DocumentParser]) -> SyncReport:
        parts = self._parts
        entries = document_entries(parts.store, source.name)
        try:
            plan = self._plan(source)
        except SourceError as failed:
            return SyncReport(name=source.name, note=f"{failed} {failed.hint} Nothing was changed.")
        others = list_documents(parts.store, but=source.name)
        progress = _Progress(plan, begins=successors([*plan.documents, *others]))
        progress.failed += plan.failed
        if not self._allow_deletes:
            progress.note = _too_many_gone(parts.settings, plan, len(entries))
        self._take_facts(progress)
        self._take_content(progress, source, parsers)
        if plan.stamps:
            save_stamps(parts.store, plan.stamps)
        self._delete_gone(progress)
        graph = update_graph(parts, source.name, self._lease, self._on_progress)
        progress.failed += graph.failed
        progress.note = f"{progress.note} {graph.note}".strip()
        return _report(source.name, progress)

    def add(self, source: Source, parsers: Sequence[DocumentParser]) -> tuple[Failure, ...]:
        """As `sync`, but what the source does not list stays."""
        parts = self._parts
        plan = self._plan(source)
        others = list_documents(parts.store)
        progress = _Progress(plan, begins=successors([*plan.documents, *others]))
        progress.failed += plan.failed
        self._take_facts(progress)
        self._take_content(progress, source, parsers)
        graph = update_graph(parts, source.name, self._lease, self._on_progress)
        return (*progress.failed, *graph.failed)

    def _plan(self, source: Source) -> SyncPlan:
        parts = self._parts
        known = _known(parts, source.name)
        return plan_changes(source, known, parts.settings, self._on_progress)

    def _take_facts(self, progress: _Progress) -> None:
        """Documents of which only metadata have changed."""
        parts = self._parts
        for change in progress.plan.changes:
            if change.content:
                continue
            before = find_document(parts.store, change.document.id)
            # What parsing found out stays where the source says nothing.
            read_before = {
                "title": change.document.title or before.title,
                "language": change.document.language or before.language,
                "loss": before.loss,
                "parser": before.parser,
            }
            document = change.document.model_copy(update=read_before)
            document = cut_document(document, progress.begins)
            begin_writes(parts.store, [document.id], self._lease)
            blocking(parts.engine.revise(document))
            chunks = document_ids(parts.store)[document.id]
            save_facts(parts.store, document, change.kept(chunks), self._lease)

    def _take_content(
        self, progress: _Progress, source: Source, parsers: Sequence[DocumentParser]
    ) -> None:
        """Documents that are parsed and embedded again."""
        content = [change for change in progress.plan.changes if change.content]
        failed_before = len(progress.failed)
        for batch in self._batches(source, parsers, content, progress.failed):
            self._lease.check()
            self._commit(batch, progress.begins)
            self._drop(progress, [one for item in batch for one in item.gone])
            progress.done += [item.change for item in batch]
            _note_losses(progress, batch)
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
            # A message becomes several documents; others than this process give back one.
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
            stamp = item.change.kept(len(item.chunks))
            saved.append(SavedDocument(document, stamp, item.abbreviations))
        ids = [one.document.id for one in saved]
        begin_writes(parts.store, ids, self._lease)
        blocking(parts.engine.upsert(ids, rows))
        try:
            save_documents(parts.store, saved, self._lease)
        except Busy:
            _take_back(parts, ids)
            raise

    def _delete_gone(self, progress: _Progress) -> None:
        """What is elsewhere now stays for the answers that cite it; where too much is gone, only
        that goes."""
        plan = progress.plan
        elsewhere = {*plan.moved.values(), *plan.copies}
        gone = plan.copies if progress.note else [*plan.copies, *(one.id for one in plan.gone)]
        self._drop(progress, [one for one in gone if one in elsewhere], keep_cited=True)
        self._drop(progress, [one for one in gone if one not in elsewhere])

    def _drop(self, progress: _Progress, gone: Sequence[str], *, keep_cited: bool = False) -> None:
        if gone:
            self._lease.check()
            delete_documents(self._parts, gone, self._lease, keep_cited=keep_cited)
            progress.plan.incomplete.difference_update(gone)
            progress.deleted += len(gone)


def _too_many_gone(settings: Settings, plan: SyncPlan, known: int) -> str:
    """Why nothing is deleted; empty where it may be."""
    gone = {entry.uri for entry in plan.gone}
    # What is attached to a message goes with it.
    apart = [uri for uri in gone if gone.isdisjoint(map(str, PurePosixPath(uri).parents))]
    lost = len(apart) - len(plan.moved)
    if lost <= 0:
        return ""
    is_few = lost <= FEW or lost <= settings.sync.largest_loss * known
    if is_few and lost < known:  # all gone is an unmounted drive, however few they are
        return ""
    return (
        f"{lost} of {known} documents are gone from the source, so none was deleted. "
        "If that is meant, run the sync again with --allow-deletes."
    )


def _note_losses(progress: _Progress, batch: Sequence[ChunkedDocument]) -> None:
    incomplete = progress.plan.incomplete
    for item in batch:
        document, ref, loss = item.document, item.change.ref, item.document.loss
        incomplete.discard(document.id)
        if loss:
            incomplete.add(document.id)
            summary = describe_loss(loss)
            progress.lost.append(LossLine(uri=ref.uri, name=ref.name, summary=summary, loss=loss))


def _report(name: str, progress: _Progress) -> SyncReport:
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
