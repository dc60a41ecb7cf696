"""Messages of before become events, under the same ids; a record of the chain says so."""

from sqlalchemy import Connection, Row, delete, insert, select

from ombud.store.audit.chain import BATCH, append, new_salt, next_number
from ombud.store.queries import batches
from ombud.store.tables import conversation as conversations
from ombud.store.tables import event as events
from ombud.store.tables import message as messages
from ombud.store.tables import session as sessions
from ombud.types import Answered, Event, Person, Said, Session


def move_messages(db: Connection) -> None:
    """Each conversation gets its session, and each message becomes an event. Does nothing where
    that was done."""
    without = select(conversations).where(
        conversations.c.id.not_in(select(sessions.c.conversation_id))
    )
    for conversation in db.execute(without).all():
        _move(db, conversation)


def _move(db: Connection, conversation: Row[tuple[object, ...]]) -> None:
    of_it = messages.c.conversation_id == conversation.id
    said = db.execute(select(messages).where(of_it).order_by(messages.c.number)).all()
    rows = [_event_row(place, message) for place, message in enumerate(said, start=1)]
    for some in batches(rows, BATCH):
        number = next_number(db)
        ids = [str(row["id"]) for row in some]
        db.execute(insert(events), [{**row, "record": number} for row in some])
        db.execute(delete(messages).where(messages.c.id.in_(ids)))
        append(db, number, "moved", {"message": ids, "event": ids}, {})
    person = Person.model_validate(conversation.person or {})
    session = Session(id=conversation.id, asker=person, last=len(rows))
    db.execute(
        insert(sessions).values(
            conversation_id=session.id,
            state=session.state,
            last=session.last,
            session=session.model_dump_json(),
        )
    )


def _event_row(place: int, message: Row[tuple[object, ...]]) -> dict[str, object]:
    is_question = message.role == "user"
    what = Said(text=message.content) if is_question else Answered(text=message.content)
    event = Event(
        id=message.id,
        conversation_id=message.conversation_id,
        place=place,
        by="user" if is_question else "assistant",
        what=what,
        at=message.at,
    )
    return {
        "id": event.id,
        "conversation_id": event.conversation_id,
        "place": place,
        "by": event.by,
        "kind": what.kind,
        "content": what.model_dump_json(),
        "at": message.at,
        "salt": new_salt(),
        "erased": message.erased,
    }
