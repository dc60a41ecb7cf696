"""Records of the audit's chain that speak of no row, such as that a policy came into force."""

from collections.abc import Mapping
from typing import Any

from ombud.store.audit.chain import append, next_number
from ombud.store.database import Store


def note_in_chain(store: Store, kind: str, facts: Mapping[str, Any]) -> int:
    """Write a record; its number. facts: what may be known for ever, never words, never who."""
    with store.write() as db:
        number = next_number(db)
        append(db, number, kind, {}, facts)
    return number
