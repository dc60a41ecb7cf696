"""What stored answers, conversations and runs repeat of a document, blanked; who asked what and
when stays."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    cast,
    delete,
    false,
    func,
    or_,
    select,
    update,
)

from ombud.store.audit.chain import BATCH, append, new_salt, next_number
from ombud.store.database import Store
from ombud.store.tables import answer as answers
from ombud.store.tables import lab_passage as passages
from ombud.store.tables import lab_row as rows
from ombud.store.tables import message as messages
from ombud.store.tables import reasoning as reasonings
from ombud.store.tables import text as texts
from ombud.types import Answer, Observation

ERASED = "[evidence erased]"


def erase_quotes(store: Store, document_id: str, uri: str) -> dict[str, int]:
    """Blank everything that repeats the document: place -> how many rows were changed. One
    transaction."""
    with store.write() as db:
        return {"answers": _answers(db, document_id), "lab runs": _runs(db, document_id, uri)}


def blank(answer: Answer, document_id: str) -> Answer:
    """The answer without a word of the document; its outcome, offsets and trace stay, for they hold
    none."""
    cited = [
        at for at, citation in enumerate(answer.citations) if citation.document_id == document_id
    ]
    citations = tuple(
        c.model_copy(update={"quote": "", "title": ERASED, "trail": ()}) if at in cited else c
        for at, c in enumerate(answer.citations)
    )
    claims = tuple(
        c.model_copy(update={"text": ERASED}) if set(c.citations) & set(cited) else c
        for c in answer.claims
    )
    sources = tuple(
        s.model_copy(update={"title": ERASED, "covers": ""}) if set(s.citations) & set(cited) else s
        for s in answer.sources
    )
    text = ERASED if cited else answer.text
    # Suggestions are headings of what was found.
    return answer.model_copy(
        update={
            "citations": citations,
            "claims": claims,
            "sources": sources,
            "text": text,
            "suggestions": (),
        }
    )


def _answers(db: Connection, document_id: str) -> int:
    held = cast(answers.c.answer, Text).like(f"%{document_id}%")
    # A trace names all passages that the model saw, and it may have repeated any.
    db.execute(
        delete(reasonings).where(reasonings.c.answer_id.in_(select(answers.c.id).where(held)))
    )
    changed: dict[str, dict[str, Any]] = {}
    gone: set[tuple[str, str | None]] = set()
    for row in db.execute(
        select(answers.c.id, answers.c.conversation_id, answers.c.answer).where(held)
    ).all():
        if not row.answer:
            continue
        before = Answer.model_validate(row.answer)
        after = blank(before, document_id)
        if after != before:
            changed[row.id] = {"answer": after.model_dump(mode="json")}
        if after.text != before.text:
            gone.add((before.text, row.conversation_id))
    _histories(db, changed, {text for text, _ in gone})
    ids = sorted(changed)
    for start in range(0, len(ids), BATCH):
        some = {identity: changed[identity] for identity in ids[start : start + BATCH]}
        _blank(db, document_id, some, gone if start == 0 else ())
    return sum("answer" in values for values in changed.values())


def _histories(db: Connection, changed: dict[str, dict[str, Any]], gone: Collection[str]) -> None:
    """Later questions repeat what was answered before."""
    if not gone:
        return
    told = cast(answers.c.question, Text).like('%"assistant"%')
    for row in db.execute(select(answers.c.id, answers.c.question).where(told)).all():
        before = row.question.get("history", [])
        after = [turn | {"content": ERASED} if turn["content"] in gone else turn for turn in before]
        if after != before:
            changed.setdefault(row.id, {})["question"] = row.question | {"history": after}


def _blank(
    db: Connection,
    document_id: str,
    changed: Mapping[str, dict[str, Any]],
    gone: Iterable[tuple[str, str | None]],
) -> None:
    """Some answers, and messages that said the same in their conversation, in one record of the
    chain."""
    number, said = next_number(db), []
    # A new salt: what was erased cannot be guessed and checked against the digest of before.
    for identity, values in changed.items():
        fresh = {"salt": new_salt(), "erased": number}
        db.execute(update(answers).where(answers.c.id == identity).values(**values, **fresh))
    for text, conversation_id in gone:
        same = (messages.c.conversation_id == conversation_id) & (messages.c.content == text)
        for identity in db.execute(select(messages.c.id).where(same)).scalars().all():
            fresh = {"salt": new_salt(), "erased": number}
            db.execute(
                update(messages).where(messages.c.id == identity).values(content=ERASED, **fresh)
            )
            said.append(identity)
    facts = {"reason": "document", "document": document_id}
    append(db, number, "erasure", {"answer": list(changed), "message": said}, facts)


def _runs(db: Connection, document_id: str, uri: str) -> int:
    held = rows.c.observation.like(f"%{document_id}%") | rows.c.observation.contains(
        uri, autoescape=True
    )
    changed = 0
    for row in db.execute(
        select(rows.c.run_id, rows.c.place, rows.c.observation).where(held)
    ).all():
        before = Observation.model_validate_json(row.observation)
        evidence = tuple(
            item.model_copy(update={"quote": ERASED}) if item.document == uri else item
            for item in before.case.evidence
        )
        case = before.case.model_copy(update={"evidence": evidence})
        answer = blank(before.answer, document_id) if before.answer else None
        after = before.model_copy(update={"case": case, "answer": answer})
        if after != before:
            changed += 1
            same = (rows.c.run_id == row.run_id) & (rows.c.place == row.place)
            text = after.model_dump_json(exclude={"hits"}, exclude_defaults=True)
            db.execute(update(rows).where(same).values(observation=text))
    return changed


def phrases_held(
    store: Store, phrases: Sequence[str], but: str = "", *, each: bool = False
) -> dict[str, int]:
    """Rows that hold one of the phrases, by place; with `each`, phrase -> document texts that hold
    it.

    but: a document whose own texts do not count.
    """
    with store.read() as db:
        if each:
            own = texts.c.document_id != but
            return {p: _count(db, texts.c.text.contains(p, autoescape=True) & own) for p in phrases}
        inside = [_in_json(phrase, ascii_only=True) for phrase in phrases]
        stored = _any(cast(answers.c.answer, Text), inside) | _any(
            cast(answers.c.question, Text), inside
        )
        spoken, thought = _any(messages.c.content, phrases), _any(reasonings.c.text, phrases)
        seen = _any(rows.c.observation, map(_in_json, phrases))
        shown = _any(passages.c.chunk, map(_in_json, phrases))
        return {
            "answers": _count(db, stored) + _count(db, spoken) + _count(db, thought),
            "lab runs": _count(db, seen) + _count(db, shown),
        }


def _count(db: Connection, where: ColumnElement[bool]) -> int:
    return int(db.execute(select(func.count()).where(where)).scalar_one())


def _any(column: ColumnElement[str], phrases: Iterable[str]) -> ColumnElement[bool]:
    return or_(*(column.contains(phrase, autoescape=True) for phrase in phrases), false())


def _in_json(phrase: str, *, ascii_only: bool = False) -> str:
    """As it stands inside JSON: of SQLAlchemy's making (ASCII only) or of ours."""
    return json.dumps(phrase, ensure_ascii=ascii_only)[1:-1]
