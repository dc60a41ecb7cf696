"""The gap report: unanswered questions, contradictions, and requests for documents out of force.

It is for policy owners and must not identify anybody who asked: nothing is shown about fewer than
`[audit] group_size` people, texts of questions only as `show_words` allows, and of sensitive
conversations only their number. Text of documents is shown.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from ombud.app.audit.auditing import beginning_of
from ombud.app.gaps.contradictions import Contradictions, find_contradictions
from ombud.app.gaps.counted import (
    CountedQuestion,
    Sources,
    counted_questions,
    outcomes_of,
    person_behind,
)
from ombud.app.gaps.lacking import out_of_force
from ombud.app.gaps.topics import Topic, group_by_document, group_unanswered, topics_of
from ombud.app.workspace import Workspace
from ombud.index import blocking
from ombud.store import StoredAnswer, list_answers, list_documents
from ombud.types import Chunk

DAYS = 90
"""Default number of days to look back."""
MAX_LISTED = 30
"""Largest number of topics or documents in a list."""


class Gaps(NamedTuple):
    """The report."""

    since: date
    until: date
    group_size: int
    show_words: str
    questions: int
    """All but sensitive and erased ones."""
    outcomes: dict[str, int]
    sensitive: int | None
    """None if fewer than `group_size` people asked such a question."""
    erased: int
    unanswered: tuple[Topic, ...]
    unanswered_others: int
    """Questions outside of any large enough group."""
    contradictions: tuple[dict[str, Any], ...]
    contradictions_note: str
    """Why not all contradictions were looked for."""
    out_of_force: tuple[dict[str, Any], ...]
    out_of_force_others: int
    """Documents that too few people asked for."""
    asked: tuple[Topic, ...]
    asked_others: int


def find_gaps(workspace: Workspace, since: date | None = None, *, asks_model: bool = False) -> Gaps:
    """Report on the answers since that day, by default of 90 days. asks_model: find contradictions
    between documents, which needs a chat model."""
    rules = workspace.settings.audit
    today = workspace.today()
    first = since or today - timedelta(days=DAYS)
    rows = list(list_answers(workspace.store, beginning_of(workspace, first)))
    questions = counted_questions(rows)
    sources = Sources(
        chunks=evidence_chunks(workspace, questions),
        documents={document.id: document for document in list_documents(workspace.store)},
        group_size=rules.group_size,
        show_words=rules.show_words,
    )
    lacking = group_unanswered(questions, workspace.embedder, rules.group_size)
    unanswered = topics_of(lacking, sources)
    common = topics_of(group_by_document(questions), sources, by_title=True)
    old = out_of_force(workspace, questions)
    compared = Contradictions()
    if asks_model:
        compared = find_contradictions(workspace, questions, sources)
    return Gaps(
        since=first,
        until=today,
        group_size=rules.group_size,
        show_words=rules.show_words,
        questions=len(questions),
        outcomes=outcomes_of(questions),
        sensitive=count_sensitive(rows, rules.group_size),
        erased=sum(row.question is None for row in rows),
        unanswered=tuple(unanswered.topics[:MAX_LISTED]),
        unanswered_others=unanswered.others,
        contradictions=compared.found,
        contradictions_note=compared.note,
        out_of_force=tuple(old.documents[:MAX_LISTED]),
        out_of_force_others=old.others,
        asked=tuple(common.topics[:MAX_LISTED]),
        asked_others=common.others,
    )


def gaps_json(gaps: Gaps) -> dict[str, Any]:
    record = gaps._asdict()
    record["since"] = gaps.since.isoformat()
    record["until"] = gaps.until.isoformat()
    record["unanswered"] = [topic._asdict() for topic in gaps.unanswered]
    record["asked"] = [topic._asdict() for topic in gaps.asked]
    return record


def count_sensitive(rows: Sequence[StoredAnswer], group_size: int) -> int | None:
    """Count the sensitive questions; None if too few people asked them."""
    questions = 0
    people: set[str] = set()
    for row in rows:
        if row.sensitive and row.question:
            questions += 1
            people.add(person_behind(row))
    return questions if len(people) >= group_size else None


def evidence_chunks(workspace: Workspace, questions: Sequence[CountedQuestion]) -> dict[str, Chunk]:
    """Return the passages of all evidence that are still indexed."""
    wanted: dict[str, None] = {}
    for question in questions:
        wanted.update(dict.fromkeys(question.answer.trace.evidence))
    return blocking(workspace.engine.get(list(wanted))) if wanted else {}
