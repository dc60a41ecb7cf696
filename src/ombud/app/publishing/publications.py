"""Publishes drafts and undoes it: files of folder sources, all of them or none.

A publication has a folder in `.ombud/publishing/` with the earlier content of each file and a
record of the changes. It is written before the first file changes, so that the next command undoes
an interrupted publication; undoing restores every byte. The audit chain records each without text.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.app.publishing.checking import digest_of_check, stored_verdict
from ombud.app.publishing.drafts import DraftChoices, FileEdit, PolicyDraft, read_drafts
from ombud.app.publishing.rounds import stored_round
from ombud.app.sources import configured_sources
from ombud.app.syncing import run_sync
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, LabError, NotFound, OmbudError, SourceError
from ombud.ingest import waiting_changes
from ombud.messages import message
from ombud.store import acquire_lease, note_in_chain
from ombud.types import Record

OnProgress = Callable[[str, int, int], None]
LEASE = "publish"
VERDICTS = ("checks", "rounds")
"""Folder of verdicts, beside those of publications."""
RECORD = "record.json"
MAX_NAMED = 5
"""Largest number of documents named in an error."""


class PublishedFile(Record):
    """A file that a publication changes."""

    path: str
    saved: str = ""
    """Name of the file with the earlier content; empty if there was none."""
    before: str = ""
    """Hexadecimal sha256 of the earlier content."""
    after: str
    """Hexadecimal sha256 of the new content."""


class PublishedDocument(Record):
    """A document that was published."""

    uri: str
    document_id: str
    source: str
    begins: str
    replaces: str = ""
    digest: str
    """Hexadecimal sha256 of its bytes."""


class Publication(Record):
    """The record of a publication."""

    id: str
    state: Literal["begun", "done", "undone"]
    at: str
    """Time in UTC."""
    check: str
    """Digest of what was checked."""
    go: bool
    """Verdict of the check; false if it said no or there was none."""
    forced: str = ""
    """Reason for publishing against the verdict."""
    documents: tuple[PublishedDocument, ...]
    files: tuple[PublishedFile, ...]


class Published(NamedTuple):
    """The result of publishing or undoing."""

    publication: Publication
    notes: tuple[str, ...] = ()


def publish_drafts(
    workspace: Workspace,
    paths: Sequence[Path],
    choices: DraftChoices,
    *,
    force: str = "",
    on_progress: OnProgress = lambda *_: None,
) -> Published:
    """Publish drafts from their first days on. What they replace stays and ends the day before.

    force: reason for publishing without a check that says go. Raises LabError if none does,
    BadRequest for a source that takes no files or has unchecked changes, Busy while a sync runs.
    Nothing is written then.
    """
    with acquire_lease(workspace.store, LEASE):
        notes = undo_interrupted(workspace)
        drafts = read_drafts(workspace, paths, choices)
        check_writable(drafts)
        names = sorted({draft.source for draft in drafts})
        check_nothing_waits(workspace, drafts, names)
        digest = digest_of_check(workspace, drafts)
        go = may_publish(workspace, digest, paths, forced=bool(force))
        publication = begin_publication(workspace, drafts, digest, go=go, force=force)
        note_publication(workspace, "published", publication)
        try:
            for edit in merge_edits(drafts):
                write_file(edit.path, edit.after)
            sync_documents(workspace, names, {draft.uri for draft in drafts}, on_progress)
        except (OmbudError, OSError) as failed:
            restore_files(workspace, publication)
            with suppress(OmbudError):  # remove what was indexed; else the next command does
                sync_documents(workspace, names, set(), on_progress)
            mark_undone(workspace, publication)
            if isinstance(failed, OSError):
                raise BadRequest(
                    f"The drafts cannot be written: {failed.strerror}.",
                    hint="Check the permissions of the source's folder. Nothing was changed.",
                ) from failed
            raise
        publication = publication.model_copy(update={"state": "done"})
        save_record(workspace, publication)
    return Published(publication, tuple(notes))


def undo_publication(
    workspace: Workspace, identity: str, *, on_progress: OnProgress = lambda *_: None
) -> Published:
    """Restore every file byte for byte. Raises NotFound, or BadRequest if a file has changed
    since."""
    with acquire_lease(workspace.store, LEASE):
        notes = undo_interrupted(workspace)
        publication = find_publication(workspace, identity)
        if publication.state == "undone":
            return Published(publication, (*notes, "It was taken back before."))
        for file in publication.files:
            if digest_at(Path(file.path)) != file.after:
                raise BadRequest(
                    f"{file.path} was changed since it was published, so it is not restored.",
                    hint="Undo later publications first, or correct the file by hand.",
                )
            if file.saved:
                saved_content(publications_folder(workspace) / publication.id / file.saved)
        publication = publication.model_copy(update={"state": "begun"})
        save_record(workspace, publication)  # if killed from here on, the next command continues
        publication = restore_all(workspace, publication, on_progress)
    return Published(publication, tuple(notes))


def list_publications(workspace: Workspace) -> list[Publication]:
    """Return all publications, newest first."""
    publications: list[Publication] = []
    for record in sorted(publications_folder(workspace).glob(f"*/{RECORD}")):
        publications.append(Publication.model_validate_json(record.read_text(encoding="utf-8")))
    return sorted(publications, key=lambda publication: publication.at, reverse=True)


def find_publication(workspace: Workspace, identity: str) -> Publication:
    """Return a publication by its id or the beginning of it. Raises NotFound."""
    alike: list[Publication] = []
    for publication in list_publications(workspace):
        if publication.id.startswith(identity):
            alike.append(publication)
    if len(alike) != 1 or not identity:
        problem = "More than one publication begins with" if alike else "There is no publication"
        raise NotFound(f"{problem} `{identity}`.", hint="`ombud publish --list` shows all.")
    return alike[0]


def forget_saved(workspace: Workspace, uri: str) -> None:
    """Delete the saved content of a document that is deleted for good; its publication can no
    longer be undone."""
    for publication in list_publications(workspace):
        if not any(uri in (document.uri, document.replaces) for document in publication.documents):
            continue
        for file in publication.files:
            if file.saved:
                (publications_folder(workspace) / publication.id / file.saved).unlink(
                    missing_ok=True
                )


# Before -------------------------------------------------------------------------------------------


def check_writable(drafts: Sequence[PolicyDraft]) -> None:
    for draft in drafts:
        if not draft.edits:
            raise BadRequest(
                f"`{draft.source}` is no folder, so {draft.path.name} cannot be put into it.",
                hint="Publish it there, with its dates; the next sync indexes it.",
            )


def check_nothing_waits(
    workspace: Workspace, drafts: Sequence[PolicyDraft], names: Sequence[str]
) -> None:
    """Refuse if sources have other changes, which the sync of the drafts would include
    unchecked."""
    own = {draft.uri for draft in drafts}
    waiting: list[str] = []
    for source in configured_sources(workspace.settings, workspace.home, workspace.store, names):
        for uri in waiting_changes(workspace.ingest, source):
            if uri not in own:
                waiting.append(uri)
    if waiting:
        named = ", ".join(waiting[:MAX_NAMED]) + (" …" if len(waiting) > MAX_NAMED else "")
        raise BadRequest(
            f"The source holds changes that no sync has taken in: {named}.",
            hint="Run `ombud sync`, then check the drafts again.",
        )


def may_publish(workspace: Workspace, digest: str, paths: Sequence[Path], *, forced: bool) -> bool:
    """Tell whether a check said go. Raises LabError, unless forced, if none did or a required
    rating round is missing."""
    verdict = stored_verdict(workspace, digest)
    go = verdict is not None and verdict.go
    if forced:
        return go
    if not go:
        raise not_checked_error(paths, () if verdict is None else verdict.reasons)
    if workspace.settings.publish.round:
        check_round(stored_round(workspace, digest), paths)
    return go


def check_round(decision: str, paths: Iterable[Path]) -> None:
    if decision == "go":
        return
    named = " ".join(f"--draft {path}" for path in paths)
    result = f"said {decision}" if decision else "was not held on these drafts as they are"
    raise LabError(
        f"A round of people has to say go (publish.round), and it {result}.",
        hint=f"`ombud lab round FOLDER --topic T --raters ann,bob {named}`, or --force REASON.",
    )


def not_checked_error(paths: Iterable[Path], reasons: Sequence[str]) -> LabError:
    names = " ".join(str(path) for path in paths)
    if reasons:
        return LabError(
            message("admin.error_check_negative", reasons=" ".join(reasons)),
            hint="Change the drafts, or publish with --force REASON.",
        )
    return LabError(
        message("admin.error_check_outdated"),
        hint=f"Run `ombud publish --check {names}` with the same options, or use --force REASON.",
    )


# Writing ------------------------------------------------------------------------------------------


def merge_edits(drafts: Sequence[PolicyDraft]) -> list[FileEdit]:
    """Return one edit for each file: from its present content to what the last draft leaves there.
    Files with a draft's dates are written before the draft."""
    edits: dict[Path, FileEdit] = {}
    for draft in drafts:
        for edit in draft.edits:
            first = edits.get(edit.path, edit)
            edits[edit.path] = edit._replace(before=first.before)
    return list(edits.values())


def begin_publication(
    workspace: Workspace, drafts: Sequence[PolicyDraft], digest: str, *, go: bool, force: str
) -> Publication:
    identity = uuid.uuid4().hex[:8]
    folder = publications_folder(workspace) / identity
    folder.mkdir(parents=True)
    files: list[PublishedFile] = []
    for number, edit in enumerate(merge_edits(drafts)):
        saved = ""
        if edit.before is not None:
            saved = f"{number}.before"
            write_file(folder / saved, edit.before)
        files.append(
            PublishedFile(
                path=str(edit.path),
                saved=saved,
                before=content_digest(edit.before),
                after=content_digest(edit.after),
            )
        )
    documents: list[PublishedDocument] = []
    for draft in drafts:
        documents.append(
            PublishedDocument(
                uri=draft.uri,
                document_id=draft.id,
                source=draft.source,
                begins=draft.begins.isoformat(),
                replaces=draft.replaces.uri if draft.replaces else "",
                digest=content_digest(draft.data),
            )
        )
    publication = Publication(
        id=identity,
        state="begun",
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        check=digest,
        go=go,
        forced="" if go else force,
        documents=tuple(documents),
        files=tuple(files),
    )
    save_record(workspace, publication)
    return publication


def restore_all(
    workspace: Workspace, publication: Publication, on_progress: OnProgress
) -> Publication:
    """Restore files and index; if interrupted, the next command does it again."""
    restore_files(workspace, publication)
    names = sorted({document.source for document in publication.documents})
    sync_documents(workspace, names, set(), on_progress)
    return mark_undone(workspace, publication)


def mark_undone(workspace: Workspace, publication: Publication) -> Publication:
    publication = publication.model_copy(update={"state": "undone"})
    note_publication(workspace, "unpublished", publication)
    save_record(workspace, publication)
    return publication


def restore_files(workspace: Workspace, publication: Publication) -> None:
    """Restore the files; those never written, or changed since, are left alone."""
    folder = publications_folder(workspace) / publication.id
    for file in reversed(publication.files):
        path = Path(file.path)
        if digest_at(path) != file.after:
            continue
        if file.saved:
            write_file(path, saved_content(folder / file.saved))
        else:
            path.unlink(missing_ok=True)


def saved_content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as gone:
        raise BadRequest(
            "The earlier content is no longer stored: the document was deleted for good.",
            hint="Correct the file by hand.",
        ) from gone


def undo_interrupted(workspace: Workspace) -> list[str]:
    """Undo interrupted publications, and return a line about each."""
    notes: list[str] = []
    for publication in list_publications(workspace):
        if publication.state == "begun":
            restore_all(workspace, publication, lambda *_: None)
            notes.append(f"Publication {publication.id} was cut off; its files were put back.")
    for folder in publications_folder(workspace).glob("*/"):
        # Interrupted before anything was written.
        if folder.name not in VERDICTS and not (folder / RECORD).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return notes


def sync_documents(
    workspace: Workspace, names: Sequence[str], wanted: set[str], on_progress: OnProgress
) -> None:
    """Sync. Raises SourceError if a wanted document was not indexed."""
    sources = configured_sources(workspace.settings, workspace.home, workspace.store, names)
    reports = run_sync(workspace, sources, on_progress=on_progress)
    for report in reports:
        for failure in report.failed:
            if failure.uri in wanted:
                raise SourceError(
                    f"{failure.uri} cannot be indexed: {failure.reason}",
                    hint="Correct the draft. Nothing was changed.",
                )


def note_publication(workspace: Workspace, kind: str, publication: Publication) -> None:
    """Record in the audit chain which bytes came into force, without their text."""
    documents: list[dict[str, Any]] = []
    for document in publication.documents:
        documents.append(
            {
                "document": document.document_id,
                "digest": document.digest,
                "begins": document.begins,
            }
        )
    facts = {
        "publication": publication.id,
        "documents": documents,
        "check": publication.check,
        "go": publication.go,
        "forced": bool(publication.forced),
    }
    note_in_chain(workspace.store, kind, facts)


def publications_folder(workspace: Workspace) -> Path:
    return workspace.data / "publishing"


def save_record(workspace: Workspace, publication: Publication) -> None:
    file = publications_folder(workspace) / publication.id / RECORD
    write_file(file, publication.model_dump_json(indent=1).encode())


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all, even if the power fails; its permissions stay."""
    draft = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def content_digest(data: bytes | None) -> str:
    return sha256(data).hexdigest() if data is not None else ""


def digest_at(path: Path) -> str:
    """Return the digest of a file; empty if there is none."""
    try:
        return content_digest(path.read_bytes())
    except OSError:
        return ""
