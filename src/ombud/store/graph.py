"""The knowledge graph: which entities documents mention, and how they are related.

It is stored in the database and not in the index, because deletions must be immediate and complete:
a document's triplets and names are dropped in the transaction that drops its row, and saved in one
that has seen this row. Rows refer to chunks of the index; readers ask the index for the chunk and
its permissions.
"""

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
"""Values in one IN list."""


class Edge(NamedTuple):
    """A triplet with the keys of its entities."""

    triplet: Triplet
    document_id: str
    subject_key: str
    object_key: str


class Name(NamedTuple):
    """A name and the key of an entity that it may mean. weight: 0 to 1, how specific the name
    is."""

    document_id: str
    name: str
    key: str
    weight: float


class Spread(NamedTuple):
    """An entity's occurrences in one document."""

    key: str
    document_id: str
    chunk_id: str
    """One of the chunks that mention it."""
    ends: int
    """Number of triplet ends; a triplet that has the entity at both counts twice."""


class Extracted(NamedTuple):
    """The stored extraction of one document."""

    chunks: Mapping[str, str]
    """Chunk id -> digest of its text and of the extraction; chunks that failed are missing."""
    edges: Sequence[Edge]


# Writing ------------------------------------------------------------------------------------------


def save_graph(
    store: Store,
    document_id: str,
    digest: str,
    extracted: Extracted,
    entity_names_saved: Iterable[Name],
) -> bool:
    """Replace the graph of a document; returns False and stores nothing if the document has been
    removed meanwhile.

    digest: what `graph_digests` will return; empty if some chunks failed.
    """
    rows = [triplet_row(edge, document_id) for edge in extracted.edges]
    rows_of_names = name_rows(entity_names_saved)
    is_there = select(documents.c.id).where(
        documents.c.id == document_id,
        ~documents.c.deleted,
    )
    document = insert(read_documents).values(
        document_id=document_id,
        digest=digest,
        chunks=json.dumps(dict(extracted.chunks)),
    )
    with store.write() as db:
        drop_graph(db, document_id)
        # Locked: a deletion either waits, or came first and is seen.
        if db.execute(is_there.with_for_update()).first() is None:
            return False
        db.execute(document)
        if rows:
            db.execute(insert(triplets), rows)
        if rows_of_names:
            db.execute(insert(names), rows_of_names)
        drop_unsupported_merges(db)
    return True


def name_rows(entity_names_saved: Iterable[Name]) -> list[dict[str, Any]]:
    """Return one row for each name and key; the last duplicate wins."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name in entity_names_saved:
        rows[name.name, name.key] = name._asdict()
    return list(rows.values())


def triplet_row(edge: Edge, document_id: str) -> dict[str, Any]:
    return {
        **edge.triplet.model_dump(),
        "document_id": document_id,
        "subject_key": edge.subject_key,
        "object_key": edge.object_key,
    }


def drop_graph(db: Connection, document_id: str) -> None:
    """Drop the graph of a document, within the transaction that removes or replaces the
    document."""
    for table in (read_documents, triplets, names):
        db.execute(delete(table).where(table.c.document_id == document_id))


def forget_graph(db: Connection, ids: Iterable[str]) -> None:
    """Drop the graph of documents that do not come back, and merges of entities that no other
    document mentions."""
    for identity in ids:
        drop_graph(db, identity)
    drop_unsupported_merges(db)


def clear_graph(store: Store, ids: Iterable[str] | None = None) -> None:
    """Drop the graph of these documents, or all of it."""
    with store.write() as db:
        if ids is None:
            for table in (read_documents, triplets, names, merged):
                db.execute(delete(table))
        else:
            forget_graph(db, ids)


def save_same(store: Store, pairs: Iterable[tuple[str, str]]) -> None:
    """Merge each pair of keys into one entity."""
    ordered: set[tuple[str, str]] = set()
    for key, other in pairs:
        if key != other:
            ordered.add((min(key, other), max(key, other)))
    with store.write() as db:
        stored = set(map(tuple, db.execute(select(merged.c.key, merged.c.other))))
        fresh = [{"key": key, "other": other} for key, other in sorted(ordered - stored)]
        if fresh:
            db.execute(insert(merged), fresh)
        drop_unsupported_merges(db)


def drop_unsupported_merges(db: Connection) -> None:
    if db.execute(select(merged.c.key).limit(1)).first() is not None:
        alive = union(select(triplets.c.subject_key), select(triplets.c.object_key))
        is_gone = or_(merged.c.key.not_in(alive), merged.c.other.not_in(alive))
        db.execute(delete(merged).where(is_gone))


# Reading ------------------------------------------------------------------------------------------


def graph_digests(store: Store) -> dict[str, str]:
    """Return document id -> digest with which its triplets were saved."""
    with store.read() as db:
        rows = db.execute(select(read_documents.c.document_id, read_documents.c.digest))
        return {row.document_id: row.digest for row in rows}


def read_extracted(store: Store, document_id: str) -> Extracted:
    """Return the stored extraction of a document; empty if there is none."""
    with store.read() as db:
        chunks = db.execute(
            select(read_documents.c.chunks).where(read_documents.c.document_id == document_id)
        ).scalar()
        rows = db.execute(
            select(triplets)
            .where(triplets.c.document_id == document_id)
            .order_by(triplets.c.number)
        )
        return Extracted(json.loads(chunks or "{}"), [edge_of(row._mapping) for row in rows])


def entity_names(store: Store) -> dict[str, str]:
    """Return one name of every entity, by key."""
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
            "documents": count_rows(db, select(func.count()).select_from(read_documents)),
            "incomplete": count_where(db, read_documents.c.digest == ""),
            "triplets": count_rows(db, select(func.count()).select_from(triplets)),
            "entities": count_rows(db, select(func.count()).select_from(keys)),
            "merged": count_rows(db, select(func.count()).select_from(merged)),
        }


def graph_rows_of(store: Store, document_id: str) -> int:
    """Count the graph's rows from a document, for the proof of its deletion."""
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
    """The graph as a search reads it, without buried documents. It does not check the reader's
    permissions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def named(self, wanted: Sequence[str]) -> list[Name]:
        """Return the rows with one of these names."""
        query = (
            select(names)
            .join(documents, documents.c.id == names.c.document_id)
            .where(~documents.c.deleted)
        )
        rows: list[Name] = []
        with self._store.read() as db:
            for some in distinct_batches(wanted):
                for row in db.execute(query.where(names.c.name.in_(some))):
                    rows.append(Name(**row._mapping))
        return rows

    def sharing(self, stems: Sequence[str], least: float) -> list[Name]:
        """Return entities that share at least `least` of their stems with these, at most 500.
        weight is the share, name is empty."""
        total = func.sum(names.c.weight)
        query = (
            select(names.c.document_id, names.c.key, total.label("weight"))
            .join(documents, documents.c.id == names.c.document_id)
            .where(~documents.c.deleted)
            .where(names.c.name.in_(list(stems)[:BATCH]))
            .group_by(names.c.document_id, names.c.key)
            # Floating-point sums of shares may fall just short of the limit.
            .having(total >= least - 1e-6)
        )
        shares: list[Name] = []
        with self._store.read() as db:
            for row in db.execute(query):
                shares.append(Name(row.document_id, "", row.key, float(row.weight)))
        return shares

    def spread(self, keys: Iterable[str], sources: Sequence[str] = ()) -> list[Spread]:
        """Count the triplets of these entities by document. An SQL index serves it, so entities
        that occur everywhere are cheap as well."""
        counts: list[Spread] = []
        with self._store.read() as db:
            for some in distinct_batches(keys):
                for column in ENDS:
                    query = (
                        select(
                            column,
                            triplets.c.document_id,
                            func.min(triplets.c.chunk_id),
                            func.count(),
                        )
                        .join(documents, documents.c.id == triplets.c.document_id)
                        .where(column.in_(some), *visible_documents(sources))
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
        """Return triplets of these entities, document by document in the order of saving, so that
        the result is stable.

        most: limit for each batch of 500 keys. sources: restrict to documents of these. holding:
        restrict to triplets whose text contains one of these parts.
        """
        edges: dict[tuple[str, int], Edge] = {}
        with self._store.read() as db:
            for some in distinct_batches(keys):
                # Two queries, because not every database uses both indexes for an OR.
                for column in ENDS:
                    query = (
                        select(triplets)
                        .join(documents, documents.c.id == triplets.c.document_id)
                        .where(column.in_(some), mentions_any(holding), *visible_documents(sources))
                        .order_by(triplets.c.document_id, triplets.c.number)
                        .limit(most)
                    )
                    for row in db.execute(query):
                        edges[row.document_id, row.number] = edge_of(row._mapping)
        return [edges[place] for place in sorted(edges)]

    def same(self, keys: Iterable[str]) -> dict[str, set[str]]:
        """Return key -> all keys merged with it, itself included."""
        groups = {key: {key} for key in keys}
        new = set(groups)
        with self._store.read() as db:
            if db.execute(select(merged.c.key).limit(1)).first() is None:
                return groups
            while new:
                pairs = list(merged_pairs(db, new))
                new = set(chain.from_iterable(pairs)) - groups.keys()
                for key in new:
                    groups[key] = {key}
                for one, other in pairs:
                    whole = groups[one] | groups[other]
                    groups |= dict.fromkeys(whole, whole)
        return groups


def visible_documents(sources: Sequence[str]) -> list[ColumnElement[bool]]:
    """Select documents that are not buried; only of these sources, if any are given."""
    conditions = [~documents.c.deleted]
    if sources:
        conditions.append(documents.c.source.in_(sources))
    return conditions


def mentions_any(parts: Sequence[str]) -> ColumnElement[bool]:
    """Match triplets whose text contains one of the parts; all triplets if there are none."""
    if not parts:
        return true()
    words = func.lower(triplets.c.subject + " " + triplets.c.predicate + " " + triplets.c.object)
    return or_(*(words.contains(part, autoescape=True) for part in parts))


def merged_pairs(db: Connection, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield merged pairs that include one of these keys."""
    for some in distinct_batches(keys):
        is_either = merged.c.key.in_(some) | merged.c.other.in_(some)
        for row in db.execute(select(merged.c.key, merged.c.other).where(is_either)):
            yield row.key, row.other


def edge_of(row: RowMapping) -> Edge:
    fields = {name: row[name] for name in Triplet.model_fields}
    return Edge(
        # Not validated again, because a search reads thousands of them.
        triplet=Triplet.model_construct(**fields),
        document_id=str(row["document_id"]),
        subject_key=str(row["subject_key"]),
        object_key=str(row["object_key"]),
    )


def count_rows(db: Connection, query: object) -> int:
    return int(db.execute(query).scalar_one())  # type: ignore[call-overload]


def distinct_batches(values: Iterable[str]) -> Iterator[Sequence[str]]:
    """Yield the distinct values in batches, sorted."""
    return batches(sorted(set(values)), BATCH)
