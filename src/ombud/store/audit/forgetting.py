"""Erases content of a person or past its retention period; the chain stays and records it.

A conversation is erased as a whole, because every question repeats its history. Its rows stay as
tombstones with ids and times only, its messages are deleted, and a record of the chain names the
reason.
"""

import hmac
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, cast, delete, func, or_, select, update

from ombud.errors import NotFound
from ombud.store.audit.chain import append, new_salt, next_number
from ombud.store.audit.sealing import seal
from ombud.store.audit.shares import shares
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
"""Conversations, or answers outside of any, that one transaction erases; other writers wait for its
end."""


class ErasureSelection(NamedTuple):
    """Ids of the content to erase."""

    conversations: tuple[str, ...]
    answers: tuple[str, ...]
    """Answers outside of any conversation."""


class Erased(NamedTuple):
    """Counts and records of an erasure."""

    conversations: int
    answers: int
    messages: int
    records: tuple[int, ...]
    """Numbers of the chain's records about the erasure."""
    salt: str
    """Verifies a record's `of` together with the person's id: HMAC-SHA256(salt, id)."""


def select_of_person(store: Store, person_id: str) -> ErasureSelection:
    """Select every conversation in which a person has asked, and their answers outside of any.
    Raises NotFound."""
    # A first filter on the JSON text; the id itself is compared below.
    likely = f'%"{like_in_json(person_id)}"%'
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
            f"Nothing is stored about a person `{person_id}`.",
            hint="Ids must match exactly.",
        )
    return ErasureSelection(tuple(sorted(talks)), tuple(sorted(alone)))


def select_conversation(store: Store, identity: str) -> ErasureSelection:
    """Select one conversation. Raises NotFound if it does not exist or was erased."""
    with store.read() as db:
        there = select(conversations.c.id).where(
            conversations.c.id == identity,
            conversations.c.erased.is_(None),
        )
        if db.execute(there).first() is None:
            raise NotFound(f"There is no conversation `{identity}`, or it was erased already.")
    return ErasureSelection((identity,), ())


def select_expired(
    store: Store, ordinary: datetime | None, sensitive: datetime | None
) -> ErasureSelection:
    """Select content last added to before these times (None = never expires).

    A conversation counts by its last message, and as sensitive if one of its answers is.
    """
    sensitive_talks = select(answers.c.conversation_id).where(
        answers.c.sensitive, answers.c.conversation_id.is_not(None)
    )
    is_sensitive = conversations.c.id.in_(sensitive_talks)
    due_talks: list[ColumnElement[bool]] = []
    due_answers: list[ColumnElement[bool]] = []
    if ordinary is not None:
        until = ordinary.isoformat()
        due_talks.append(~is_sensitive & (last_added() < until))
        due_answers.append(~answers.c.sensitive & (answers.c.at < until))
    if sensitive is not None:
        until = sensitive.isoformat()
        due_talks.append(is_sensitive & (last_added() < until))
        due_answers.append(answers.c.sensitive & (answers.c.at < until))
    if not due_talks:
        return ErasureSelection((), ())
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
    return ErasureSelection(tuple(talk_ids), tuple(answer_ids))


_IS_MESSAGE = events.c.kind.in_(["message", "answer"])
_HAS_CONTENT = cast(answers.c.answer, Text) != "{}"
"""Matches answers that were not erased."""


def last_added() -> ColumnElement[str]:
    """Return the time of a conversation's last message, else of its beginning. An advisor's note
    does not prolong what is kept of the employee."""
    last_message = (
        select(func.max(events.c.at))
        .where(events.c.conversation_id == conversations.c.id, events.c.kind != "note")
        .correlate(conversations)
        .scalar_subquery()
    )
    return func.coalesce(last_message, conversations.c.at)


def questions_in(store: Store, selection: ErasureSelection) -> list[str]:
    """Return the distinct questions of the selected content."""
    texts: dict[str, None] = {}
    with store.read() as db:
        for where in _answers_of(selection):
            for question in db.execute(select(answers.c.question).where(where)).scalars():
                texts[question.get("text", "")] = None
    return list(filter(None, texts))


def answers_in(store: Store, selection: ErasureSelection) -> list[str]:
    """Return the ids of the selected answers, also of those in conversations."""
    ids: list[str] = []
    with store.read() as db:
        for where in _answers_of(selection):
            ids += db.execute(select(answers.c.id).where(where)).scalars()
    return ids


def _answers_of(selection: ErasureSelection) -> Iterator[ColumnElement[bool]]:
    for ids in batches(selection.conversations, _BATCH):
        yield answers.c.conversation_id.in_(ids)
    for ids in batches(selection.answers, _BATCH):
        yield answers.c.id.in_(ids)


def count_content(store: Store, selection: ErasureSelection) -> tuple[int, int, int]:
    """Count the (conversations, answers, messages) that still have content."""
    talks = whole_answers = messages = 0
    with store.read() as db:
        for ids in batches(selection.conversations, _BATCH):
            is_left = conversations.c.erased.is_(None)
            talks += count_where(db, conversations.c.id.in_(ids), is_left)
            whole_answers += count_where(db, answers.c.conversation_id.in_(ids), _HAS_CONTENT)
            messages += count_where(
                db, events.c.conversation_id.in_(ids), _IS_MESSAGE, events.c.content != ""
            )
        for ids in batches(selection.answers, _BATCH):
            whole_answers += count_where(db, answers.c.id.in_(ids), _HAS_CONTENT)
    return talks, whole_answers, messages


def erase_rows(store: Store, selection: ErasureSelection, reason: Reason, of: str = "") -> Erased:
    """Erase the selected content, a batch of rows in each transaction; the next run finishes an
    interrupted one.

    of: the person or conversation; the chain stores only its salted digest.
    """
    seal(store)  # so that everything erased has an earlier record
    salt = new_salt()
    facts: dict[str, Any] = {"reason": reason}
    if of:
        facts["of"] = mark_of(salt, of)
    talks = whole_answers = messages = 0
    records: list[int] = []
    for ids in batches(selection.conversations, _BATCH):
        with store.write() as db:
            number = next_number(db)  # first, because it locks the chain
            not_erased = select(conversations.c.id).where(
                conversations.c.id.in_(ids),
                conversations.c.erased.is_(None),
            )
            remaining = list(db.execute(not_erased).scalars())
            if remaining:
                inside, message_count = erase_conversations(db, number, remaining, facts)
                talks += len(remaining)
                whole_answers += inside
                messages += message_count
                records.append(number)
    for ids in batches(selection.answers, _BATCH):
        with store.write() as db:
            number = next_number(db)
            whole = select(answers.c.id).where(answers.c.id.in_(ids), _HAS_CONTENT)
            remaining = list(db.execute(whole).scalars())
            if remaining:
                empty_answers(db, number, remaining)
                append(db, number, "erasure", {"answer": remaining}, facts)
                whole_answers += len(remaining)
                records.append(number)
    return Erased(
        conversations=talks,
        answers=whole_answers,
        messages=messages,
        records=tuple(records),
        salt=salt,
    )


def mark_of(salt: str, whom: str) -> str:
    return hmac.digest(salt.encode(), whom.encode(), "sha256").hex()


def erase_conversations(
    db: Connection, number: int, ids: Sequence[str], facts: dict[str, Any]
) -> tuple[int, int]:
    """Erase conversations with their links and their unsent messages to desks; returns the erased
    (answers, messages)."""
    inside = select(answers.c.id).where(answers.c.conversation_id.in_(ids))
    answer_ids = list(db.execute(inside).scalars())
    is_inside = events.c.conversation_id.in_(ids)
    event_ids = list(db.execute(select(events.c.id).where(is_inside)).scalars())
    message_count = count_where(db, is_inside, _IS_MESSAGE, events.c.content != "")
    empty_answers(db, number, answer_ids)
    db.execute(update(events).where(is_inside).values(content="", salt="", erased=number))
    db.execute(delete(lines).where(lines.c.conversation_id.in_(ids)))
    db.execute(delete(shares).where(shares.c.conversation_id.in_(ids)))
    empty_sessions(db, ids)
    blank = update(conversations).where(conversations.c.id.in_(ids))
    db.execute(blank.values(person={}, salt="", erased=number))
    erased = {"conversation": ids, "answer": answer_ids, "event": event_ids}
    append(db, number, "erasure", erased, facts)
    return len(answer_ids), message_count


def empty_sessions(db: Connection, ids: Sequence[str]) -> None:
    """Blank the sessions of erased conversations, with the owner's digest."""
    for identity in ids:
        empty = {
            "owner": "",
            "title": "",
            "pinned": False,
            "state": "closed",
            "desk": "",
            "session": Session(id=identity, asker=Person(), state="closed").model_dump_json(),
        }
        own_row = update(sessions).where(sessions.c.conversation_id == identity)
        db.execute(own_row.values(**empty))


def empty_answers(db: Connection, number: int, ids: Sequence[str]) -> None:
    """Blank answers but for their time and the fact of the erasure."""
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


def like_in_json(text: str) -> str:
    inside = json.dumps(text)[1:-1]
    return inside.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
