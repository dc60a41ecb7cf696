"""Content that goes: a person's, or what is older than it may become. The chain stays and says so.

A conversation goes as a whole, for every question repeats what was said before it. Its rows stay as
tombstones, ids and times only, its messages are deleted, and a record of the chain says why."""

import hmac
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Text, cast, delete, func, or_, select, update

from ombud.errors import NotFound
from ombud.store.audit.chain import append, new_salt, next_number
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import conversation as conversations
from ombud.store.tables import message as messages
from ombud.store.tables import reasoning as reasonings

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
    with store.read() as db:
        talks = db.execute(
            select(conversations.c.id, conversations.c.person).where(
                cast(conversations.c.person, Text).like(likely, escape="\\")
            )
        )
        found = {row.id for row in talks if row.person.get("id") == person_id}
        asked = db.execute(
            select(answers.c.id, answers.c.conversation_id, answers.c.question).where(
                cast(answers.c.question, Text).like(likely, escape="\\")
            )
        )
        own = [row for row in asked if row.question.get("asker", {}).get("id") == person_id]
        found |= {row.conversation_id for row in own if row.conversation_id}
        held = Held(
            tuple(sorted(found)), tuple(sorted(row.id for row in own if not row.conversation_id))
        )
    if not any(held):
        raise NotFound(
            f"Nothing is kept of a person `{person_id}`.", hint="Ids are compared letter by letter."
        )
    return held


def held_in_conversation(store: Store, identity: str) -> Held:
    """Raises NotFound for a conversation that is not there or was erased."""
    with store.read() as db:
        there = (conversations.c.id == identity) & conversations.c.erased.is_(None)
        if db.execute(select(conversations.c.id).where(there)).first() is None:
            raise NotFound(f"There is no conversation `{identity}`, or it was erased already.")
    return Held((identity,), ())


def held_until(store: Store, ordinary: datetime | None, sensitive: datetime | None) -> Held:
    """What was last added to before these times (None = kept for ever).

    A conversation counts by its last message, and as sensitive when one of its answers is.
    """
    with store.read() as db:
        delicate = select(answers.c.conversation_id).where(
            answers.c.sensitive, answers.c.conversation_id.is_not(None)
        )
        last = select(messages.c.conversation_id, func.max(messages.c.at).label("at")).group_by(
            messages.c.conversation_id
        )
        ends = last.subquery()
        at = func.coalesce(ends.c.at, conversations.c.at)
        talks = select(conversations.c.id).outerjoin(
            ends, ends.c.conversation_id == conversations.c.id
        )
        talks = talks.where(conversations.c.erased.is_(None))
        inside = conversations.c.id.in_(delicate)
        lone = select(answers.c.id).where(
            answers.c.conversation_id.is_(None), cast(answers.c.answer, Text) != "{}"
        )
        due_talks, due_answers = [], []
        for until, where_talk, where_answer in (
            (ordinary, ~inside, ~answers.c.sensitive),
            (sensitive, inside, answers.c.sensitive),
        ):
            if until is not None:
                due_talks.append(where_talk & (at < until.isoformat()))
                due_answers.append(where_answer & (answers.c.at < until.isoformat()))
        if not due_talks:
            return Held((), ())
        found = (
            db.execute(talks.where(or_(*due_talks)).order_by(conversations.c.id)).scalars().all()
        )
        alone = db.execute(lone.where(or_(*due_answers)).order_by(answers.c.id)).scalars().all()
    return Held(tuple(found), tuple(alone))


def questions_in(store: Store, held: Held) -> list[str]:
    """What people asked there, once each."""
    inside = [answers.c.conversation_id.in_(some) for some in _batches(held.conversations)]
    alone = [answers.c.id.in_(some) for some in _batches(held.answers)]
    texts: dict[str, None] = {}
    with store.read() as db:
        for where in (*inside, *alone):
            asked = db.execute(select(answers.c.question).where(where)).scalars()
            texts |= dict.fromkeys(question.get("text", "") for question in asked)
    return [text for text in texts if text]


def count_held(store: Store, held: Held) -> tuple[int, int, int]:
    """(conversations, answers, messages) that still have content."""
    talks = said = 0
    whole = cast(answers.c.answer, Text) != "{}"
    counted = 0
    with store.read() as db:
        for some in _batches(held.conversations):
            left = conversations.c.id.in_(some) & conversations.c.erased.is_(None)
            talks += _count(db, select(func.count()).select_from(conversations).where(left))
            counted += _count(
                db, select(func.count()).where(answers.c.conversation_id.in_(some), whole)
            )
            said += _count(db, select(func.count()).where(messages.c.conversation_id.in_(some)))
        for some in _batches(held.answers):
            counted += _count(db, select(func.count()).where(answers.c.id.in_(some), whole))
    return talks, counted, said


def _count(db: Connection, query: Any) -> int:
    return int(db.execute(query).scalar_one())


def erase_rows(store: Store, held: Held, reason: Reason, of: str = "") -> Erased:
    """Erase content, some rows a transaction; a run that is stopped in the middle is finished by
    the next.

    of: whose it was; only a salted digest of it goes into the chain.
    """
    salt, talks, alone, said, records = new_salt(), 0, 0, 0, []
    facts = {"reason": reason} | ({"of": mark_of(salt, of)} if of else {})
    for some in _batches(held.conversations):
        with store.write() as db:
            number = next_number(db)
            left = conversations.c.id.in_(some) & conversations.c.erased.is_(None)
            ids = list(db.execute(select(conversations.c.id).where(left)).scalars())
            if ids:
                counted = _erase_conversations(db, number, ids, facts)
                talks, alone, said = talks + len(ids), alone + counted[0], said + counted[1]
                records.append(number)
    for some in _batches(held.answers):
        with store.write() as db:
            number = next_number(db)
            left = answers.c.id.in_(some) & (cast(answers.c.answer, Text) != "{}")
            ids = list(db.execute(select(answers.c.id).where(left)).scalars())
            if ids:
                _empty(db, number, ids)
                append(db, number, "erasure", {"answer": ids}, facts)
                alone += len(ids)
                records.append(number)
    return Erased(talks, alone, said, tuple(records), salt)


def mark_of(salt: str, whom: str) -> str:
    return hmac.digest(salt.encode(), whom.encode(), "sha256").hex()


def _erase_conversations(
    db: Connection, number: int, ids: Sequence[str], facts: dict[str, Any]
) -> tuple[int, int]:
    """(answers, messages) that went."""
    inside = list(
        db.execute(select(answers.c.id).where(answers.c.conversation_id.in_(ids))).scalars()
    )
    said = list(
        db.execute(select(messages.c.id).where(messages.c.conversation_id.in_(ids))).scalars()
    )
    _empty(db, number, inside)
    db.execute(delete(messages).where(messages.c.conversation_id.in_(ids)))
    empty = {"person": {}, "salt": "", "erased": number}
    db.execute(update(conversations).where(conversations.c.id.in_(ids)).values(**empty))
    append(db, number, "erasure", {"conversation": ids, "answer": inside, "message": said}, facts)
    return len(inside), len(said)


def _empty(db: Connection, number: int, ids: Sequence[str]) -> None:
    """Neither words nor outcome are left: when an answer was given, and that it is gone."""
    empty = {"question": {}, "answer": {}, "sensitive": False, "salt": "", "erased": number}
    for some in _batches(ids):
        db.execute(update(answers).where(answers.c.id.in_(some)).values(**empty))
        db.execute(delete(reasonings).where(reasonings.c.answer_id.in_(some)))


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))


def _in_json(text: str) -> str:
    inside = json.dumps(text)[1:-1]
    return inside.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
