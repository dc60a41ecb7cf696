"""Restores a backup: it is checked, extracted, its store verified, its index rebuilt."""

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
from ombud.store import UPGRADABLE, copy_store, count_rows, open_store, verify_chain

OnProgress = Callable[[str, int, int], None]
LARGEST = 64 * 2**20
"""Bytes of a manifest."""


class RestoredWorkspace(NamedTuple):
    """The result of a restore."""

    home: Path
    files: int
    rows: int
    documents: int
    chunks: int


def restore_backup(
    file: Path, home: Path, on_progress: OnProgress = lambda *_: None
) -> RestoredWorkspace:
    """Restore the workspace into `home`, which must be empty or missing, with its store in SQLite
    or in the database of its settings, which must be empty.

    Raises BadRequest for an incomplete backup, StoreError for a database that is not empty; then
    nothing is left behind.
    """
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise BadRequest(f"{home} is not empty.", hint="Name an empty or a new folder.")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".restore-") as folder:
        laid = Path(folder) / "home"
        laid.mkdir()
        manifest = extract(file, laid, on_progress)
        check_store(laid, manifest)
        with closing(Workspace(laid)) as workspace:
            if workspace.settings.store.url:
                move_store(workspace)
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


def extract(file: Path, folder: Path, on_progress: OnProgress) -> Mapping[str, Any]:
    """Extract every file, check it against its digest, and return the manifest."""
    try:
        with tarfile.open(file) as archive:
            manifest = read_manifest(file, archive)
            entries = [entry for entry in archive if entry.name != MANIFEST]
            for done, entry in enumerate(entries, start=1):
                data = checked_content(file, archive, entry, manifest["files"].get(entry.name))
                target = path_inside(file, folder, entry.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                on_progress("read", done, len(entries))
    except (OSError, tarfile.TarError, EOFError) as failed:
        raise broken_backup(file, str(getattr(failed, "strerror", None) or failed)) from failed
    for name in manifest["files"]:
        if not (folder / name).is_file():
            raise broken_backup(file, f"`{name}` is missing")
    return manifest


def checked_content(
    file: Path, archive: tarfile.TarFile, entry: tarfile.TarInfo, wanted: str | None
) -> bytes:
    """Read a file and check it. wanted: its digest; None if the manifest does not name it."""
    content = archive.extractfile(entry) if entry.isfile() else None
    if wanted is None or content is None:
        raise broken_backup(file, f"`{entry.name}` does not belong in it")
    data = content.read()
    if sha256(data).hexdigest() != wanted:
        raise broken_backup(file, f"`{entry.name}` is not as it was written")
    return data


def read_manifest(file: Path, archive: tarfile.TarFile) -> Mapping[str, Any]:
    try:
        entry = archive.getmember(MANIFEST)
        content = archive.extractfile(entry)
        if content is None or entry.size > LARGEST:
            raise broken_backup(file, "its manifest is invalid")
        manifest = json.loads(content.read())
        is_supported = manifest["form"] == FORM and manifest["store"] in UPGRADABLE
        if not is_supported or not isinstance(manifest["files"], dict):
            age = "an older" if str(manifest["store"]) < min(UPGRADABLE) else "a newer"
            raise BadRequest(
                f"{file} was made by {age} version ({manifest.get('version')}).",
                hint="Restore it with that one.",
            )
        return dict(manifest)
    except (KeyError, TypeError, ValueError) as wrong:
        raise broken_backup(file, "it has no manifest") from wrong


def path_inside(file: Path, folder: Path, name: str) -> Path:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise broken_backup(file, f"`{name}` points outside the workspace")
    return folder.joinpath(*path.parts)


def check_store(home: Path, manifest: Mapping[str, Any]) -> None:
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


def move_store(workspace: Workspace) -> None:
    """Move the store from the file into the database of the settings."""
    folder = workspace.home / DATA
    with closing(open_store("", folder)) as written:
        copy_store(written, workspace.store)
    for path in folder.glob("store.sqlite*"):
        path.unlink()


def broken_backup(file: Path, why: str) -> BadRequest:
    return BadRequest(f"{file} is no whole backup: {why}.", hint="Take another one.")
