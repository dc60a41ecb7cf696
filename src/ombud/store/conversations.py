"""Conversations, their messages, and every answer with its trace; each change is a record of the
audit's chain."""

import uuid
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, insert, select, text

from ombud.errors import NotFound
from ombud.store.audit.chain import append, is_sensitive, new_salt, next_number, now
from ombud.store.database import Store
from ombud.store.records import understood
from ombud.store.tables import answer as answers
from ombud.store.tables import conversation as conversations
from ombud.store.tables import message as messages
from ombud.store.tables import reasoning as reasonings
from ombud.types import Answer, Message, Person, Question, Role

FRESH = text(
    "INSERT INTO setup (digest, content) VALUES (:digest, :content) ON CONFLICT DO NOTHING"
)
GONE = "`ombud audit show` says when and why."
LONGEST_REASONING = 50_000
"""Characters that are kept of what a model thought."""


def new_conversation(store: Store, person: Person) -> str:
    identity = str(uuid.uuid4())
    with store.write() as db:
        number = next_number(db)
        row = {
            "id": identity,
            "person": person.model_dump(mode="json"),
            "at": now(),
            "salt": new_salt(),
        }
        db.execute(insert(conversations).values(**row, record=number))
        append(db, number, "conversation", {"conversation": [identity]}, {})
    return identity


def last_messages(store: Store, conversation_id: str, turns: int | None = None) -> list[Message]:
    """The messages of a conversation, oldest first; of its last `turns` turns (question and answer)
    when given.

    Raises NotFound for an unknown conversation, and for one that was erased.
    """
    query = (
        select(messages)
        .where(messages.c.conversation_id == conversation_id)
        .order_by(messages.c.number.desc())
    )
    with store.read() as db:
        _check_there(db, conversation_id)
        same = select(conversations.c.id).where(conversations.c.id == conversation_id)
        if db.execute(same).first() is None:
            raise NotFound(
                f"There is no conversation `{conversation_id}`.", hint="Start a new one."
            )
        if turns is not None:
            query = query.limit(2 * turns)
        rows = db.execute(query).all()
    turns_in_order: list[Message] = []
    for row in reversed(rows):
        message = Message(
            id=row.id,
            role=row.role,
            content=row.content,
            at=datetime.fromisoformat(row.at),
        )
        turns_in_order.append(message)
    return turns_in_order


def add_turn(
    store: Store, question: Question, answer: Answer, setup: str = "", reasoning: str = ""
) -> None:
    """Keep an answer with its trace, inside a conversation both messages, and its record in the
    chain: one transaction.

    setup: what answered, as JSON; kept once for all answers that it gave. reasoning: what the model
    thought; kept apart, for the operator alone, and no part of the chain. Raises NotFound where the
    conversation was erased meanwhile."""
    digest = sha256(setup.encode()).hexdigest() if setup else ""
    with store.write() as db:
        number = next_number(db)
        if digest:
            db.execute(FRESH, {"digest": digest, "content": setup})
        content = answer.model_dump(mode="json")
        row = {
            "id": answer.id,
            "conversation_id": answer.conversation_id,
            "question": question.model_dump(mode="json"),
            "answer": content,
            "at": now(),
            "sensitive": is_sensitive(content),
            "salt": new_salt(),
            "record": number,
        }
        db.execute(insert(answers).values(**row))
        if thought := reasoning.replace("\0", "")[:LONGEST_REASONING]:
            db.execute(insert(reasonings).values(answer_id=answer.id, text=thought))
        said = []
        if answer.conversation_id:
            _check_there(db, answer.conversation_id)
            said = [
                _add(db, number, answer.conversation_id, "user", question.text),
                _add(db, number, answer.conversation_id, "assistant", answer.text),
            ]
        trace = answer.trace
        facts = {
            "index_version": trace.index_version,
            "model": trace.model,
            "prompts": trace.prompts,
            "setup": digest,
        }
        append(db, number, "answer", {"answer": [answer.id], "message": said}, facts)


def read_answer(store: Store, identity: str) -> Answer:
    """Raises NotFound, also where the answer was erased."""
    query = select(answers.c.answer).where(answers.c.id == identity)
    with store.read() as db:
        found = db.execute(query).scalar()
    if found is None:
        raise NotFound(f"There is no answer `{identity}`.")
    if not found:
        raise NotFound(f"The answer `{identity}` was erased.", hint=GONE)
    return understood(Answer, found, identity)


def read_reasoning(store: Store, answer_id: str) -> str:
    """What the model thought before this answer; empty where there was none, or it was erased."""
    query = select(reasonings.c.text).where(reasonings.c.answer_id == answer_id)
    with store.read() as db:
        return str(db.execute(query).scalar() or "")


def _check_there(db: Connection, conversation_id: str) -> None:
    same = select(conversations.c.erased).where(conversations.c.id == conversation_id)
    if db.execute(same).scalar() is not None:
        raise NotFound(f"The conversation `{conversation_id}` was erased.", hint="Start a new one.")


def _add(db: Connection, record: int, conversation_id: str, role: Role, content: str) -> str:
    identity = str(uuid.uuid4())
    content = content.replace("\0", "")  # PostgreSQL has no place for it
    row = {
        "id": identity,
        "conversation_id": conversation_id,
        "role": role,
        "content": content,
        "at": now(),
    }
    db.execute(insert(messages).values(**row, salt=new_salt(), record=record))
    return identity
