"""Blanks the text of a document in stored answers, conversations and runs; who asked what and when
stays."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    cast,
    delete,
    false,
    or_,
    select,
    update,
)

from ombud.store.audit.chain import BATCH, append, new_salt, next_number
from ombud.store.audit.sealing import seal
from ombud.store.database import Store
from ombud.store.queries import batches, count_where
from ombud.store.tables import answer as answers
from ombud.store.tables import answer_feedback as feedback
from ombud.store.tables import event as events
from ombud.store.tables import lab_passage as passages
from ombud.store.tables import lab_reply as replies
from ombud.store.tables import lab_row as rows
from ombud.store.tables import lab_score as scores
from ombud.store.tables import reasoning as reasonings
from ombud.store.tables import text as texts
from ombud.types import Answer, Observation, Passage, load_record

ERASED = "[evidence erased]"
LEAST_QUOTE = 20
"""Length from which the same text in a message counts as a quote."""


class BlankedAnswer(NamedTuple):
    """An answer that was blanked."""

    text: str
    conversation_id: str | None
    quotes: tuple[str, ...]


def erase_quotes(store: Store, document_id: str, uri: str) -> dict[str, int]:
    """Blank every repetition of the document's text in one transaction; returns place -> changed
    rows. All records are added to the chain before."""
    seal(store)
    with store.write() as db:
        return {
            "answers": blank_answers(db, document_id),
            "lab runs": blank_runs(db, document_id, uri),
        }


def blank(answer: Answer, document_id: str) -> Answer:
    """Return the answer without the document's text. Its outcome, offsets and trace contain none
    and stay."""
    erased: set[int] = set()
    citations = list(answer.citations)
    for position, citation in enumerate(answer.citations):
        if citation.document_id == document_id:
            erased.add(position)
            citations[position] = citation.model_copy(
                update={"quote": "", "title": ERASED, "trail": (), "annotations": ()}
            )
    claims = list(answer.claims)
    for position, claim in enumerate(answer.claims):
        if erased.intersection(claim.citations):
            claims[position] = claim.model_copy(update={"text": ERASED})
    sources = list(answer.sources)
    for position, source in enumerate(answer.sources):
        elsewhere = [copy for copy in source.also_in if copy.document_id != document_id]
        changes: dict[str, Any] = {"also_in": tuple(elsewhere)}
        if erased.intersection(source.citations):
            changes |= {"title": ERASED, "covers": ""}
        sources[position] = source.model_copy(update=changes)
    return answer.model_copy(
        update={
            "citations": tuple(citations),
            "claims": tuple(claims),
            "sources": tuple(sources),
            "text": ERASED if erased else answer.text,
            "suggestions": (),  # headings of the evidence
        }
    )


def blank_answers(db: Connection, document_id: str) -> int:
    names_it = cast(answers.c.answer, Text).like(f"%{document_id}%")
    # The model may have repeated any passage that it received, and the trace names them all.
    naming = select(answers.c.id).where(names_it)
    repeats_it = reasonings.c.answer_id.in_(naming)
    db.execute(delete(reasonings).where(repeats_it))
    # A comment may repeat the answer; the thumb has no text.
    commented = update(feedback).where(feedback.c.answer_id.in_(naming), feedback.c.comment != "")
    db.execute(commented.values(comment=ERASED))
    changed: dict[str, dict[str, Any]] = {}
    gone: set[BlankedAnswer] = set()
    stored = select(answers.c.id, answers.c.conversation_id, answers.c.answer)
    for row in db.execute(stored.where(names_it)).all():
        if not row.answer:
            continue
        before = load_record(Answer, row.answer)
        after = blank(before, document_id)
        if after != before:
            changed[row.id] = {"answer": after.model_dump(mode="json")}
        if after.text != before.text:
            gone.add(
                BlankedAnswer(before.text, row.conversation_id, long_quotes(before, document_id))
            )
    blanked = len(changed)
    blank_histories(db, changed, {one.text for one in gone})
    for ids in batches(sorted(changed), BATCH):
        some = {identity: changed[identity] for identity in ids}
        blank_answers_and_events(db, document_id, some, gone)
        # Messages are blanked with the first record.
        gone.clear()
    return blanked


def blank_histories(
    db: Connection, changed: dict[str, dict[str, Any]], gone: Collection[str]
) -> None:
    """Blank the histories of later questions, which repeat earlier answers."""
    if not gone:
        return
    has_history = cast(answers.c.question, Text).like('%"assistant"%')
    stored = select(answers.c.id, answers.c.question).where(has_history)
    for row in db.execute(stored).all():
        before = row.question.get("history", [])
        after: list[dict[str, Any]] = []
        for turn in before:
            is_gone = turn["content"] in gone
            after.append({**turn, "content": ERASED} if is_gone else turn)
        if after != before:
            question = {**row.question, "history": after}
            changed.setdefault(row.id, {})["question"] = question


def blank_answers_and_events(
    db: Connection,
    document_id: str,
    changed: Mapping[str, dict[str, Any]],
    gone: Iterable[BlankedAnswer],
) -> None:
    """Blank some answers and the events of their conversations that repeat them, with one record in
    the chain."""
    number = next_number(db)
    blanked: list[str] = []
    # A new salt, so that nobody can check guesses of the erased text against the old digest.
    for identity, values in changed.items():
        of_answer = update(answers).where(answers.c.id == identity)
        db.execute(of_answer.values(**values, salt=new_salt(), erased=number))
    for one in gone:
        blanked.extend(blank_events(db, number, one))
    erased = {"answer": list(changed), "event": blanked}
    append(db, number, "erasure", erased, {"reason": "document", "document": document_id})


def blank_events(db: Connection, number: int, gone: BlankedAnswer) -> Iterator[str]:
    """Blank the events that repeat the answer or its quotes, and yield their ids."""
    of_it = select(events.c.id, events.c.content).where(
        events.c.conversation_id == gone.conversation_id,
        events.c.kind.in_(["answer", "message", "note"]),
    )
    for row in db.execute(of_it).all():
        happening = json.loads(row.content) if row.content else {}
        text = happening.get("text", "")
        if text != gone.text and not any(quote in text for quote in gone.quotes):
            continue
        content = json.dumps({**happening, "text": ERASED})
        own_row = update(events).where(events.c.id == row.id)
        db.execute(own_row.values(content=content, salt=new_salt(), erased=number))
        yield str(row.id)


def long_quotes(answer: Answer, document_id: str) -> tuple[str, ...]:
    """Return the answer's quotes of a document that are long enough to be recognised."""
    cited = [one.quote for one in answer.citations if one.document_id == document_id]
    return tuple(quote for quote in cited if len(quote) >= LEAST_QUOTE)


def blank_runs(db: Connection, document_id: str, uri: str) -> int:
    by_id = rows.c.observation.like(f"%{document_id}%")
    by_uri = rows.c.observation.contains(uri, autoescape=True)
    stored = select(rows.c.run_id, rows.c.place, rows.c.observation)
    changed = 0
    for row in db.execute(stored.where(by_id | by_uri)).all():
        before = load_record(Observation, row.observation)
        after = blank_observation(before, document_id, uri)
        if after == before:
            continue
        changed += 1
        delete_reasons(db, row.run_id, row.place)
        same = update(rows).where(
            rows.c.run_id == row.run_id,
            rows.c.place == row.place,
        )
        text = after.model_dump_json(exclude={"hits"}, exclude_defaults=True)
        db.execute(same.values(observation=text))
    return changed


def delete_reasons(db: Connection, run_id: str, place: int) -> None:
    """Delete the judges' reasons about an answer, which repeat it; grades stay."""
    db.execute(delete(replies).where(replies.c.run_id == run_id))
    judged = update(scores).where(
        scores.c.run_id == run_id,
        scores.c.place == place,
        scores.c.by != "",
    )
    db.execute(judged.values(reason=""))


def blank_observation(observation: Observation, document_id: str, uri: str) -> Observation:
    evidence = list(observation.case.evidence)
    for position, passage in enumerate(evidence):
        evidence[position] = blank_passage(passage, uri)
    case = observation.case.model_copy(update={"evidence": tuple(evidence)})
    answer = observation.answer
    if answer:
        answer = blank(answer, document_id)
    return observation.model_copy(update={"case": case, "answer": answer})


def blank_passage(passage: Passage, uri: str) -> Passage:
    also = [blank_passage(other, uri) for other in passage.also]
    changes: dict[str, Any] = {"also": tuple(also)}
    if passage.document == uri:
        changes["quote"] = ERASED
    return passage.model_copy(update=changes)


def count_phrases(
    store: Store, phrases: Sequence[str], but: str = "", *, each: bool = False
) -> dict[str, int]:
    """Count the rows that contain one of the phrases, by place; with `each`, count the document
    texts that contain each phrase.

    but: a document whose own texts do not count.
    """
    with store.read() as db:
        if each:
            return count_texts(db, phrases, but)
        as_ascii_json = [json_inside(phrase, ascii_only=True) for phrase in phrases]
        as_utf8_json = list(map(json_inside, phrases))
        in_answers = contains_any(cast(answers.c.answer, Text), as_ascii_json)
        in_questions = contains_any(cast(answers.c.question, Text), as_ascii_json)
        in_conversations = count_where(db, in_answers | in_questions)
        in_conversations += count_where(db, contains_any(events.c.content, as_utf8_json))
        in_conversations += count_where(db, contains_any(reasonings.c.text, phrases))
        in_conversations += count_where(db, contains_any(feedback.c.comment, phrases))
        in_runs = count_where(db, contains_any(rows.c.observation, as_utf8_json))
        in_runs += count_where(db, contains_any(passages.c.chunk, as_utf8_json))
        in_runs += count_where(db, contains_any(replies.c.reply, as_ascii_json))
        in_runs += count_where(db, contains_any(scores.c.reason, phrases))
        return {"answers": in_conversations, "lab runs": in_runs}


def count_texts(db: Connection, phrases: Sequence[str], but: str) -> dict[str, int]:
    others = texts.c.document_id != but
    counts: dict[str, int] = {}
    for phrase in phrases:
        holds = texts.c.text.contains(phrase, autoescape=True)
        counts[phrase] = count_where(db, holds, others)
    return counts


def contains_any(column: ColumnElement[str], phrases: Iterable[str]) -> ColumnElement[bool]:
    return or_(*(column.contains(phrase, autoescape=True) for phrase in phrases), false())


def json_inside(phrase: str, *, ascii_only: bool = False) -> str:
    """Escape a phrase as it appears in JSON, written by SQLAlchemy (ASCII only) or by us."""
    return json.dumps(phrase, ensure_ascii=ascii_only)[1:-1]
