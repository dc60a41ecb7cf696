"""Reads everything that is stored about a person, without secrets."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, or_, select

from ombud.store.audit.forgetting import ErasureSelection
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import audit as records
from ombud.store.tables import conversation as conversations
from ombud.store.tables import line as lines
from ombud.store.tables import metadata
from ombud.store.tables import session as sessions

SECRET = ("password", "digest", "proof", "owner", "salt", "secret", "memory", "cursor")
"""Columns that hold secrets, digests of secrets, or the state of a desk's client."""
Rows = dict[str, list[dict[str, Any]]]


def read_of_person(
    store: Store, selection: ErasureSelection, person: str, pseudonym: str
) -> tuple[Rows, list[dict[str, Any]]]:
    """Return table -> rows about a person, and the audit records that name the person or one of
    these rows.

    Tables are found by their columns, so that one that is added later is not forgotten. pseudonym:
    of the account, as in the chain."""
    with store.read() as db:
        inside = select(answers.c.id).where(answers.c.conversation_id.in_(selection.conversations))
        talks = sessions.c.conversation_id.in_(selection.conversations)
        owners = set(db.execute(select(sessions.c.owner).where(talks)).scalars()) - {""}
        own_lines = lines.c.conversation_id.in_(selection.conversations)
        ids: dict[str, Collection[str]] = {
            "conversation_id": selection.conversations,
            "answer_id": {*selection.answers, *db.execute(inside).scalars()},
            "ticket_id": set(db.execute(select(lines.c.ticket_id).where(own_lines)).scalars()),
            "account_id": {person},
            "advisor_id": {person},
            "rater": {person, pseudonym, *owners},
            "by": {pseudonym},
        }
        rows = rows_by_column(db, ids)
        named = {person, pseudonym, *selection.conversations, *ids["answer_id"]}
        named.update(row["id"] for row in rows.get("event", ()))
        return rows, audit_records(db, named)


def rows_by_column(db: Connection, ids: Mapping[str, Collection[str]]) -> Rows:
    """Return the rows of each table that one of these columns connects with the person."""
    own_keys = {
        conversations.name: "conversation_id",
        answers.name: "answer_id",
        "account": "account_id",
    }
    by_table: Rows = {}
    for table in metadata.sorted_tables:
        wheres = [table.c[name].in_(ids[name]) for name in ids if name in table.c]
        if table.name in own_keys:
            wheres.append(table.c.id.in_(ids[own_keys[table.name]]))
        if not wheres:
            continue
        rows: list[dict[str, Any]] = []
        for row in db.execute(select(table).where(or_(*wheres))).mappings():
            rows.append({name: value for name, value in row.items() if name not in SECRET})
        if rows:
            by_table[table.name] = rows
    return by_table


def audit_records(db: Connection, named: Collection[str]) -> list[dict[str, Any]]:
    """Return the records of the chain that name one of these ids, without what they say of
    others."""
    exported: list[dict[str, Any]] = []
    for number, record, digest in db.execute(select(records).order_by(records.c.number)):
        content = json.loads(record)
        own_rows = {
            key: value
            for key, value in content.get("rows", {}).items()
            if key.partition("/")[2] in named
        }
        facts = content.get("facts", {})
        if own_rows or any(value in named for value in map(str, facts.values())):
            exported.append({**content, "number": number, "hash": digest, "rows": own_rows})
    return exported
