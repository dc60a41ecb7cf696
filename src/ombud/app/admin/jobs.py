"""Manages sources from a page: background syncs and uploaded files."""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ombud.app.admin.settings_file import remove_source_entry
from ombud.app.identity.people import mark
from ombud.app.sources import configured_sources, record_folder
from ombud.app.syncing import announce_sync, remove_documents_of, run_sync, sync_progress
from ombud.app.workspace import Workspace
from ombud.documents import is_passing, kinds
from ombud.errors import BadRequest, Busy, OmbudError
from ombud.messages import format_number, message
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
"""Name of the folder, and of the source, of uploaded files."""
_NAME = re.compile(r"[^\w .()\[\]+,&-]", re.UNICODE)
PLAIN_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,39}")
"""Name of a dataset or an experiment."""
FORMER = "former"
"""Kind of a source that was removed from ombud.toml but still has documents."""
LONGEST_NAME = 150


class SourceLine(NamedTuple):
    """A source in the list of a page."""

    name: str
    kind: str
    place: str
    country: str
    documents: int
    passages: int
    is_recorded: bool
    """True if it is not in ombud.toml and can be removed here."""


def note_action(workspace: Workspace, action: str, by: str, **facts: object) -> None:
    """Record an action in the audit chain. by: id of an account; facts: never texts or persons."""
    note_in_chain(workspace.store, "admin", {"action": action, "by": mark(by), **facts})


def list_lines(workspace: Workspace) -> list[SourceLine]:
    """Return the sources of ombud.toml, recorded sources, and former sources whose documents still
    answer."""
    lines: dict[str, SourceLine] = {}
    for place in workspace.settings.source:
        fields = place.model_dump(mode="json")
        where = fields.get("path") or fields.get("url") or ""
        country = place.country if isinstance(place.country, str) else ", ".join(place.country)
        about = RecordedSource(name=place.name, path=str(where), country=country)
        lines[place.name] = source_line(workspace, about, str(fields["type"]), is_recorded=False)
    for recorded in list_sources(workspace.store):
        if recorded.name not in lines:
            lines[recorded.name] = source_line(workspace, recorded, "folder", is_recorded=True)
    for name in document_sources(workspace.store):
        if name not in lines:
            about = RecordedSource(name=name, path="")
            lines[name] = source_line(workspace, about, FORMER, is_recorded=True)
    return list(lines.values())


def source_line(
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
    """Sync in a thread; `sync_progress` reports on it. Raises Busy while a sync runs, BadRequest
    for an unknown name."""
    if sync_progress(workspace.store)["state"] == "running":
        raise Busy(message("admin.error_sync_running"), hint=message("admin.error_see_progress"))
    sources = configured_sources(workspace.settings, workspace.home, workspace.store, names)
    if not sources:
        raise BadRequest(
            message("admin.error_no_source"), hint=message("admin.error_no_source_hint")
        )
    note_action(workspace, "sync", by, sources=len(sources))
    announce_sync(workspace.store)
    run_beside(lambda: run_sync(workspace, sources))


def run_beside(work: Callable[[], Any]) -> None:
    """Run work in a thread, in the language of the page; errors go into the job's progress or the
    log."""

    def run() -> None:
        try:
            work()
        except OmbudError as failed:
            logger.warning("Work from a page failed: %s %s", failed, failed.hint)
        except Exception as failed:  # noqa: BLE001 - nobody waits for the thread
            logger.error("Work from a page failed: %s", type(failed).__name__)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()


def add_folder(workspace: Workspace, path: str, country: str, name: str, by: str) -> None:
    """Add a folder of the server as a source and sync it, now or after the running sync. Raises
    BadRequest, changing nothing, if the name is taken."""
    if not path.strip():
        raise BadRequest(message("admin.error_no_path"), hint=message("admin.error_no_path_hint"))
    code = read_country(country)
    called = name.strip() or Path(path.strip()).expanduser().resolve().name
    if called in {line.name for line in list_lines(workspace)}:
        raise BadRequest(
            message("admin.error_source_taken", name=called[:LONGEST_NAME]),
            hint=message("admin.error_source_taken_hint"),
        )
    folder = RecordedSource(name=called, path=path.strip(), country=code)
    record_folder(workspace.settings, workspace.store, folder, workspace.home)
    note_action(workspace, "source added", by)
    with suppress(Busy):
        start_sync(workspace, [called], by)


class RemovedSource(NamedTuple):
    """A source that was removed, and its documents."""

    documents: int
    was_configured: bool
    """True if `ombud.toml` named it, so that running servers still know it."""


def remove_source(
    workspace: Workspace, name: str, by: str, *, in_settings: bool = False
) -> RemovedSource:
    """Remove a source with its documents. Its files stay, as do the texts that answers cite.

    in_settings: also remove it from `ombud.toml`, which running servers notice only after a
    restart. Raises BadRequest, or Busy while a sync runs.
    """
    lines = {line.name: line for line in list_lines(workspace)}
    line = lines.get(name)
    if line is None:
        sources_here = ", ".join(sorted(lines)) or "–"
        raise BadRequest(
            message("admin.error_source_unknown", name=name[:LONGEST_NAME]),
            hint=message("admin.error_source_known", names=sources_here),
        )
    is_configured = name in {place.name for place in workspace.settings.source}
    if is_configured and not in_settings:
        raise BadRequest(
            message("admin.error_source_configured", name=name[:LONGEST_NAME]),
            hint=message("admin.error_source_configured_hint"),
        )
    if is_configured:
        remove_source_entry(workspace, name)
    gone = remove_documents_of(workspace, name)
    note_action(workspace, "source removed", by, documents=gone)
    return RemovedSource(gone, is_configured)


def plain_file_name(name: str) -> str:
    """Return a file name without folders and special characters. Raises BadRequest for a kind that
    cannot be parsed."""
    plain = _NAME.sub("_", PurePath(name.replace("\\", "/")).name).strip(" .")
    stem, suffix = PurePath(plain).stem, PurePath(plain).suffix
    if suffix.lower() not in kinds():
        readable = ", ".join(sorted(kinds()))
        raise BadRequest(
            message("admin.error_file_type", name=plain[:80]),
            hint=message("admin.error_file_type_hint", endings=readable),
        )
    return f"{stem[:LONGEST_NAME] or 'file'}{suffix.lower()}"


def keep_uploads(
    workspace: Workspace, files: Sequence[tuple[str, bytes]], country: str, by: str
) -> list[Path]:
    """Store files (name, bytes) in the folder `uploads/COUNTRY`, which becomes a source; a file of
    the same name is replaced. Raises BadRequest."""
    code = read_country(country)
    root = workspace.home / UPLOADS
    folder = root / (code.lower() or "global")
    paths = keep_named(workspace, folder, files)
    sidecar = folder / "ombud.yaml"
    if code and not sidecar.exists():
        write_file(sidecar, f"defaults:\n  country: {code}\n".encode())
    names = {source.name for source in list_sources(workspace.store)}
    names |= {place.name for place in workspace.settings.source if isinstance(place, Folder)}
    if UPLOADS not in names:
        recorded = RecordedSource(name=UPLOADS, path=str(root))
        record_folder(workspace.settings, workspace.store, recorded, workspace.home)
    note_action(workspace, "files added", by, files=len(paths))
    return paths


def keep_named(
    workspace: Workspace, folder: Path, files: Sequence[tuple[str, bytes]]
) -> list[Path]:
    """Store files under plain names, after all of them were checked. Raises BadRequest."""
    largest = workspace.settings.documents.size_mb * 1_000_000
    named: list[tuple[str, bytes]] = []
    for name, data in files:
        if is_passing(name):
            continue
        if len(data) > largest:
            megabytes = format_number(workspace.settings.documents.size_mb)
            raise BadRequest(
                message("admin.error_file_size", name=name[:80], megabytes=megabytes),
                hint=message("admin.error_file_size_hint"),
            )
        named.append((plain_file_name(name), data))
    if not named:
        raise BadRequest(message("admin.error_no_file"), hint=message("admin.error_no_file_hint"))
    try:
        make_private_folder(folder)
        for name, data in named:
            write_file(folder / name, data)
    except OSError as failed:
        raise BadRequest(
            message("admin.error_not_stored", reason=failed.strerror),
            hint=message("admin.error_not_stored_hint"),
        ) from failed
    return [folder / name for name, _ in named]


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
