"""Content that goes: a person's, or what is older than it may become. The chain stays and says so.

A conversation goes as a whole, for every question repeats what was said before it. Its rows stay as
tombstones, ids and times only, its messages are deleted, and a record of the chain says why."""

import hmac
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, cast, delete, func, or_, select, update

from ombud.errors import NotFound
from ombud.store.audit.chain import append, new_salt, next_number
from ombud.store.audit.sealing import seal
from ombud.store.database import Store
from ombud.store.queries import batches, count_where
from ombud.store.tables import answer as answers
from ombud.store.tables import answer_feedback as feedback
from ombud.store.tables import conversation as conversations
from ombud.store.tables import event as events
from ombud.store.tables import line as lines
from ombud.store.tables import reasoning as reasonings
from ombud.store.tables import session as sessions
from ombud.types import Person, Session

Reason = Literal["person", "retention"]
_BATCH = 50
"""Conversations, or answers outside of any, that one transaction erases: others wait for its
end."""


class Held(NamedTuple):
    """What is to be erased, by ids."""

    conversations: tuple[str, ...]
    answers: tuple[str, ...]
    """Those outside of any conversation."""


class Erased(NamedTuple):
    conversations: int
    answers: int
    messages: int
    records: tuple[int, ...]
    """Numbers of the records that say so."""
    salt: str
    """With this and the person's id, a record's `of` can be checked: HMAC-SHA256(salt, id)."""


def held_of_person(store: Store, person_id: str) -> Held:
    """Every conversation in which this person has asked, and what they asked outside of any. Raises
    NotFound."""
    # As it stands inside JSON; whether it is really the person's id is looked at below.
    likely = f'%"{_in_json(person_id)}"%'
    own_talks = select(conversations.c.id, conversations.c.person).where(
        cast(conversations.c.person, Text).like(likely, escape="\\")
    )
    own_answers = select(answers.c.id, answers.c.conversation_id, answers.c.question).where(
        cast(answers.c.question, Text).like(likely, escape="\\")
    )
    talks: set[str] = set()
    alone: set[str] = set()
    with store.read() as db:
        for talk in db.execute(own_talks):
            if talk.person.get("id") == person_id:
                talks.add(talk.id)
        for answer in db.execute(own_answers):
            if answer.question.get("asker", {}).get("id") != person_id:
                continue
            if answer.conversation_id:
                talks.add(answer.conversation_id)
            else:
                alone.add(answer.id)
    if not talks and not alone:
        raise NotFound(
            f"Nothing is kept of a person `{person_id}`.",
            hint="Ids are compared letter by letter.",
        )
    return Held(tuple(sorted(talks)), tuple(sorted(alone)))


def held_in_conversation(store: Store, identity: str) -> Held:
    """Raises NotFound for a conversation that is not there or was erased."""
    with store.read() as db:
        there = select(conversations.c.id).where(
            conversations.c.id == identity,
            conversations.c.erased.is_(None),
        )
        if db.execute(there).first() is None:
            raise NotFound(f"There is no conversation `{identity}`, or it was erased already.")
    return Held((identity,), ())


def held_until(store: Store, ordinary: datetime | None, sensitive: datetime | None) -> Held:
    """What was last added to before these times (None = kept for ever).

    A conversation counts by its last message, and as sensitive when one of its answers is.
    """
    sensitive_talks = select(answers.c.conversation_id).where(
        answers.c.sensitive, answers.c.conversation_id.is_not(None)
    )
    is_sensitive = conversations.c.id.in_(sensitive_talks)
    due_talks: list[ColumnElement[bool]] = []
    due_answers: list[ColumnElement[bool]] = []
    if ordinary is not None:
        until = ordinary.isoformat()
        due_talks.append(~is_sensitive & (_last_added() < until))
        due_answers.append(~answers.c.sensitive & (answers.c.at < until))
    if sensitive is not None:
        until = sensitive.isoformat()
        due_talks.append(is_sensitive & (_last_added() < until))
        due_answers.append(answers.c.sensitive & (answers.c.at < until))
    if not due_talks:
        return Held((), ())
    talks = select(conversations.c.id).where(
        conversations.c.erased.is_(None),
        or_(*due_talks),
    )
    alone = select(answers.c.id).where(
        answers.c.conversation_id.is_(None),
        _HAS_CONTENT,
        or_(*due_answers),
    )
    with store.read() as db:
        talk_ids = db.execute(talks.order_by(conversations.c.id)).scalars().all()
        answer_ids = db.execute(alone.order_by(answers.c.id)).scalars().all()
    return Held(tuple(talk_ids), tuple(answer_ids))


_IS_MESSAGE = events.c.kind.in_(["message", "answer"])
_HAS_CONTENT = cast(answers.c.answer, Text) != "{}"
"""An answer that was not erased."""


def _last_added() -> ColumnElement[str]:
    """Time of a conversation's last message, else of its beginning."""
    last_message = (
        select(func.max(events.c.at))
        .where(events.c.conversation_id == conversations.c.id)
        .correlate(conversations)
        .scalar_subquery()
    )
    return func.coalesce(last_message, conversations.c.at)


def questions_in(store: Store, held: Held) -> list[str]:
    """What people asked there, once each."""
    wheres: list[ColumnElement[bool]] = []
    for ids in batches(held.conversations, _BATCH):
        wheres.append(answers.c.conversation_id.in_(ids))
    for ids in batches(held.answers, _BATCH):
        wheres.append(answers.c.id.in_(ids))
    texts: dict[str, None] = {}
    with store.read() as db:
        for where in wheres:
            for question in db.execute(select(answers.c.question).where(where)).scalars():
                texts[question.get("text", "")] = None
    return list(filter(None, texts))


def count_held(store: Store, held: Held) -> tuple[int, int, int]:
    """(conversations, answers, messages) that still have content."""
    talks = whole_answers = said = 0
    with store.read() as db:
        for ids in batches(held.conversations, _BATCH):
            is_left = conversations.c.erased.is_(None)
            talks += count_where(db, conversations.c.id.in_(ids), is_left)
            whole_answers += count_where(db, answers.c.conversation_id.in_(ids), _HAS_CONTENT)
            said += count_where(
                db, events.c.conversation_id.in_(ids), _IS_MESSAGE, events.c.content != ""
            )
        for ids in batches(held.answers, _BATCH):
            whole_answers += count_where(db, answers.c.id.in_(ids), _HAS_CONTENT)
    return talks, whole_answers, said


def erase_rows(store: Store, held: Held, reason: Reason, of: str = "") -> Erased:
    """Erase content, some rows a transaction; a run that is stopped in the middle is finished by
    the next.

    of: whose it was; only a salted digest of it goes into the chain.
    """
    seal(store)  # what is erased has a record of before
    salt = new_salt()
    facts: dict[str, Any] = {"reason": reason}
    if of:
        facts["of"] = mark_of(salt, of)
    talks = whole_answers = said = 0
    records: list[int] = []
    for ids in batches(held.conversations, _BATCH):
        with store.write() as db:
            number = next_number(db)  # first: it holds the others off
            not_erased = select(conversations.c.id).where(
                conversations.c.id.in_(ids),
                conversations.c.erased.is_(None),
            )
            left = list(db.execute(not_erased).scalars())
            if left:
                inside, spoken = _erase_conversations(db, number, left, facts)
                talks += len(left)
                whole_answers += inside
                said += spoken
                records.append(number)
    for ids in batches(held.answers, _BATCH):
        with store.write() as db:
            number = next_number(db)
            whole = select(answers.c.id).where(answers.c.id.in_(ids), _HAS_CONTENT)
            left = list(db.execute(whole).scalars())
            if left:
                _empty(db, number, left)
                append(db, number, "erasure", {"answer": left}, facts)
                whole_answers += len(left)
                records.append(number)
    return Erased(
        conversations=talks,
        answers=whole_answers,
        messages=said,
        records=tuple(records),
        salt=salt,
    )


def mark_of(salt: str, whom: str) -> str:
    return hmac.digest(salt.encode(), whom.encode(), "sha256").hex()


def _erase_conversations(
    db: Connection, number: int, ids: Sequence[str], facts: dict[str, Any]
) -> tuple[int, int]:
    """(answers, messages) that went. What would still be sent to a desk goes with its line."""
    inside = select(answers.c.id).where(answers.c.conversation_id.in_(ids))
    answer_ids = list(db.execute(inside).scalars())
    is_inside = events.c.conversation_id.in_(ids)
    event_ids = list(db.execute(select(events.c.id).where(is_inside)).scalars())
    spoken = count_where(db, is_inside, _IS_MESSAGE, events.c.content != "")
    _empty(db, number, answer_ids)
    db.execute(update(events).where(is_inside).values(content="", salt="", erased=number))
    db.execute(delete(lines).where(lines.c.conversation_id.in_(ids)))
    _empty_sessions(db, ids)
    blank = update(conversations).where(conversations.c.id.in_(ids))
    db.execute(blank.values(person={}, salt="", erased=number))
    erased = {"conversation": ids, "answer": answer_ids, "event": event_ids}
    append(db, number, "erasure", erased, facts)
    return len(answer_ids), spoken


def _empty_sessions(db: Connection, ids: Sequence[str]) -> None:
    """Nothing is left of who asked; the owner's digest goes too."""
    for identity in ids:
        empty = Session(id=identity, asker=Person(), state="closed").model_dump_json()
        own_row = update(sessions).where(sessions.c.conversation_id == identity)
        db.execute(own_row.values(owner="", title="", state="closed", desk="", session=empty))


def _empty(db: Connection, number: int, ids: Sequence[str]) -> None:
    """Neither words nor outcome are left: when an answer was given, and that it is gone."""
    empty = {
        "question": {},
        "answer": {},
        "sensitive": False,
        "salt": "",
        "erased": number,
    }
    for some in batches(ids, _BATCH):
        of_answers = update(answers).where(answers.c.id.in_(some))
        db.execute(of_answers.values(**empty))
        of_reasonings = delete(reasonings).where(reasonings.c.answer_id.in_(some))
        db.execute(of_reasonings)
        db.execute(delete(feedback).where(feedback.c.answer_id.in_(some)))


def _in_json(text: str) -> str:
    inside = json.dumps(text)[1:-1]
    return inside.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
