"""The event log of a conversation: appended in one transaction with its consequences, read by
place.

An append locks the conversation's row of `session` for its transaction, so that places have no gaps
and a decision sees the current state.
"""

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import Connection, Row, insert, select, update

from ombud.errors import BadRequest, NotFound
from ombud.store.audit.chain import new_salt, now
from ombud.store.audit.sealing import leave_unsealed, seal_soon
from ombud.store.database import Store
from ombud.store.events.delivery import relay
from ombud.store.events.projection import advance
from ombud.store.tables import conversation as conversations
from ombud.store.tables import event as events
from ombud.store.tables import session as sessions
from ombud.types import Event, Happening, Message, NewEvent, Person, Session

LONGEST_MESSAGE = 20_000
"""Characters of one message, and of any other text that people write into an event."""
_HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)

Decide = Callable[[Session], Sequence[NewEvent]]
"""Returns the events that follow from a session. Raises if it allows none."""


class Appended(NamedTuple):
    """The result of an append."""

    events: tuple[Event, ...]
    """The appended events; for a repeated key, the event that has it."""
    session: Session
    is_new: bool


Then = Callable[[Connection, Appended], None]
"""Writes more in the same transaction."""


def new_conversation(store: Store, person: Person, owner: str = "", identity: str = "") -> str:
    """Begin a conversation and return its id. owner: digest of its owner's secret. identity: the
    id, where two processes must not begin the same one; the second gets a StoreError."""
    identity = identity or str(uuid.uuid4())
    row = {
        "id": identity,
        "person": person.model_dump(mode="json"),
        "at": now(),
        "salt": new_salt(),
    }
    session = Session(id=identity, asker=person)
    with store.write() as db:
        db.execute(insert(conversations).values(**row))
        db.execute(
            insert(sessions).values(conversation_id=identity, owner=owner, **session_row(session))
        )
        leave_unsealed(db, "conversation", [identity])
    seal_soon(store)
    return identity


def append_events(
    store: Store, conversation_id: str, decide: Decide, then: Then | None = None
) -> Appended:
    """Append what `decide` returns, in a transaction of its own.

    Raises NotFound for a conversation that does not exist or was erased, IllegalTransition for an
    event that its state does not allow, and whatever `decide` and `then` raise; nothing is stored
    then.
    """
    with store.write() as db:
        appended = append_in(db, conversation_id, decide)
        if then:
            then(db, appended)
    if appended.is_new:
        seal_soon(store)
    return appended


def append_in(db: Connection, conversation_id: str, decide: Decide) -> Appended:
    """Append within the caller's transaction; the caller calls `seal_soon` after it."""
    session = lock_session(db, conversation_id)
    new_events = list(decide(session))
    repeated = find_repeated(db, conversation_id, new_events)
    if repeated is not None:
        return Appended((repeated,), session, is_new=False)
    appended: list[Event] = []
    rows: list[dict[str, Any]] = []
    before: list[Session] = []
    for new in new_events:
        event = place_event(session, new)
        before.append(session)
        session = advance(session, event)
        appended.append(event)
        rows.append(event_row(event, new.what))
    if appended:
        db.execute(insert(events), rows)
        own_row = update(sessions).where(sessions.c.conversation_id == session.id)
        db.execute(own_row.values(**session_row(session)))
        for earlier, event in zip(before, appended, strict=True):
            relay(db, earlier, event)
        leave_unsealed(db, "event", [event.id for event in appended])
    return Appended(tuple(appended), session, is_new=bool(appended))


def read_session(store: Store, conversation_id: str) -> Session:
    """Return the state of a conversation. Raises NotFound, also if it was erased."""
    with store.read() as db:
        return select_session(db, conversation_id)


def owner_of(store: Store, conversation_id: str) -> str:
    """Return the digest of the owner's secret; empty if only the operator of this machine has
    access. Raises NotFound."""
    query = select(sessions.c.owner).where(sessions.c.conversation_id == conversation_id)
    with store.read() as db:
        owner = db.execute(query).scalar()
    if owner is None:
        raise no_conversation(conversation_id)
    return str(owner)


class OwnConversation(NamedTuple):
    """A conversation in its owner's list."""

    session: Session
    title: str
    """Title given by its owner; empty if there is none."""
    pinned: bool


def conversations_of(
    store: Store, owner: str, words: str = "", most: int = 500
) -> list[OwnConversation]:
    """Return an owner's conversations, newest first; with words, only those whose title or messages
    contain them, ignoring case."""
    query = (
        select(sessions.c.session, sessions.c.title, sessions.c.pinned)
        .join(conversations, conversations.c.id == sessions.c.conversation_id)
        .where(sessions.c.owner == owner, conversations.c.erased.is_(None))
        .order_by(conversations.c.at.desc())
        .limit(most)
    )
    if words.strip():
        # Escaped as in the stored JSON.
        inside = json.dumps(words.strip(), ensure_ascii=False)[1:-1]
        mentioned = select(events.c.conversation_id).where(
            events.c.kind.in_(["message", "answer"]),  # never the notes of advisors
            events.c.content.icontains(inside, autoescape=True),
        )
        named = sessions.c.title.icontains(words.strip(), autoescape=True)
        query = query.where(named | sessions.c.conversation_id.in_(mentioned))
    with store.read() as db:
        rows = db.execute(query).all()
    own: list[OwnConversation] = []
    for row in rows:
        session = Session.model_validate_json(row.session)
        own.append(OwnConversation(session, row.title, row.pinned))
    return own


def label_conversation(
    store: Store, conversation_id: str, title: str | None = None, *, pinned: bool | None = None
) -> None:
    """Change the title of a conversation in its owner's list and whether it is pinned there; None
    leaves a value unchanged."""
    changes = {"title": title, "pinned": pinned}
    values = {name: value for name, value in changes.items() if value is not None}
    if values:
        update_session_row(store, conversation_id, **values)


def read_title(store: Store, conversation_id: str) -> str:
    query = select(sessions.c.title).where(sessions.c.conversation_id == conversation_id)
    with store.read() as db:
        return str(db.execute(query).scalar() or "")


def disown_conversation(store: Store, conversation_id: str) -> None:
    """Remove a conversation from its owner's list; from then on only the operator can read it."""
    update_session_row(store, conversation_id, owner="", title="", pinned=False)


def update_session_row(store: Store, conversation_id: str, **values: str | bool) -> None:
    row = update(sessions).where(sessions.c.conversation_id == conversation_id)
    with store.write() as db:
        db.execute(row.values(**values))


def list_sessions(store: Store, states: Iterable[str]) -> list[Session]:
    """Return the conversations in one of these states, whoever owns them."""
    query = select(sessions.c.session).where(sessions.c.state.in_(list(states)))
    with store.read() as db:
        return list(map(Session.model_validate_json, db.execute(query).scalars()))


def channel_sessions(
    store: Store, channel: str, conversations_among: Collection[str] | None = None
) -> list[Session]:
    """Return the conversations whose employee writes in a channel. conversations_among: only those
    of these ids."""
    # The state is stored as compact JSON; what merely looks alike is dropped below.
    query = select(sessions.c.session).where(sessions.c.session.contains(f'"channel":"{channel}"'))
    if conversations_among is not None:
        query = query.where(sessions.c.conversation_id.in_(list(conversations_among)))
    with store.read() as db:
        rows = list(map(Session.model_validate_json, db.execute(query).scalars()))
    return [one for one in rows if one.channel == channel]


def read_events(
    store: Store, conversation_id: str, after: int = 0, most: int | None = None
) -> list[Event]:
    """Return the events after a place, in order. Raises NotFound."""
    query = (
        select(events)
        .where(events.c.conversation_id == conversation_id, events.c.place > after)
        .order_by(events.c.place)
        .limit(most)
    )
    with store.read() as db:
        select_session(db, conversation_id)
        rows = db.execute(query).all()
    return list(map(event_of, rows))


def find_event(store: Store, identity: str) -> Event | None:
    with store.read() as db:
        row = db.execute(select(events).where(events.c.id == identity)).first()
    return event_of(row) if row else None


def has_key(store: Store, conversation_ids: Collection[str], key: str) -> bool:
    """Tell whether one of the conversations has an event of this key."""
    same = events.c.conversation_id.in_(list(conversation_ids)) & (events.c.key == key)
    with store.read() as db:
        return db.execute(select(events.c.id).where(same).limit(1)).first() is not None


def last_messages(store: Store, conversation_id: str, turns: int | None = None) -> list[Message]:
    """Return the messages of a conversation, oldest first; or those of its last `turns` turns, each
    beginning with the employee's message. Raises NotFound for an unknown or erased conversation."""
    query = (
        select(events)
        .where(
            events.c.conversation_id == conversation_id,
            events.c.kind.in_(["message", "answer"]),
            events.c.content != "",
        )
        .order_by(events.c.place.desc())
    )
    if turns is not None:
        query = query.limit(2 * turns)
    with store.read() as db:
        select_session(db, conversation_id)
        rows = db.execute(query).all()
    messages: list[Message] = []
    for row in reversed(rows):
        event = event_of(row)
        if event.role is not None:
            message = Message(id=event.id, role=event.role, content=event.text, at=event.at)
            messages.append(message)
    return messages


def event_of(row: Row[Any]) -> Event:
    return Event(
        id=row.id,
        conversation_id=row.conversation_id,
        place=row.place,
        by=row.by,
        what=_HAPPENING.validate_json(row.content) if row.content else None,
        key=row.key or "",
        at=datetime.fromisoformat(row.at),
    )


def lock_session(db: Connection, conversation_id: str) -> Session:
    query = select(sessions.c.session).where(sessions.c.conversation_id == conversation_id)
    db.execute(query.with_for_update()).first()
    return select_session(db, conversation_id)


def select_session(db: Connection, conversation_id: str) -> Session:
    query = (
        select(sessions.c.session, conversations.c.erased)
        .join(conversations, conversations.c.id == sessions.c.conversation_id)
        .where(sessions.c.conversation_id == conversation_id)
    )
    row = db.execute(query).first()
    if row is None:
        raise no_conversation(conversation_id)
    if row.erased is not None:
        raise NotFound(f"The conversation `{conversation_id}` was erased.", hint="Start a new one.")
    return Session.model_validate_json(row.session)


def no_conversation(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation `{conversation_id}`.", hint="Start a new one.")


def find_repeated(
    db: Connection, conversation_id: str, new_events: Iterable[NewEvent]
) -> Event | None:
    """Return the event that was already stored under one of the keys; None if all are new."""
    keys = [new.key for new in new_events if new.key]
    if not keys:
        return None
    same = select(events).where(
        events.c.conversation_id == conversation_id,
        events.c.key.in_(keys),
    )
    row = db.execute(same.order_by(events.c.place).limit(1)).first()
    return event_of(row) if row else None


def place_event(session: Session, new: NewEvent) -> Event:
    return Event(
        id=str(uuid.uuid4()),
        conversation_id=session.id,
        place=session.last + 1,
        by=new.by,
        what=new.what,
        key=new.key,
        at=datetime.fromisoformat(now()),
    )


def event_row(event: Event, what: Happening) -> dict[str, Any]:
    content = what.model_dump_json().replace("\\u0000", "")
    if len(content) > 4 * LONGEST_MESSAGE:
        raise BadRequest(
            f"A message may have at most {LONGEST_MESSAGE:,} characters.", hint="Send it in parts."
        )
    return {
        "id": event.id,
        "conversation_id": event.conversation_id,
        "place": event.place,
        "by": event.by,
        "kind": what.kind,
        "content": content,
        "key": event.key or None,
        "at": event.at.isoformat(),
        "salt": new_salt(),
    }


def session_row(session: Session) -> dict[str, Any]:
    return {
        "state": session.state,
        "desk": session.desk,
        "last": session.last,
        "session": session.model_dump_json(),
    }
