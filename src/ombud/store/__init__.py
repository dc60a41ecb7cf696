"""Everything remembered: documents and their texts, sources, answers, conversations, leases.

SQLite with write-ahead log by default; any SQLAlchemy URL of PostgreSQL.
"""

from ombud.store.conversations import add_turn, last_messages, new_conversation, read_answer
from ombud.store.database import Store, open_store
from ombud.store.lease import Lease, hold
from ombud.store.library import (
    Entry,
    Kept,
    Recorded,
    add_source,
    bury,
    cut,
    document_ids,
    ends,
    entries,
    find_document,
    forget,
    list_documents,
    list_sources,
    save_document,
    save_end,
    save_facts,
    successors,
    text_of,
    tombstones,
)

__all__ = [
    "Entry",
    "Kept",
    "Lease",
    "Recorded",
    "Store",
    "add_source",
    "add_turn",
    "bury",
    "cut",
    "document_ids",
    "ends",
    "entries",
    "find_document",
    "forget",
    "hold",
    "last_messages",
    "list_documents",
    "list_sources",
    "new_conversation",
    "open_store",
    "read_answer",
    "save_document",
    "save_end",
    "save_facts",
    "successors",
    "text_of",
    "tombstones",
]
