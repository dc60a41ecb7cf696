"""A workspace in one file: settings, documents beside it, and everything that the store keeps.

The index is not in it: it is made anew from the stored texts. The server need not stop: the store
is copied as it is in one moment."""

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
"""Of the data folder: what is made again, or copied in another way."""
FORM = 1
"""Of the manifest."""


class BackupSummary(NamedTuple):
    path: Path
    files: int
    rows: int
    size: int
    """Bytes."""


def write_backup(
    workspace: Workspace, to: Path, on_progress: OnProgress = lambda *_: None
) -> BackupSummary:
    """Written beside its place, read back and compared, and then put there, for its owner's eyes
    alone. Raises BadRequest where it cannot be written, StoreError where the store cannot be
    read."""
    if to.resolve().is_relative_to((workspace.home / DATA).resolve()):
        raise BadRequest(
            "A backup inside of what it keeps would go with it.", hint="Name a place elsewhere."
        )
    part = to.with_name(f".{to.name}.part")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to.parent) as folder:
            copy = _copied(workspace, Path(folder))
            digests = _write(workspace, part, copy, to, on_progress)
        _check(part, digests, on_progress)
        part.replace(to)
    except (OSError, tarfile.TarError) as failed:
        raise BadRequest(
            f"The backup cannot be written to {to}: {getattr(failed, 'strerror', failed)}.",
            hint="Is there room, and may you write there? Nothing was changed.",
        ) from failed
    finally:
        part.unlink(missing_ok=True)
    return BackupSummary(to, len(digests), sum(copy.rows.values()), to.stat().st_size)


class _StoreCopy(NamedTuple):
    path: Path
    rows: dict[str, int]
    """Table -> how many."""


def _copied(workspace: Workspace, folder: Path) -> _StoreCopy:
    """The store as SQLite, whatever it is."""
    with closing(open_store("", folder)) as other:
        rows = copy_store(workspace.store, other)
        other.settle()
    return _StoreCopy(folder / "store.sqlite", rows)


def _write(
    workspace: Workspace, part: Path, copy: _StoreCopy, to: Path, on_progress: OnProgress
) -> dict[str, str]:
    """Name in the archive -> digest."""
    named = {STORE: copy.path}
    not_kept = {to, part, *copy.path.parent.iterdir()}
    for path in _files(workspace.home):
        if path in not_kept:
            continue
        named[path.relative_to(workspace.home).as_posix()] = path
    digests: dict[str, str] = {}
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for done, (name, path) in enumerate(sorted(named.items()), start=1):
            content = path.read_bytes()
            digests[name] = sha256(content).hexdigest()
            _add(archive, name, content)
            on_progress("write", done, len(named))
        manifest = {
            "form": FORM,
            "version": version("ombud"),
            "store": HEAD,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "rows": copy.rows,
            "files": digests,
        }
        _add(archive, MANIFEST, json.dumps(manifest, indent=1).encode())
    return digests


def _files(home: Path) -> Iterator[Path]:
    """What lies in the workspace, without links: they lead elsewhere."""
    data = home / DATA
    for path in sorted(home.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.is_relative_to(data):
            top = path.relative_to(data).parts[0]
            if top.partition("-")[0] in LEFT_OUT:
                continue
        yield path


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    entry.mode = 0o600
    archive.addfile(entry, io.BytesIO(content))


def _check(part: Path, digests: dict[str, str], on_progress: OnProgress) -> None:
    """Read back from the disk, for a backup that cannot be read is none."""
    seen: dict[str, str] = {}
    with tarfile.open(part) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            if content is not None and entry.name != MANIFEST:
                seen[entry.name] = sha256(content.read()).hexdigest()
                on_progress("check", len(seen), len(digests))
    if seen != digests:
        raise OSError(f"what was written to {part} is not what is read from it")
