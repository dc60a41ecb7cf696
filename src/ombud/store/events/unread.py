"""What lists of conversations show: the employee's last message, and the number of unread
messages."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import select

from ombud.store.database import Store
from ombud.store.tables import event as events


class LastWords(NamedTuple):
    """The employee's last message and the number of unread ones."""

    text: str = ""
    unread: int = 0


def last_words(store: Store, visible: Mapping[str, int]) -> dict[str, LastWords]:
    """Return each conversation's last message of the employee, and the number of unread ones.

    visible: conversation -> place of the last event that advisors may see.
    """
    columns = (events.c.conversation_id, events.c.place, events.c.by, events.c.kind)
    wanted = select(*columns, events.c.content).where(
        events.c.conversation_id.in_(visible),
        events.c.kind.in_(["message", "read"]),
        events.c.by.in_(["user", "advisor"]),
    )
    talks: dict[str, list[Any]] = {}
    with store.read() as db:
        for row in db.execute(wanted.order_by(events.c.place)):
            if row.place <= visible[row.conversation_id]:
                talks.setdefault(row.conversation_id, []).append(row)
    return {talk: summarise(rows) for talk, rows in talks.items()}


def summarise(rows: list[Any]) -> LastWords:
    """Summarise a conversation. rows: its messages and read marks, in order."""
    messages = [row for row in rows if row.kind == "message" and row.by == "user"]
    if not messages:
        return LastWords()
    read_up_to = 0
    for row in rows:
        if row.by == "advisor":
            read_up_to = max(read_up_to, place_read(row))
    unread = sum(row.place > read_up_to for row in messages)
    return LastWords(message_text(messages[-1]), unread)


def place_read(row: Any) -> int:
    """Return the last place that an advisor has read; replying counts as reading."""
    if row.kind == "message":
        return int(row.place)
    return int(json.loads(row.content)["place"]) if row.content else 0


def message_text(row: Any) -> str:
    """Return the text of a message; empty if it was erased."""
    return str(json.loads(row.content)["text"]) if row.content else ""
