"""What has happened since one looked last, in any process."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import delete, func, insert, select

from ombud.store.database import Store
from ombud.store.queries import seconds_now
from ombud.store.tables import event as events
from ombud.store.tables import signal as signals

KEPT = 60.0
"""Seconds for which it can be read who types."""


class Change(NamedTuple):
    number: int
    conversation_id: str
    kind: str


class TypingSignal(NamedTuple):
    number: int
    conversation_id: str
    by: str
    name: str
    is_typing: bool


class News(NamedTuple):
    changes: tuple[Change, ...]
    typing: tuple[TypingSignal, ...]


def news_since(store: Store, event: int, signal: int, gaps: Iterable[int] = ()) -> News:
    """Events after number `event` and signals after number `signal`. gaps: numbers of events that
    were missing before: a transaction that began earlier may have ended later."""
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
    """Numbers of the newest event and of the newest signal; 0 where there is none."""
    with store.read() as db:
        event = db.execute(select(func.coalesce(func.max(events.c.number), 0))).scalar_one()
        signal = db.execute(select(func.coalesce(func.max(signals.c.number), 0))).scalar_one()
    return int(event), int(signal)


def signal_typing(store: Store, conversation_id: str, by: str, name: str, *, on: bool) -> None:
    """Tell whoever watches the conversation that somebody types, or has stopped."""
    with store.write() as db:
        now = seconds_now(db)
        # The newest stays, so that numbers never begin anew under those who have read them.
        last = select(func.max(signals.c.number)).scalar_subquery()
        db.execute(delete(signals).where(signals.c.at < now - KEPT, signals.c.number < last))
        row = {"conversation_id": conversation_id, "by": by, "name": name[:200]}
        db.execute(insert(signals).values(**row, is_typing=on, at=now))
    store.announce()
