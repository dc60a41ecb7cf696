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

from ombud.answer import answer_question
from ombud.app import asking, measuring
from ombud.app.workspace import Workspace
from ombud.errors import EngineError, NotFound
from ombud.index import Engine, open_snapshot
from ombud.retrieve import find_passages
from ombud.store import ERASED, list_documents, read_kept, read_links, read_setup, text_of
from ombud.store import StoredAnswer as KeptAnswer
from ombud.types import Answer, Chunk, Document, Question, Trace


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


async def replay_answer(workspace: Workspace, identity: str, *, model: bool = False) -> Replayed:
    """Make a stored answer again and compare. Raises NotFound, also where its content was
    erased."""
    kept = read_kept(workspace.store, identity)
    if kept.question is None or kept.answer is None:
        raise NotFound(
            f"The content of the answer `{kept.id}` was erased, so it cannot be replayed.",
            hint="`ombud audit show` says when and why.",
        )
    then, trace = kept.answer, kept.answer.trace
    day = kept.question.as_of or _day_of(workspace, kept.at)
    question = kept.question.model_copy(update={"as_of": day})
    snapshot = _snapshot(workspace, trace.index_version, kept.at)
    engine = snapshot or workspace.engine
    now, evidence, notes = await _again(workspace, question, trace, engine, model)
    evidence = (
        evidence[: len(trace.evidence)] if trace.model else evidence
    )  # a prompt has room for so many
    erased = _erased(then)
    compared = not erased and (model or not trace.model)
    known = {document.id: document for document in list_documents(workspace.store)}
    if erased:
        notes.append(
            "Evidence erased: a document that was quoted has been deleted, and its words with it."
        )
    return Replayed(
        id=kept.id,
        at=kept.at,
        as_of=day,
        index_then=trace.index_version,
        index_now=workspace.engine.version(),
        snapshot=snapshot is not None,
        evidence_then=trace.evidence,
        evidence_now=evidence,
        came=tuple(_named([c for c in evidence if c not in trace.evidence], engine, known)),
        went=tuple(_named([c for c in trace.evidence if c not in evidence], engine, known)),
        documents=tuple(_documents(workspace, then, known, snapshot)),
        quotes=_quotes(workspace, then),
        differences=tuple(_set_up(workspace, kept)),
        compared=compared,
        answers=tuple(_answers(then, now)) if compared else (),
        notes=tuple(notes),
        sensitive=kept.sensitive,
    )


def replayed_json(found: Replayed, *, sensitive: bool = False) -> dict[str, Any]:
    """Words of a sensitive conversation only when asked for."""
    answers = [one._asdict() for one in found.answers]
    if found.sensitive and not sensitive:
        answers = [
            one | {"then": None, "now": None} if one["what"] in _WORDS else one for one in answers
        ]
    told = found._asdict() | {"as_of": found.as_of.isoformat(), "answers": answers}
    told |= {"differences": [one._asdict() for one in found.differences]}
    return told | {"same_evidence": found.same_evidence, "same": found.same}


_WORDS = ("text", "citations")


def _day_of(workspace: Workspace, at: str) -> date:
    return (
        datetime.fromisoformat(at).astimezone(ZoneInfo(workspace.settings.general.timezone)).date()
    )


def _snapshot(workspace: Workspace, version: str, at: str) -> Engine | None:
    embedder = workspace.embedder
    fingerprint, dimension = (embedder.fingerprint, embedder.dimension) if embedder else ("", 0)
    kind, folder, when = (
        workspace.settings.index.engine,
        workspace.data / "index",
        datetime.fromisoformat(at),
    )
    try:
        return open_snapshot(
            kind, folder, version, when, fingerprint=fingerprint, dimension=dimension
        )
    except EngineError:  # built with another embedder than there is now
        return None


async def _again(
    workspace: Workspace, question: Question, trace: Trace, engine: Engine, model: bool
) -> tuple[Answer, tuple[str, ...], list[str]]:
    """(the answer made again, its evidence, what to know of both)."""
    parts = workspace.answering
    notes: list[str] = []
    knowledge = parts.knowledge._replace(engine=engine)
    if not model:
        knowledge = knowledge._replace(chat=None, ranker=None)
    plan = trace.plan.model_copy(update={"adaptive": False})  # what adaptation chose stands in it
    where = asking.filter_of(workspace, question, plan)
    again = parts._replace(knowledge=knowledge, chat=parts.chat if model else None)
    answer = await answer_question(question, plan, where, again)
    if answer.trace.queries == trace.queries or model:
        return answer, answer.trace.evidence, notes
    if any(query.strategy not in ("standard", "feedback") for query in trace.queries):
        notes.append("A model had written the search texts; they were searched for as they were.")
    else:
        notes.append("The search texts are made otherwise today; those of then were searched for.")
    if plan.reranker != "none" or plan.graph:
        notes.append(
            "Without a model neither reranking nor the graph can follow them: the order may differ."
        )
    found = find_passages(trace.queries, plan, where, knowledge)
    return answer, tuple(hit.chunk.id for hit in found.evidence.hits), notes


def _named(
    chunks: Sequence[str], engine: Engine, known: Mapping[str, Document]
) -> Iterator[dict[str, str]]:
    found: Mapping[str, Chunk] = engine.get(chunks) if chunks else {}
    for identity in chunks:
        chunk, document = found.get(identity), known.get(identity.partition("-")[0])
        title = (
            " · ".join((chunk.title, *chunk.trail[-1:]))
            if chunk
            else document.title
            if document
            else ""
        )
        uri = chunk.uri if chunk else document.uri if document else ""
        yield {"chunk": identity, "title": title, "uri": uri}


def _documents(
    workspace: Workspace, then: Answer, known: Mapping[str, Document], snapshot: Engine | None
) -> Iterator[dict[str, Any]]:
    """What became of the documents of the evidence."""
    chunks = then.trace.evidence
    there = workspace.engine.get(chunks) if chunks else {}
    past = snapshot.get(chunks) if snapshot and chunks else {}
    digests = {c.document_id: c.digest for c in then.citations}
    digests |= {chunk.document_id: chunk.digest for chunk in past.values() if chunk.digest}
    for identity in dict.fromkeys(chunk.partition("-")[0] for chunk in chunks):
        document = known.get(identity)
        own = [chunk for chunk in chunks if chunk.startswith(f"{identity}-")]
        before = digests.get(identity, "")
        told: dict[str, Any] = {
            "id": identity,
            "uri": document.uri if document else "",
            "digest_then": before,
        }
        told |= {"digest_now": document.digest if document else "", "ended": None}
        if document is None:
            state = "deleted"
        elif before and before != document.digest:
            state = "changed"
        elif document.effective_to and document.effective_to < workspace.today():
            state, told["ended"] = "ended", document.effective_to.isoformat()
        else:
            state = (
                "unchanged"
                if all(chunk in there for chunk in own)
                else "cut otherwise"
                if before
                else "changed"
            )
        yield told | {"state": state}


def _quotes(workspace: Workspace, then: Answer) -> dict[str, int]:
    counted = {"stand": 0, "differ": 0, "erased": 0}
    for citation in then.citations:
        text = text_of(workspace.store, citation.document_id, citation.digest)
        if text is None or not citation.quote:
            counted["erased"] += 1
        else:
            stands = text[citation.start : citation.end] == citation.quote
            counted["stand" if stands else "differ"] += 1
    return counted


def _erased(answer: Answer) -> bool:
    return answer.text == ERASED or any(not citation.quote for citation in answer.citations)


def _set_up(workspace: Workspace, kept: KeptAnswer) -> Iterator[Difference]:
    links = read_links(workspace.store, [kept.record] if kept.record else [])
    digest = next((link.facts["setup"] for link in links if link.facts.get("setup")), "")
    then = read_setup(workspace.store, digest) if digest else None
    if then is None:
        return
    before, after = dict(_flat(then)), dict(_flat(json.loads(measuring.setup(workspace))))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield Difference(key, before.get(key), after.get(key))


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _answers(then: Answer, now: Answer) -> Iterator[Difference]:
    cited = [[(c.chunk_id, c.quote) for c in answer.citations] for answer in (then, now)]
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("outcome", then.outcome, now.outcome),
        ("action", then.action, now.action),
        ("text", then.text, now.text),
        ("citations", cited[0], cited[1]),
    )
    for what, before, after in pairs:
        if before != after:
            yield Difference(what, before, after)
