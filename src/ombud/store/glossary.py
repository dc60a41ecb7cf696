"""Abbreviations that documents explain, stored by document so that they are removed with it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from ombud.store.database import Store
from ombud.store.tables import document as documents
from ombud.store.tables import glossary
from ombud.types import Document


class Explained(NamedTuple):
    """An abbreviation and its expansion in one document."""

    abbreviation: str
    expansion: str
    countries: tuple[str, ...]
    """Countries of the document; empty means everywhere."""


def save_abbreviations(store: Store, document_id: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Replace the (abbreviation, expansion) pairs of a stored document; do nothing if the document
    has been removed."""
    there = select(documents.c.id).where(
        documents.c.id == document_id,
        ~documents.c.deleted,
    )
    with store.write() as db:
        if db.execute(there).first():
            replace_abbreviations(db, {document_id: pairs})
        else:
            forget_abbreviations(db, [document_id])


def replace_abbreviations(
    db: Connection, pairs_of: Mapping[str, Iterable[tuple[str, str]]]
) -> None:
    """Replace the pairs of several documents. pairs_of: document id -> (abbreviation, expansion)
    pairs."""
    forget_abbreviations(db, list(pairs_of))
    rows: list[dict[str, str]] = []
    for document_id, pairs in pairs_of.items():
        for short, long in dict.fromkeys(pairs):
            rows.append({"document_id": document_id, "abbreviation": short, "expansion": long})
    if rows:
        db.execute(insert(glossary), rows)


def list_abbreviations(store: Store) -> list[Explained]:
    """Return the abbreviations of all documents that everyone may read: published, for every
    audience, not buried.

    The audience is checked at reading, so that its changes apply at once. One row for each
    document.
    """
    query = (
        select(glossary.c.abbreviation, glossary.c.expansion, documents.c.facts)
        .join(documents, documents.c.id == glossary.c.document_id)
        .where(~documents.c.deleted)
        .order_by(glossary.c.abbreviation, glossary.c.expansion, glossary.c.document_id)
    )
    with store.read() as db:
        rows = db.execute(query).all()
    explained: list[Explained] = []
    for row in rows:
        document = Document.model_validate(row.facts)
        if not document.audience and document.status == "published":
            pair = Explained(row.abbreviation, row.expansion, document.countries)
            explained.append(pair)
    return explained


def abbreviations_of(store: Store, document_id: str) -> list[tuple[str, str]]:
    """Return all abbreviations of one document, whoever may read it."""
    of = glossary.c.document_id == document_id
    with store.read() as db:
        pairs = select(glossary.c.abbreviation, glossary.c.expansion).where(of)
        rows = db.execute(pairs.order_by(glossary.c.expansion))
        return [(row.abbreviation, row.expansion) for row in rows]


def forget_abbreviations(db: Connection, ids: Sequence[str]) -> None:
    db.execute(delete(glossary).where(glossary.c.document_id.in_(ids)))
