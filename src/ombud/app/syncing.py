"""Syncs and rebuilds with progress that other processes can see."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ombud.app.purging import note_purge, purge_when_due
from ombud.app.sources import configured_sources
from ombud.app.workspace import Workspace
from ombud.errors import Busy, OmbudError, StoreError
from ombud.index import blocking
from ombud.ingest import (
    REREAD,
    Generation,
    Rebuilt,
    SyncReport,
    delete_documents,
    rebuild_index,
    run_work,
    sync_sources,
)
from ombud.messages import message
from ombud.settings import Folder
from ombud.sources import Source
from ombud.store import (
    Lease,
    Store,
    acquire_lease,
    document_entries,
    document_ids,
    document_sources,
    list_sources,
    read_progress,
    remove_source,
    save_progress,
)

OnProgress = Callable[[str, int, int], None]
JOB = "sync"
PAUSE = 0.5
"""Minimum seconds between two writes of progress."""
COUNTED = ("added", "updated", "moved", "deleted", "unchanged")
"""Counts of a report that the final progress includes."""
STALE = 60.0
"""Seconds without progress after which a running job counts as killed."""


def run_sync(
    workspace: Workspace,
    sources: Sequence[Source],
    *,
    allow_deletes: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> list[SyncReport]:
    """Sync with progress: `sync_progress` reports it, in other processes too."""
    with suppress(Busy):
        purge_when_due(workspace)
    with note_progress(workspace.store, "sync", on_progress) as note:
        reports = sync_sources(
            workspace.ingest, sources, allow_deletes=allow_deletes, on_progress=note.update
        )
        reports = [
            replace_former(workspace, report) if report.added else report for report in reports
        ]
        for report in reports:
            note.count(report)
            note.failed += [failure.model_dump() for failure in report.failed]
            note.left_out += [one.model_dump() for one in report.left_out]
            if report.reread:
                note.notes.append(f"{report.name}: {report.reread} {REREAD}.")
            if report.note:
                note.notes.append(f"{report.name}: {report.note}")
            if report.updated or report.moved or report.deleted:
                note_purge(workspace.store)
    return reports


def remove_documents_of(workspace: Workspace, source: str) -> int:
    """Remove a recorded source and its documents, and return their number. Texts that answers cite
    stay for these, and so do its files. Raises Busy while a sync runs."""
    with note_progress(workspace.store, "removal", lambda *_: None) as note:
        gone = remove_documents(workspace, source)
        note.counts = dict.fromkeys(COUNTED, 0) | {"deleted": gone}
        note.notes.append(message("admin.source_removed", name=source))
    return gone


def remove_documents(workspace: Workspace, source: str) -> int:
    with acquire_lease(workspace.store, "sync") as lease:
        ids = list(document_entries(workspace.store, source))
        remove_source(workspace.store, source)
        if ids:
            delete_documents(workspace.ingest, ids, lease, keep_cited=True)
            note_purge(workspace.store)
    return len(ids)


def former_sources(workspace: Workspace) -> dict[str, int]:
    """Return sources that were removed or whose folder is gone -> number of their documents, which
    still answer."""
    counts = document_sources(workspace.store)
    folders = {place.name: place.path for place in list_sources(workspace.store)}
    for place in workspace.settings.source:
        folders[place.name] = str(place.path) if isinstance(place, Folder) else ""
    for name, path in folders.items():
        is_gone = path and not (workspace.home / Path(path).expanduser()).is_dir()
        if not is_gone:
            counts.pop(name, None)
    return counts


def replace_former(workspace: Workspace, report: SyncReport) -> SyncReport:
    """Remove the sources that a renamed or moved folder was before, if no more of their documents
    are missing than a sync allows."""
    replaced: list[str] = []
    new = document_entries(workspace.store, report.name).values()
    former = {entry.digest for entry in new} | {path_in_source(entry.uri) for entry in new}
    for name in former_sources(workspace):
        before = document_entries(workspace.store, name).values()
        missing = [one for one in before if not former & {one.digest, path_in_source(one.uri)}]
        is_same = len(missing) < len(before)
        is_same &= len(missing) <= workspace.settings.sync.largest_loss * len(before)
        if is_same and name != report.name:
            remove_documents(workspace, name)
            replaced.append(name)
    return report.model_copy(update={"replaced": tuple(replaced)})


def path_in_source(uri: str) -> str:
    """Return the path of a document within its source."""
    return uri.partition("/")[2]


def run_work_process(workspace: Workspace, stop: threading.Event | None = None) -> None:
    """Parse and embed documents of other processes' syncs until `stop` is set. Opens no index."""
    run_work(workspace.ingest_into(None), stop or threading.Event())


def rebuild_workspace(workspace: Workspace, on_progress: OnProgress = lambda *_: None) -> Rebuilt:
    """Rebuild the index from the stored texts with the present embedder and chunker, and make it
    live. Running servers switch to it, but need a restart if the embedder has changed."""
    with note_progress(workspace.store, "rebuild", on_progress) as note:
        parts = workspace.ingest_into(None)
        return rebuild_index(parts, partial(begin_generation, workspace), note.update)


def begin_generation(workspace: Workspace, lease: Lease) -> Generation:
    """Make an empty index beside the live one."""
    pointer, embedder = workspace.pointer, workspace.embedder
    name = pointer.begin(lease)
    engine = pointer.backend.open(
        name,
        fingerprint=embedder.fingerprint if embedder else "",
        dimension=embedder.dimension if embedder else 0,
    )
    return Generation(engine, lambda: pointer.switch(name, lease))


def optimize_index(workspace: Workspace) -> None:
    """Compact the index. Raises Busy while a sync runs, which does it itself at its end."""
    with acquire_lease(workspace.store, "sync"):
        blocking(workspace.engine.maintain())


def index_stats(workspace: Workspace) -> dict[str, Any]:
    pointer, engine = workspace.pointer, workspace.engine
    return {
        "passages": blocking(engine.stats()).chunks,
        "documents": len(document_ids(workspace.store)),
        "embedder": engine.fingerprint or "none",
        "languages": sorted(engine.languages()),
        "version": engine.version(),
        "generation": pointer.look(),
        "megabytes": round(pointer.backend.size() / 2**20, 1),
    }


def sync_progress(store: Store) -> dict[str, Any]:
    """Return state (idle, running, done, failed, killed), step, done, total, per_second,
    seconds_left, started, failed."""
    progress = read_progress(store, JOB) or {"state": "idle"}
    if progress["state"] == "running" and time.time() - progress["at"] > STALE:
        progress["state"] = "killed"
    return progress


def announce_sync(store: Store) -> None:
    """Report a sync as running before its thread starts, so that pages show it at once."""
    ProgressNote(store, "sync", lambda *_: None).save("running", step="begins")


def folders_of(workspace: Workspace) -> list[Path]:
    """Return the folders of all sources, to watch them."""
    paths = [Path(source.path) for source in list_sources(workspace.store)]
    for place in workspace.settings.source:
        if isinstance(place, Folder):
            paths.append(place.path)
    return sorted({(workspace.home / path.expanduser()).resolve() for path in paths})


def sync_all(workspace: Workspace) -> list[SyncReport]:
    """Sync every source of the workspace."""
    return run_sync(
        workspace, configured_sources(workspace.settings, workspace.home, workspace.store)
    )


def watch(workspace: Workspace, stop: threading.Event) -> Iterator[None]:
    """Yield at the start and after each burst of changes in a folder, until `stop` is set."""
    from watchfiles import watch as changes

    yield
    for _ in changes(*folders_of(workspace), stop_event=stop, step=100, debounce=1000):
        yield


class ProgressNote:
    def __init__(self, store: Store, kind: str, on_progress: OnProgress) -> None:
        self._store, self._on_progress = store, on_progress
        self._kind, self.started = kind, time.time()
        self._step, self._since, self._saved = "", time.time(), 0.0
        self.failed: list[dict[str, str]] = []
        self.left_out: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.counts: dict[str, int] = {}

    def count(self, report: SyncReport) -> None:
        """Add the counts of one source's report."""
        for name in COUNTED:
            self.counts[name] = self.counts.get(name, 0) + getattr(report, name)

    def update(self, step: str, done: int, total: int) -> None:
        self._on_progress(step, done, total)
        now = time.time()
        if step != self._step:
            self._step, self._since = step, now
        elif now - self._saved < PAUSE and done < total:
            return
        rate = done / (now - self._since) if now > self._since else 0.0
        left = (total - done) / rate if rate else None
        self.save(
            "running",
            step=step,
            done=done,
            total=total,
            per_second=round(rate, 2),
            seconds_left=left,
        )

    def save(self, state: str, **more: Any) -> None:
        self._saved = time.time()
        started = datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds")
        fixed = {
            "kind": self._kind,
            "state": state,
            "started": started,
            "at": self._saved,
        }
        outcome = {
            "failed": self.failed,
            "left_out": self.left_out,
            "notes": self.notes,
            "counts": self.counts,
        }
        save_progress(self._store, JOB, fixed | outcome | more)


@contextmanager
def note_progress(store: Store, kind: str, on_progress: OnProgress) -> Iterator[ProgressNote]:
    """Report progress of a job. Busy is no failure of the running job, whose progress stays."""
    note = ProgressNote(store, kind, on_progress)
    try:
        yield note
    except OmbudError as failed:
        if not isinstance(failed, Busy | StoreError):
            note.notes.append(f"{failed} {failed.hint}".strip())
            note.save("failed")
        raise
    note.save("done", seconds=round(time.time() - note.started, 1))
