"""Taking rows into the audit's chain, some at a time and after they were written, so that no answer
waits for another's record.

Whoever writes a row of the chain's tables names it in `unsealed`, in the same transaction. Whoever
reads the chain takes such rows in first; a process that is killed leaves them to the next one.
Until then a change of such a row cannot be told from its beginning: that is a moment, as long as
somebody works.
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
"""Seconds that rows wait for others to be taken in with them: whoever writes next would wait for a
transaction that was begun at once."""


def leave_unsealed(db: Connection, table: str, ids: Sequence[str], setup: str = "") -> None:
    """Name new rows that the chain is to take in."""
    rows = [{"name": table, "row_id": identity, "setup": setup} for identity in ids]
    if rows:
        db.execute(insert(unsealed), rows)


def seal(store: Store) -> int:
    """Take in everything that stands outside of the chain; the number of rows."""
    with store.read() as db:
        if db.execute(select(unsealed.c.number).limit(1)).first() is None:
            return 0
    total = 0
    while True:
        with store.write() as db:
            number = next_number(db)  # whoever has it is alone
            batch = _next_batch(db)
            _take(db, batch.rows, number)
        total += len(batch.rows)
        if batch.is_last:
            return total


def seal_soon(store: Store) -> None:
    """The same in a thread of this process, for whoever has just written such rows; who watches
    the store hears of it."""
    store.announce()
    with _begin:
        sealer = _sealers.get(store) or _Sealer(store)
        _sealers[store] = sealer
    sealer.wake()


def unsealed_rows(db: Connection) -> set[str]:
    """`table/id` of each row that is still outside."""
    rows = db.execute(select(unsealed.c.name, unsealed.c.row_id))
    return {f"{row.name}/{row.row_id}" for row in rows}


class _Sealer:
    """One thread at most, which ends when nothing is left to do."""

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
            except StoreError as failed:  # whoever writes or reads next tries again
                logger.warning("Rows wait to be taken into the audit's chain: %s", failed)

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


_sealers: weakref.WeakKeyDictionary[Store, _Sealer] = weakref.WeakKeyDictionary()
_begin = threading.Lock()


class _Batch(NamedTuple):
    rows: Sequence[Row[Any]]
    is_last: bool


def _next_batch(db: Connection) -> _Batch:
    """At most BATCH rows that wait. Events at its end wait for the next one: the answer that was
    written with them may stand there."""
    rows = db.execute(select(unsealed).order_by(unsealed.c.number).limit(BATCH)).all()
    if len(rows) < BATCH:
        return _Batch(rows, is_last=True)
    end = len(rows)
    while end and rows[end - 1].name == "event":
        end -= 1
    return _Batch(rows[:end] or rows, is_last=False)


def _take(db: Connection, rows: Sequence[Row[Any]], number: int) -> None:
    """Into the chain from this number on; each answer with a record of its own."""
    for changed, facts in _records(db, rows):
        for name, ids in changed.items():
            table = TABLES[name]
            db.execute(update(table).where(table.c.id.in_(ids)).values(record=number))
        append(db, number, next(iter(changed)), changed, facts)
        number += 1
    taken = [row.number for row in rows]
    db.execute(delete(unsealed).where(unsealed.c.number.in_(taken)))


def _records(
    db: Connection, rows: Sequence[Row[Any]]
) -> Iterator[tuple[dict[str, list[str]], dict[str, Any]]]:
    """(table -> ids, facts) of each record, in the order in which the rows were written. An
    answer's takes the events in that were written with it."""
    asked = [row.row_id for row in rows if row.name == "answer"]
    query = select(answers.c.id, answers.c.answer).where(answers.c.id.in_(asked))
    contents = {row.id: row.answer for row in db.execute(query)}
    events: list[str] = []
    for row in rows:
        if row.name == "event":
            events.append(row.row_id)
            continue
        if row.name == "answer":
            facts = _facts(contents.get(row.row_id) or {}, row.setup)
            yield {"answer": [row.row_id], "event": events}, facts
        else:
            yield {row.name: [row.row_id], "event": events}, {}
        events = []
    if events:
        yield {"event": events}, {}


def _facts(answer: dict[str, Any], setup: str) -> dict[str, Any]:
    trace = answer.get("trace", {})
    return {
        "index_version": trace.get("index_version", ""),
        "model": trace.get("model", ""),
        "prompts": trace.get("prompts", {}),
        "setup": setup,
    }
