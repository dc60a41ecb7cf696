"""A backup made a workspace again: checked first, laid out, its store verified, its index made
anew."""

import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ombud.app.backups.writing import FORM, MANIFEST, STORE
from ombud.app.syncing import rebuild_workspace
from ombud.app.workspace import DATA, Workspace
from ombud.errors import BadRequest
from ombud.store import KNOWN, copy_store, count_rows, open_store, verify_chain

OnProgress = Callable[[str, int, int], None]
LARGEST = 64 * 2**20
"""Bytes of a manifest."""


class RestoredWorkspace(NamedTuple):
    home: Path
    files: int
    rows: int
    documents: int
    chunks: int


def restore_backup(
    file: Path, home: Path, on_progress: OnProgress = lambda *_: None
) -> RestoredWorkspace:
    """The workspace in `home`, which must not exist or be empty, with its store in SQLite or, where
    its settings name a database, in that, which must be empty.

    Raises BadRequest for a file that is no whole backup, StoreError for a database that is not
    empty; then nothing is left behind."""
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise BadRequest(f"{home} is not empty.", hint="Name a folder that is, or is not there.")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".restore-") as folder:
        laid = Path(folder) / "home"
        laid.mkdir()
        manifest = _laid_out(file, laid, on_progress)
        _check_store(laid, manifest)
        with closing(Workspace(laid)) as workspace:
            if workspace.settings.store.url:
                _moved(workspace)
            rebuilt = rebuild_workspace(workspace, on_progress)
        home.mkdir(exist_ok=True)
        for path in laid.iterdir():
            shutil.move(path, home / path.name)
    return RestoredWorkspace(
        home=home,
        files=len(manifest["files"]),
        rows=sum(manifest["rows"].values()),
        documents=rebuilt.documents,
        chunks=rebuilt.chunks,
    )


def _laid_out(file: Path, folder: Path, on_progress: OnProgress) -> Mapping[str, Any]:
    """What the manifest says, every file of it checked against its digest."""
    try:
        with tarfile.open(file) as archive:
            manifest = _manifest(file, archive)
            entries = [entry for entry in archive if entry.name != MANIFEST]
            for done, entry in enumerate(entries, start=1):
                data = _content(file, archive, entry, manifest["files"].get(entry.name))
                target = _inside(file, folder, entry.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                on_progress("read", done, len(entries))
    except (OSError, tarfile.TarError, EOFError) as failed:
        raise _broken(file, str(getattr(failed, "strerror", None) or failed)) from failed
    for name in manifest["files"]:
        if not (folder / name).is_file():
            raise _broken(file, f"`{name}` is missing")
    return manifest


def _content(
    file: Path, archive: tarfile.TarFile, entry: tarfile.TarInfo, wanted: str | None
) -> bytes:
    """wanted: its digest; None for one that the manifest does not name."""
    content = archive.extractfile(entry) if entry.isfile() else None
    if wanted is None or content is None:
        raise _broken(file, f"`{entry.name}` does not belong in it")
    data = content.read()
    if sha256(data).hexdigest() != wanted:
        raise _broken(file, f"`{entry.name}` is not as it was written")
    return data


def _manifest(file: Path, archive: tarfile.TarFile) -> Mapping[str, Any]:
    try:
        entry = archive.getmember(MANIFEST)
        content = archive.extractfile(entry)
        if content is None or entry.size > LARGEST:
            raise _broken(file, "its manifest is none")
        manifest = json.loads(content.read())
        known = manifest["form"] == FORM and manifest["store"] in KNOWN
        if not known or not isinstance(manifest["files"], dict):
            age = "an older" if str(manifest["store"]) < min(KNOWN) else "a newer"
            raise BadRequest(
                f"{file} was made by {age} version ({manifest.get('version')}).",
                hint="Restore it with that one.",
            )
        return dict(manifest)
    except (KeyError, TypeError, ValueError) as wrong:
        raise _broken(file, "it has no manifest") from wrong


def _inside(file: Path, folder: Path, name: str) -> Path:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise _broken(file, f"`{name}` leads out of the workspace")
    return folder.joinpath(*path.parts)


def _check_store(home: Path, manifest: Mapping[str, Any]) -> None:
    with closing(open_store("", (home / STORE).parent)) as store:
        counted = count_rows(store)
        lacking = [name for name, rows in manifest["rows"].items() if counted.get(name) != rows]
        if lacking:
            raise BadRequest(f"The backup's store lacks rows of `{lacking[0]}`.")
        broken = verify_chain(store).broken
    if broken:
        raise BadRequest(
            f"The audit's chain of the backup is broken: {broken}.",
            hint="Restore an older backup, and find out who changed this one.",
        )


def _moved(workspace: Workspace) -> None:
    """From the file into the database that the settings name."""
    folder = workspace.home / DATA
    with closing(open_store("", folder)) as written:
        copy_store(written, workspace.store)
    for path in folder.glob("store.sqlite*"):
        path.unlink()


def _broken(file: Path, why: str) -> BadRequest:
    return BadRequest(f"{file} is no whole backup: {why}.", hint="Take another one.")
