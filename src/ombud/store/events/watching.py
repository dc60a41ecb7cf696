"""What has happened, in any process, since the last look."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.store.database import Store
from ombud.store.queries import seconds_now
from ombud.store.tables import event as events
from ombud.store.tables import signal as signals

SIGNAL_SECONDS = 60.0
"""Seconds for which a typing signal is stored."""


class Change(NamedTuple):
    """A new event of a conversation."""

    number: int
    conversation_id: str
    kind: str


class TypingSignal(NamedTuple):
    """Somebody who types in a conversation, or has stopped."""

    number: int
    conversation_id: str
    by: str
    name: str
    is_typing: bool


class News(NamedTuple):
    """New events and typing signals."""

    changes: tuple[Change, ...]
    typing: tuple[TypingSignal, ...]


GAP_SECONDS = 60.0
"""How long a missing number of an event is waited for: as long as a transaction may take."""


class NewsCursor:
    """Reads what is new since the last time; a missing number may still come."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._event = 0
        self._signal = 0
        self._gaps: dict[int, float] = {}

    @property
    def has_gaps(self) -> bool:
        return bool(self._gaps)

    def move(self, event: int, signal: int) -> None:
        """Continue after these numbers."""
        self._event, self._signal = event, signal

    def read(self) -> News:
        news = news_since(self._store, self._event, self._signal, list(self._gaps))
        now = time.monotonic()
        for change in news.changes:
            self._gaps.pop(change.number, None)
            if change.number > self._event:
                missing = range(max(self._event + 1, change.number - 100), change.number)
                self._gaps.update(dict.fromkeys(missing, now + GAP_SECONDS))
                self._event = change.number
        for number, until in list(self._gaps.items()):
            if until < now:
                del self._gaps[number]
        if news.typing:
            self._signal = news.typing[-1].number
        return news


def news_since(store: Store, event: int, signal: int, gaps: Iterable[int] = ()) -> News:
    """Return events after number `event` and signals after number `signal`. gaps: missing event
    numbers to check again, because a transaction that began earlier may end later."""
    wanted = (events.c.number > event) | events.c.number.in_(list(gaps))
    changed = select(events.c.number, events.c.conversation_id, events.c.kind).where(wanted)
    signalled = select(signals).where(signals.c.number > signal).order_by(signals.c.number)
    with store.read() as db:
        changes = [Change(*row) for row in db.execute(changed.order_by(events.c.number))]
        typing = [
            TypingSignal(
                number=row.number,
                conversation_id=row.conversation_id,
                by=row.by,
                name=row.name,
                is_typing=row.is_typing,
            )
            for row in db.execute(signalled)
        ]
    return News(tuple(changes), tuple(typing))


def newest(store: Store) -> tuple[int, int]:
    """Return the numbers of the newest event and signal; 0 if there is none."""
    with store.read() as db:
        event = db.execute(select(func.coalesce(func.max(events.c.number), 0))).scalar_one()
        signal = db.execute(select(func.coalesce(func.max(signals.c.number), 0))).scalar_one()
    return int(event), int(signal)


def signal_typing(store: Store, conversation_id: str, by: str, name: str, *, on: bool) -> None:
    """Signal that somebody is typing in a conversation, or has stopped."""
    with store.write() as db:
        now = seconds_now(db)
        # The newest stays, so that numbers never restart for those who have read them.
        last = select(func.max(signals.c.number)).scalar_subquery()
        db.execute(
            delete(signals).where(signals.c.at < now - SIGNAL_SECONDS, signals.c.number < last)
        )
        row = {"conversation_id": conversation_id, "by": by, "name": name[:200]}
        db.execute(insert(signals).values(**row, is_typing=on, at=now))
    store.announce()
