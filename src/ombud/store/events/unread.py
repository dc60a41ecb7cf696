"""What of many conversations their lists show: the last words of an employee, and how many messages
nobody has read."""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import select

from ombud.store.database import Store
from ombud.store.tables import event as events


class LastWords(NamedTuple):
    text: str = ""
    unread: int = 0


def last_words(store: Store, conversation_ids: Collection[str]) -> dict[str, LastWords]:
    """Conversation -> its employee's last words; none for whom has said nothing."""
    columns = (events.c.conversation_id, events.c.place, events.c.by, events.c.kind)
    wanted = select(*columns, events.c.content).where(
        events.c.conversation_id.in_(conversation_ids),
        events.c.kind.in_(["message", "read"]),
        events.c.by.in_(["user", "advisor"]),
    )
    talks: dict[str, list[Any]] = {}
    with store.read() as db:
        for row in db.execute(wanted.order_by(events.c.place)):
            talks.setdefault(row.conversation_id, []).append(row)
    return {talk: _last_words(rows) for talk, rows in talks.items()}


def _last_words(rows: list[Any]) -> LastWords:
    """rows: messages and what was read, in their order."""
    said = [row for row in rows if row.kind == "message" and row.by == "user"]
    if not said:
        return LastWords()
    read_up_to = 0
    for row in rows:
        if row.by == "advisor":
            read_up_to = max(read_up_to, _read(row))
    unread = sum(row.place > read_up_to for row in said)
    return LastWords(_text(said[-1]), unread)


def _read(row: Any) -> int:
    """The last place that an advisor had read: who answers has read what was there."""
    if row.kind == "message":
        return int(row.place)
    return int(json.loads(row.content)["place"]) if row.content else 0


def _text(row: Any) -> str:
    """Empty where it was erased."""
    return str(json.loads(row.content)["text"]) if row.content else ""
