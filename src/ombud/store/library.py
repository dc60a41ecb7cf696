"""Documents and their texts. Chunks and vectors are in the index."""

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
"""Matches documents of which only the texts cited by stored answers are left."""
FACTS = cast(documents.c.facts, Text)
"""The raw JSON: pydantic parses ten thousand documents in half the time of Python's own parser."""


class DocumentEntry(NamedTuple):
    """The fields that a sync compares."""

    id: str
    uri: str
    digest: str
    facts_digest: str
    recipe: str
    chunks: int
    stamp: str


class SyncStamp(NamedTuple):
    """Stored beside a document, for the next sync to compare and to undo a successor's cut."""

    facts_digest: str
    """Digest of the metadata as the source provided it."""
    recipe: str
    """Digest of what else determines the chunks: parser, chunker, title, language."""
    own_end: date | None
    chunks: int
    stamp: str = ""
    """Digest of what the source reported before the document was read; empty if it reports
    nothing."""


# Documents ----------------------------------------------------------------------------------------


def document_entries(store: Store, source: str) -> dict[str, DocumentEntry]:
    """Return document id -> stored fields, for one source, without buried documents."""
    columns = [documents.c[name] for name in DocumentEntry._fields]
    query = select(*columns).where(documents.c.source == source, ~documents.c.deleted)
    with store.read() as db:
        return {row.id: DocumentEntry(*row) for row in db.execute(query)}


def document_ids(store: Store) -> dict[str, int]:
    """Return document id -> chunks it should have in the index, for all sources, without buried
    documents."""
    query = select(documents.c.id, documents.c.chunks).where(~documents.c.deleted)
    with store.read() as db:
        return {row.id: row.chunks for row in db.execute(query)}


class SavedDocument(NamedTuple):
    """A document with its stamp and the (abbreviation, expansion) pairs that it explains."""

    document: Document
    stamp: SyncStamp
    abbreviations: Iterable[tuple[str, str]] = ()


def save_documents(
    store: Store, saved: Sequence[SavedDocument], lease: Lease | None = None
) -> None:
    """Store documents with the texts of their versions in one transaction; older texts stay for
    citations into them.

    lease: of the sync; raises Busy and stores nothing if another process has it.
    """
    ids = [one.document.id for one in saved]
    if not ids:
        return
    first_readings = select(texts.c.document_id, texts.c.digest, texts.c.at)
    with store.write() as db:
        end_lease_writes(db, ids, lease)
        first: dict[tuple[str, str], object] = {}
        for row in db.execute(first_readings.where(texts.c.document_id.in_(ids))):
            first[row.document_id, row.digest] = row.at
        text_rows: list[dict[str, object]] = []
        for one in saved:
            bytes_of = one.document.id, one.document.digest
            if bytes_of in first:
                db.execute(delete(texts).where(is_version(one.document.id, one.document.version)))
            text_rows.append({**text_row(one.document), "at": first.get(bytes_of) or now()})
        db.execute(insert(texts), text_rows)
        db.execute(delete(documents).where(documents.c.id.in_(ids)))
        rows = [{**document_row(one.document, one.stamp), "deleted": False} for one in saved]
        db.execute(insert(documents), rows)
        replace_abbreviations(db, {one.document.id: one.abbreviations for one in saved})


def save_document(
    store: Store,
    document: Document,
    stamp: SyncStamp,
    abbreviations: Iterable[tuple[str, str]] = (),
    lease: Lease | None = None,
) -> None:
    """Store one document. Raises Busy as `save_documents` does."""
    save_documents(store, [SavedDocument(document, stamp, abbreviations)], lease)


def text_row(document: Document) -> dict[str, object]:
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
    store: Store, document: Document, stamp: SyncStamp, lease: Lease | None = None
) -> None:
    """Store changed metadata; text and chunks stay. Raises Busy as `save_documents` does."""
    own_row = update(documents).where(documents.c.id == document.id)
    with store.write() as db:
        end_lease_writes(db, [document.id], lease)
        db.execute(own_row.values(**document_row(document, stamp)))


def end_lease_writes(db: Connection, ids: Sequence[str], lease: Lease | None) -> None:
    if lease is not None:
        lease.guard(db)
        end_writes(db, ids, lease)


def document_ends(store: Store) -> list[Document]:
    """Return documents whose last day has to change: a successor ends its predecessor the day
    before its own first day. They carry the new day; `save_end` stores it once the index has it
    too."""
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
        last = earlier_day(own_end, begins.get(document.uri))
        if last != document.effective_to:
            changed.append(document.model_copy(update={"effective_to": last}))
    return changed


def successors(documents: Iterable[Document]) -> dict[str, date]:
    """Return uri -> first day of the earliest published document that supersedes it."""
    begins: dict[str, date] = {}
    for document in documents:
        if document.supersedes in (None, "", document.uri):  # a document cannot end itself
            continue
        if document.effective_from and document.status == "published":
            first = begins.get(document.supersedes, document.effective_from)
            begins[document.supersedes] = min(first, document.effective_from)
    return begins


def cut_document(document: Document, begins: Mapping[str, date]) -> Document:
    """Return `document` ending on the earlier of its own last day and the day before its
    successor's first."""
    return document.model_copy(
        update={"effective_to": earlier_day(document.effective_to, begins.get(document.uri))}
    )


def earlier_day(own: date | None, begin: date | None) -> date | None:
    if begin is None:
        return own
    # Some exports write the first day of the calendar for "always"; no day precedes it.
    day_before = date.fromordinal(max(1, begin.toordinal() - 1))
    return min(own, day_before) if own else day_before


def save_chunks(store: Store, counts: Mapping[str, int]) -> None:
    """Store how many chunks of each document the index has."""
    with store.write() as db:
        for identity, count in counts.items():
            own_row = update(documents).where(documents.c.id == identity)
            db.execute(own_row.values(chunks=count))


def save_stamps(store: Store, stamps: Mapping[str, str]) -> None:
    """Store what the source reported about documents that had not changed."""
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
    """Hide documents at once; `forget_document` removes their rows once the index has dropped them.
    Raises Busy as `save_documents` does."""
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
    """Remove the rows of buried documents: all texts, also those that lab runs have seen, triplets
    and abbreviations. keep_cited: keep texts that stored answers cite, for these answers alone."""
    with store.write() as db:
        cited = cited_versions(db, ids) if keep_cited else {}
        forget_graph(db, ids)
        forget_abbreviations(db, ids)
        for identity in ids:
            db.execute(delete(passages).where(passages.c.document_id == identity))
            keep_versions(db, identity, cited.get(identity, ()))


def forget_uncited(store: Store) -> None:
    """Remove the texts of removed documents that no answer cites any more."""
    with store.write() as db:
        removed = list(db.execute(select(documents.c.id).where(_IS_REMOVED)).scalars())
        cited = cited_versions(db, removed) if removed else {}
        for identity in removed:
            keep_versions(db, identity, cited.get(identity, ()))


def cited_versions(db: Connection, ids: Iterable[str]) -> dict[str, set[str]]:
    """Return document id -> versions of its text that stored answers cite."""
    cited: dict[str, set[str]] = {identity: set() for identity in ids}
    for (answer,) in db.execute(select(answers.c.answer).execution_options(yield_per=BATCH)):
        for citation in (answer or {}).get("citations", ()):
            versions = cited.get(citation["document_id"])
            if versions is not None:
                parser = citation.get("parser", "")
                versions.add(text_version(citation["digest"], parser))
    return cited


def keep_versions(db: Connection, identity: str, versions: Iterable[str]) -> None:
    """Remove a buried document except for these cited versions of its text."""
    candidates = (db.execute(texts_of(identity, version)).first() for version in versions)
    rows = [row for row in candidates if row]
    db.execute(delete(texts).where(texts.c.document_id == identity))
    own_row = (documents.c.id == identity) & documents.c.deleted
    facts = db.execute(select(documents.c.facts).where(own_row)).scalar()
    if facts is None or not rows:
        db.execute(delete(documents).where(own_row))
        return
    distinct = {(row.digest, row.parser): row._asdict() for row in rows}
    db.execute(insert(texts), list(distinct.values()))
    newest = max(rows, key=lambda row: row.at)
    of_newest = {"source": "", "digest": newest.digest, "parser": newest.parser}
    values = {"source": "", "digest": newest.digest, "chunks": 0, "stamp": ""}
    db.execute(update(documents).where(own_row).values(**values, facts={**facts, **of_newest}))


def list_documents(
    store: Store, source: str | None = None, but: str | None = None
) -> list[Document]:
    """Return all documents without blocks and text, by uri; only of one source, or of all but
    one."""
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
    """Return the countries, roles, grades and contracts that documents are written for."""
    query = select(
        cast(documents.c.facts["countries"], Text).label("countries"),
        cast(documents.c.facts["audience"], Text).label("audience"),
    )
    values: dict[str, set[str]] = {name: set() for name in ("countries", *AUDIENCES)}
    with store.read() as db:
        for row in db.execute(query.where(~documents.c.deleted).distinct()):
            audience = json.loads(row.audience or "{}")
            values["countries"].update(json.loads(row.countries or "[]"))
            for name in AUDIENCES:
                values[name].update(audience.get(name, ()))
    return values


def find_document(
    store: Store, identity: str, version: str | None = None, *, removed: bool = False
) -> Document:
    """Return a document (by id or uri) with blocks and text of a version, the newest by default.

    removed: include documents of which only cited texts are left, which have no source; a version
    finds them anyway. version: as in `Document.version`; a digest alone names the text that
    citations without a parser version count in. Raises NotFound, also for a version that was
    purged.
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
        row = db.execute(texts_of(document.id, version or document.version)).first()
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
            "blocks": parse_blocks(row.text, row.blocks),
            "annotations": tuple(map(Annotation.model_validate, row.annotations)),
        }
    )


def page_totals(store: Store, versions: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return id -> number of pages of a document in that version (id, version), if its pages are
    numbered."""
    totals: dict[str, int] = {}
    with store.read() as db:
        for identity, version in dict.fromkeys(versions):
            row = db.execute(texts_of(identity, version)).first()
            pages = [page for _, _, page, _ in row.blocks if page] if row else []
            if pages:
                totals[identity] = max(pages)
    return totals


class TextVersion(NamedTuple):
    """A stored version of a document's text."""

    digest: str
    parser: str
    at: str
    """Time of the first reading, ISO 8601 in UTC; empty if unknown."""


def text_versions(store: Store, document_id: str) -> list[TextVersion]:
    """Return the stored versions of a document, newest first, each as the newest parser read it."""
    columns = texts.c.digest, texts.c.parser, texts.c.at
    query = select(*columns).where(texts.c.document_id == document_id)
    newest: dict[str, TextVersion] = {}
    with store.read() as db:
        for row in db.execute(query.order_by(texts.c.at.desc(), texts.c.digest, *_OLDEST_PARSER)):
            newest[row.digest] = TextVersion(*row)
    return list(newest.values())


def text_of(store: Store, document_id: str, version: str) -> str | None:
    """Return the text that offsets of this version count in; None if it is no longer stored."""
    with store.read() as db:
        row = db.execute(texts_of(document_id, version)).first()
    return str(row.text) if row else None


_OLDEST_PARSER = func.length(texts.c.parser), texts.c.parser
"""Orders texts of the same bytes, those without a parser version first."""


def texts_of(document_id: str, version: str) -> Select[Any]:
    """Select the text of a version; for a digest alone all its texts, oldest parser first."""
    digest, _, parser = version.partition(".")
    query = select(texts).where(texts.c.document_id == document_id, texts.c.digest == digest)
    if parser:
        query = query.where(texts.c.parser == parser)
    return query.order_by(*_OLDEST_PARSER)


def is_version(document_id: str, version: str) -> ColumnElement[bool]:
    """Match the row of exactly one version of a document's text."""
    digest, _, parser = version.partition(".")
    is_parsed_so = (texts.c.digest == digest) & (texts.c.parser == parser)
    return (texts.c.document_id == document_id) & is_parsed_so


def document_row(document: Document, stamp: SyncStamp) -> dict[str, object]:
    return {
        "id": document.id,
        "source": document.source,
        "uri": document.uri,
        "digest": document.digest,
        "facts": document.model_dump(mode="json", exclude=set(CONTENT)),
        "facts_digest": stamp.facts_digest,
        "recipe": stamp.recipe,
        "own_end": stamp.own_end.isoformat() if stamp.own_end else None,
        "chunks": stamp.chunks,
        "stamp": stamp.stamp,
    }


def parse_blocks(text: str, rows: list[list[object]]) -> tuple[Block, ...]:
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
