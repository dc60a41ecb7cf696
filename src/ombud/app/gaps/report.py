"""What is asked and not answered, where documents contradict each other, what is asked for and no
longer in force.

Written for the owner of the policies, so that nobody who asked can be told from it: nothing is
shown that fewer than `[audit] group_size` people stand behind, words of questions only as far as
`show_words` allows, and of sensitive conversations only how many there were. What documents say is
theirs and is shown.
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
"""Looked back on, where nothing else is said."""
SHOWN = 30
"""Topics or documents of a list that are shown at most."""


class Gaps(NamedTuple):
    since: date
    until: date
    group_size: int
    show_words: str
    questions: int
    """All but sensitive and erased ones."""
    outcomes: dict[str, int]
    sensitive: int | None
    """None: fewer than `group_size` people asked such a question."""
    erased: int
    unanswered: tuple[Topic, ...]
    unanswered_others: int
    """Questions that no group was large enough for."""
    contradictions: tuple[dict[str, Any], ...]
    contradictions_note: str
    """Why contradictions were not looked for, or not everywhere."""
    out_of_force: tuple[dict[str, Any], ...]
    out_of_force_others: int
    """Documents that fewer people asked for."""
    asked: tuple[Topic, ...]
    asked_others: int


def find_gaps(workspace: Workspace, since: date | None = None, *, asks_model: bool = False) -> Gaps:
    """The report of the answers since that day, 90 days where none is given.

    asks_model: look for contradictions between documents, which takes a chat model."""
    rules = workspace.settings.audit
    today = workspace.today()
    first = since or today - timedelta(days=DAYS)
    rows = list(list_answers(workspace.store, beginning_of(workspace, first)))
    questions = counted_questions(rows)
    sources = Sources(
        chunks=_evidence_chunks(workspace, questions),
        documents={document.id: document for document in list_documents(workspace.store)},
        group_size=rules.group_size,
        show_words=rules.show_words,
    )
    lacking = group_unanswered(questions, workspace.embedder, rules.group_size)
    unanswered = topics_of(lacking, sources)
    asked = topics_of(group_by_document(questions), sources, by_title=True)
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
        sensitive=_sensitive(rows, rules.group_size),
        erased=sum(row.question is None for row in rows),
        unanswered=tuple(unanswered.topics[:SHOWN]),
        unanswered_others=unanswered.others,
        contradictions=compared.found,
        contradictions_note=compared.note,
        out_of_force=tuple(old.documents[:SHOWN]),
        out_of_force_others=old.others,
        asked=tuple(asked.topics[:SHOWN]),
        asked_others=asked.others,
    )


def gaps_json(gaps: Gaps) -> dict[str, Any]:
    record = gaps._asdict()
    record["since"] = gaps.since.isoformat()
    record["until"] = gaps.until.isoformat()
    record["unanswered"] = [topic._asdict() for topic in gaps.unanswered]
    record["asked"] = [topic._asdict() for topic in gaps.asked]
    return record


def _sensitive(rows: Sequence[StoredAnswer], group_size: int) -> int | None:
    """How many sensitive questions there were; None where too few people asked them."""
    questions = 0
    people: set[str] = set()
    for row in rows:
        if row.sensitive and row.question:
            questions += 1
            people.add(person_behind(row))
    return questions if len(people) >= group_size else None


def _evidence_chunks(
    workspace: Workspace, questions: Sequence[CountedQuestion]
) -> dict[str, Chunk]:
    """Passages of all the evidence that are still indexed."""
    wanted: dict[str, None] = {}
    for question in questions:
        wanted.update(dict.fromkeys(question.answer.trace.evidence))
    return blocking(workspace.engine.get(list(wanted))) if wanted else {}
