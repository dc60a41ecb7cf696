"""Syncs and rebuilds as the product runs them: with progress that also others can see."""

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
"""Least seconds between two notes of progress in the store."""
COUNTED = ("added", "updated", "moved", "deleted", "unchanged")
"""Of a report, what the progress tells when it is done."""
STALE = 60.0
"""Seconds without a note after which a job that says it is running is taken for killed."""


def run_sync(
    workspace: Workspace,
    sources: Sequence[Source],
    *,
    allow_deletes: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> list[SyncReport]:
    """`ingest.sync`, seen from outside: `sync_progress` tells how far it is, also in other
    processes."""
    with suppress(Busy):
        purge_when_due(workspace)
    with _noted(workspace.store, "sync", on_progress) as note:
        reports = sync_sources(
            workspace.ingest, sources, allow_deletes=allow_deletes, on_progress=note.update
        )
        reports = [
            _replace_former(workspace, report) if report.added else report for report in reports
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
    """Remove a recorded source and its documents, which answer no longer; texts that answers cite
    stay for these, and its files stay. Returns how many documents went. Raises Busy while a sync
    runs."""
    with _noted(workspace.store, "removal", lambda *_: None) as note:
        gone = _remove_documents_of(workspace, source)
        note.counts = dict.fromkeys(COUNTED, 0) | {"deleted": gone}
        note.notes.append(f"{source} is a source no longer.")
    return gone


def _remove_documents_of(workspace: Workspace, source: str) -> int:
    with acquire_lease(workspace.store, "sync") as lease:
        ids = list(document_entries(workspace.store, source))
        remove_source(workspace.store, source)
        if ids:
            delete_documents(workspace.ingest, ids, lease, keep_cited=True)
            note_purge(workspace.store)
    return len(ids)


def former_sources(workspace: Workspace) -> dict[str, int]:
    """Sources that are none any more, or whose folder is gone -> their documents, which still
    answer."""
    counts = document_sources(workspace.store)
    folders = {place.name: place.path for place in list_sources(workspace.store)}
    for place in workspace.settings.source:
        folders[place.name] = str(place.path) if isinstance(place, Folder) else ""
    for name, path in folders.items():
        is_gone = path and not (workspace.home / Path(path).expanduser()).is_dir()
        if not is_gone:
            counts.pop(name, None)
    return counts


def _replace_former(workspace: Workspace, report: SyncReport) -> SyncReport:
    """Remove the sources that the folder of a sync was before it was renamed or moved: of their
    documents no more are missing than a sync may miss."""
    replaced: list[str] = []
    new = document_entries(workspace.store, report.name).values()
    held = {entry.digest for entry in new} | {_inside(entry.uri) for entry in new}
    for name in former_sources(workspace):
        before = document_entries(workspace.store, name).values()
        missing = [one for one in before if not held & {one.digest, _inside(one.uri)}]
        is_same = len(missing) < len(before)
        is_same &= len(missing) <= workspace.settings.sync.largest_loss * len(before)
        if is_same and name != report.name:
            _remove_documents_of(workspace, name)
            replaced.append(name)
    return report.model_copy(update={"replaced": tuple(replaced)})


def _inside(uri: str) -> str:
    """Where a document stands in its source."""
    return uri.partition("/")[2]


def run_work_process(workspace: Workspace, stop: threading.Event | None = None) -> None:
    """Parse and embed what syncs hand out, until `stop` is set. Opens no index."""
    run_work(workspace.ingest_into(None), stop or threading.Event())


def rebuild_workspace(workspace: Workspace, on_progress: OnProgress = lambda *_: None) -> Rebuilt:
    """Make the index anew from the stored texts, with the embedder and chunker of today, and let it
    serve.

    Running servers go over to it by themselves, unless they have another embedder: those need a
    restart."""
    with _noted(workspace.store, "rebuild", on_progress) as note:
        parts = workspace.ingest_into(None)
        return rebuild_index(parts, partial(begin_generation, workspace), note.update)


def begin_generation(workspace: Workspace, lease: Lease) -> Generation:
    """An empty index beside the one that counts."""
    pointer, embedder = workspace.pointer, workspace.embedder
    name = pointer.begin(lease)
    engine = pointer.backend.open(
        name,
        fingerprint=embedder.fingerprint if embedder else "",
        dimension=embedder.dimension if embedder else 0,
    )
    return Generation(engine, lambda: pointer.switch(name, lease))


def optimize_index(workspace: Workspace) -> None:
    """Raises Busy while a sync runs: that ends with the same work."""
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
    """state idle | running | done | failed | killed, step, done, total, per_second, seconds_left,
    started, failed."""
    said = read_progress(store, JOB) or {"state": "idle"}
    if said["state"] == "running" and time.time() - said["at"] > STALE:
        said["state"] = "killed"
    return said


def announce_sync(store: Store) -> None:
    """Say that one begins, before a thread has come to it: whoever looks at once sees it run."""
    _Note(store, "sync", lambda *_: None).save("running", step="begins")


def folders_of(workspace: Workspace) -> list[Path]:
    """The folders that sources read, for watching them."""
    paths = [Path(source.path) for source in list_sources(workspace.store)]
    for place in workspace.settings.source:
        if isinstance(place, Folder):
            paths.append(place.path)
    return sorted({(workspace.home / path.expanduser()).resolve() for path in paths})


def sync_all(workspace: Workspace) -> list[SyncReport]:
    """Every source of the workspace."""
    return run_sync(
        workspace, configured_sources(workspace.settings, workspace.home, workspace.store)
    )


def watch(workspace: Workspace, stop: threading.Event) -> Iterator[None]:
    """Yields once at the start and after every change in a folder, quick ones together, until
    `stop` is set."""
    from watchfiles import watch as changes

    yield
    for _ in changes(*folders_of(workspace), stop_event=stop, step=100, debounce=1000):
        yield


class _Note:
    def __init__(self, store: Store, kind: str, on_progress: OnProgress) -> None:
        self._store, self._on_progress = store, on_progress
        self._kind, self.started = kind, time.time()
        self._step, self._since, self._saved = "", time.time(), 0.0
        self.failed: list[dict[str, str]] = []
        self.left_out: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.counts: dict[str, int] = {}

    def count(self, report: SyncReport) -> None:
        """What came of one source's documents, on top of those before."""
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
        found = {
            "failed": self.failed,
            "left_out": self.left_out,
            "notes": self.notes,
            "counts": self.counts,
        }
        save_progress(self._store, JOB, fixed | found | more)


@contextmanager
def _noted(store: Store, kind: str, on_progress: OnProgress) -> Iterator[_Note]:
    """Busy is no failure of the job that runs; it leaves that one's note alone."""
    note = _Note(store, kind, on_progress)
    try:
        yield note
    except OmbudError as failed:
        if not isinstance(failed, Busy | StoreError):
            note.notes.append(f"{failed} {failed.hint}".strip())
            note.save("failed")
        raise
    note.save("done", seconds=round(time.time() - note.started, 1))
