"""Sources and what is done with them from a page: syncs beside the requests, files that are handed
in."""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ombud.app.admin.settings_file import remove_source_entry
from ombud.app.identity.people import mark
from ombud.app.sources import configured_sources, record_folder
from ombud.app.syncing import announce_sync, remove_documents_of, run_sync, sync_progress
from ombud.app.workspace import Workspace
from ombud.documents import is_passing, kinds
from ombud.errors import BadRequest, Busy, OmbudError
from ombud.private_files import make_private_folder
from ombud.settings import Folder
from ombud.store import (
    RecordedSource,
    document_entries,
    document_sources,
    list_sources,
    note_in_chain,
)
from ombud.text import read_country

logger = logging.getLogger(__name__)
UPLOADS = "uploads"
"""Folder of the workspace, and source, of files that are handed in."""
_NAME = re.compile(r"[^\w .()\[\]+,&-]", re.UNICODE)
FORMER = "no source any more"
"""Kind of one that was taken out of ombud.toml and left documents behind."""
LONGEST_NAME = 150


class SourceLine(NamedTuple):
    """A source as a page lists it."""

    name: str
    kind: str
    place: str
    country: str
    documents: int
    passages: int
    is_recorded: bool
    """Not set up in ombud.toml, and so to be removed here."""


def note_action(workspace: Workspace, action: str, by: str, **facts: object) -> None:
    """by: id of an account. facts: never words, never who."""
    note_in_chain(workspace.store, "admin", {"action": action, "by": mark(by), **facts})


def list_lines(workspace: Workspace) -> list[SourceLine]:
    """Sources of ombud.toml, recorded ones, and former ones whose documents still answer."""
    found: dict[str, SourceLine] = {}
    for place in workspace.settings.source:
        fields = place.model_dump(mode="json")
        where = fields.get("path") or fields.get("url") or ""
        country = place.country if isinstance(place.country, str) else ", ".join(place.country)
        about = RecordedSource(name=place.name, path=str(where), country=country)
        found[place.name] = _line(workspace, about, str(fields["type"]), is_recorded=False)
    for recorded in list_sources(workspace.store):
        if recorded.name not in found:
            found[recorded.name] = _line(workspace, recorded, "folder", is_recorded=True)
    for name in document_sources(workspace.store):
        if name not in found:
            about = RecordedSource(name=name, path="")
            found[name] = _line(workspace, about, FORMER, is_recorded=True)
    return list(found.values())


def _line(
    workspace: Workspace, about: RecordedSource, kind: str, *, is_recorded: bool
) -> SourceLine:
    name, place, country = about
    entries = document_entries(workspace.store, name)
    passages = sum(entry.chunks for entry in entries.values())
    return SourceLine(
        name=name,
        kind=kind,
        place=place,
        country=country,
        documents=len(entries),
        passages=passages,
        is_recorded=is_recorded,
    )


def start_sync(workspace: Workspace, names: Sequence[str], by: str) -> None:
    """In a thread; `sync_progress` tells how it goes. Raises Busy while one runs, BadRequest for an
    unknown name."""
    if sync_progress(workspace.store)["state"] == "running":
        raise Busy("A sync runs already.", hint="Its progress stands on this page.")
    sources = configured_sources(workspace.settings, workspace.home, workspace.store, names)
    if not sources:
        raise BadRequest("There is no source yet.", hint="Add a folder, or hand in files.")
    note_action(workspace, "sync", by, sources=len(sources))
    announce_sync(workspace.store)
    run_beside(lambda: run_sync(workspace, sources))


def run_beside(work: Callable[[], Any]) -> None:
    """What goes wrong stands in the progress of the job, or in the log."""

    def run() -> None:
        try:
            work()
        except OmbudError as failed:
            logger.warning("Work from a page failed: %s %s", failed, failed.hint)
        except Exception as failed:  # noqa: BLE001 - a thread has nobody else to tell
            logger.error("Work from a page failed: %s", type(failed).__name__)

    threading.Thread(target=run, daemon=True).start()


def add_folder(workspace: Workspace, path: str, country: str, name: str, by: str) -> None:
    """A folder of the server as a source, which is read at once, or after the reading that runs.
    Raises BadRequest, and changes nothing, where one has that name already."""
    if not path.strip():
        raise BadRequest("No folder is named.", hint="Give its path on the server.")
    code = read_country(country)
    called = name.strip() or Path(path.strip()).expanduser().resolve().name
    if called in {line.name for line in list_lines(workspace)}:
        raise BadRequest(
            f"Another source is called `{called[:LONGEST_NAME]}` already.",
            hint="Give this one another name, or remove that one first.",
        )
    folder = RecordedSource(name=called, path=path.strip(), country=code)
    record_folder(workspace.settings, workspace.store, folder, workspace.home)
    note_action(workspace, "source added", by)
    with suppress(Busy):
        start_sync(workspace, [called], by)


class RemovedSource(NamedTuple):
    documents: int
    was_configured: bool
    """Whether `ombud.toml` held it, which running servers have read."""


def remove_source(
    workspace: Workspace, name: str, by: str, *, in_settings: bool = False
) -> RemovedSource:
    """Remove a source with all that it brought; its files stay. Texts that answers cite stay for
    these.

    in_settings: take it out of `ombud.toml`, too, which only a restart makes known to a server.
    Raises BadRequest, Busy while a reading runs."""
    lines = {line.name: line for line in list_lines(workspace)}
    line = lines.get(name)
    if line is None:
        known = ", ".join(sorted(lines)) or "none"
        raise BadRequest(f"No source is called `{name[:LONGEST_NAME]}`.", hint=f"Known: {known}.")
    is_configured = name in {place.name for place in workspace.settings.source}
    if is_configured and not in_settings:
        hint = "It stands in `ombud.toml`: `ombud sources remove` takes it out."
        raise BadRequest(f"`{name[:LONGEST_NAME]}` cannot be removed here.", hint=hint)
    if is_configured:
        remove_source_entry(workspace, name)
    gone = remove_documents_of(workspace, name)
    note_action(workspace, "source removed", by, documents=gone)
    return RemovedSource(gone, is_configured)


def plain_file_name(name: str) -> str:
    """Without any folder, and without what is special to a file system. Raises BadRequest for a
    kind that cannot be read."""
    plain = _NAME.sub("_", PurePath(name.replace("\\", "/")).name).strip(" .")
    stem, suffix = PurePath(plain).stem, PurePath(plain).suffix
    if suffix.lower() not in kinds():
        known = ", ".join(sorted(kinds()))
        raise BadRequest(f"`{plain[:80]}` is of no kind that can be read.", hint=f"Known: {known}")
    return f"{stem[:LONGEST_NAME] or 'file'}{suffix.lower()}"


def keep_uploads(
    workspace: Workspace, files: Sequence[tuple[str, bytes]], country: str, by: str
) -> list[Path]:
    """Files (name, bytes) into the folder `uploads/COUNTRY` of the workspace, which is a source
    from then on; one of the same name is replaced. Raises BadRequest."""
    code = read_country(country)
    root = workspace.home / UPLOADS
    folder = root / (code.lower() or "global")
    kept = keep_named(workspace, folder, files)
    sidecar = folder / "ombud.yaml"
    if code and not sidecar.exists():
        _write(sidecar, f"defaults:\n  country: {code}\n".encode())
    if UPLOADS not in _known(workspace):
        recorded = RecordedSource(name=UPLOADS, path=str(root))
        record_folder(workspace.settings, workspace.store, recorded, workspace.home)
    note_action(workspace, "files added", by, files=len(kept))
    return kept


def keep_named(
    workspace: Workspace, folder: Path, files: Sequence[tuple[str, bytes]]
) -> list[Path]:
    """Under plain names; all are looked at before the first is written. Raises BadRequest."""
    largest = workspace.settings.documents.size_mb * 1_000_000
    named: list[tuple[str, bytes]] = []
    for name, data in files:
        if is_passing(name):
            continue
        if len(data) > largest:
            raise BadRequest(f"`{name[:80]}` is larger than documents.size_mb allows.")
        named.append((plain_file_name(name), data))
    if not named:
        raise BadRequest("No file was chosen.", hint="Choose one or more.")
    try:
        make_private_folder(folder)
        for name, data in named:
            _write(folder / name, data)
    except OSError as failed:
        raise BadRequest(
            f"The file cannot be kept: {failed.strerror}.", hint="Check the server's disk."
        ) from failed
    return [folder / name for name, _ in named]


def _known(workspace: Workspace) -> set[str]:
    names = {place.name for place in workspace.settings.source if isinstance(place, Folder)}
    return names | {source.name for source in list_sources(workspace.store)}


def _write(path: Path, data: bytes) -> None:
    """Whole, or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
