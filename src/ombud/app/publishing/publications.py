"""Drafts put in force, and taken back: files of folder sources, all of them or none.

A publication has a folder in `.ombud/publishing/`: what stood in the place of each file before, and
a record of what is done. It is written before the first file is, so that a publication that was
cut off is taken back by the next command; taking back restores every byte. The audit's chain holds
a record of each, without words."""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.app.publishing.checking import digest_of_check, kept_verdict
from ombud.app.publishing.drafts import DraftChoices, FileEdit, PolicyDraft, read_drafts
from ombud.app.publishing.rounds import kept_round
from ombud.app.sources import configured_sources
from ombud.app.syncing import run_sync
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, LabError, NotFound, OmbudError, SourceError
from ombud.ingest import waiting_changes
from ombud.store import acquire_lease, note_in_chain
from ombud.types import Record

OnProgress = Callable[[str, int, int], None]
LEASE = "publish"
VERDICTS = ("checks", "rounds")
"""Folders beside those of publications."""
RECORD = "record.json"
SHOWN = 5
"""Documents named in an error."""


class PublishedFile(Record):
    path: str
    saved: str = ""
    """Name of the file that holds what stood there; empty where nothing did."""
    before: str = ""
    """sha256 of that, hex."""
    after: str
    """sha256 of what was written, hex."""


class PublishedDocument(Record):
    uri: str
    document_id: str
    source: str
    begins: str
    replaces: str = ""
    digest: str
    """sha256 of its bytes, hex."""


class Publication(Record):
    id: str
    state: Literal["begun", "done", "undone"]
    at: str
    """Time in UTC."""
    check: str
    """Digest of what was checked."""
    go: bool
    """What the check said; false where it said no or there was none."""
    forced: str = ""
    """Why it was published all the same."""
    documents: tuple[PublishedDocument, ...]
    files: tuple[PublishedFile, ...]


class Published(NamedTuple):
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
    """Put drafts in force on their days. What they replace stays, and ends the day before.

    force: why they are published though no check says go. Raises LabError where none does,
    BadRequest for a source that takes no files, or holds changes that nobody checked; Busy while a
    sync runs. Nothing is written then."""
    with acquire_lease(workspace.store, LEASE):
        notes = _finish_cut_off(workspace)
        drafts = read_drafts(workspace, paths, choices)
        _check_writable(drafts)
        names = sorted({draft.source for draft in drafts})
        _check_nothing_waits(workspace, drafts, names)
        digest = digest_of_check(workspace, drafts)
        go = _may_go(workspace, digest, paths, forced=bool(force))
        publication = _begin(workspace, drafts, digest, go=go, force=force)
        _note(workspace, "published", publication)
        try:
            for edit in _all_edits(drafts):
                _write(edit.path, edit.after)
            _sync(workspace, names, {draft.uri for draft in drafts}, on_progress)
        except (OmbudError, OSError) as failed:
            _take_back(workspace, publication)
            with suppress(
                OmbudError
            ):  # what was taken in already goes again; else the next does it
                _sync(workspace, names, set(), on_progress)
            _mark_undone(workspace, publication)
            if isinstance(failed, OSError):
                raise BadRequest(
                    f"The drafts cannot be written: {failed.strerror}.",
                    hint="Check the permissions of the source's folder. Nothing was changed.",
                ) from failed
            raise
        publication = publication.model_copy(update={"state": "done"})
        _save(workspace, publication)
    return Published(publication, tuple(notes))


def undo_publication(
    workspace: Workspace, identity: str, *, on_progress: OnProgress = lambda *_: None
) -> Published:
    """Every file as it was, byte for byte. Raises NotFound, BadRequest where a file was changed
    since."""
    with acquire_lease(workspace.store, LEASE):
        notes = _finish_cut_off(workspace)
        publication = find_publication(workspace, identity)
        if publication.state == "undone":
            return Published(publication, (*notes, "It was taken back before."))
        for file in publication.files:
            if _digest_at(Path(file.path)) != file.after:
                raise BadRequest(
                    f"{file.path} was changed since it was published, so it is not put back.",
                    hint="Undo later publications first, or mend the file by hand.",
                )
            if file.saved:
                _saved(_folder(workspace) / publication.id / file.saved)
        publication = publication.model_copy(update={"state": "begun"})
        _save(workspace, publication)  # killed from here on, the next command goes on
        publication = _put_back_all(workspace, publication, on_progress)
    return Published(publication, tuple(notes))


def list_publications(workspace: Workspace) -> list[Publication]:
    """Newest first."""
    found: list[Publication] = []
    for record in sorted(_folder(workspace).glob(f"*/{RECORD}")):
        found.append(Publication.model_validate_json(record.read_text(encoding="utf-8")))
    return sorted(found, key=lambda publication: publication.at, reverse=True)


def find_publication(workspace: Workspace, identity: str) -> Publication:
    """By its id or the beginning of it. Raises NotFound."""
    alike: list[Publication] = []
    for publication in list_publications(workspace):
        if publication.id.startswith(identity):
            alike.append(publication)
    if len(alike) != 1 or not identity:
        problem = "More than one publication begins with" if alike else "There is no publication"
        raise NotFound(f"{problem} `{identity}`.", hint="`ombud publish --list` shows all.")
    return alike[0]


def forget_saved(workspace: Workspace, uri: str) -> None:
    """Let go of what was saved of a document that is deleted for good: taking its publication back
    is then no longer possible."""
    for publication in list_publications(workspace):
        if not any(uri in (document.uri, document.replaces) for document in publication.documents):
            continue
        for file in publication.files:
            if file.saved:
                (_folder(workspace) / publication.id / file.saved).unlink(missing_ok=True)


# Before -------------------------------------------------------------------------------------------


def _check_writable(drafts: Sequence[PolicyDraft]) -> None:
    for draft in drafts:
        if not draft.edits:
            raise BadRequest(
                f"`{draft.source}` is no folder, so {draft.path.name} cannot be put into it.",
                hint="Publish it there, with its dates; the next sync takes it in.",
            )


def _check_nothing_waits(
    workspace: Workspace, drafts: Sequence[PolicyDraft], names: Sequence[str]
) -> None:
    """The sync of the drafts would take in whatever else has changed, and nobody has checked it."""
    own = {draft.uri for draft in drafts}
    waiting: list[str] = []
    for source in configured_sources(workspace.settings, workspace.home, workspace.store, names):
        for uri in waiting_changes(workspace.ingest, source):
            if uri not in own:
                waiting.append(uri)
    if waiting:
        named = ", ".join(waiting[:SHOWN]) + (" …" if len(waiting) > SHOWN else "")
        raise BadRequest(
            f"The source holds changes that no sync has taken in: {named}.",
            hint="Run `ombud sync`, then check the drafts again.",
        )


def _may_go(workspace: Workspace, digest: str, paths: Sequence[Path], *, forced: bool) -> bool:
    """Whether a check said go. Raises LabError where none did, or people had to and did not, unless
    it is forced."""
    verdict = kept_verdict(workspace, digest)
    go = verdict is not None and verdict.go
    if forced:
        return go
    if not go:
        raise _not_checked(paths, () if verdict is None else verdict.reasons)
    if workspace.settings.publish.round:
        _check_round(kept_round(workspace, digest), paths)
    return go


def _check_round(decision: str, paths: Iterable[Path]) -> None:
    if decision == "go":
        return
    named = " ".join(f"--draft {path}" for path in paths)
    said = f"said {decision}" if decision else "was not held on these drafts as they are"
    raise LabError(
        f"A round of people has to say go (publish.round), and it {said}.",
        hint=f"`ombud lab round FOLDER --topic T --raters ann,bob {named}`, or --force REASON.",
    )


def _not_checked(paths: Iterable[Path], reasons: Sequence[str]) -> LabError:
    names = " ".join(str(path) for path in paths)
    if reasons:
        return LabError(
            f"The check of these drafts said no: {' '.join(reasons)}",
            hint="Change the drafts, or publish with --force REASON.",
        )
    return LabError(
        "These drafts were not checked as they are, against the documents and settings of now.",
        hint=f"Run `ombud lab check {names}` with the same options, or use --force REASON.",
    )


# Writing ------------------------------------------------------------------------------------------


def _all_edits(drafts: Sequence[PolicyDraft]) -> list[FileEdit]:
    """Each file once: from what stands there now to what the last draft leaves there. What says a
    draft's dates is written before the draft."""
    edits: dict[Path, FileEdit] = {}
    for draft in drafts:
        for edit in draft.edits:
            first = edits.get(edit.path, edit)
            edits[edit.path] = edit._replace(before=first.before)
    return list(edits.values())


def _begin(
    workspace: Workspace, drafts: Sequence[PolicyDraft], digest: str, *, go: bool, force: str
) -> Publication:
    identity = uuid.uuid4().hex[:8]
    folder = _folder(workspace) / identity
    folder.mkdir(parents=True)
    files: list[PublishedFile] = []
    for number, edit in enumerate(_all_edits(drafts)):
        saved = ""
        if edit.before is not None:
            saved = f"{number}.before"
            _write(folder / saved, edit.before)
        files.append(
            PublishedFile(
                path=str(edit.path),
                saved=saved,
                before=_digest(edit.before),
                after=_digest(edit.after),
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
                digest=_digest(draft.data),
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
    _save(workspace, publication)
    return publication


def _put_back_all(
    workspace: Workspace, publication: Publication, on_progress: OnProgress
) -> Publication:
    """Files and index as they were; killed before the end, the next command does it again."""
    _take_back(workspace, publication)
    names = sorted({document.source for document in publication.documents})
    _sync(workspace, names, set(), on_progress)
    return _mark_undone(workspace, publication)


def _mark_undone(workspace: Workspace, publication: Publication) -> Publication:
    publication = publication.model_copy(update={"state": "undone"})
    _note(workspace, "unpublished", publication)
    _save(workspace, publication)
    return publication


def _take_back(workspace: Workspace, publication: Publication) -> None:
    """Files as they were; one that was never written, or changed since, is left alone."""
    folder = _folder(workspace) / publication.id
    for file in reversed(publication.files):
        path = Path(file.path)
        if _digest_at(path) != file.after:
            continue
        if file.saved:
            _write(path, _saved(folder / file.saved))
        else:
            path.unlink(missing_ok=True)


def _saved(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as gone:
        raise BadRequest(
            "What stood there before is no longer kept: the document was deleted for good.",
            hint="Mend the file by hand.",
        ) from gone


def _finish_cut_off(workspace: Workspace) -> list[str]:
    """Take back what was cut off; a line for each."""
    notes: list[str] = []
    for publication in list_publications(workspace):
        if publication.state == "begun":
            _put_back_all(workspace, publication, lambda *_: None)
            notes.append(f"Publication {publication.id} was cut off; its files were put back.")
    for folder in _folder(workspace).glob("*/"):
        # Cut off before anything was written.
        if folder.name not in VERDICTS and not (folder / RECORD).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return notes


def _sync(
    workspace: Workspace, names: Sequence[str], wanted: set[str], on_progress: OnProgress
) -> None:
    """Raises SourceError where a wanted document was not taken in."""
    sources = configured_sources(workspace.settings, workspace.home, workspace.store, names)
    reports = run_sync(workspace, sources, on_progress=on_progress)
    for report in reports:
        for failure in report.failed:
            if failure.uri in wanted:
                raise SourceError(
                    f"{failure.uri} cannot be indexed: {failure.reason}",
                    hint="Mend the draft. Nothing was changed.",
                )


def _note(workspace: Workspace, kind: str, publication: Publication) -> None:
    """In the audit's chain: which bytes came into force, never a word of them."""
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


def _folder(workspace: Workspace) -> Path:
    return workspace.data / "publishing"


def _save(workspace: Workspace, publication: Publication) -> None:
    file = _folder(workspace) / publication.id / RECORD
    _write(file, publication.model_dump_json(indent=1).encode())


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, also when the power fails; the file's permissions stay."""
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


def _digest(data: bytes | None) -> str:
    return sha256(data).hexdigest() if data is not None else ""


def _digest_at(path: Path) -> str:
    """Empty where there is no file."""
    try:
        return _digest(path.read_bytes())
    except OSError:
        return ""
