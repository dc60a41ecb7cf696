"""The index as it would be with some drafts in force, beside the live one, which stays as it is.

Passages are copied with their vectors, so only drafts are parsed and embedded. It is in
`.ombud/lab/checks/`, in a folder for each check, and is removed when the check ends; the next check
removes what a killed one left.
"""

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
"""Documents copied at once."""
TRIES = 3
"""Number of attempts to copy the index while syncs change it."""


@contextmanager
def overlay(
    workspace: Workspace, drafts: Sequence[PolicyDraft], on_progress: OnProgress
) -> Iterator[Workspace]:
    """Open the workspace with the drafts in force from their first days on; it is removed at the
    end. Raises SourceError for a draft that cannot be indexed, Busy while a sync keeps changing the
    index."""
    checks = checks_folder(workspace.data)
    sweep(workspace)
    name = uuid.uuid4().hex[:12]
    lease = take_lease(workspace.store, lease_name(name))  # before the folder: see `sweep`
    folder = checks / name
    try:
        shadow = copy_index(workspace, folder, on_progress)
        try:
            add_drafts(shadow, drafts, on_progress)
            yield shadow
        finally:
            close_shadow(shadow)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lease.release(forget=True)


def sweep(workspace: Workspace) -> None:
    """Remove the leftovers of killed checks."""
    checks = checks_folder(workspace.data)
    if not checks.is_dir():
        return
    for folder in sorted(checks.iterdir()):
        try:
            lease = take_lease(workspace.store, lease_name(folder.name))
        except Busy:  # its check is still running
            continue
        shutil.rmtree(folder, ignore_errors=True)
        lease.release(forget=True)


def checks_folder(data: Path) -> Path:
    return data / "lab" / "checks"


def lease_name(name: str) -> str:
    return f"check {name}"


def copy_index(workspace: Workspace, folder: Path, on_progress: OnProgress) -> Workspace:
    """Copy the index from one snapshot."""
    for _ in range(TRIES):
        version = workspace.engine.version()
        shadow = open_beside(workspace, folder)
        copy_library(workspace.store, shadow.store)
        copy_rows(workspace.engine, shadow.engine, on_progress)
        if workspace.engine.version() == version:
            return shadow
        close_shadow(shadow)
        shutil.rmtree(folder, ignore_errors=True)
    raise Busy(
        "The index changes faster than it can be copied.", hint="Try again when the sync is over."
    )


def open_beside(workspace: Workspace, folder: Path) -> Workspace:
    """Open a workspace with the same settings over other data. Its models' costs count for the
    workspace itself."""
    index = workspace.settings.index.beside()
    flags = {**workspace.flags, "store": {"url": ""}, "index": index}
    shadow = Workspace(workspace.home, flags, data=folder)
    shadow.embedder = workspace.embedder
    shadow.models = workspace.models
    return shadow


def close_shadow(shadow: Workspace) -> None:
    """Close the shadow, but not its models, which belong to the workspace."""
    del shadow.models
    shadow.close()


def copy_rows(engine: Engine, other: Engine, on_progress: OnProgress) -> None:
    ids = sorted(blocking(engine.documents()))
    for start in range(0, len(ids), COPIED):
        batch = ids[start : start + COPIED]
        blocking(other.upsert(batch, blocking(engine.rows(batch))))
        on_progress("copy", min(start + COPIED, len(ids)), len(ids))


def add_drafts(shadow: Workspace, drafts: Sequence[PolicyDraft], on_progress: OnProgress) -> None:
    wanted = {draft.uri: draft.path.name for draft in drafts}
    for source in dict.fromkeys(draft.source for draft in drafts):
        failures = add_documents(shadow.ingest, PolicyDraftSource(source, drafts), on_progress)
        for failure in failures:
            if failure.uri in wanted:
                raise SourceError(
                    f"{wanted[failure.uri]} cannot be indexed: {failure.reason}",
                    hint="Correct the draft and check it again.",
                )
