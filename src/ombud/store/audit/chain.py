"""The audit's chain: a record for every answer, conversation and erasure, each holding the hash of
the one before.

A record is canonical JSON (keys sorted, no spaces, ASCII) of

    v         1
    number    1, 2, 3…
    at        time in UTC
    kind      genesis, adopted, moved, conversation, event, answer, erasure,
              published, unpublished, people, admin
    previous  hash of the record before; 64 zeros in the first
    rows      `table/id` -> digest of the row as it is from now on, null where the row is gone
    facts     what may be known for ever, such as the model and the index's version; never words,
    never who

and its hash is sha256 of that text. A row's digest is HMAC-SHA256 of the canonical JSON list of its
columns, keyed by a salt that stands in the row. So the chain holds no content, and when a row is
erased its salt goes too: nobody can guess what it said and check the guess. A record is written in
the transaction of what it speaks of, or soon after it (`sealing.py`)."""

import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Row,
    Table,
    Text,
    cast,
    func,
    insert,
    select,
    text,
)

from ombud.store.queries import batches
from ombud.store.tables import answer as answers
from ombud.store.tables import audit as records
from ombud.store.tables import conversation as conversations
from ombud.store.tables import event as events
from ombud.store.tables import message as messages
from ombud.types import PRIVACY

VERSION = 1
ZERO = "0" * 64
"""Previous hash of the first record."""
TABLES: Mapping[str, Table] = {
    "answer": answers,
    "conversation": conversations,
    "event": events,
    "message": messages,
}
BATCH = 200
"""Largest number of rows in one record when many change at once."""


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def hash_of(record: str) -> str:
    return sha256(record.encode()).hexdigest()


def new_salt() -> str:
    return secrets.token_hex(32)


def next_number(db: Connection) -> int:
    """Return the number of the record that this transaction will write; other writers wait for its
    end.

    SQLite's transactions have one writer anyway. Should a lock fail, the primary key refuses the
    second of two records with one number, so the chain never forks.
    """
    if db.dialect.name == "postgresql":
        db.execute(text("SELECT pg_advisory_xact_lock(826219, hashtext(current_schema()))"))
    return last_number(db) + 1


def last_number(db: Connection) -> int:
    """Return the number of the last record; 0 if there is none."""
    highest = func.coalesce(func.max(records.c.number), 0)
    return int(db.execute(select(highest)).scalar_one())


def append(
    db: Connection,
    number: int,
    kind: str,
    changed: Mapping[str, Iterable[str]],
    facts: Mapping[str, Any],
) -> str:
    """Write record `number` about the present state of rows, and return its hash.

    changed: table -> ids. The rows are read back, so that the digest covers what the database
    stores.
    """
    rows: dict[str, str | None] = {}
    for name, ids in changed.items():
        wanted = list(ids)
        for identity in wanted:
            rows[f"{name}/{identity}"] = None
        for row in rows_of(db, name, wanted):
            rows[f"{name}/{row.id}"] = digest_of(row)
    of_record_before = select(records.c.hash).where(records.c.number == number - 1)
    before = db.execute(of_record_before).scalar()
    record = canonical(
        {
            "v": VERSION,
            "number": number,
            "at": now(),
            "kind": kind,
            "previous": before or ZERO,
            "rows": rows,
            "facts": facts,
        }
    )
    made = hash_of(record)
    db.execute(insert(records).values(number=number, record=record, hash=made))
    return made


def digest_of(row: Row[Any]) -> str:
    """Return the digest of a row of `rows_of`."""
    *content, salt = tuple(row)
    key = str(salt).encode()
    return hmac.digest(key, canonical(content).encode(), "sha256").hex()


def rows_of(db: Connection, name: str, ids: Sequence[str]) -> Iterator[Row[Any]]:
    """Yield rows in the form that is digested: every column, JSON as the stored text, the salt
    last."""
    table = TABLES[name]
    query = digest_columns(table)
    for some in batches(ids, BATCH):
        yield from db.execute(query.where(table.c.id.in_(some)))


def rows_after(db: Connection, name: str, last: str, most: int) -> Sequence[Row[Any]]:
    """Return the next rows in the order of their ids."""
    table = TABLES[name]
    following = digest_columns(table).where(table.c.id > last)
    return db.execute(following.order_by(table.c.id).limit(most)).all()


def digest_columns(table: Table) -> Any:
    columns: list[ColumnElement[Any]] = []
    for name in sorted(table.c.keys()):
        column = table.c[name]
        if name == "salt":
            continue
        if isinstance(column.type, JSON):
            columns.append(cast(column, Text).label(name))
        else:
            columns.append(column)
    return select(*columns, table.c.salt)


def begin_chain(db: Connection) -> None:
    """Write the first record of a new store; do nothing if a chain has begun."""
    if (number := next_number(db)) == 1:
        append(db, number, "genesis", {}, {"chain": secrets.token_hex(16)})


def is_sensitive(answer: Mapping[str, Any]) -> bool:
    """Tell whether an answer is sensitive: handed to a person, or kept from models because of an
    earlier message. At worst it is stored for a shorter time than necessary."""
    degraded = (answer.get("trace") or {}).get("degraded") or ()
    is_guarded = any(str(note).startswith(PRIVACY) for note in degraded)
    return answer.get("action") == "handoff" or is_guarded


def now() -> str:
    return datetime.now(UTC).isoformat()
