"""Adds rows to the audit chain in batches after they were written, so that no answer waits for a
record.

Whoever writes a row of the chain's tables lists it in `unsealed`, in the same transaction. Whoever
reads the chain seals such rows first; rows of a killed process are sealed by the next one. Until
then, which is a moment, a change of such a row cannot be detected.
"""

import logging
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, insert, select, update

from ombud.errors import StoreError
from ombud.store.audit.chain import BATCH, TABLES, append, next_number
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import unsealed

logger = logging.getLogger(__name__)

PAUSE = 0.2
"""Seconds to collect rows before sealing; a transaction begun at once would block the next
writer."""


def leave_unsealed(db: Connection, table: str, ids: Sequence[str], setup: str = "") -> None:
    """List new rows that the chain has to cover."""
    rows = [{"name": table, "row_id": identity, "setup": setup} for identity in ids]
    if rows:
        db.execute(insert(unsealed), rows)


def seal(store: Store) -> int:
    """Add all unsealed rows to the chain, and return their number."""
    with store.read() as db:
        if db.execute(select(unsealed.c.number).limit(1)).first() is None:
            return 0
    total = 0
    while True:
        with store.write() as db:
            number = next_number(db)  # locks the chain
            batch = next_batch(db)
            add_to_chain(db, batch.rows, number)
        total += len(batch.rows)
        if batch.is_last:
            return total


def seal_soon(store: Store) -> None:
    """Seal new rows in a background thread, and notify the listeners of the store."""
    store.announce()
    with _begin:
        sealer = _sealers.get(store) or Sealer(store)
        _sealers[store] = sealer
    sealer.wake()


def unsealed_rows(db: Connection) -> set[str]:
    """Return `table/id` of each row that is not sealed yet."""
    rows = db.execute(select(unsealed.c.name, unsealed.c.row_id))
    return {f"{row.name}/{row.row_id}" for row in rows}


class Sealer:
    """Seals in one background thread, which ends when nothing is left to do."""

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)
        self._lock = threading.Lock()
        self._is_wanted = False
        self._thread: threading.Thread | None = None
        self._is_closing = threading.Event()
        store.before_close(self._finish)

    def wake(self) -> None:
        with self._lock:
            self._is_wanted = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="seal")
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._is_wanted:
                    self._thread = None
                    return
            self._is_closing.wait(PAUSE)
            with self._lock:
                self._is_wanted = False
            try:
                self._seal()
            except StoreError as failed:  # the next writer or reader retries
                logger.warning(
                    "Rows could not be added to the audit chain and will be retried: %s", failed
                )

    def _seal(self) -> None:
        store = self._store()
        if store is not None:
            seal(store)

    def _finish(self) -> None:
        self._is_closing.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()


_sealers: weakref.WeakKeyDictionary[Store, Sealer] = weakref.WeakKeyDictionary()
_begin = threading.Lock()


class SealBatch(NamedTuple):
    rows: Sequence[Row[Any]]
    is_last: bool


def next_batch(db: Connection) -> SealBatch:
    """Return at most BATCH unsealed rows. Trailing events wait for the next batch, which may hold
    their answer."""
    rows = db.execute(select(unsealed).order_by(unsealed.c.number).limit(BATCH)).all()
    if len(rows) < BATCH:
        return SealBatch(rows, is_last=True)
    end = len(rows)
    while end and rows[end - 1].name == "event":
        end -= 1
    return SealBatch(rows[:end] or rows, is_last=False)


def add_to_chain(db: Connection, rows: Sequence[Row[Any]], number: int) -> None:
    """Add rows to the chain from this number on; each answer gets a record of its own."""
    for changed, facts in records_of(db, rows):
        for name, ids in changed.items():
            table = TABLES[name]
            db.execute(update(table).where(table.c.id.in_(ids)).values(record=number))
        append(db, number, next(iter(changed)), changed, facts)
        number += 1
    taken = [row.number for row in rows]
    db.execute(delete(unsealed).where(unsealed.c.number.in_(taken)))


def records_of(
    db: Connection, rows: Sequence[Row[Any]]
) -> Iterator[tuple[dict[str, list[str]], dict[str, Any]]]:
    """Yield (table -> ids, facts) of each record, in the order of writing. The record of an answer
    includes the events written with it."""
    answer_ids = [row.row_id for row in rows if row.name == "answer"]
    query = select(answers.c.id, answers.c.answer).where(answers.c.id.in_(answer_ids))
    contents = {row.id: row.answer for row in db.execute(query)}
    events: list[str] = []
    for row in rows:
        if row.name == "event":
            events.append(row.row_id)
            continue
        if row.name == "answer":
            facts = answer_facts(contents.get(row.row_id) or {}, row.setup)
            yield {"answer": [row.row_id], "event": events}, facts
        else:
            yield {row.name: [row.row_id], "event": events}, {}
        events = []
    if events:
        yield {"event": events}, {}


def answer_facts(answer: dict[str, Any], setup: str) -> dict[str, Any]:
    trace = answer.get("trace", {})
    return {
        "index_version": trace.get("index_version", ""),
        "model": trace.get("model", ""),
        "prompts": trace.get("prompts", {}),
        "setup": setup,
    }
