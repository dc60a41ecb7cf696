"""Stored answers for auditors: with the question, the time and the record of the chain."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError
from sqlalchemy import Row, select

from ombud.errors import NotFound, StoreError
from ombud.store.audit.sealing import seal
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import session as sessions
from ombud.store.tables import setup as setups
from ombud.types import Answer, Question, Record, load_record

_BATCH = 200
N = TypeVar("N", bound=Record)


class StoredAnswer(NamedTuple):
    """An answer with its question and its audit state."""

    id: str
    conversation_id: str | None
    at: str
    """Time in UTC, ISO 8601."""
    sensitive: bool
    """True if it or another answer of its conversation is sensitive."""
    record: int | None
    erased: int | None
    """Number of the last record that erased a part of it."""
    question: Question | None
    """None if it was erased as a whole."""
    answer: Answer | None
    owner: str = ""
    """Digest of the secret of its conversation's owner; empty if it has none."""


def read_stored_answer(store: Store, identity: str) -> StoredAnswer:
    """Return one answer by its id or a unique beginning of it. Raises NotFound."""
    seal(store)
    same = answers.c.id.startswith(identity, autoescape=True)
    with store.read() as db:
        rows = db.execute(select(answers).where(same).limit(2)).all()
        rows = [row for row in rows if row.id == identity] or rows
        sensitive_talks = sensitive_conversations(db) if rows else set()
    if not rows or not identity:
        raise NotFound(f"There is no answer `{identity}`.", hint="`ombud audit list` shows all.")
    if len(rows) > 1:
        raise NotFound(
            f"More than one answer begins with `{identity}`.", hint="Give more of its id."
        )
    return stored_answer(rows[0], sensitive_talks)


def list_answers(store: Store, since: str = "") -> Iterator[StoredAnswer]:
    """Yield answers in the order in which they were given. since: time in UTC, ISO 8601."""
    seal(store)
    with store.read() as db:
        sensitive_talks = sensitive_conversations(db)
    in_order = select(answers).order_by(answers.c.at, answers.c.id)
    last_at = since
    last_id = ""
    while True:
        is_later = answers.c.at > last_at
        at_once_after = (answers.c.at == last_at) & (answers.c.id > last_id)
        following = in_order.where(is_later | at_once_after)
        with store.read() as db:
            rows = db.execute(following.limit(_BATCH)).all()
            owners = owners_of(db, [row.conversation_id for row in rows if row.conversation_id])
        for row in rows:
            owner = owners.get(row.conversation_id, "")
            yield stored_answer(row, sensitive_talks)._replace(owner=owner)
        if len(rows) < _BATCH:
            return
        last_at = rows[-1].at
        last_id = rows[-1].id


def is_sensitive_conversation(store: Store, conversation_id: str) -> bool:
    """Tell whether one of its answers was ever handed to a person."""
    query = select(answers.c.id).where(
        answers.c.sensitive, answers.c.conversation_id == conversation_id
    )
    with store.read() as db:
        return db.execute(query.limit(1)).first() is not None


def read_setup(store: Store, digest: str) -> dict[str, Any] | None:
    """Return the setup with this digest; None if it is not stored."""
    with store.read() as db:
        query = select(setups.c.content).where(setups.c.digest == digest)
        content = db.execute(query).scalar()
    return dict(json.loads(content)) if content else None


def parse_stored(shape: type[N], stored: Any, identity: str) -> N:
    """Parse a stored record. Raises StoreError, without quoting it, if somebody has changed it."""
    try:
        return load_record(shape, stored)
    except ValidationError:
        raise StoreError(
            f"The answer `{identity}` cannot be read: it was changed.",
            hint="`ombud audit verify` says what else was.",
        ) from None


def sensitive_conversations(db: Any) -> set[str]:
    query = select(answers.c.conversation_id).where(
        answers.c.sensitive, answers.c.conversation_id.is_not(None)
    )
    return set(db.execute(query.distinct()).scalars())


def owners_of(db: Any, conversation_ids: Sequence[str]) -> dict[str, str]:
    query = select(sessions.c.conversation_id, sessions.c.owner)
    own = query.where(sessions.c.conversation_id.in_(conversation_ids))
    return {row.conversation_id: row.owner for row in db.execute(own)}


def stored_answer(row: Row[Any], sensitive_talks: set[str]) -> StoredAnswer:
    question = answer = None
    if row.answer:
        question = parse_stored(Question, row.question, row.id)
        answer = parse_stored(Answer, row.answer, row.id)
    return StoredAnswer(
        id=row.id,
        conversation_id=row.conversation_id,
        at=row.at,
        sensitive=row.sensitive or row.conversation_id in sensitive_talks,
        record=row.record,
        erased=row.erased,
        question=question,
        answer=answer,
    )
