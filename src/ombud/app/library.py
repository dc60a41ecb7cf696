"""What a workspace knows: its documents and passages, as a person or as the operator sees them."""

import os
from collections.abc import Iterator, Sequence
from datetime import date
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from ombud.app.asking import scope_of
from ombud.app.audiences import Audiences
from ombud.app.purging import note_purge
from ombud.app.workspace import Workspace
from ombud.documents import draw_page
from ombud.errors import NotFound, SourceError
from ombud.index import Filter, blocking, is_visible
from ombud.ingest import delete_documents, original_path
from ombud.store import find_document, list_documents, read_extracted, text_versions
from ombud.types import Chunk, Document, Person, Triplet

BATCH = 500
PROBE = bytes(4096)
"""A block of a disk: on a full one that is what does not fit."""
"""Chunks read at once."""


def documents(
    workspace: Workspace, person: Person | None, as_of: date | None = None
) -> list[Document]:
    """Documents without text, as this person may see them; None = the operator, who sees all."""
    known = list_documents(workspace.store)
    if person is None:
        return known
    where = scope_of(workspace, person, as_of)
    return [document for document in known if is_visible(document, where)]


def ending_soon(workspace: Workspace, days: int) -> list[Document]:
    """Published documents whose last day is within so many days, the first to end first."""
    today = workspace.today()
    ending: list[tuple[date, Document]] = []
    for one in list_documents(workspace.store):
        last_day = one.effective_to
        if last_day and one.status == "published" and 0 <= (last_day - today).days <= days:
            ending.append((last_day, one))
    return [one for _, one in sorted(ending, key=itemgetter(0))]


def document(
    workspace: Workspace, document_id: str, person: Person | None, version: str | None = None
) -> Document:
    """One document with its text; NotFound also where this person may not read it.

    Its dates do not hide it: a citation of last year's rule still opens. Nor does its country hide
    the version that a citation names: who asked about another country was shown it.
    """
    found = find_document(workspace.store, document_id, version)
    if not _may_read(found, person, of_any_country=bool(version)):
        raise _no_document(document_id)
    return found


def newest(workspace: Workspace, shown: Document, person: Person | None) -> Document:
    """The text of today of a document that a person was shown; of one that was removed, what is
    left of it. Raises NotFound where it is not for them any more."""
    if not shown.source:
        return shown
    found = find_document(workspace.store, shown.id)
    if not _may_read(found, person, of_any_country=True):
        raise _no_document(shown.id)
    return found


def _may_read(found: Document, person: Person | None, *, of_any_country: bool) -> bool:
    if person is None:
        return True
    own = (person.country,) if person.country else ()
    countries = None if of_any_country else own
    return is_visible(found, Filter(countries=countries, reader=person))


def _no_document(document_id: str) -> NotFound:
    return NotFound(
        f"There is no document `{document_id}`.", hint="`ombud documents list` shows all."
    )


class DocumentVersion(NamedTuple):
    """One text of a policy: an earlier reading of the same file, or the document that it follows,
    or that follows it."""

    document: Document
    """Without its text; `version` names this one."""
    read: str
    """When it was first read, ISO 8601; empty where that is not known."""


def versions(workspace: Workspace, shown: Document, person: Person | None) -> list[DocumentVersion]:
    """Those that the person may read, the newest first, of a document that they were shown."""
    shown = newest(workspace, shown, person)
    family = _family(shown, documents_of_any_day(workspace, person))
    found: list[DocumentVersion] = []
    for one in family:
        for version in text_versions(workspace.store, one.id):
            of_version = {"digest": version.digest, "parser": version.parser}
            named = one.model_copy(update=of_version)
            found.append(DocumentVersion(named, version.at))
    return sorted(found, key=_age, reverse=True)


def documents_of_any_day(workspace: Workspace, person: Person | None) -> list[Document]:
    """As `documents`, those no longer or not yet in force among them."""
    known = list_documents(workspace.store)
    if person is None:
        return known
    countries = (person.country,) if person.country else ()
    where = Filter(countries=countries, reader=person)
    return [one for one in known if is_visible(one, where)]


def _family(shown: Document, known: Sequence[Document]) -> list[Document]:
    """The document, what it supersedes, what supersedes it, and so on."""
    by_uri = {one.uri: one for one in known}
    after = {one.supersedes: one for one in known if one.supersedes}
    found = {shown.uri: shown}
    waiting = [shown]
    while waiting:
        one = waiting.pop()
        for other in (by_uri.get(one.supersedes or ""), after.get(one.uri)):
            if other and other.uri not in found:
                found[other.uri] = other
                waiting.append(other)
    return list(found.values())


def _age(version: DocumentVersion) -> tuple[str, str]:
    begins = version.document.effective_from
    return (begins.isoformat() if begins else "", version.read)


def delete_document(workspace: Workspace, document_id: str) -> Document:
    """Delete it, also what is left of a removed one. Raises NotFound."""
    found = find_document(workspace.store, document_id, removed=True)
    delete_documents(workspace.ingest, [found.id])
    note_purge(workspace.store)
    return found


def known_audiences(workspace: Workspace) -> Audiences:
    """Countries, roles, grades and contracts that documents are written for."""
    return workspace.audiences.current()


def passages(workspace: Workspace) -> Iterator[Chunk]:
    """Every chunk of the index, document by document."""
    ids = blocking(workspace.engine.chunk_ids())
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        chunks = blocking(workspace.engine.get(batch))
        for chunk_id in batch:
            if chunk_id in chunks:
                yield chunks[chunk_id]


class Cited(NamedTuple):
    """A place in a version of a document."""

    start: int
    end: int
    version: str = ""


def draw_original(
    workspace: Workspace, document_id: str, person: Person | None, *, page: int, cited: Cited
) -> bytes:
    """PNG of a page as it was printed, the cited words marked. Raises NotFound where the person may
    not read it, no original of that version is kept, or it cannot be drawn."""
    found = document(workspace, document_id, person, cited.version or None)
    file = original_path(workspace.originals, found.id, found.digest)
    if not file.is_file():
        raise NotFound("No original of this version is kept.", hint="The text is the same.")
    try:
        return draw_page(file, page, found.text[cited.start : cited.end])
    except SourceError as failed:
        raise NotFound(str(failed), hint=failed.hint) from failed


def has_original(workspace: Workspace, shown: Document) -> bool:
    return original_path(workspace.originals, shown.id, shown.digest).is_file()


def passages_of(workspace: Workspace, document_id: str) -> list[Chunk]:
    """Its chunks as they are searched, in the order of the text."""
    rows = blocking(workspace.engine.rows([document_id]))
    return sorted((row.chunk for row in rows), key=lambda chunk: (chunk.start, chunk.end))


def triplets_of(workspace: Workspace, document_id: str) -> list[Triplet]:
    """What the graph has read in it; none where there is no graph."""
    return [edge.triplet for edge in read_extracted(workspace.store, document_id).edges]


def can_be_written(folder: Path) -> bool:
    """Try it with a few bytes: free space and permissions do not tell what a quota or a read-only
    mount allows."""
    try:
        with TemporaryFile(dir=folder) as probe:
            probe.write(PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError:
        return False
    return True


def why_not_ready(workspace: Workspace) -> str:
    """Empty when questions can be answered; else why not. Raises EngineError where an index is
    missing."""
    if not can_be_written(workspace.data):
        return "the disk of the workspace is full or cannot be written, so no answer can be kept."
    if blocking(workspace.engine.stats()).chunks:
        return ""
    workspace.check_index()
    return "No documents are indexed yet; run `ombud sync FOLDER`."
