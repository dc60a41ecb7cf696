"""Records of the audit chain without rows, such as a policy that came into force."""

from collections.abc import Mapping
from typing import Any

from ombud.store.audit.chain import append, next_number
from ombud.store.database import Store


def note_in_chain(store: Store, kind: str, facts: Mapping[str, Any]) -> int:
    """Write a record and return its number. facts: only what may be stored for ever, never texts or
    persons."""
    with store.write() as db:
        number = next_number(db)
        append(db, number, kind, {}, facts)
    return number
