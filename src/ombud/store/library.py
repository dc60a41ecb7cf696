"""What is known of documents. Chunks and vectors are the index's."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)

from ombud.errors import NotFound
from ombud.store.audit.chain import BATCH, now
from ombud.store.coordination.writes import end_writes
from ombud.store.database import Store
from ombud.store.glossary import forget_abbreviations, replace_abbreviations
from ombud.store.graph import forget_graph
from ombud.store.lease import Lease
from ombud.store.tables import answer as answers
from ombud.store.tables import document as documents
from ombud.store.tables import lab_passage as passages
from ombud.store.tables import text as texts
from ombud.types import CONTENT, Annotation, Block, Document, text_version

_IS_REMOVED = documents.c.deleted & (documents.c.source == "")
"""Gone but for the texts that stored answers cite."""
FACTS = cast(documents.c.facts, Text)
"""The JSON itself: pydantic reads ten thousand in half the time that Python's own reader needs."""


class DocumentEntry(NamedTuple):
    """What a sync compares."""

    id: str
    uri: str
    digest: str
    facts_digest: str
    recipe: str
    chunks: int
    stamp: str


class SyncStamp(NamedTuple):
    """What is remembered beside a document, for the next sync to compare and to undo a successor's
    cut."""

    facts_digest: str
    """Digest of the metadata as the source gave it."""
    recipe: str
    """Digest of what else decides the chunks: parser, chunker, title, language."""
    own_end: date | None
    chunks: int
    stamp: str = ""
    """Digest of what the source said before it was read; empty when that says nothing."""


# Documents ----------------------------------------------------------------------------------------


def document_entries(store: Store, source: str) -> dict[str, DocumentEntry]:
    """Document id -> what is stored of it, of one source; buried ones are left out."""
    columns = [documents.c[name] for name in DocumentEntry._fields]
    query = select(*columns).where(documents.c.source == source, ~documents.c.deleted)
    with store.read() as db:
        return {row.id: DocumentEntry(*row) for row in db.execute(query)}


def document_ids(store: Store) -> dict[str, int]:
    """Document id -> chunks it should have in the index, of every source; buried ones are left
    out."""
    query = select(documents.c.id, documents.c.chunks).where(~documents.c.deleted)
    with store.read() as db:
        return {row.id: row.chunks for row in db.execute(query)}


class SavedDocument(NamedTuple):
    """A document as it is remembered, with the (abbreviation, expansion) pairs that it explains."""

    document: Document
    kept: SyncStamp
    abbreviations: Iterable[tuple[str, str]] = ()


def save_documents(
    store: Store, saved: Sequence[SavedDocument], lease: Lease | None = None
) -> None:
    """Remember documents and the texts of these versions, all together; older texts stay for the
    citations into them.

    lease: of the sync; raises Busy, and nothing is kept, where another process has it."""
    ids = [one.document.id for one in saved]
    if not ids:
        return
    known = select(texts.c.document_id, texts.c.digest, texts.c.at)
    with store.write() as db:
        _end_writes(db, ids, lease)
        first: dict[tuple[str, str], object] = {}
        for row in db.execute(known.where(texts.c.document_id.in_(ids))):
            first[row.document_id, row.digest] = row.at
        text_rows: list[dict[str, object]] = []
        for one in saved:
            bytes_of = one.document.id, one.document.digest
            if bytes_of in first:
                db.execute(delete(texts).where(_is_version(one.document.id, one.document.version)))
            text_rows.append({**_text_row(one.document), "at": first.get(bytes_of) or now()})
        db.execute(insert(texts), text_rows)
        db.execute(delete(documents).where(documents.c.id.in_(ids)))
        rows = [{**_row(one.document, one.kept), "deleted": False} for one in saved]
        db.execute(insert(documents), rows)
        replace_abbreviations(db, {one.document.id: one.abbreviations for one in saved})


def save_document(
    store: Store,
    document: Document,
    kept: SyncStamp,
    abbreviations: Iterable[tuple[str, str]] = (),
    lease: Lease | None = None,
) -> None:
    """One of them."""
    save_documents(store, [SavedDocument(document, kept, abbreviations)], lease)


def _text_row(document: Document) -> dict[str, object]:
    blocks = []
    for block in document.blocks:
        blocks.append([block.kind, block.level, block.page, len(block.text)])
    return {
        "document_id": document.id,
        "digest": document.digest,
        "parser": document.parser,
        "text": document.text,
        "blocks": blocks,
        "annotations": [one.model_dump(mode="json") for one in document.annotations],
    }


def save_facts(
    store: Store, document: Document, kept: SyncStamp, lease: Lease | None = None
) -> None:
    """Take over changed metadata; text and chunks stay. Raises Busy as `save_document` does."""
    own_row = update(documents).where(documents.c.id == document.id)
    with store.write() as db:
        _end_writes(db, [document.id], lease)
        db.execute(own_row.values(**_row(document, kept)))


def _end_writes(db: Connection, ids: Sequence[str], lease: Lease | None) -> None:
    if lease is not None:
        lease.guard(db)
        end_writes(db, ids, lease)


def document_ends(store: Store) -> list[Document]:
    """Documents whose last day is not yet what it should be: a successor ends its predecessor the
    day before its own first day. They come with the right day; `save_end` remembers it once the
    index has it too."""
    query = select(FACTS, documents.c.own_end).where(~documents.c.deleted)
    with store.read() as db:
        rows = db.execute(query).all()
    own_ends: list[tuple[Document, date | None]] = []
    for facts, own_end in rows:
        document = Document.model_validate_json(facts)
        own_ends.append((document, date.fromisoformat(own_end) if own_end else None))
    begins = successors(document for document, _ in own_ends)
    changed: list[Document] = []
    for document, own_end in own_ends:
        last = _last_day(own_end, begins.get(document.uri))
        if last != document.effective_to:
            changed.append(document.model_copy(update={"effective_to": last}))
    return changed


def successors(documents: Iterable[Document]) -> dict[str, date]:
    """uri -> first day of the earliest published document that supersedes it."""
    begins: dict[str, date] = {}
    for document in documents:
        if document.supersedes in (None, "", document.uri):  # a document cannot end itself
            continue
        if document.effective_from and document.status == "published":
            first = begins.get(document.supersedes, document.effective_from)
            begins[document.supersedes] = min(first, document.effective_from)
    return begins


def cut_document(document: Document, begins: Mapping[str, date]) -> Document:
    """`document` with the earlier of its own last day and the day before its successor's first."""
    return document.model_copy(
        update={"effective_to": _last_day(document.effective_to, begins.get(document.uri))}
    )


def _last_day(own: date | None, begin: date | None) -> date | None:
    if begin is None:
        return own
    # Nothing lies before the first day of the calendar, which some exports write for "always".
    day_before = date.fromordinal(max(1, begin.toordinal() - 1))
    return min(own, day_before) if own else day_before


def save_chunks(store: Store, counts: Mapping[str, int]) -> None:
    """Remember how many chunks of each document the index holds."""
    with store.write() as db:
        for identity, count in counts.items():
            own_row = update(documents).where(documents.c.id == identity)
            db.execute(own_row.values(chunks=count))


def save_stamps(store: Store, stamps: Mapping[str, str]) -> None:
    """Remember what the source says of documents that were read and had not changed."""
    with store.write() as db:
        for identity, stamp in stamps.items():
            own_row = update(documents).where(documents.c.id == identity)
            db.execute(own_row.values(stamp=stamp))


def save_end(store: Store, document: Document) -> None:
    facts = document.model_dump(mode="json", exclude=set(CONTENT))
    own_row = update(documents).where(documents.c.id == document.id)
    with store.write() as db:
        db.execute(own_row.values(facts=facts))


def bury_documents(store: Store, ids: Sequence[str], lease: Lease | None = None) -> None:
    """Hide documents at once; `forget` removes the rows when the index has let go of them. Raises
    Busy as `save_document` does."""
    with store.write() as db:
        if lease is not None:
            lease.guard(db)
        for identity in ids:
            own_row = update(documents).where(documents.c.id == identity)
            db.execute(own_row.values(deleted=True))


def tombstones(store: Store) -> list[str]:
    buried = select(documents.c.id).where(documents.c.deleted, ~_IS_REMOVED)
    with store.read() as db:
        return list(db.execute(buried).scalars())


def forget_document(store: Store, ids: Sequence[str], *, keep_cited: bool = False) -> None:
    """Remove the rows of buried documents, all their texts, also those that runs of the lab have
    seen, their triplets and their abbreviations.

    keep_cited: texts that stored answers cite stay, for these answers alone."""
    with store.write() as db:
        cited = _cited_versions(db, ids) if keep_cited else {}
        forget_graph(db, ids)
        forget_abbreviations(db, ids)
        for identity in ids:
            db.execute(delete(passages).where(passages.c.document_id == identity))
            _keep_versions(db, identity, cited.get(identity, ()))


def forget_uncited(store: Store) -> None:
    """Remove the texts of removed documents that no answer cites any more."""
    with store.write() as db:
        removed = list(db.execute(select(documents.c.id).where(_IS_REMOVED)).scalars())
        cited = _cited_versions(db, removed) if removed else {}
        for identity in removed:
            _keep_versions(db, identity, cited.get(identity, ()))


def _cited_versions(db: Connection, ids: Iterable[str]) -> dict[str, set[str]]:
    """Document id -> versions of its text that stored answers cite."""
    cited: dict[str, set[str]] = {identity: set() for identity in ids}
    for (answer,) in db.execute(select(answers.c.answer).execution_options(yield_per=BATCH)):
        for citation in (answer or {}).get("citations", ()):
            versions = cited.get(citation["document_id"])
            if versions is not None:
                parser = citation.get("parser", "")
                versions.add(text_version(citation["digest"], parser))
    return cited


def _keep_versions(db: Connection, identity: str, versions: Iterable[str]) -> None:
    """Remove a buried document but for these versions of its text, which only their citations
    lead to."""
    found = (db.execute(_texts_of(identity, version)).first() for version in versions)
    rows = [row for row in found if row]
    db.execute(delete(texts).where(texts.c.document_id == identity))
    own_row = (documents.c.id == identity) & documents.c.deleted
    facts = db.execute(select(documents.c.facts).where(own_row)).scalar()
    if facts is None or not rows:
        db.execute(delete(documents).where(own_row))
        return
    kept = {(row.digest, row.parser): row._asdict() for row in rows}
    db.execute(insert(texts), list(kept.values()))
    newest = max(rows, key=lambda row: row.at)
    of_newest = {"source": "", "digest": newest.digest, "parser": newest.parser}
    values = {"source": "", "digest": newest.digest, "chunks": 0, "stamp": ""}
    db.execute(update(documents).where(own_row).values(**values, facts={**facts, **of_newest}))


def list_documents(
    store: Store, source: str | None = None, but: str | None = None
) -> list[Document]:
    """All documents without blocks and text, by uri; of one source, or of all but one, when
    given."""
    query = select(FACTS).where(~documents.c.deleted)
    if source is not None:
        query = query.where(documents.c.source == source)
    if but is not None:
        query = query.where(documents.c.source != but)
    with store.read() as db:
        facts = db.execute(query.order_by(documents.c.uri)).scalars().all()
    return list(map(Document.model_validate_json, facts))


AUDIENCES = ("roles", "grades", "contracts")


def written_for(store: Store) -> dict[str, set[str]]:
    """Countries, roles, grades and contracts that documents are written for."""
    query = select(
        cast(documents.c.facts["countries"], Text).label("countries"),
        cast(documents.c.facts["audience"], Text).label("audience"),
    )
    found: dict[str, set[str]] = {name: set() for name in ("countries", *AUDIENCES)}
    with store.read() as db:
        for row in db.execute(query.where(~documents.c.deleted).distinct()):
            audience = json.loads(row.audience or "{}")
            found["countries"].update(json.loads(row.countries or "[]"))
            for name in AUDIENCES:
                found[name].update(audience.get(name, ()))
    return found


def find_document(
    store: Store, identity: str, version: str | None = None, *, removed: bool = False
) -> Document:
    """One document (by id or uri) with blocks and text of the given version, the newest by default.

    removed: also one of which no more is kept than answers cite; a version finds it anyway. It has
    no source. version: as `Document.version` names it; a digest alone names the text that citations
    without a version of the parsers count in. Raises NotFound, also for a version that was purged.
    """
    has_name = (documents.c.id == identity) | (documents.c.uri == identity)
    is_there = ~documents.c.deleted
    if version or removed:
        is_there |= _IS_REMOVED
    current = select(documents.c.facts).where(has_name, is_there)
    with store.read() as db:
        facts = db.execute(current).scalar()
        if facts is None:
            raise NotFound(
                f"There is no document `{identity}`.", hint="`ombud documents list` shows all."
            )
        document = Document.model_validate(facts)
        row = db.execute(_texts_of(document.id, version or document.version)).first()
    if row is None:
        raise NotFound(
            f"That version of `{document.uri}` is no longer kept.",
            hint="Open the current version instead.",
        )
    return document.model_copy(
        update={
            "digest": row.digest,
            "parser": row.parser,
            "text": row.text,
            "blocks": _blocks(row.text, row.blocks),
            "annotations": tuple(map(Annotation.model_validate, row.annotations)),
        }
    )


def page_totals(store: Store, versions: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Id -> pages of a document in that version (id, version), as far as its pages have numbers."""
    found: dict[str, int] = {}
    with store.read() as db:
        for identity, version in dict.fromkeys(versions):
            row = db.execute(_texts_of(identity, version)).first()
            pages = [page for _, _, page, _ in row.blocks if page] if row else []
            if pages:
                found[identity] = max(pages)
    return found


class TextVersion(NamedTuple):
    digest: str
    parser: str
    at: str
    """When it was first read, ISO 8601 in UTC; empty where that is not known."""


def text_versions(store: Store, document_id: str) -> list[TextVersion]:
    """The versions of a document that are kept, the newest first, each as the newest parsers read
    it."""
    columns = texts.c.digest, texts.c.parser, texts.c.at
    query = select(*columns).where(texts.c.document_id == document_id)
    newest: dict[str, TextVersion] = {}
    with store.read() as db:
        for row in db.execute(query.order_by(texts.c.at.desc(), texts.c.digest, *_OLDEST_PARSER)):
            newest[row.digest] = TextVersion(*row)
    return list(newest.values())


def text_of(store: Store, document_id: str, version: str) -> str | None:
    """The text that offsets of this version count in; None when it is no longer kept."""
    with store.read() as db:
        row = db.execute(_texts_of(document_id, version)).first()
    return str(row.text) if row else None


_OLDEST_PARSER = func.length(texts.c.parser), texts.c.parser
"""Orders the texts of the same bytes, those without a version first."""


def _texts_of(document_id: str, version: str) -> Select[Any]:
    """The text of a version, first; of a digest alone its texts, the oldest first."""
    digest, _, parser = version.partition(".")
    query = select(texts).where(texts.c.document_id == document_id, texts.c.digest == digest)
    if parser:
        query = query.where(texts.c.parser == parser)
    return query.order_by(*_OLDEST_PARSER)


def _is_version(document_id: str, version: str) -> ColumnElement[bool]:
    """The row of exactly one version of a document's text."""
    digest, _, parser = version.partition(".")
    is_parsed_so = (texts.c.digest == digest) & (texts.c.parser == parser)
    return (texts.c.document_id == document_id) & is_parsed_so


def _row(document: Document, kept: SyncStamp) -> dict[str, object]:
    return {
        "id": document.id,
        "source": document.source,
        "uri": document.uri,
        "digest": document.digest,
        "facts": document.model_dump(mode="json", exclude=set(CONTENT)),
        "facts_digest": kept.facts_digest,
        "recipe": kept.recipe,
        "own_end": kept.own_end.isoformat() if kept.own_end else None,
        "chunks": kept.chunks,
        "stamp": kept.stamp,
    }


def _blocks(text: str, rows: list[list[object]]) -> tuple[Block, ...]:
    blocks, start = [], 0
    for kind, level, page, length in rows:
        piece = text[start : start + int(str(length))]
        blocks.append(
            Block.model_validate(
                {
                    "kind": kind,
                    "level": level,
                    "page": page,
                    "text": piece,
                }
            )
        )
        start += int(str(length)) + 2
    return tuple(blocks)
