"""What documents lack: where they disagree, and what is asked for and no longer in force."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from ombud.answer import term_weights
from ombud.app.gaps.counted import (
    Backers,
    CountedQuestion,
    Sources,
    heading_of,
    shared_by,
    unanswered,
)
from ombud.app.workspace import Workspace
from ombud.index import Filter
from ombud.retrieve import CONTRADICTING, find_contradictions, find_passages, query_terms
from ombud.text import analyse
from ombud.types import Chunk, Contradiction, Evidence, Hit

SEARCHED = 1000
"""Unanswered questions, the newest, that are searched for among documents out of force."""
ENOUGH = 0.5
"""Least share of a question's terms, by weight, that a passage out of force holds to have been
asked for."""


class _Pair(NamedTuple):
    """Two passages and what each says."""

    first: str
    first_says: str
    second: str
    second_says: str


class OutOfForce(NamedTuple):
    documents: list[dict[str, Any]]
    """Not in force today, and enough people asked for them."""
    others: int
    """How many too few asked for."""


def contradictions_met(
    questions: Sequence[CountedQuestion], sources: Sources
) -> Iterator[dict[str, Any]]:
    """Where passages of one evidence disagree and still stand in the index.

    They are the documents' own fault, so they are told however few met them, but then not how many.
    """
    people: dict[_Pair, set[str]] = {}
    found: dict[_Pair, Contradiction] = {}
    by_evidence: dict[tuple[str, ...], list[_Pair]] = {}
    for question in questions:
        if not _met_a_contradiction(question):
            continue
        evidence = question.answer.trace.evidence
        if evidence not in by_evidence:
            pairs = _contradictions_of(evidence, sources.chunks)
            found.update(pairs)
            by_evidence[evidence] = list(pairs)
        for pair in by_evidence[evidence]:
            people.setdefault(pair, set()).add(question.who)
    for pair in sorted(people, key=lambda pair: (-len(people[pair]), pair)):
        count = len(people[pair])
        yield {
            "kind": found[pair].kind,
            "about": found[pair].about,
            "people": count if count >= sources.group_size else None,
            "first": _side(sources.chunks[pair.first], pair.first_says),
            "second": _side(sources.chunks[pair.second], pair.second_says),
        }


def _met_a_contradiction(question: CountedQuestion) -> bool:
    return any(note.endswith(CONTRADICTING) for note in question.answer.trace.notes)


def _contradictions_of(
    evidence: Sequence[str], chunks: Mapping[str, Chunk]
) -> dict[_Pair, Contradiction]:
    local: list[Hit] = []
    shared: list[Hit] = []
    for chunk_id in evidence:
        if chunk_id in chunks:
            chunk = chunks[chunk_id]
            side = local if chunk.countries else shared
            side.append(Hit(chunk=chunk, score=0))
    pairs: dict[_Pair, Contradiction] = {}
    for found in find_contradictions(Evidence(local=tuple(local), shared=tuple(shared))):
        pair = _Pair(found.first, found.first_says, found.second, found.second_says)
        pairs[pair] = found
    return pairs


def _side(chunk: Chunk, says: str) -> dict[str, str]:
    return {"title": heading_of(chunk), "uri": chunk.uri, "says": says}


def out_of_force(workspace: Workspace, questions: Sequence[CountedQuestion]) -> OutOfForce:
    """Documents not in force today that would have come first for what was not answered.

    Countries and permissions of the asker count as ever; only the day does not.
    """
    backers: Backers = {}
    passages: dict[str, Chunk] = {}
    for question in unanswered(questions)[-SEARCHED:]:
        passage = _best_on_any_day(workspace, question)
        if passage is None or _in_force(passage, workspace.today()):
            continue
        if _asks_for(workspace, question.question.text, passage):
            backers.setdefault(passage.document_id, set()).add(question.who)
            passages.setdefault(passage.document_id, passage)
    documents: list[dict[str, Any]] = []
    for document_id in shared_by(backers, workspace.settings.audit.group_size):
        passage = passages[document_id]
        documents.append(
            {
                "title": passage.title,
                "uri": passage.uri,
                "from": _iso(passage.effective_from),
                "to": _iso(passage.effective_to),
                "people": len(backers[document_id]),
            }
        )
    return OutOfForce(documents, others=len(backers) - len(documents))


def _best_on_any_day(workspace: Workspace, question: CountedQuestion) -> Chunk | None:
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


def _asks_for(workspace: Workspace, text: str, passage: Chunk) -> bool:
    engine = workspace.index.engine
    weights = term_weights(query_terms(text, engine), engine)
    words = " ".join((passage.title, *passage.trail, passage.header, passage.text))
    terms = set(analyse(words, passage.language))
    held = sum(weight for term, weight in weights.items() if term in terms)
    return held >= ENOUGH * sum(weights.values())


def _in_force(chunk: Chunk, today: date) -> bool:
    if chunk.effective_from and chunk.effective_from > today:
        return False
    return not chunk.effective_to or today <= chunk.effective_to


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
