"""Outbox, inbox and lines of external desks.

A row of the outbox is written in the transaction of its event and refers to it; the text is read
when it is sent. Rows of one line are sent in order, each after the one before has arrived. A row of
the inbox is written in the transaction of the event that it caused, with the desk's cursor.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update

from ombud.store.database import Store
from ombud.store.queries import seconds_now
from ombud.store.tables import inbox, outbox
from ombud.store.tables import line as lines
from ombud.types import (
    Answered,
    Closed,
    Ended,
    Event,
    HandedOver,
    Party,
    Said,
    Seen,
    Session,
)

OWN_DESKS: frozenset[str] = frozenset({"desk", "none"})
"""Desks whose advisors read the events directly, so that nothing is sent."""
OutboxKind = Literal["open", "message", "read", "close", "look"]
UNSENT = ("waiting", "parked")
OurSide: frozenset[Party] = frozenset({"user", "assistant", "system"})
"""Parties whose events are sent to the desk."""


class LineRow(NamedTuple):
    """The row of a line."""

    ticket_id: str
    conversation_id: str
    desk: str
    state: Literal["open", "closed"]
    memory: Mapping[str, str]
    cursor: str


class OutboxRow(NamedTuple):
    """A row of the outbox."""

    number: int
    ticket_id: str
    kind: OutboxKind
    event_id: str
    state: Literal["waiting", "parked", "sent", "dropped"]
    tries: int
    seconds_left: float
    """Seconds until it is due; at most 0 if it is."""
    error: str


class DeskStatus(NamedTuple):
    """The state of a desk's lines and messages."""

    desk: str
    open: int
    """Number of open lines."""
    waiting: int
    """Number of messages, as are the next four."""
    parked: int
    sent: int
    dropped: int
    error: str
    """Error of the latest failed attempt."""


def relay(db: Connection, session: Session, event: Event) -> None:
    """Queue an event for the desk that has the conversation; events outside a handoff stay private.
    session: the state before the event."""
    ticket_id, desk = session.ticket_id, session.desk
    if isinstance(event.what, HandedOver):
        ticket_id, desk = event.what.ticket_id, event.what.desk
    elif not session.is_handed_over:
        return
    kind = outbox_kind(event)
    if kind is None or desk in OWN_DESKS:
        return
    if isinstance(event.what, HandedOver):
        line = {
            "ticket_id": ticket_id,
            "conversation_id": event.conversation_id,
            "desk": desk,
            "state": "open",
            "memory": "{}",
        }
        db.execute(insert(lines).values(**line))
    row = {"kind": kind, "event_id": event.id, "state": "waiting"}
    db.execute(insert(outbox).values(ticket_id=ticket_id, **row))


def outbox_kind(event: Event) -> OutboxKind | None:
    if event.by not in OurSide:
        return None
    for shape, kind in _KINDS:
        if isinstance(event.what, shape):
            return kind
    return None


_KINDS: Sequence[tuple[type, OutboxKind]] = (
    (HandedOver, "open"),
    (Said, "message"),
    (Answered, "message"),
    (Seen, "read"),
    (Ended, "close"),
    (Closed, "close"),
)


def lines_with_work(store: Store, desk: str) -> list[str]:
    """Return the tickets of a desk whose line is open or has something to send."""
    unsent = select(outbox.c.ticket_id).where(outbox.c.state.in_(UNSENT))
    wanted = (lines.c.state == "open") | lines.c.ticket_id.in_(unsent)
    query = select(lines.c.ticket_id).where(lines.c.desk == desk, wanted)
    with store.read() as db:
        return list(db.execute(query).scalars())


def tickets_due(store: Store, desk: str) -> set[str]:
    """Return the tickets of a desk that have something to send now."""
    with store.read() as db:
        query = (
            select(outbox.c.ticket_id)
            .join(lines, lines.c.ticket_id == outbox.c.ticket_id)
            .where(
                lines.c.desk == desk,
                outbox.c.state.in_(UNSENT),
                outbox.c.due <= seconds_now(db),
            )
        )
        return set(db.execute(query.distinct()).scalars())


def read_line(store: Store, ticket_id: str) -> LineRow | None:
    """Return a line; None if it was erased."""
    with store.read() as db:
        row = db.execute(select(lines).where(lines.c.ticket_id == ticket_id)).first()
    return line_row(row) if row else None


def find_line(store: Store, desk: str, key: str, value: str) -> LineRow | None:
    """Return the open line of a desk whose memory has this value; None if there is none."""
    remembered = json.dumps({key: value})[1:-1]
    query = select(lines).where(
        lines.c.desk == desk,
        lines.c.state == "open",
        lines.c.memory.contains(remembered, autoescape=True),
    )
    with store.read() as db:
        row = db.execute(query.limit(1)).first()
    return line_row(row) if row else None


def look_soon(store: Store, ticket_id: str) -> None:
    """Let the worker of an open line fetch what its desk has announced."""
    own_rows = outbox.c.ticket_id == ticket_id
    opened = select(outbox.c.event_id).where(own_rows, outbox.c.kind == "open")
    pending = select(outbox.c.number).where(
        own_rows, outbox.c.kind == "look", outbox.c.state.in_(UNSENT)
    )
    with store.write() as db:
        event_id = db.execute(opened).scalar()
        if event_id is not None and db.execute(pending).first() is None:
            row = {"kind": "look", "event_id": event_id, "state": "waiting"}
            db.execute(insert(outbox).values(ticket_id=ticket_id, **row))
    store.announce()


def next_to_send(store: Store, ticket_id: str) -> OutboxRow | None:
    """Return the first row that has not arrived, due or not."""
    query = (
        select(outbox)
        .where(outbox.c.ticket_id == ticket_id, outbox.c.state.in_(UNSENT))
        .order_by(outbox.c.number)
        .limit(1)
    )
    with store.read() as db:
        row = db.execute(query).first()
        if row is None:
            return None
        left = row.due - seconds_now(db)
    return OutboxRow(
        number=row.number,
        ticket_id=row.ticket_id,
        kind=row.kind,
        event_id=row.event_id,
        state=row.state,
        tries=row.tries,
        seconds_left=left,
        error=row.error,
    )


def mark_sent(db: Connection, row: OutboxRow) -> None:
    own_row = update(outbox).where(outbox.c.number == row.number)
    db.execute(own_row.values(state="sent", error=""))
    forget_if_done(db, row.ticket_id)


def drop_row(db: Connection, row: OutboxRow, why: str) -> None:
    """Give up a row; it stays in the outbox with the reason."""
    own_row = update(outbox).where(outbox.c.number == row.number)
    db.execute(own_row.values(state="dropped", error=why))
    forget_if_done(db, row.ticket_id)


def drop_unsent(db: Connection, ticket_id: str, why: str) -> list[str]:
    """Give up every row that has not arrived, and return the ids of its messages."""
    unsent = (outbox.c.ticket_id == ticket_id) & outbox.c.state.in_(UNSENT)
    messages = select(outbox.c.event_id).where(unsent, outbox.c.kind == "message")
    dropped = list(db.execute(messages.order_by(outbox.c.number)).scalars())
    db.execute(update(outbox).where(unsent).values(state="dropped", error=why))
    return dropped


def mark_failed(db: Connection, row: OutboxRow, *, error: str, wait: float, parked: bool) -> None:
    """Record a failed attempt. wait: seconds until the next one."""
    own_row = update(outbox).where(outbox.c.number == row.number)
    db.execute(
        own_row.values(
            state="parked" if parked else "waiting",
            tries=row.tries + 1,
            due=seconds_now(db) + wait,
            error=error,
        )
    )


def retry_parked(store: Store, desk: str = "") -> int:
    """Make all waiting messages due now, and return their number."""
    of_desk = select(lines.c.ticket_id)
    if desk:
        of_desk = of_desk.where(lines.c.desk == desk)
    unsent = update(outbox).where(outbox.c.state.in_(UNSENT), outbox.c.ticket_id.in_(of_desk))
    with store.write() as db:
        return int(db.execute(unsent.values(due=0.0)).rowcount)


def receive(db: Connection, ticket_id: str, entry_id: str, event_id: str | None) -> bool:
    """Record an entry of the desk; False if it was recorded before."""
    same = select(inbox.c.entry_id).where(
        inbox.c.ticket_id == ticket_id, inbox.c.entry_id == entry_id
    )
    if db.execute(same).first() is not None:
        return False
    row = {"ticket_id": ticket_id, "entry_id": entry_id, "event_id": event_id}
    db.execute(insert(inbox).values(**row))
    return True


def move_cursor(db: Connection, ticket_id: str, cursor: str) -> None:
    own_row = update(lines).where(lines.c.ticket_id == ticket_id)
    db.execute(own_row.values(cursor=cursor))


def save_memory(db: Connection, ticket_id: str, values: Mapping[str, str]) -> None:
    """Merge values into the line's stored memory."""
    own_row = lines.c.ticket_id == ticket_id
    before = db.execute(select(lines.c.memory).where(own_row).with_for_update()).scalar()
    after = json.dumps({**json.loads(before or "{}"), **values})
    db.execute(update(lines).where(own_row).values(memory=after))


def close_line(db: Connection, ticket_id: str) -> None:
    """Stop listening to the desk. Earlier messages are still sent; then the line's memory, tokens
    included, is deleted."""
    own_row = update(lines).where(lines.c.ticket_id == ticket_id)
    db.execute(own_row.values(state="closed"))
    forget_if_done(db, ticket_id)


def forget_if_done(db: Connection, ticket_id: str) -> None:
    """Delete the memory of a closed line once nothing is left to send."""
    unsent = select(outbox.c.number).where(
        outbox.c.ticket_id == ticket_id, outbox.c.state.in_(UNSENT)
    )
    done = (lines.c.ticket_id == ticket_id) & (lines.c.state == "closed") & ~unsent.exists()
    db.execute(update(lines).where(done).values(memory="{}"))


def desk_statuses(store: Store) -> list[DeskStatus]:
    """Return the status of every desk that ever got a conversation, by name."""
    of_desk = (
        select(lines.c.desk, outbox.c.state, func.count())
        .join(outbox, outbox.c.ticket_id == lines.c.ticket_id)
        .group_by(lines.c.desk, outbox.c.state)
    )
    opened = select(lines.c.desk, func.count()).where(lines.c.state == "open")
    last_error = (
        select(outbox.c.error)
        .join(lines, lines.c.ticket_id == outbox.c.ticket_id)
        .where(outbox.c.error != "", outbox.c.state.in_(UNSENT))
        .order_by(outbox.c.due.desc())
        .limit(1)
    )
    statuses: list[DeskStatus] = []
    with store.read() as db:
        desks = db.execute(select(lines.c.desk).distinct().order_by(lines.c.desk)).scalars().all()
        counts = {(name, state): count for name, state, count in db.execute(of_desk)}
        of_each = opened.group_by(lines.c.desk)
        still_open = {row[0]: row[1] for row in db.execute(of_each)}
        for name in desks:
            error = db.execute(last_error.where(lines.c.desk == name)).scalar()
            statuses.append(
                DeskStatus(
                    desk=name,
                    open=still_open.get(name, 0),
                    waiting=counts.get((name, "waiting"), 0),
                    parked=counts.get((name, "parked"), 0),
                    sent=counts.get((name, "sent"), 0),
                    dropped=counts.get((name, "dropped"), 0),
                    error=error or "",
                )
            )
    return statuses


def line_row(row: Row[Any]) -> LineRow:
    return LineRow(
        ticket_id=row.ticket_id,
        conversation_id=row.conversation_id,
        desk=row.desk,
        state=row.state,
        memory=json.loads(row.memory),
        cursor=row.cursor,
    )
