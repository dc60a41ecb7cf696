"""The log of a conversation: appended in one transaction with what follows from it, read by place.

Whoever appends holds the conversation's row of `session` for the length of the transaction, so that
places have no gap and a decision sees what it is about.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
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
"""Characters of one message, and of anything else that people write into an event."""
_HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)

Decide = Callable[[Session], Sequence[NewEvent]]
"""What happens next, as the conversation stands. Raises where nothing may."""


class Appended(NamedTuple):
    events: tuple[Event, ...]
    """Those that were appended; where a sender's UUID was there already, the event that has it."""
    session: Session
    is_new: bool


Then = Callable[[Connection, Appended], None]
"""What else is written in the same transaction."""


def new_conversation(store: Store, person: Person, owner: str = "") -> str:
    """Begin a conversation; returns its id. owner: digest of the secret of whom it belongs to."""
    identity = str(uuid.uuid4())
    row = {
        "id": identity,
        "person": person.model_dump(mode="json"),
        "at": now(),
        "salt": new_salt(),
    }
    session = Session(id=identity, asker=person)
    with store.write() as db:
        db.execute(insert(conversations).values(**row))
        db.execute(insert(sessions).values(conversation_id=identity, owner=owner, **_row(session)))
        leave_unsealed(db, "conversation", [identity])
    seal_soon(store)
    return identity


def append_events(
    store: Store, conversation_id: str, decide: Decide, then: Then | None = None
) -> Appended:
    """Append what `decide` says, in a transaction of its own.

    Raises NotFound for a conversation that is not there or was erased, IllegalTransition for what
    it does not allow as it stands, and whatever `decide` and `then` raise: nothing is kept then.
    """
    with store.write() as db:
        appended = append_in(db, conversation_id, decide)
        if then:
            then(db, appended)
    if appended.is_new:
        seal_soon(store)
    return appended


def append_in(db: Connection, conversation_id: str, decide: Decide) -> Appended:
    """The same inside a transaction of the caller's, who calls `seal_soon` after it."""
    session = _lock(db, conversation_id)
    wanted = list(decide(session))
    known = _known(db, conversation_id, wanted)
    if known is not None:
        return Appended((known,), session, is_new=False)
    appended: list[Event] = []
    rows: list[dict[str, Any]] = []
    before: list[Session] = []
    for new in wanted:
        event = _placed(session, new)
        before.append(session)
        session = advance(session, event)
        appended.append(event)
        rows.append(_event_row(event, new.what))
    if appended:
        db.execute(insert(events), rows)
        _keep(db, session)
        for earlier, event in zip(before, appended, strict=True):
            relay(db, earlier, event)
        leave_unsealed(db, "event", [event.id for event in appended])
    return Appended(tuple(appended), session, is_new=bool(appended))


def read_session(store: Store, conversation_id: str) -> Session:
    """Raises NotFound, also for a conversation that was erased."""
    with store.read() as db:
        return _session(db, conversation_id)


def owner_of(store: Store, conversation_id: str) -> str:
    """Digest of the secret of whom it belongs to; empty = nobody but this machine's operator.
    Raises NotFound."""
    query = select(sessions.c.owner).where(sessions.c.conversation_id == conversation_id)
    with store.read() as db:
        found = db.execute(query).scalar()
    if found is None:
        raise _missing(conversation_id)
    return str(found)


class OwnConversation(NamedTuple):
    session: Session
    title: str
    """As its owner has named it; empty where nobody did."""


def conversations_of(
    store: Store, owner: str, words: str = "", most: int = 500
) -> list[OwnConversation]:
    """The conversations of an owner, the newest first; with words, those whose name or messages
    hold them, in either case of letters."""
    query = (
        select(sessions.c.session, sessions.c.title)
        .join(conversations, conversations.c.id == sessions.c.conversation_id)
        .where(sessions.c.owner == owner, conversations.c.erased.is_(None))
        .order_by(conversations.c.at.desc())
        .limit(most)
    )
    if words.strip():
        # As it stands inside JSON.
        inside = json.dumps(words.strip(), ensure_ascii=False)[1:-1]
        said = select(events.c.conversation_id).where(
            events.c.content.icontains(inside, autoescape=True)
        )
        named = sessions.c.title.icontains(words.strip(), autoescape=True)
        query = query.where(named | sessions.c.conversation_id.in_(said))
    with store.read() as db:
        rows = db.execute(query).all()
    return [OwnConversation(Session.model_validate_json(row.session), row.title) for row in rows]


def rename_conversation(store: Store, conversation_id: str, title: str) -> None:
    _set(store, conversation_id, title=title)


def read_title(store: Store, conversation_id: str) -> str:
    query = select(sessions.c.title).where(sessions.c.conversation_id == conversation_id)
    with store.read() as db:
        return str(db.execute(query).scalar() or "")


def disown_conversation(store: Store, conversation_id: str) -> None:
    """Nobody's any more but the operator's: its owner neither lists nor reads it."""
    _set(store, conversation_id, owner="", title="")


def _set(store: Store, conversation_id: str, **values: str) -> None:
    row = update(sessions).where(sessions.c.conversation_id == conversation_id)
    with store.write() as db:
        db.execute(row.values(**values))


def list_sessions(store: Store, states: Iterable[str]) -> list[Session]:
    """Conversations in one of these states, whoever they belong to."""
    query = select(sessions.c.session).where(sessions.c.state.in_(list(states)))
    with store.read() as db:
        return list(map(Session.model_validate_json, db.execute(query).scalars()))


def read_events(
    store: Store, conversation_id: str, after: int = 0, most: int | None = None
) -> list[Event]:
    """The events after a place, in order. Raises NotFound."""
    query = (
        select(events)
        .where(events.c.conversation_id == conversation_id, events.c.place > after)
        .order_by(events.c.place)
        .limit(most)
    )
    with store.read() as db:
        _session(db, conversation_id)
        rows = db.execute(query).all()
    return list(map(event_of, rows))


def find_event(store: Store, identity: str) -> Event | None:
    with store.read() as db:
        row = db.execute(select(events).where(events.c.id == identity)).first()
    return event_of(row) if row else None


def last_messages(store: Store, conversation_id: str, turns: int | None = None) -> list[Message]:
    """What was said in a conversation, oldest first; of its last `turns` turns when given, each
    with what the employee asked first.

    Raises NotFound for an unknown conversation, and for one that was erased.
    """
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
        _session(db, conversation_id)
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


def _lock(db: Connection, conversation_id: str) -> Session:
    query = select(sessions.c.session).where(sessions.c.conversation_id == conversation_id)
    db.execute(query.with_for_update()).first()
    return _session(db, conversation_id)


def _session(db: Connection, conversation_id: str) -> Session:
    query = (
        select(sessions.c.session, conversations.c.erased)
        .join(conversations, conversations.c.id == sessions.c.conversation_id)
        .where(sessions.c.conversation_id == conversation_id)
    )
    row = db.execute(query).first()
    if row is None:
        raise _missing(conversation_id)
    if row.erased is not None:
        raise NotFound(f"The conversation `{conversation_id}` was erased.", hint="Start a new one.")
    return Session.model_validate_json(row.session)


def _missing(conversation_id: str) -> NotFound:
    return NotFound(f"There is no conversation `{conversation_id}`.", hint="Start a new one.")


def _known(db: Connection, conversation_id: str, wanted: Iterable[NewEvent]) -> Event | None:
    """The event that the sender has sent before; None where it is new."""
    keys = [new.key for new in wanted if new.key]
    if not keys:
        return None
    same = select(events).where(
        events.c.conversation_id == conversation_id,
        events.c.key.in_(keys),
    )
    row = db.execute(same.order_by(events.c.place).limit(1)).first()
    return event_of(row) if row else None


def _placed(session: Session, new: NewEvent) -> Event:
    return Event(
        id=str(uuid.uuid4()),
        conversation_id=session.id,
        place=session.last + 1,
        by=new.by,
        what=new.what,
        key=new.key,
        at=datetime.fromisoformat(now()),
    )


def _event_row(event: Event, what: Happening) -> dict[str, Any]:
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


def _keep(db: Connection, session: Session) -> None:
    own_row = update(sessions).where(sessions.c.conversation_id == session.id)
    db.execute(own_row.values(**_row(session)))


def _row(session: Session) -> dict[str, Any]:
    return {
        "state": session.state,
        "desk": session.desk,
        "last": session.last,
        "session": session.model_dump_json(),
    }
