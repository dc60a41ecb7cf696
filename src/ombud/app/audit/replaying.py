"""Replays an answer: the same question, person, plan and day on the index as it was, and what
differs today.

Without `model` no chat model is called: search texts come from the trace, and only answers composed
without a model are compared. The graph and the abbreviations are today's.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from ombud.answer import AskRun
from ombud.app import asking, measuring
from ombud.app.workspace import Workspace
from ombud.errors import EngineError, NotFound
from ombud.index import Engine, blocking, open_snapshot
from ombud.retrieve import find_passages
from ombud.store import (
    ERASED,
    StoredAnswer,
    list_documents,
    read_links,
    read_setup,
    read_stored_answer,
    text_of,
)
from ombud.types import PRIVACY, Answer, Chunk, Document, Plan, Question, Trace


class Difference(NamedTuple):
    """A value that differs between then and now."""

    what: str
    """Such as `settings.plan.k` or `prompts.compose/default`."""
    then: Any
    now: Any


class Replayed(NamedTuple):
    """The comparison of an answer with its replay."""

    id: str
    at: str
    as_of: date
    """The day whose rules applied."""
    index_then: str
    index_now: str
    snapshot: bool
    """True if the index as it was still exists; otherwise the present one was searched."""
    evidence_then: tuple[str, ...]
    evidence_now: tuple[str, ...]
    """Chunk ids, best first."""
    came: tuple[dict[str, str], ...]
    """New passages: chunk, title, uri."""
    went: tuple[dict[str, str], ...]
    documents: tuple[dict[str, Any], ...]
    """Documents of the original evidence: id, uri, state (unchanged, changed, deleted, ended),
    digests."""
    quotes: dict[str, int]
    """Numbers of citations that `stand` word for word in their text, that `differ`, and that were
    `erased`."""
    differences: tuple[Difference, ...]
    """Differences in settings, files, prompts and models."""
    compared: bool
    """True if the two answers can be compared."""
    answers: tuple[Difference, ...]
    """Differences in outcome, action, text and citations."""
    notes: tuple[str, ...]
    sensitive: bool

    @property
    def same_evidence(self) -> bool:
        return self.evidence_then == self.evidence_now

    @property
    def same(self) -> bool:
        return self.same_evidence and not self.answers and not self.quotes["differ"]


class RepeatedAnswer(NamedTuple):
    """A repeated answer."""

    answer: Answer
    evidence: tuple[str, ...]
    notes: list[str]
    """Caveats of the comparison."""


_WORDS = ("text", "citations")
"""Differences that quote the conversation."""
_BY_RULES = ("standard", "feedback")
"""Strategies whose search texts need no model."""


async def replay_answer(workspace: Workspace, identity: str, *, model: bool = False) -> Replayed:
    """Repeat a stored answer and compare. Raises NotFound, also if its content was erased."""
    stored = read_stored_answer(workspace.store, identity)
    question, then = content_of(stored)
    trace = then.trace
    day = question.as_of or day_of(workspace, stored.at)
    dated = question.model_copy(update={"as_of": day})
    snapshot = await find_snapshot(workspace, trace.index_version, stored.at)
    engine = snapshot or workspace.engine
    again = await repeat_answer(workspace, dated, then, engine, model)
    evidence = again.evidence
    if trace.model:  # as many as the prompt contained
        evidence = evidence[: len(trace.evidence)]
    compared = not is_erased(then) and (model or not trace.model)
    answers: tuple[Difference, ...] = ()
    if compared:
        answers = tuple(answer_differences(then, again.answer))
    documents = {document.id: document for document in list_documents(workspace.store)}
    notes = list(again.notes)
    if is_erased(then):
        notes.append(
            "Evidence erased: a document that was quoted has been deleted, and its words with it."
        )
    came = missing_from(trace.evidence, evidence)
    went = missing_from(evidence, trace.evidence)
    return Replayed(
        id=stored.id,
        at=stored.at,
        as_of=day,
        index_then=trace.index_version,
        index_now=workspace.engine.version(),
        snapshot=snapshot is not None,
        evidence_then=trace.evidence,
        evidence_now=evidence,
        came=tuple(named_passages(came, engine, documents)),
        went=tuple(named_passages(went, engine, documents)),
        documents=tuple(document_states(workspace, then, documents, snapshot)),
        quotes=count_quotes(workspace, then),
        differences=tuple(setup_differences(workspace, stored)),
        compared=compared,
        answers=answers,
        notes=tuple(notes),
        sensitive=stored.sensitive,
    )


def content_of(stored: StoredAnswer) -> tuple[Question, Answer]:
    """Return question and answer. Raises NotFound if they were erased."""
    if stored.question is None or stored.answer is None:
        raise NotFound(
            f"The content of the answer `{stored.id}` was erased, so it cannot be replayed.",
            hint="`ombud audit show` says when and why.",
        )
    return stored.question, stored.answer


def missing_from(searched: Sequence[str], chunk_ids: Sequence[str]) -> list[str]:
    """Return the `chunk_ids` that are not in `searched`."""
    return [chunk_id for chunk_id in chunk_ids if chunk_id not in searched]


def replayed_json(replayed: Replayed, *, sensitive: bool = False) -> dict[str, Any]:
    """Return the comparison as JSON; texts of a sensitive conversation only if asked for."""
    hide_words = replayed.sensitive and not sensitive
    answers: list[dict[str, Any]] = []
    for difference in replayed.answers:
        row = difference._asdict()
        if hide_words and difference.what in _WORDS:
            row.update(then=None, now=None)
        answers.append(row)
    record = replayed._asdict()
    record["as_of"] = replayed.as_of.isoformat()
    record["answers"] = answers
    record["differences"] = [difference._asdict() for difference in replayed.differences]
    record["same_evidence"] = replayed.same_evidence
    record["same"] = replayed.same
    return record


def day_of(workspace: Workspace, at: str) -> date:
    zone = ZoneInfo(workspace.settings.general.timezone)
    return datetime.fromisoformat(at).astimezone(zone).date()


async def find_snapshot(workspace: Workspace, version: str, at: str) -> Engine | None:
    embedder = workspace.embedder
    try:
        return await open_snapshot(
            workspace.pointer.backend,
            version,
            datetime.fromisoformat(at),
            fingerprint=embedder.fingerprint if embedder else "",
            dimension=embedder.dimension if embedder else 0,
        )
    except EngineError:  # built with another embedder
        return None


async def repeat_answer(
    workspace: Workspace, question: Question, then: Answer, engine: Engine, model: bool
) -> RepeatedAnswer:
    trace = then.trace
    names = workspace.audiences.current()["countries"]
    resolved = asking.resolve(workspace, question)
    resolved = resolved.model_copy(update={"is_private": resolved.is_private or was_private(then)})
    parts = workspace.answering._replace(countries=names)
    knowledge = parts.knowledge._replace(engine=engine)
    parts = parts._replace(knowledge=knowledge)
    if not model:
        knowledge = knowledge._replace(chat=None, ranker=None)
        parts = parts._replace(knowledge=knowledge, chat=None)
    plan = trace.plan.model_copy(update={"adaptive": False})  # it contains what adaptation chose
    where = asking.filter_of(resolved, plan)
    run = AskRun(resolved, plan, where, parts)
    answer = await run.answer()
    if model or answer.trace.queries == trace.queries:
        return RepeatedAnswer(answer, answer.trace.evidence, notes=[])
    result = find_passages(trace.queries, plan, where, run.parts.knowledge)
    evidence = tuple(hit.chunk.id for hit in result.evidence.hits)
    return RepeatedAnswer(answer, evidence, notes=notes_on_queries(trace, plan))


def was_private(then: Answer) -> bool:
    """Tell whether the message was kept from models on other machines, or would be today."""
    was_withheld = any(note.startswith(PRIVACY) for note in then.trace.degraded)
    return was_withheld or then.action == "handoff"


def notes_on_queries(trace: Trace, plan: Plan) -> list[str]:
    """Explain where the search texts came from."""
    notes = ["The search texts are made otherwise today; those of then were searched for."]
    if any(query.strategy not in _BY_RULES for query in trace.queries):
        notes = ["A model had written the search texts; they were searched for as they were."]
    if plan.reranker != "none" or plan.graph:
        notes.append(
            "Without a model neither reranking nor the graph can follow them: the order may differ."
        )
    return notes


def named_passages(
    chunk_ids: Sequence[str], engine: Engine, documents: Mapping[str, Document]
) -> Iterator[dict[str, str]]:
    chunks: Mapping[str, Chunk] = blocking(engine.get(chunk_ids)) if chunk_ids else {}
    for chunk_id in chunk_ids:
        title = uri = ""
        document = documents.get(document_id_of(chunk_id))
        if document:
            title, uri = document.title, document.uri
        if chunk_id in chunks:
            chunk = chunks[chunk_id]
            title = " · ".join((chunk.title, *chunk.trail[-1:]))
            uri = chunk.uri
        yield {"chunk": chunk_id, "title": title, "uri": uri}


def document_id_of(chunk_id: str) -> str:
    return chunk_id.partition("-")[0]


def document_states(
    workspace: Workspace, then: Answer, documents: Mapping[str, Document], snapshot: Engine | None
) -> Iterator[dict[str, Any]]:
    """Yield what became of the documents of the evidence."""
    evidence = then.trace.evidence
    indexed = blocking(workspace.engine.get(evidence)) if evidence else {}
    digests = digests_then(then, snapshot)
    by_document: dict[str, list[str]] = {}
    for chunk_id in evidence:
        by_document.setdefault(document_id_of(chunk_id), []).append(chunk_id)
    for document_id, chunk_ids in by_document.items():
        document = documents.get(document_id)
        digest_then = digests.get(document_id, "")
        all_indexed = all(chunk_id in indexed for chunk_id in chunk_ids)
        state = document_state(document, digest_then, workspace.today(), all_indexed=all_indexed)
        ended = document.effective_to if document and state == "ended" else None
        yield {
            "id": document_id,
            "uri": document.uri if document else "",
            "digest_then": digest_then,
            "digest_now": document.digest if document else "",
            "ended": ended.isoformat() if ended else None,
            "state": state,
        }


def digests_then(then: Answer, snapshot: Engine | None) -> dict[str, str]:
    """Return document id -> digest of the searched version, where known."""
    digests = {citation.document_id: citation.digest for citation in then.citations}
    evidence = then.trace.evidence
    if snapshot and evidence:
        for chunk in blocking(snapshot.get(evidence)).values():
            if chunk.digest:
                digests[chunk.document_id] = chunk.digest
    return digests


def document_state(
    document: Document | None, digest_then: str, today: date, *, all_indexed: bool
) -> str:
    """Return unchanged, changed, cut otherwise, deleted or ended."""
    if document is None:
        return "deleted"
    if digest_then and digest_then != document.digest:
        return "changed"
    if document.effective_to and document.effective_to < today:
        return "ended"
    if all_indexed:
        return "unchanged"
    return "cut otherwise" if digest_then else "changed"


def count_quotes(workspace: Workspace, then: Answer) -> dict[str, int]:
    counts = {"stand": 0, "differ": 0, "erased": 0}
    for citation in then.citations:
        text = text_of(workspace.store, citation.document_id, citation.version)
        if text is None or not citation.quote:
            counts["erased"] += 1
        elif text[citation.start : citation.end] == citation.quote:
            counts["stand"] += 1
        else:
            counts["differ"] += 1
    return counts


def is_erased(answer: Answer) -> bool:
    if answer.text == ERASED:
        return True
    return any(not citation.quote for citation in answer.citations)


def setup_differences(workspace: Workspace, stored: StoredAnswer) -> Iterator[Difference]:
    then = setup_then(workspace, stored)
    if then is None:
        return
    before = dict(flatten(then))
    after = dict(flatten(json.loads(measuring.setup(workspace))))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(key, before.get(key), after.get(key))


def setup_then(workspace: Workspace, stored: StoredAnswer) -> Mapping[str, Any] | None:
    records = [stored.record] if stored.record else []
    for link in read_links(workspace.store, records):
        digest = link.facts.get("setup")
        if digest:
            return read_setup(workspace.store, digest)
    return None


def flatten(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def answer_differences(then: Answer, now: Answer) -> Iterator[Difference]:
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("outcome", then.outcome, now.outcome),
        ("action", then.action, now.action),
        ("text", then.text, now.text),
        ("citations", citations_of(then), citations_of(now)),
    )
    for what, before, after in pairs:
        if before != after:
            yield Difference(what, before, after)


def citations_of(answer: Answer) -> list[tuple[str, str]]:
    return [(citation.chunk_id, citation.quote) for citation in answer.citations]
