"""Recorded sources, and how many documents each has."""

from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.store.database import Store
from ombud.store.tables import document as documents
from ombud.store.tables import source as sources


class RecordedSource(NamedTuple):
    """A source that `ombud sync PATH` recorded."""

    name: str
    path: str
    country: str = ""


def list_sources(store: Store) -> list[RecordedSource]:
    with store.read() as db:
        rows = db.execute(select(sources).order_by(sources.c.name))
        return [RecordedSource(*row) for row in rows]


def add_source(store: Store, source: RecordedSource) -> None:
    with store.write() as db:
        db.execute(delete(sources).where(sources.c.name == source.name))
        db.execute(insert(sources).values(**source._asdict()))


def remove_source(store: Store, name: str) -> bool:
    """Remove a recorded source and return whether it existed. Its documents are removed
    separately."""
    with store.write() as db:
        return bool(db.execute(delete(sources).where(sources.c.name == name)).rowcount)


def document_sources(store: Store) -> dict[str, int]:
    """Count the documents of each source, including sources that were removed."""
    count = func.count()
    query = select(documents.c.source, count).where(~documents.c.deleted)
    with store.read() as db:
        rows = db.execute(query.group_by(documents.c.source)).all()
    return {row[0]: row[1] for row in rows}
