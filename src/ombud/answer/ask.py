"""The ask flow: triage, search, confidence, composition, proof."""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from ombud.answer import wording
from ombud.answer.citing import Composed, Stored
from ombud.answer.compose import compose, reason
from ombud.answer.confidence import confidence, load_weights
from ombud.answer.contacts import Contacts, topic_of
from ombud.answer.extract import Span, candidates, choose, rank_spans
from ombud.answer.language import apology, asked_in
from ombud.answer.persona import Persona
from ombud.answer.quotes import quote
from ombud.answer.sensitive import Matter, Sensitive
from ombud.answer.signals import measure, term_weights
from ombud.answer.sources import sources_of
from ombud.answer.underlining import features
from ombud.errors import ModelError
from ombud.index import Filter
from ombud.models import Chat
from ombud.retrieve import Found, Index, Spent, disagreeing, find, query_terms, search, standard
from ombud.settings import Settings
from ombud.types import Action, Answer, Citation, Contact, Outcome, Plan, Question, Trace

Tell = Callable[[str, dict[str, Any]], None]
LEAST_TERMS = 2
"""Content words below which a question without history is too vague to answer."""


class Parts(NamedTuple):
    settings: Settings
    knowledge: Index
    chat: Chat | None
    stored: Stored
    contacts: Contacts
    sensitive: Sensitive
    personas: Mapping[str, Persona]


class _Body(NamedTuple):
    """What an answer says, before contacts, ids and the trace are added."""

    outcome: Outcome
    action: Action
    composed: Composed
    suggestions: tuple[str, ...] = ()
    trace: dict[str, Any] = {}  # noqa: RUF012 - never written to
    spent: Spent = Spent()
    covers: Mapping[str, str] = {}
    reasoning: str = ""


class _Shown:
    """The claims that were told so far: one that a repair changed is told again, in its place."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._told = tell, dict[int, dict[str, Any]]()

    def claim(self, index: int, text: str, citations: Sequence[Citation]) -> None:
        said = {"index": index, "text": text, "citations": [c.model_dump(mode="json") for c in citations]}
        if self._told.get(index) != said:
            self._told[index] = said
            self._tell("claim", said)


async def ask(
    question: Question,
    plan: Plan,
    where: Filter,
    parts: Parts,
    tell: Tell | None = None,
    think: Callable[[str], object] = str,
) -> Answer:
    """Answer a question from the documents that its asker may read and that are in force on its day.

    tell: gets `status` and `claim` events; who gives one has claims while a chat model is still writing.
    think: gets what the model thought, which no answer and no trace holds.
    """
    streamed, tell = _Shown(tell) if tell else None, tell or (lambda *_: None)
    started = time.perf_counter()
    matter = parts.sensitive.find(question.text)
    tell("status", {"step": "search"})
    found = await search(question, plan, where, parts.knowledge)
    plan = found.plan
    if any(said.startswith("dense") for said in found.degraded):  # what failed once is not asked again
        parts = parts._replace(knowledge=parts.knowledge._replace(embedder=None))
    spans, signals = await asyncio.to_thread(_look, question, found, where, parts)
    tell("status", {"step": "compose"})
    composing = time.perf_counter()
    body = await _write(question, plan, where.as_of, found, spans, signals, matter, parts, streamed)
    cited = {citation.chunk_id for citation in body.composed.citations}
    told = [hit for hit in found.evidence.hits if hit.chunk.id in cited] or found.evidence.hits[:3]
    topic = matter.topic if matter else topic_of(told)
    contacts = () if _off_topic(body) else parts.contacts.find(topic, question.asker.country)
    done = time.perf_counter()
    seconds = {
        **found.seconds,
        "signals": composing - started - sum(found.seconds.values()),
        "compose": done - composing,
        "total": done - started,
    }
    facts = {
        "plan": plan,
        "queries": found.queries,
        "rankings": found.rankings,
        "evidence": tuple(h.chunk.id for h in found.evidence.hits),
        "signals": {k: round(v, 4) for k, v in {**signals, **found.signals}.items()},
        "seconds": {k: round(v, 4) for k, v in seconds.items()},
        "index_version": parts.knowledge.engine.version(),
        "degraded": found.degraded,
    }
    facts |= body.trace | {"degraded": (*found.degraded, *body.trace.get("degraded", ()))}
    facts |= found.spent.plus(body.spent)._asdict()
    facts |= {"notes": (*body.trace.get("notes", ()), *disagreeing(found.evidence))}
    think(body.reasoning)
    closing = wording.closing(body.action, bool(contacts))
    return _answer(_closed(body, closing), contacts, Trace(**facts), streamed)


def _closed(body: _Body, closing: str) -> _Body:
    text = f"{body.composed.text} {closing}" if body.action == "contact" else body.composed.text
    return body._replace(composed=body.composed._replace(text=text.strip()))


def _answer(body: _Body, contacts: tuple[Contact, ...], trace: Trace, shown: _Shown | None) -> Answer:
    composed = body.composed
    for i, claim in enumerate(composed.claims):
        if shown:
            shown.claim(i, claim.text, [composed.citations[place] for place in claim.citations])
    return Answer(
        id=str(uuid.uuid4()),
        question_id=str(uuid.uuid4()),
        outcome=body.outcome,
        action=body.action,
        text=body.composed.text,
        claims=body.composed.claims,
        citations=body.composed.citations,
        sources=sources_of(composed.claims, composed.citations, body.covers),
        contacts=contacts,
        suggestions=body.suggestions,
        trace=trace,
    )


def _look(question: Question, found: Found, where: Filter, parts: Parts) -> tuple[list[Span], dict[str, float]]:
    """Spans and signals of the question as it was said: what a model wrote is a search key and proves nothing."""
    engine, embedder = parts.knowledge.engine, parts.knowledge.embedder
    query = standard(question, parts.knowledge.glossary)
    if found.queries != (query,):
        found = found._replace(best=find([query], found.plan, where, parts.knowledge).best)
    said = term_weights(query_terms(query.text, engine), engine)
    spans = candidates(found.evidence)
    rows = features(question, query, said, spans, embedder)
    signals = measure(query_terms(query.passage, engine), found, engine, rows)
    dense = "dense" in found.best
    signals["confidence"] = confidence(signals, load_weights(dense=dense))
    signals["own_terms"] = float(len(set(query_terms(question.text, engine))))
    return rank_spans(spans, rows, dense=dense), signals


async def _write(
    question: Question,
    plan: Plan,
    day: date | None,
    found: Found,
    spans: list[Span],
    signals: dict[str, float],
    matter: Matter | None,
    parts: Parts,
    shown: _Shown | None = None,
) -> _Body:
    weights = load_weights(dense="dense" in found.best)
    threshold = weights.answer if plan.abstain is None else plan.abstain
    if matter:
        return await asyncio.to_thread(_handoff, question, matter, spans, signals["confidence"] >= threshold, parts)
    if signals["own_terms"] < LEAST_TERMS and not question.history:
        return _clarify(found)
    if signals["confidence"] < threshold or not spans:
        topical = signals["cosine" if "dense" in found.best else "coverage_all"] >= weights.on_topic
        return _deny(topical, parts)
    if parts.chat:
        return await _with_model(question, plan, day, found, spans, signals, parts, parts.chat, shown)
    return await asyncio.to_thread(_extract, question, spans, signals["confidence"] >= weights.full, parts)


async def _with_model(
    question: Question,
    plan: Plan,
    day: date | None,
    found: Found,
    spans: list[Span],
    signals: dict[str, float],
    parts: Parts,
    chat: Chat,
    shown: _Shown | None,
) -> _Body:
    settings = parts.settings
    try:
        written = await compose(
            question,
            found.evidence,
            plan,
            chat,
            parts.stored,
            persona=parts.personas[plan.persona],
            organisation=settings.general.name,
            day=day or date.today(),  # noqa: DTZ011 - the caller gives the day; this is for those who asked for any
            seconds=settings.models.timeout_seconds,
            prompts=parts.knowledge.prompts,
            show=shown.claim if shown else None,
        )
    except ModelError as failed:
        weights = load_weights(dense="dense" in found.best)
        body = _extract(question, spans, signals["confidence"] >= weights.full, parts)
        return body._replace(trace={"degraded": (f"model: {reason(failed)}",)})
    spent = Spent(written.model, written.prompts, written.tokens_in, written.tokens_out, written.price)
    trace = {
        "evidence": tuple(h.chunk.id for h in written.evidence),
        "notes": written.notes,
        "degraded": written.degraded,
    }
    if written.outcome == "denied":
        return _deny(True, parts)._replace(trace=trace, spent=spent, reasoning=written.reasoning)
    return _Body(
        written.outcome, "none", written.composed, written.suggestions, trace, spent, written.covers, written.reasoning
    )


def _extract(question: Question, spans: list[Span], full: bool, parts: Parts) -> _Body:
    composed = quote(choose(spans, parts.knowledge.embedder), spans, parts.stored)
    if not composed.claims:
        return _deny(True, parts)
    cited = {citation.chunk_id for citation in composed.citations}
    spoken = {span.hit.chunk.language for span in spans if span.hit.chunk.id in cited}
    if said := apology("quoted", asked_in(question.text), spoken):
        composed = composed._replace(text=f"{said}\n\n{composed.text}")
    return _Body("full" if full else "partial", "none", composed)


def _handoff(question: Question, matter: Matter, spans: list[Span], sure: bool, parts: Parts) -> _Body:
    opening = wording.handoff(matter, question.asker.country, parts.settings.answer.emergency)
    quotes = Composed((), (), "")
    if sure and parts.settings.answer.sensitive_quotes:
        quotes = quote(choose(spans[:8], parts.knowledge.embedder)[:2], spans, parts.stored)
    text = f"{opening}\n\n{wording.POLICY_SAYS}\n\n{quotes.text}" if quotes.claims else opening
    return _Body("partial" if quotes.claims else "denied", "handoff", quotes._replace(text=text))


def _clarify(found: Found) -> _Body:
    headings: dict[str, None] = {}
    for hit in found.evidence.hits:
        headings.setdefault(" · ".join(dict.fromkeys((hit.chunk.title, *hit.chunk.trail[-1:]))), None)
    choices = tuple(headings)[:4]
    return _Body("denied", "clarify", Composed((), (), wording.clarify(choices)), choices)


def _deny(topical: bool, parts: Parts) -> _Body:
    text = wording.NOT_IN_DOCUMENTS if topical else wording.off_topic(parts.settings.general.name)
    return _Body("denied", "contact" if topical else "none", Composed((), (), text))


def _off_topic(body: _Body) -> bool:
    return body.outcome == "denied" and body.action == "none"
