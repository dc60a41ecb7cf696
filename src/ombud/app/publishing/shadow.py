"""The index as it would be with some drafts in force, beside the one that serves, which it leaves
as it is.

Passages with their vectors are copied, so only drafts are read and embedded. It stands in
`.ombud/lab/checks/`, in a folder of its own for each check, and goes when the check ends; what a
killed one left is removed by the next."""

import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ombud.app.publishing.drafts import PolicyDraft, PolicyDraftSource
from ombud.app.workspace import Workspace
from ombud.errors import Busy, SourceError
from ombud.index import Engine, blocking
from ombud.ingest import add_documents
from ombud.store import copy_library, take_lease

OnProgress = Callable[[str, int, int], None]
COPIED = 200
"""Documents at once."""
TRIES = 3
"""Times the index is copied anew when a sync has changed it meanwhile."""


@contextmanager
def overlay(
    workspace: Workspace, drafts: Sequence[PolicyDraft], on_progress: OnProgress
) -> Iterator[Workspace]:
    """The workspace with the drafts in force from their days on; gone at the end.

    Raises SourceError for a draft that cannot be indexed, Busy while a sync keeps changing the
    index."""
    checks = checks_folder(workspace.data)
    sweep(workspace)
    name = uuid.uuid4().hex[:12]
    lease = take_lease(workspace.store, _lease_name(name))  # before the folder: see `sweep`
    folder = checks / name
    try:
        shadow = _filled(workspace, folder, on_progress)
        try:
            _add(shadow, drafts, on_progress)
            yield shadow
        finally:
            _close(shadow)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lease.release(forget=True)


def sweep(workspace: Workspace) -> None:
    """Remove what checks have left that are no more."""
    checks = checks_folder(workspace.data)
    if not checks.is_dir():
        return
    for folder in sorted(checks.iterdir()):
        try:
            lease = take_lease(workspace.store, _lease_name(folder.name))
        except Busy:  # it is at work
            continue
        shutil.rmtree(folder, ignore_errors=True)
        lease.release(forget=True)


def checks_folder(data: Path) -> Path:
    return data / "lab" / "checks"


def _lease_name(name: str) -> str:
    return f"check {name}"


def _filled(workspace: Workspace, folder: Path, on_progress: OnProgress) -> Workspace:
    """A copy of what is indexed, all of one moment."""
    for _ in range(TRIES):
        version = workspace.engine.version()
        shadow = _beside(workspace, folder)
        copy_library(workspace.store, shadow.store)
        _copy_rows(workspace.engine, shadow.engine, on_progress)
        if workspace.engine.version() == version:
            return shadow
        _close(shadow)
        shutil.rmtree(folder, ignore_errors=True)
    raise Busy(
        "The index changes faster than it can be copied.", hint="Try again when the sync is over."
    )


def _beside(workspace: Workspace, folder: Path) -> Workspace:
    """The same settings over other data. What models cost counts for the workspace itself."""
    index = workspace.settings.index.beside()
    flags = {**workspace.flags, "store": {"url": ""}, "index": index}
    shadow = Workspace(workspace.home, flags, data=folder)
    shadow.embedder = workspace.embedder
    shadow.models = workspace.models
    return shadow


def _close(shadow: Workspace) -> None:
    """Its models are the workspace's, and stay open."""
    del shadow.models
    shadow.close()


def _copy_rows(engine: Engine, other: Engine, on_progress: OnProgress) -> None:
    ids = sorted(blocking(engine.documents()))
    for start in range(0, len(ids), COPIED):
        batch = ids[start : start + COPIED]
        blocking(other.upsert(batch, blocking(engine.rows(batch))))
        on_progress("copy", min(start + COPIED, len(ids)), len(ids))


def _add(shadow: Workspace, drafts: Sequence[PolicyDraft], on_progress: OnProgress) -> None:
    wanted = {draft.uri: draft.path.name for draft in drafts}
    for source in dict.fromkeys(draft.source for draft in drafts):
        failures = add_documents(shadow.ingest, PolicyDraftSource(source, drafts), on_progress)
        for failure in failures:
            if failure.uri in wanted:
                raise SourceError(
                    f"{wanted[failure.uri]} cannot be indexed: {failure.reason}",
                    hint="Mend the draft and check it again.",
                )
