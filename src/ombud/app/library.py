"""Documents and passages as a person or the operator sees them."""

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
"""Size of a disk block, which a full disk cannot take."""
"""Chunks read at once."""


def documents(
    workspace: Workspace, person: Person | None, as_of: date | None = None
) -> list[Document]:
    """Return documents without text that this person may see; None = the operator, who sees all."""
    visible = list_documents(workspace.store)
    if person is None:
        return visible
    where = scope_of(workspace, person, as_of)
    return [document for document in visible if is_visible(document, where)]


def ending_soon(workspace: Workspace, days: int) -> list[Document]:
    """Return published documents whose last day is within so many days, soonest first."""
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
    """Return a document with its text. Raises NotFound, also if the person may not read it.

    Its dates do not hide it, because a citation of last year's rule still opens; nor does its
    country hide a version that a citation names.
    """
    stored = find_document(workspace.store, document_id, version)
    if not may_read(stored, person, of_any_country=bool(version)):
        raise no_document(document_id)
    return stored


def newest(workspace: Workspace, seen: Document, person: Person | None) -> Document:
    """Return the present text of a document that a person has seen, or what is left of a removed
    one. Raises NotFound if they may no longer read it."""
    if not seen.source:
        return seen
    present = find_document(workspace.store, seen.id)
    if not may_read(present, person, of_any_country=True):
        raise no_document(seen.id)
    return present


def may_read(stored: Document, person: Person | None, *, of_any_country: bool) -> bool:
    if person is None:
        return True
    own = (person.country,) if person.country else ()
    countries = None if of_any_country else own
    return is_visible(stored, Filter(countries=countries, reader=person))


def no_document(document_id: str) -> NotFound:
    return NotFound(
        f"There is no document `{document_id}`.", hint="`ombud documents list` shows all."
    )


class DocumentVersion(NamedTuple):
    """A text of a policy: an earlier version of the same file, or a document that it supersedes or
    that supersedes it."""

    document: Document
    """Without its text; `version` names this one."""
    read: str
    """Time of the first reading, ISO 8601; empty if unknown."""


def versions(workspace: Workspace, seen: Document, person: Person | None) -> list[DocumentVersion]:
    """Return the versions of a document that the person may read, newest first."""
    seen = newest(workspace, seen, person)
    family = version_family(seen, documents_of_any_day(workspace, person))
    results: list[DocumentVersion] = []
    for one in family:
        for version in text_versions(workspace.store, one.id):
            of_version = {"digest": version.digest, "parser": version.parser}
            named = one.model_copy(update=of_version)
            results.append(DocumentVersion(named, version.at))
    return sorted(results, key=version_age, reverse=True)


def documents_of_any_day(workspace: Workspace, person: Person | None) -> list[Document]:
    """Return documents as `documents` does, including those not in force today."""
    visible = list_documents(workspace.store)
    if person is None:
        return visible
    countries = (person.country,) if person.country else ()
    where = Filter(countries=countries, reader=person)
    return [one for one in visible if is_visible(one, where)]


def version_family(seen: Document, candidates: Sequence[Document]) -> list[Document]:
    """Return the document with everything that it supersedes or that supersedes it."""
    by_uri = {one.uri: one for one in candidates}
    after = {one.supersedes: one for one in candidates if one.supersedes}
    family = {seen.uri: seen}
    waiting = [seen]
    while waiting:
        one = waiting.pop()
        for other in (by_uri.get(one.supersedes or ""), after.get(one.uri)):
            if other and other.uri not in family:
                family[other.uri] = other
                waiting.append(other)
    return list(family.values())


def version_age(version: DocumentVersion) -> tuple[str, str]:
    begins = version.document.effective_from
    return (begins.isoformat() if begins else "", version.read)


def delete_document(workspace: Workspace, document_id: str) -> Document:
    """Delete a document, also what is left of a removed one. Raises NotFound."""
    stored = find_document(workspace.store, document_id, removed=True)
    delete_documents(workspace.ingest, [stored.id])
    note_purge(workspace.store)
    return stored


def known_audiences(workspace: Workspace) -> Audiences:
    """Return the countries, roles, grades and contracts that documents are written for."""
    return workspace.audiences.current()


def passages(workspace: Workspace) -> Iterator[Chunk]:
    """Yield every chunk of the index, document by document."""
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
    """Return a PNG of an original page with the cited text marked. Raises NotFound if the person
    may not read it, no original is stored, or it cannot be drawn."""
    stored = document(workspace, document_id, person, cited.version or None)
    file = original_path(workspace.originals, stored.id, stored.digest)
    if not file.is_file():
        raise NotFound("No original of this version is kept.", hint="The text is the same.")
    try:
        return draw_page(file, page, stored.text[cited.start : cited.end])
    except SourceError as failed:
        raise NotFound(str(failed), hint=failed.hint) from failed


def has_original(workspace: Workspace, seen: Document) -> bool:
    return original_path(workspace.originals, seen.id, seen.digest).is_file()


def passages_of(workspace: Workspace, document_id: str) -> list[Chunk]:
    """Return the chunks of a document in the order of the text."""
    rows = blocking(workspace.engine.rows([document_id]))
    return sorted((row.chunk for row in rows), key=lambda chunk: (chunk.start, chunk.end))


def triplets_of(workspace: Workspace, document_id: str) -> list[Triplet]:
    """Return the graph's triplets of a document; none without a graph."""
    return [edge.triplet for edge in read_extracted(workspace.store, document_id).edges]


def can_be_written(folder: Path) -> bool:
    """Test a folder by writing a few bytes, because free space and permissions do not reveal a
    quota or a read-only mount."""
    try:
        with TemporaryFile(dir=folder) as probe:
            probe.write(PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError:
        return False
    return True


def why_not_ready(workspace: Workspace) -> str:
    """Explain why questions cannot be answered; empty if they can. Raises EngineError if an index
    is missing."""
    if not can_be_written(workspace.data):
        return "the disk of the workspace is full or cannot be written, so no answer can be kept."
    if blocking(workspace.engine.stats()).chunks:
        return ""
    workspace.check_index()
    return "No documents are indexed yet; run `ombud sync FOLDER`."
