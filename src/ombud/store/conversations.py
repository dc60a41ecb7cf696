"""Answers with their traces, and the turns of conversations that they belong to; the audit chain
covers each."""

from hashlib import sha256

from sqlalchemy import Connection, insert, select, text

from ombud.errors import NotFound
from ombud.store.audit.chain import is_sensitive, new_salt, now
from ombud.store.audit.sealing import leave_unsealed, seal_soon
from ombud.store.database import Store
from ombud.store.events.log import Appended, Decide, append_in
from ombud.store.records import parse_stored
from ombud.store.tables import answer as answers
from ombud.store.tables import reasoning as reasonings
from ombud.types import Answer, Answered, NewEvent, Question, Said, Session

FRESH = text(
    "INSERT INTO setup (digest, content) VALUES (:digest, :content) ON CONFLICT DO NOTHING"
)
GONE = "`ombud audit show` says when and why."
LONGEST_REASONING = 50_000
"""Characters of a model's reasoning that are stored."""


def add_turn(
    store: Store,
    question: Question,
    answer: Answer,
    setup: str = "",
    reasoning: str = "",
    *,
    question_is_stored: bool = False,
) -> Appended | None:
    """Store an answer with its trace, and its turn if it belongs to a conversation, in one
    transaction.

    setup: JSON of the parts that answered, stored once for all their answers. reasoning: the
    model's reasoning, stored separately for the operator and not part of the chain.
    question_is_stored: the conversation already contains the question. Raises NotFound if the
    conversation was erased meanwhile, IllegalTransition if a person has taken it over.
    """
    digest = sha256(setup.encode()).hexdigest() if setup else ""
    appended = None
    with store.write() as db:
        if digest:
            db.execute(FRESH, {"digest": digest, "content": setup})
        if answer.conversation_id:
            appended = append_in(
                db, answer.conversation_id, append_turn(question, answer, question_is_stored)
            )
        insert_answer(db, question, answer, reasoning)
        leave_unsealed(db, "answer", [answer.id], digest)
    seal_soon(store)
    return appended


def append_turn(question: Question, answer: Answer, question_is_stored: bool) -> Decide:
    answered = Answered(
        text=answer.text.replace("\0", ""),
        answer_id=answer.id,
        outcome=answer.outcome,
        action=answer.action,
    )

    def decide(session: Session) -> list[NewEvent]:
        del session
        events = [NewEvent(by="assistant", what=answered)]
        if not question_is_stored:
            question_event = Said(text=question.text.replace("\0", ""))
            events.insert(0, NewEvent(by="user", what=question_event))
        return events

    return decide


def insert_answer(db: Connection, question: Question, answer: Answer, reasoning: str) -> None:
    content = answer.model_dump(mode="json")
    row = {
        "id": answer.id,
        "conversation_id": answer.conversation_id,
        "question": question.model_dump(mode="json"),
        "answer": content,
        "at": now(),
        "sensitive": is_sensitive(content),
        "salt": new_salt(),
    }
    db.execute(insert(answers).values(**row))
    if shortened := reasoning.replace("\0", "")[:LONGEST_REASONING]:
        db.execute(insert(reasonings).values(answer_id=answer.id, text=shortened))


def read_answer(store: Store, identity: str) -> Answer:
    """Return an answer. Raises NotFound, also if it was erased."""
    query = select(answers.c.answer).where(answers.c.id == identity)
    with store.read() as db:
        content = db.execute(query).scalar()
    if content is None:
        raise NotFound(f"There is no answer `{identity}`.")
    if not content:
        raise NotFound(f"The answer `{identity}` was erased.", hint=GONE)
    return parse_stored(Answer, content, identity)


def read_reasoning(store: Store, answer_id: str) -> str:
    """Return the model's reasoning for an answer; empty if there was none or it was erased."""
    query = select(reasonings.c.text).where(reasonings.c.answer_id == answer_id)
    with store.read() as db:
        return str(db.execute(query).scalar() or "")
