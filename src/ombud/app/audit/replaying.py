"""An answer made again: the same question, person, plan and day, on the index as it was, and what
differs today.

Without `model` nothing is asked of a chat model: search texts that one wrote are taken from the
trace, and only answers that were composed without one are compared. The graph and the abbreviations
are those of today."""

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
    read_kept,
    read_links,
    read_setup,
    text_of,
)
from ombud.types import PRIVACY, Answer, Chunk, Document, Plan, Question, Trace


class Difference(NamedTuple):
    what: str
    """Such as `settings.plan.k` or `prompts.compose/default`."""
    then: Any
    now: Any


class Replayed(NamedTuple):
    id: str
    at: str
    as_of: date
    """The day whose rules counted."""
    index_then: str
    index_now: str
    snapshot: bool
    """Whether the index as it was is still there; if not, the present one was searched."""
    evidence_then: tuple[str, ...]
    evidence_now: tuple[str, ...]
    """Chunk ids, best first."""
    came: tuple[dict[str, str], ...]
    """Passages that were not there then: chunk, title, uri."""
    went: tuple[dict[str, str], ...]
    documents: tuple[dict[str, Any], ...]
    """Of the evidence then: id, uri, state (unchanged, changed, deleted, ended), digests."""
    quotes: dict[str, int]
    """Citations that `stand` word for word in the text they count in, that do not (`differ`), and
    `erased` ones."""
    differences: tuple[Difference, ...]
    """Settings, files, prompts and models then and now; what differs between them."""
    compared: bool
    """Whether answer and answer can be compared."""
    answers: tuple[Difference, ...]
    """Outcome, action, text and citations that differ."""
    notes: tuple[str, ...]
    sensitive: bool

    @property
    def same_evidence(self) -> bool:
        return self.evidence_then == self.evidence_now

    @property
    def same(self) -> bool:
        return self.same_evidence and not self.answers and not self.quotes["differ"]


class _Again(NamedTuple):
    """An answer made again."""

    answer: Answer
    evidence: tuple[str, ...]
    notes: list[str]
    """What to know of both."""


_WORDS = ("text", "citations")
"""Differences that hold words of the conversation."""
_BY_RULES = ("standard", "feedback")
"""Strategies whose search texts no model writes."""


async def replay_answer(workspace: Workspace, identity: str, *, model: bool = False) -> Replayed:
    """Make a stored answer again and compare. Raises NotFound, also where its content was
    erased."""
    kept = read_kept(workspace.store, identity)
    asked, then = _content_of(kept)
    trace = then.trace
    day = asked.as_of or _day_of(workspace, kept.at)
    question = asked.model_copy(update={"as_of": day})
    snapshot = await _snapshot(workspace, trace.index_version, kept.at)
    engine = snapshot or workspace.engine
    again = await _answer_again(workspace, question, then, engine, model)
    evidence = again.evidence
    if trace.model:  # a prompt has room for so many
        evidence = evidence[: len(trace.evidence)]
    compared = _can_be_compared(then, model)
    answers: tuple[Difference, ...] = ()
    if compared:
        answers = tuple(_answer_differences(then, again.answer))
    known = {document.id: document for document in list_documents(workspace.store)}
    came = _missing_from(trace.evidence, evidence)
    went = _missing_from(evidence, trace.evidence)
    return Replayed(
        id=kept.id,
        at=kept.at,
        as_of=day,
        index_then=trace.index_version,
        index_now=workspace.engine.version(),
        snapshot=snapshot is not None,
        evidence_then=trace.evidence,
        evidence_now=evidence,
        came=tuple(_named(came, engine, known)),
        went=tuple(_named(went, engine, known)),
        documents=tuple(_document_states(workspace, then, known, snapshot)),
        quotes=_count_quotes(workspace, then),
        differences=tuple(_setup_differences(workspace, kept)),
        compared=compared,
        answers=answers,
        notes=(*again.notes, *_notes_on_erasure(then)),
        sensitive=kept.sensitive,
    )


def _content_of(kept: StoredAnswer) -> tuple[Question, Answer]:
    """Raises NotFound where it was erased."""
    if kept.question is None or kept.answer is None:
        raise NotFound(
            f"The content of the answer `{kept.id}` was erased, so it cannot be replayed.",
            hint="`ombud audit show` says when and why.",
        )
    return kept.question, kept.answer


def _can_be_compared(then: Answer, model: bool) -> bool:
    if _is_erased(then):
        return False
    return model or not then.trace.model


def _missing_from(searched: Sequence[str], chunk_ids: Sequence[str]) -> list[str]:
    """Those of `chunk_ids` that are not in `searched`."""
    return [chunk_id for chunk_id in chunk_ids if chunk_id not in searched]


def _notes_on_erasure(then: Answer) -> tuple[str, ...]:
    if not _is_erased(then):
        return ()
    return ("Evidence erased: a document that was quoted has been deleted, and its words with it.",)


def replayed_json(replayed: Replayed, *, sensitive: bool = False) -> dict[str, Any]:
    """Words of a sensitive conversation only when asked for."""
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


def _day_of(workspace: Workspace, at: str) -> date:
    zone = ZoneInfo(workspace.settings.general.timezone)
    return datetime.fromisoformat(at).astimezone(zone).date()


async def _snapshot(workspace: Workspace, version: str, at: str) -> Engine | None:
    embedder = workspace.embedder
    try:
        return await open_snapshot(
            workspace.pointer.backend,
            version,
            datetime.fromisoformat(at),
            fingerprint=embedder.fingerprint if embedder else "",
            dimension=embedder.dimension if embedder else 0,
        )
    except EngineError:  # built with another embedder than there is now
        return None


async def _answer_again(
    workspace: Workspace, question: Question, then: Answer, engine: Engine, model: bool
) -> _Again:
    trace = then.trace
    known = workspace.audiences.current()["countries"]
    resolved = asking.resolve(workspace, question)
    resolved = resolved.model_copy(update={"is_private": resolved.is_private or _was_private(then)})
    parts = workspace.answering._replace(countries=known)
    knowledge = parts.knowledge._replace(engine=engine)
    parts = parts._replace(knowledge=knowledge)
    if not model:
        knowledge = knowledge._replace(chat=None, ranker=None)
        parts = parts._replace(knowledge=knowledge, chat=None)
    plan = trace.plan.model_copy(update={"adaptive": False})  # what adaptation chose stands in it
    where = asking.filter_of(resolved, plan)
    run = AskRun(resolved, plan, where, parts)
    answer = await run.answer()
    if model or answer.trace.queries == trace.queries:
        return _Again(answer, answer.trace.evidence, notes=[])
    result = find_passages(trace.queries, plan, where, run.parts.knowledge)
    evidence = tuple(hit.chunk.id for hit in result.evidence.hits)
    return _Again(answer, evidence, notes=_notes_on_queries(trace, plan))


def _was_private(then: Answer) -> bool:
    """Whether it was kept from models that are not on this machine, or would be today."""
    kept_back = any(note.startswith(PRIVACY) for note in then.trace.degraded)
    return kept_back or then.action == "handoff"


def _notes_on_queries(trace: Trace, plan: Plan) -> list[str]:
    """Why the search texts of then were searched for as they were."""
    notes = ["The search texts are made otherwise today; those of then were searched for."]
    if any(query.strategy not in _BY_RULES for query in trace.queries):
        notes = ["A model had written the search texts; they were searched for as they were."]
    if plan.reranker != "none" or plan.graph:
        notes.append(
            "Without a model neither reranking nor the graph can follow them: the order may differ."
        )
    return notes


def _named(
    chunk_ids: Sequence[str], engine: Engine, known: Mapping[str, Document]
) -> Iterator[dict[str, str]]:
    chunks: Mapping[str, Chunk] = blocking(engine.get(chunk_ids)) if chunk_ids else {}
    for chunk_id in chunk_ids:
        title = uri = ""
        document = known.get(_document_id(chunk_id))
        if document:
            title, uri = document.title, document.uri
        if chunk_id in chunks:
            chunk = chunks[chunk_id]
            title = " · ".join((chunk.title, *chunk.trail[-1:]))
            uri = chunk.uri
        yield {"chunk": chunk_id, "title": title, "uri": uri}


def _document_id(chunk_id: str) -> str:
    return chunk_id.partition("-")[0]


def _document_states(
    workspace: Workspace, then: Answer, known: Mapping[str, Document], snapshot: Engine | None
) -> Iterator[dict[str, Any]]:
    """What became of the documents of the evidence."""
    evidence = then.trace.evidence
    indexed = blocking(workspace.engine.get(evidence)) if evidence else {}
    digests = _digests_then(then, snapshot)
    by_document: dict[str, list[str]] = {}
    for chunk_id in evidence:
        by_document.setdefault(_document_id(chunk_id), []).append(chunk_id)
    for document_id, chunk_ids in by_document.items():
        document = known.get(document_id)
        digest_then = digests.get(document_id, "")
        all_indexed = all(chunk_id in indexed for chunk_id in chunk_ids)
        state = _state(document, digest_then, workspace.today(), all_indexed=all_indexed)
        ended = document.effective_to if document and state == "ended" else None
        yield {
            "id": document_id,
            "uri": document.uri if document else "",
            "digest_then": digest_then,
            "digest_now": document.digest if document else "",
            "ended": ended.isoformat() if ended else None,
            "state": state,
        }


def _digests_then(then: Answer, snapshot: Engine | None) -> dict[str, str]:
    """Document id -> digest of the version that was searched, as far as that is known."""
    digests = {citation.document_id: citation.digest for citation in then.citations}
    evidence = then.trace.evidence
    if snapshot and evidence:
        for chunk in blocking(snapshot.get(evidence)).values():
            if chunk.digest:
                digests[chunk.document_id] = chunk.digest
    return digests


def _state(document: Document | None, digest_then: str, today: date, *, all_indexed: bool) -> str:
    """unchanged, changed, cut otherwise, deleted or ended."""
    if document is None:
        return "deleted"
    if digest_then and digest_then != document.digest:
        return "changed"
    if document.effective_to and document.effective_to < today:
        return "ended"
    if all_indexed:
        return "unchanged"
    return "cut otherwise" if digest_then else "changed"


def _count_quotes(workspace: Workspace, then: Answer) -> dict[str, int]:
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


def _is_erased(answer: Answer) -> bool:
    if answer.text == ERASED:
        return True
    return any(not citation.quote for citation in answer.citations)


def _setup_differences(workspace: Workspace, kept: StoredAnswer) -> Iterator[Difference]:
    setup_then = _setup_then(workspace, kept)
    if setup_then is None:
        return
    before = dict(_flat(setup_then))
    after = dict(_flat(json.loads(measuring.setup(workspace))))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(key, before.get(key), after.get(key))


def _setup_then(workspace: Workspace, kept: StoredAnswer) -> Mapping[str, Any] | None:
    records = [kept.record] if kept.record else []
    for link in read_links(workspace.store, records):
        digest = link.facts.get("setup")
        if digest:
            return read_setup(workspace.store, digest)
    return None


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _answer_differences(then: Answer, now: Answer) -> Iterator[Difference]:
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("outcome", then.outcome, now.outcome),
        ("action", then.action, now.action),
        ("text", then.text, now.text),
        ("citations", _cited(then), _cited(now)),
    )
    for what, before, after in pairs:
        if before != after:
            yield Difference(what, before, after)


def _cited(answer: Answer) -> list[tuple[str, str]]:
    return [(citation.chunk_id, citation.quote) for citation in answer.citations]
