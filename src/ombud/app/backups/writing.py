"""Writes a workspace into one file: settings, files beside it, and the whole store.

The index is left out, because it can be rebuilt from the stored texts. The server may keep running:
the store is copied from one snapshot.
"""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ombud.app.workspace import DATA, Workspace
from ombud.errors import BadRequest
from ombud.store import HEAD, copy_store, open_store

OnProgress = Callable[[str, int, int], None]
MANIFEST = "backup.json"
STORE = f"{DATA}/store.sqlite"
LEFT_OUT = frozenset({"index", "cache", "models", "variants", "lab", "store.sqlite"})
"""Names in the data folder that can be rebuilt or are copied in another way."""
FORM = 1
"""Format version of the manifest."""


class BackupSummary(NamedTuple):
    """The result of a backup."""

    path: Path
    files: int
    rows: int
    size: int
    """Bytes."""


def write_backup(
    workspace: Workspace, to: Path, on_progress: OnProgress = lambda *_: None
) -> BackupSummary:
    """Write a backup beside its final path, verify it by reading it back, and move it there,
    readable by its owner only. Raises BadRequest if it cannot be written, StoreError if the store
    cannot be read."""
    if to.resolve().is_relative_to((workspace.home / DATA).resolve()):
        raise BadRequest(
            "A backup inside of what it keeps would go with it.", hint="Choose another path."
        )
    part = to.with_name(f".{to.name}.part")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to.parent) as folder:
            copy = copy_of_store(workspace, Path(folder))
            digests = write_archive(workspace, part, copy, to, on_progress)
        verify_archive(part, digests, on_progress)
        part.replace(to)
    except (OSError, tarfile.TarError) as failed:
        raise BadRequest(
            f"The backup cannot be written to {to}: {getattr(failed, 'strerror', failed)}.",
            hint="Is there room, and may you write there? Nothing was changed.",
        ) from failed
    finally:
        part.unlink(missing_ok=True)
    return BackupSummary(to, len(digests), sum(copy.rows.values()), to.stat().st_size)


class StoreCopy(NamedTuple):
    """A copy of the store as a SQLite file."""

    path: Path
    rows: dict[str, int]
    """Table -> number of rows."""


def copy_of_store(workspace: Workspace, folder: Path) -> StoreCopy:
    """Copy the store into SQLite, whatever it uses."""
    with closing(open_store("", folder)) as other:
        rows = copy_store(workspace.store, other)
        other.settle()
    return StoreCopy(folder / "store.sqlite", rows)


def write_archive(
    workspace: Workspace, part: Path, copy: StoreCopy, to: Path, on_progress: OnProgress
) -> dict[str, str]:
    """Write the archive, and return name in the archive -> digest."""
    named = {STORE: copy.path}
    unreadable = {to, part, *copy.path.parent.iterdir()}
    for path in workspace_files(workspace.home):
        if path in unreadable:
            continue
        named[path.relative_to(workspace.home).as_posix()] = path
    digests: dict[str, str] = {}
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for done, (name, path) in enumerate(sorted(named.items()), start=1):
            content = path.read_bytes()
            digests[name] = sha256(content).hexdigest()
            add_file(archive, name, content)
            on_progress("write", done, len(named))
        manifest = {
            "form": FORM,
            "version": version("ombud"),
            "store": HEAD,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "rows": copy.rows,
            "files": digests,
        }
        add_file(archive, MANIFEST, json.dumps(manifest, indent=1).encode())
    return digests


def workspace_files(home: Path) -> Iterator[Path]:
    """Yield the files of the workspace without links, which may lead elsewhere."""
    data = home / DATA
    for path in sorted(home.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.is_relative_to(data):
            top = path.relative_to(data).parts[0]
            if top.partition("-")[0] in LEFT_OUT:
                continue
        yield path


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    entry.mode = 0o600
    archive.addfile(entry, io.BytesIO(content))


def verify_archive(part: Path, digests: dict[str, str], on_progress: OnProgress) -> None:
    """Verify the archive by reading it back from disk."""
    seen: dict[str, str] = {}
    with tarfile.open(part) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            if content is not None and entry.name != MANIFEST:
                seen[entry.name] = sha256(content.read()).hexdigest()
                on_progress("check", len(seen), len(digests))
    if seen != digests:
        raise OSError(f"what was written to {part} is not what is read from it")
