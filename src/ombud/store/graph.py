"""The graph of triplets: which entities documents speak of, and how they hang together.

It lives in the database and not in the index, because what is deleted must go at once and whole: a
document's triplets and names are dropped in the transaction that drops its row, and are saved in
one that has seen this row. Rows belong to chunks of the index; who reads them asks the index for
the chunk and its permissions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    union,
)

from ombud.store.database import Store
from ombud.store.queries import batches, count_where
from ombud.store.tables import document as documents
from ombud.store.tables import graph_document as read_documents
from ombud.store.tables import graph_name as names
from ombud.store.tables import graph_same as merged
from ombud.store.tables import graph_triplet as triplets
from ombud.types import Triplet

ENDS = (triplets.c.subject_key, triplets.c.object_key)
BATCH = 500
"""Values of one IN."""


class Edge(NamedTuple):
    triplet: Triplet
    document_id: str
    subject_key: str
    object_key: str


class Name(NamedTuple):
    """`key` is the entity that a text which holds `name` may mean; weight: from 0 to 1, how much
    this name says."""

    document_id: str
    name: str
    key: str
    weight: float


class Spread(NamedTuple):
    """An entity in a document."""

    key: str
    document_id: str
    chunk_id: str
    """One of the passages that speak of it."""
    ends: int
    """Triplets of which it is one end; both ends count apart."""


class Extracted(NamedTuple):
    """What is kept of one document."""

    chunks: Mapping[str, str]
    """Chunk id -> digest of its text and of how it was read; chunks that could not be read are not
    there."""
    edges: Sequence[Edge]


# Writing ------------------------------------------------------------------------------------------


def save_graph(
    store: Store, document_id: str, digest: str, found: Extracted, known_by: Iterable[Name]
) -> bool:
    """Replace all that the graph holds of a document. False, and nothing kept, where the document
    is gone meanwhile.

    digest: what `graph_digests` gives back; empty where some chunks could not be read.
    """
    rows = [_triplet_row(edge, document_id) for edge in found.edges]
    name_rows = _name_rows(known_by)
    is_there = select(documents.c.id).where(
        documents.c.id == document_id,
        ~documents.c.deleted,
    )
    document = insert(read_documents).values(
        document_id=document_id,
        digest=digest,
        chunks=json.dumps(dict(found.chunks)),
    )
    with store.write() as db:
        drop_graph(db, document_id)
        # Locked: a deletion of the document waits, or has been and is seen.
        if db.execute(is_there.with_for_update()).first() is None:
            return False
        db.execute(document)
        if rows:
            db.execute(insert(triplets), rows)
        if name_rows:
            db.execute(insert(names), name_rows)
        _drop_unsupported(db)
    return True


def _name_rows(given: Iterable[Name]) -> list[dict[str, Any]]:
    """One for each name and key; of several the last counts."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name in given:
        rows[name.name, name.key] = name._asdict()
    return list(rows.values())


def _triplet_row(edge: Edge, document_id: str) -> dict[str, Any]:
    return {
        **edge.triplet.model_dump(),
        "document_id": document_id,
        "subject_key": edge.subject_key,
        "object_key": edge.object_key,
    }


def drop_graph(db: Connection, document_id: str) -> None:
    """Inside the transaction that removes or replaces the document."""
    for table in (read_documents, triplets, names):
        db.execute(delete(table).where(table.c.document_id == document_id))


def forget_graph(db: Connection, ids: Iterable[str]) -> None:
    """The same for documents that do not come back: nothing that a model said of their entities
    stays either."""
    for identity in ids:
        drop_graph(db, identity)
    _drop_unsupported(db)


def clear_graph(store: Store, ids: Iterable[str] | None = None) -> None:
    """Drop what the graph holds of these documents, or all of it."""
    with store.write() as db:
        if ids is None:
            for table in (read_documents, triplets, names, merged):
                db.execute(delete(table))
        else:
            forget_graph(db, ids)


def save_same(store: Store, pairs: Iterable[tuple[str, str]]) -> None:
    """Let two keys each count as one entity from now on."""
    ordered: set[tuple[str, str]] = set()
    for key, other in pairs:
        if key != other:
            ordered.add((min(key, other), max(key, other)))
    with store.write() as db:
        held = set(map(tuple, db.execute(select(merged.c.key, merged.c.other))))
        fresh = [{"key": key, "other": other} for key, other in sorted(ordered - held)]
        if fresh:
            db.execute(insert(merged), fresh)
        _drop_unsupported(db)


def _drop_unsupported(db: Connection) -> None:
    if db.execute(select(merged.c.key).limit(1)).first() is not None:
        alive = union(select(triplets.c.subject_key), select(triplets.c.object_key))
        is_gone = or_(merged.c.key.not_in(alive), merged.c.other.not_in(alive))
        db.execute(delete(merged).where(is_gone))


# Reading ------------------------------------------------------------------------------------------


def graph_digests(store: Store) -> dict[str, str]:
    """Document id -> digest with which its triplets were saved."""
    with store.read() as db:
        rows = db.execute(select(read_documents.c.document_id, read_documents.c.digest))
        return {row.document_id: row.digest for row in rows}


def read_extracted(store: Store, document_id: str) -> Extracted:
    """What is kept of a document; empty where nothing is."""
    with store.read() as db:
        chunks = db.execute(
            select(read_documents.c.chunks).where(read_documents.c.document_id == document_id)
        ).scalar()
        rows = db.execute(
            select(triplets)
            .where(triplets.c.document_id == document_id)
            .order_by(triplets.c.number)
        )
        return Extracted(json.loads(chunks or "{}"), [_edge(row._mapping) for row in rows])


def entity_names(store: Store) -> dict[str, str]:
    """Key -> one name of it, of every entity."""
    with store.read() as db:
        subjects = select(
            triplets.c.subject_key.label("key"), func.min(triplets.c.subject).label("name")
        )
        objects = select(
            triplets.c.object_key.label("key"), func.min(triplets.c.object).label("name")
        )
        rows = [
            *db.execute(objects.group_by(triplets.c.object_key)),
            *db.execute(subjects.group_by(triplets.c.subject_key)),
        ]
        return {row.key: row.name for row in rows}


def graph_stats(store: Store) -> dict[str, int]:
    keys = union(select(triplets.c.subject_key), select(triplets.c.object_key)).subquery()
    with store.read() as db:
        return {
            "documents": _count(db, select(func.count()).select_from(read_documents)),
            "incomplete": count_where(db, read_documents.c.digest == ""),
            "triplets": _count(db, select(func.count()).select_from(triplets)),
            "entities": _count(db, select(func.count()).select_from(keys)),
            "merged": _count(db, select(func.count()).select_from(merged)),
        }


def graph_rows_of(store: Store, document_id: str) -> int:
    """Rows of the graph that come from a document, for the proof of its deletion."""
    is_of_its_chunks = triplets.c.chunk_id.startswith(f"{document_id}-")
    is_of_another = triplets.c.document_id != document_id
    wheres: list[ColumnElement[bool]] = [is_of_its_chunks & is_of_another]
    for table in (read_documents, triplets, names):
        wheres.append(table.c.document_id == document_id)
    rows = 0
    with store.read() as db:
        for where in wheres:
            rows += count_where(db, where)
    return rows


class Graph:
    """The graph as a search reads it. Rows of buried documents are left out; what their readers may
    see is not asked here."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def named(self, wanted: Sequence[str]) -> list[Name]:
        """Rows whose name is one of these."""
        query = (
            select(names)
            .join(documents, documents.c.id == names.c.document_id)
            .where(~documents.c.deleted)
        )
        rows: list[Name] = []
        with self._store.read() as db:
            for some in _batches(wanted):
                for row in db.execute(query.where(names.c.name.in_(some))):
                    rows.append(Name(**row._mapping))
        return rows

    def sharing(self, stems: Sequence[str], least: float) -> list[Name]:
        """Entities of which these stems, at most 500, make the share `least`; weight is the share,
        name is empty."""
        total = func.sum(names.c.weight)
        query = (
            select(names.c.document_id, names.c.key, total.label("weight"))
            .join(documents, documents.c.id == names.c.document_id)
            .where(~documents.c.deleted)
            .where(names.c.name.in_(list(stems)[:BATCH]))
            .group_by(names.c.document_id, names.c.key)
            # A third and a third and a third is a little less than one.
            .having(total >= least - 1e-6)
        )
        shares: list[Name] = []
        with self._store.read() as db:
            for row in db.execute(query):
                shares.append(Name(row.document_id, "", row.key, float(row.weight)))
        return shares

    def spread(self, keys: Iterable[str], sources: Sequence[str] = ()) -> list[Spread]:
        """In which documents these entities have triplets, and how many; read from an index, so
        also cheap for an entity that everything speaks of."""
        counts: list[Spread] = []
        with self._store.read() as db:
            for some in _batches(keys):
                for column in ENDS:
                    query = (
                        select(
                            column,
                            triplets.c.document_id,
                            func.min(triplets.c.chunk_id),
                            func.count(),
                        )
                        .join(documents, documents.c.id == triplets.c.document_id)
                        .where(column.in_(some), *_shown(sources))
                        .group_by(column, triplets.c.document_id)
                    )
                    for row in db.execute(query):
                        counts.append(Spread(*row))
        return counts

    def around(
        self,
        keys: Iterable[str],
        sources: Sequence[str] = (),
        holding: Sequence[str] = (),
        most: int = 20_000,
    ) -> list[Edge]:
        """Triplets of these entities, document by document in the order they were saved: whichever
        document was read first, the same ones. At most so many of each batch of 500 keys.

        sources: only of documents of these. holding: only those in whose words one of these parts
        stands."""
        edges: dict[tuple[str, int], Edge] = {}
        with self._store.read() as db:
            for some in _batches(keys):
                # Two queries: an OR over two columns is not looked up in their indexes everywhere.
                for column in ENDS:
                    query = (
                        select(triplets)
                        .join(documents, documents.c.id == triplets.c.document_id)
                        .where(column.in_(some), _holds_any(holding), *_shown(sources))
                        .order_by(triplets.c.document_id, triplets.c.number)
                        .limit(most)
                    )
                    for row in db.execute(query):
                        edges[row.document_id, row.number] = _edge(row._mapping)
        return [edges[place] for place in sorted(edges)]

    def same(self, keys: Iterable[str]) -> dict[str, set[str]]:
        """Key -> all keys that count as the same entity, itself included."""
        groups = {key: {key} for key in keys}
        new = set(groups)
        with self._store.read() as db:
            if db.execute(select(merged.c.key).limit(1)).first() is None:
                return groups
            while new:
                pairs = list(_pairs(db, new))
                new = set(chain.from_iterable(pairs)) - groups.keys()
                for key in new:
                    groups[key] = {key}
                for one, other in pairs:
                    whole = groups[one] | groups[other]
                    groups |= dict.fromkeys(whole, whole)
        return groups


def _shown(sources: Sequence[str]) -> list[ColumnElement[bool]]:
    """Rows of documents that are there; only of these sources, where some are given."""
    conditions = [~documents.c.deleted]
    if sources:
        conditions.append(documents.c.source.in_(sources))
    return conditions


def _holds_any(parts: Sequence[str]) -> ColumnElement[bool]:
    """Triplets in whose words one of the parts stands; all of them without parts."""
    if not parts:
        return true()
    words = func.lower(triplets.c.subject + " " + triplets.c.predicate + " " + triplets.c.object)
    return or_(*(words.contains(part, autoescape=True) for part in parts))


def _pairs(db: Connection, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of merged keys of which one is among these."""
    for some in _batches(keys):
        is_either = merged.c.key.in_(some) | merged.c.other.in_(some)
        for row in db.execute(select(merged.c.key, merged.c.other).where(is_either)):
            yield row.key, row.other


def _edge(row: RowMapping) -> Edge:
    fields = {name: row[name] for name in Triplet.model_fields}
    return Edge(
        # Not validated again: a search reads thousands of them.
        triplet=Triplet.model_construct(**fields),
        document_id=str(row["document_id"]),
        subject_key=str(row["subject_key"]),
        object_key=str(row["object_key"]),
    )


def _count(db: Connection, query: object) -> int:
    return int(db.execute(query).scalar_one())  # type: ignore[call-overload]


def _batches(values: Iterable[str]) -> Iterator[Sequence[str]]:
    """Each value once, in order."""
    return batches(sorted(set(values)), BATCH)
