"""What one store knows of documents, laid into another: so that a copy of the index has its
facts beside it."""

from sqlalchemy import Connection, Table, insert, select

from ombud.store.database import Store
from ombud.store.queries import batches
from ombud.store.tables import document as documents
from ombud.store.tables import glossary, graph_document, graph_name, graph_same, graph_triplet
from ombud.store.tables import text as texts

BATCH = 200
WHOLE = (documents, glossary, graph_document, graph_triplet, graph_name, graph_same)


def copy_library(store: Store, other: Store) -> None:
    """Documents with the text of their present version, abbreviations and triplets, as they are in
    one moment. `other` must hold none."""
    present = documents.c.id == texts.c.document_id
    is_present = present & (documents.c.digest == texts.c.digest)
    with store.read() as db, other.write() as copied:
        for table in WHOLE:
            _copy(db, copied, table, select(table))
        _copy(db, copied, texts, select(texts).join(documents, is_present))


def _copy(db: Connection, copied: Connection, table: Table, query: object) -> None:
    rows = [dict(row._mapping) for row in db.execute(query)]  # type: ignore[call-overload]
    for some in batches(rows, BATCH):
        copied.execute(insert(table), list(some))
