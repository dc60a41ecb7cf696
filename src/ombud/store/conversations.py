"""Conversations, their messages, and every answer with its trace."""

import uuid
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select

from ombud.errors import NotFound
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import conversation as conversations
from ombud.store.tables import message as messages
from ombud.store.tables import reasoning as reasonings
from ombud.types import Answer, Message, Person, Question, Role


def new_conversation(store: Store, person: Person) -> str:
    identity = str(uuid.uuid4())
    with store.begin() as db:
        db.execute(insert(conversations).values(id=identity, person=person.model_dump(mode="json"), at=_now()))
    return identity


def last_messages(store: Store, conversation_id: str, turns: int | None = None) -> list[Message]:
    """The messages of a conversation, oldest first; of its last `turns` turns (question and answer) when given.

    Raises NotFound for an unknown conversation.
    """
    query = select(messages).where(messages.c.conversation_id == conversation_id).order_by(messages.c.number.desc())
    with store.begin() as db:
        if db.execute(select(conversations.c.id).where(conversations.c.id == conversation_id)).first() is None:
            raise NotFound(f"There is no conversation `{conversation_id}`.", hint="Start a new one.")
        rows = db.execute(query if turns is None else query.limit(2 * turns)).all()
    return [Message(id=r.id, role=r.role, content=r.content, at=datetime.fromisoformat(r.at)) for r in reversed(rows)]


LONGEST_REASONING = 50_000
"""Characters that are kept of what a model thought."""


def add_turn(store: Store, question: Question, answer: Answer, reasoning: str = "") -> None:
    """Keep an answer with its trace and, inside a conversation, both messages: one transaction.

    reasoning: what the model thought; kept apart, for the operator alone.
    """
    with store.begin() as db:
        row = {"question": question.model_dump(mode="json"), "answer": answer.model_dump(mode="json"), "at": _now()}
        db.execute(insert(answers).values(id=answer.id, conversation_id=answer.conversation_id, **row))
        if reasoning:
            thought = reasoning.replace("\0", "")[:LONGEST_REASONING]
            db.execute(insert(reasonings).values(answer_id=answer.id, text=thought))
        if answer.conversation_id:
            _add(db, answer.conversation_id, "user", question.text)
            _add(db, answer.conversation_id, "assistant", answer.text)


def read_answer(store: Store, identity: str) -> Answer:
    with store.begin() as db:
        found = db.execute(select(answers.c.answer).where(answers.c.id == identity)).scalar()
    if found is None:
        raise NotFound(f"There is no answer `{identity}`.")
    return Answer.model_validate(found)


def read_reasoning(store: Store, answer_id: str) -> str:
    """What the model thought before this answer; empty where there was none, or it was erased."""
    with store.begin() as db:
        return str(db.execute(select(reasonings.c.text).where(reasonings.c.answer_id == answer_id)).scalar() or "")


def _add(db: Connection, conversation_id: str, role: Role, content: str) -> str:
    identity = str(uuid.uuid4())
    content = content.replace("\0", "")  # PostgreSQL has no place for it
    row = {"id": identity, "conversation_id": conversation_id, "role": role, "content": content, "at": _now()}
    db.execute(insert(messages).values(**row))
    return identity


def _now() -> str:
    return datetime.now(UTC).isoformat()
