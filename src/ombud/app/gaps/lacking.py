"""Documents that people ask for and that are no longer in force."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from ombud.answer import term_weights
from ombud.app.gaps.counted import (
    Backers,
    CountedQuestion,
    shared_by,
    unanswered,
)
from ombud.app.workspace import Workspace
from ombud.index import Filter
from ombud.retrieve import find_passages, query_terms
from ombud.text import analyse
from ombud.types import Chunk

SEARCHED = 1000
"""Number of newest unanswered questions searched for in documents out of force."""
ENOUGH = 0.5
"""Minimum share of a question's terms, by weight, that a passage must contain to count as asked
for."""


class OutOfForce(NamedTuple):
    """Documents out of force that were asked for."""

    documents: list[dict[str, Any]]
    """Not in force today, and asked for by enough people."""
    others: int
    """Number of documents asked for by too few people."""


def out_of_force(workspace: Workspace, questions: Sequence[CountedQuestion]) -> OutOfForce:
    """Find documents out of force that would rank first for unanswered questions. The asker's
    country and permissions apply as ever; only the day is ignored."""
    backers: Backers = {}
    passages: dict[str, Chunk] = {}
    for question in unanswered(questions)[-SEARCHED:]:
        passage = best_on_any_day(workspace, question)
        if passage is None or is_in_force(passage, workspace.today()):
            continue
        if asks_for(workspace, question.question.text, passage):
            backers.setdefault(passage.document_id, set()).add(question.who)
            passages.setdefault(passage.document_id, passage)
    documents: list[dict[str, Any]] = []
    for document_id in shared_by(backers, workspace.settings.audit.group_size):
        passage = passages[document_id]
        documents.append(
            {
                "title": passage.title,
                "uri": passage.uri,
                "from": iso_or_none(passage.effective_from),
                "to": iso_or_none(passage.effective_to),
                "people": len(backers[document_id]),
            }
        )
    return OutOfForce(documents, others=len(backers) - len(documents))


def best_on_any_day(workspace: Workspace, question: CountedQuestion) -> Chunk | None:
    trace = question.answer.trace
    if not trace.queries:
        return None
    asker = question.question.asker
    where = Filter(
        countries=(asker.country,) if asker.country else (),
        reader=asker,
        sources=trace.plan.sources,
    )
    result = find_passages(trace.queries, trace.plan, where, workspace.index)
    hits = result.evidence.hits
    return hits[0].chunk if hits else None


def asks_for(workspace: Workspace, text: str, passage: Chunk) -> bool:
    engine = workspace.index.engine
    weights = term_weights(query_terms(text, engine), engine)
    words = " ".join((passage.title, *passage.trail, passage.header, passage.text))
    terms = set(analyse(words, passage.language))
    matched = sum(weight for term, weight in weights.items() if term in terms)
    return matched >= ENOUGH * sum(weights.values())


def is_in_force(chunk: Chunk, today: date) -> bool:
    if chunk.effective_from and chunk.effective_from > today:
        return False
    return not chunk.effective_to or today <= chunk.effective_to


def iso_or_none(day: date | None) -> str | None:
    return day.isoformat() if day else None
