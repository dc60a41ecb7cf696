"""Every answer with its trace, and the turn of a conversation that it is part of; each is taken
into the audit's chain."""

from hashlib import sha256

from sqlalchemy import Connection, insert, select, text

from ombud.errors import NotFound
from ombud.store.audit.chain import is_sensitive, new_salt, now
from ombud.store.audit.sealing import leave_unsealed, seal_soon
from ombud.store.database import Store
from ombud.store.events.log import Appended, Decide, append_in
from ombud.store.records import understood
from ombud.store.tables import answer as answers
from ombud.store.tables import reasoning as reasonings
from ombud.types import Answer, Answered, NewEvent, Question, Said, Session

FRESH = text(
    "INSERT INTO setup (digest, content) VALUES (:digest, :content) ON CONFLICT DO NOTHING"
)
GONE = "`ombud audit show` says when and why."
LONGEST_REASONING = 50_000
"""Characters that are kept of what a model thought."""


def add_turn(
    store: Store,
    question: Question,
    answer: Answer,
    setup: str = "",
    reasoning: str = "",
    *,
    is_asked: bool = False,
) -> Appended | None:
    """Keep an answer with its trace, and inside a conversation the turn: one transaction.

    setup: what answered, as JSON; kept once for all answers that it gave. reasoning: what the model
    thought; kept apart, for the operator alone, and no part of the chain. is_asked: the question
    stands in the conversation already. Raises NotFound where the conversation was erased meanwhile,
    IllegalTransition where a person has taken it over."""
    digest = sha256(setup.encode()).hexdigest() if setup else ""
    appended = None
    with store.write() as db:
        if digest:
            db.execute(FRESH, {"digest": digest, "content": setup})
        if answer.conversation_id:
            appended = append_in(db, answer.conversation_id, _turn(question, answer, is_asked))
        _add_answer(db, question, answer, reasoning)
        leave_unsealed(db, "answer", [answer.id], digest)
    seal_soon(store)
    return appended


def _turn(question: Question, answer: Answer, is_asked: bool) -> Decide:
    said = Answered(
        text=answer.text.replace("\0", ""),
        answer_id=answer.id,
        outcome=answer.outcome,
        action=answer.action,
    )

    def decide(session: Session) -> list[NewEvent]:
        del session
        events = [NewEvent(by="assistant", what=said)]
        if not is_asked:
            asked = Said(text=question.text.replace("\0", ""))
            events.insert(0, NewEvent(by="user", what=asked))
        return events

    return decide


def _add_answer(db: Connection, question: Question, answer: Answer, reasoning: str) -> None:
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
    if thought := reasoning.replace("\0", "")[:LONGEST_REASONING]:
        db.execute(insert(reasonings).values(answer_id=answer.id, text=thought))


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
