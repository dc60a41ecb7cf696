"""The ask flow: triage, search, confidence, composition, proof."""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from ombud.answer import wording
from ombud.answer.compose.composing import compose_answer, reason
from ombud.answer.confidence import estimate_confidence, load_weights
from ombud.answer.contacts import Contacts, most_alike, topic_of
from ombud.answer.language import apology, asked_in
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Composed, Stored
from ombud.answer.quoting.quotes import quote_spans
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans, choose, rank_spans
from ombud.answer.quoting.underlining import span_features
from ombud.answer.signals import measure_signals, term_weights, unheard
from ombud.answer.sources import sources_of
from ombud.answer.triage import (
    Record,
    Refined,
    Triage,
    TriageResult,
    open_triage,
    own_record,
    refine,
)
from ombud.answer.triage.sensitive import Matter, Sensitive
from ombud.errors import ModelError
from ombud.index import Filter
from ombud.models import Chat
from ombud.retrieve import (
    ModelUsage,
    SearchParts,
    SearchResult,
    check_plan,
    contradiction_notes,
    find_passages,
    query_terms,
    search,
    standard_query,
)
from ombud.settings import Settings
from ombud.types import (
    Action,
    Answer,
    Citation,
    Contact,
    Evidence,
    Hit,
    Outcome,
    Plan,
    Question,
    Trace,
)

OnEvent = Callable[[str, dict[str, Any]], None]
LEAST_TERMS = 2
"""Content words below which a question without history is too vague to answer."""


class AnswerParts(NamedTuple):
    settings: Settings
    knowledge: SearchParts
    chat: Chat | None
    stored: Stored
    contacts: Contacts
    sensitive: Sensitive
    personas: Mapping[str, Persona]
    triage: Triage | None = None
    """None: by the shipped weights, without vectors."""


class _Body(NamedTuple):
    """What an answer says, before contacts, ids and the trace are added."""

    outcome: Outcome
    action: Action
    composed: Composed
    suggestions: tuple[str, ...] = ()
    trace: dict[str, Any] = {}  # noqa: RUF012 - never written to
    spent: ModelUsage = ModelUsage()
    covers: Mapping[str, str] = {}
    reasoning: str = ""


class _Known(NamedTuple):
    """What is known of a question before anything is written."""

    found: SearchResult
    spans: list[AnswerSpan]
    signals: dict[str, float]
    seen: TriageResult
    parts: AnswerParts


class _Shown:
    """The claims that were told so far: one that a repair changed is told again, in its place."""

    def __init__(self, tell: OnEvent) -> None:
        self._tell, self._told = tell, dict[int, dict[str, Any]]()

    def claim(self, index: int, text: str, citations: Sequence[Citation]) -> None:
        said = {
            "index": index,
            "text": text,
            "citations": [c.model_dump(mode="json") for c in citations],
        }
        if self._told.get(index) != said:
            self._told[index] = said
            self._tell("claim", said)


async def answer_question(
    question: Question,
    plan: Plan,
    where: Filter,
    parts: AnswerParts,
    tell: OnEvent | None = None,
    think: Callable[[str], object] = str,
) -> Answer:
    """Answer a question from the documents that its asker may read and that are in force on its
    day.

    tell: gets `status` and `claim` events; who gives one has claims while a chat model is still
    writing.
    think: gets what the model thought, which no answer and no trace holds.
    """
    streamed, tell = _Shown(tell) if tell else None, tell or (lambda *_: None)
    check_plan(plan)
    started = time.perf_counter()
    seen = await asyncio.to_thread(_triage, question, parts)
    triaged = time.perf_counter() - started
    tell("status", {"step": "search"})
    known = await _search(question, plan, where, seen, parts)
    found = known.found._replace(seconds={"triage": triaged, **known.found.seconds})
    tell("status", {"step": "compose"})
    composing = time.perf_counter()
    body = await _write(question, where.as_of, known, streamed)
    cited = {citation.chunk_id for citation in body.composed.citations}
    told: Sequence[Hit] = [
        hit for hit in found.evidence.hits if hit.chunk.id in cited
    ] or found.evidence.hits[:3]
    told = most_alike(told) if body.action == "clarify" else told
    contacts = () if _off_topic(body) else _contacts(question, told, known.seen, parts)
    done = time.perf_counter()
    seconds = {
        **found.seconds,
        "signals": composing - started - sum(found.seconds.values()),
        "compose": done - composing,
        "total": done - started,
    }
    think(body.reasoning)
    closing = wording.closing(body.action, bool(contacts))
    trace = _traced(found, {**known.signals, **found.signals}, seconds, body, parts)
    return _answer(_closed(body, closing), contacts, trace, streamed)


async def _search(
    question: Question, plan: Plan, where: Filter, seen: TriageResult, parts: AnswerParts
) -> _Known:
    """What the documents say, and what triage makes of the question with that beside it."""
    if _known_already(seen, parts):
        found = SearchResult(Evidence(), (), (), {}, (), {}, plan)
        return _with_refined(Refined(seen), _Known(found, [], {}, seen, parts))
    found = await search(question, plan, where, parts.knowledge)
    if any(
        said.startswith("dense") for said in found.degraded
    ):  # what failed once is not asked again
        parts = parts._replace(knowledge=parts.knowledge._replace(embedder=None))
    know = parts.knowledge
    spans, signals = await asyncio.to_thread(_look, question, found, where, parts)
    refined = await refine(
        seen,
        question,
        found,
        know.chat,
        organisation=know.organisation,
        seconds=know.seconds,
        prompts=know.prompts,
    )
    return _with_refined(refined, _Known(found, spans, signals, seen, parts))


def _with_refined(refined: Refined, known: _Known) -> _Known:
    found, seen = known.found, refined.seen
    found = found._replace(
        degraded=(*seen.degraded, *found.degraded, *refined.degraded),
        seconds={**found.seconds, **refined.seconds},
        signals={**found.signals, **seen.signals},
        spent=found.spent.plus(refined.spent),
    )
    return known._replace(found=found, seen=seen)


def _traced(
    found: SearchResult,
    signals: Mapping[str, float],
    seconds: Mapping[str, float],
    body: _Body,
    parts: AnswerParts,
) -> Trace:
    facts: dict[str, Any] = {
        "plan": found.plan,
        "queries": found.queries,
        "rankings": found.rankings,
        "evidence": tuple(h.chunk.id for h in found.evidence.hits),
        "signals": {k: round(v, 4) for k, v in signals.items()},
        "seconds": {k: round(v, 4) for k, v in seconds.items()},
        "index_version": parts.knowledge.engine.version(),
        **body.trace,
        "degraded": (*found.degraded, *body.trace.get("degraded", ())),
        "notes": (*body.trace.get("notes", ()), *contradiction_notes(found.evidence)),
        **found.spent.plus(body.spent)._asdict(),
    }
    return Trace(**facts)


def _triage(question: Question, parts: AnswerParts) -> TriageResult:
    """A follow-up, or one without a word to search for, looks strange alone: only an injection is
    taken for one."""
    seen = (parts.triage or open_triage(parts.sensitive))(question.text)
    if (
        seen.label == "out_of_scope"
        and not seen.injected
        and (question.history or not _own_terms(question, parts))
    ):
        return seen._replace(label="ordinary", settled=True)
    return seen


def _own_terms(question: Question, parts: AnswerParts) -> int:
    return len(set(query_terms(question.text, parts.knowledge.engine)))


def _known_already(seen: TriageResult, parts: AnswerParts) -> bool:
    """Whether no passage could change the answer, so that nothing is searched."""
    return seen.injected or (
        seen.matter is not None and seen.settled and not parts.settings.answer.sensitive_quotes
    )


def _contacts(
    question: Question, told: Sequence[Hit], seen: TriageResult, parts: AnswerParts
) -> tuple[Contact, ...]:
    country, mine = question.asker.country, own_record(question.text)
    if seen.matter:
        return parts.contacts.find(seen.matter.topic, country)
    named = parts.contacts.named(mine.topic, country) if mine else ()
    return named or parts.contacts.find(topic_of(told), country)


def _closed(body: _Body, closing: str) -> _Body:
    text = f"{body.composed.text} {closing}" if body.action == "contact" else body.composed.text
    return body._replace(composed=body.composed._replace(text=text.strip()))


def _answer(
    body: _Body, contacts: tuple[Contact, ...], trace: Trace, shown: _Shown | None
) -> Answer:
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


def _look(
    question: Question, found: SearchResult, where: Filter, parts: AnswerParts
) -> tuple[list[AnswerSpan], dict[str, float]]:
    """Spans and signals of the question as it was said: what a model wrote is a search key and
    proves nothing."""
    engine, embedder = parts.knowledge.engine, parts.knowledge.embedder
    query = standard_query(question, parts.knowledge.glossary)
    if found.queries != (query,):
        found = found._replace(best=find_passages([query], found.plan, where, parts.knowledge).best)
    said = term_weights(query_terms(query.text, engine), engine)
    spans = candidate_spans(found.evidence)
    rows = span_features(question, query, said, spans, embedder)
    signals = measure_signals(query_terms(query.passage, engine), found, engine, rows)
    dense = "dense" in found.best
    signals["confidence"] = estimate_confidence(signals, load_weights(dense=dense))
    signals["own_terms"] = float(_own_terms(question, parts))
    return rank_spans(spans, rows, dense=dense), signals


async def _write(
    question: Question, day: date | None, known: _Known, shown: _Shown | None
) -> _Body:
    found, spans, signals, seen, parts = known
    weights = load_weights(dense="dense" in found.best)
    threshold = weights.answer if found.plan.abstain is None else found.plan.abstain
    sure = signals.get("confidence", 0.0)
    if seen.matter:
        return await asyncio.to_thread(
            _handoff, question, seen.matter, spans, sure >= threshold, parts
        )
    if seen.injected:
        return _outside(parts)
    if signals["own_terms"] < LEAST_TERMS and not question.history:
        return _clarify(found, parts)
    # An organisation that asks for less certainty asks triage for no more.
    least = weights.in_scope if found.plan.abstain is None else min(weights.in_scope, threshold)
    if seen.label == "out_of_scope" and sure < least:
        return _outside(parts)
    if sure < threshold or not spans:
        topical = signals["cosine" if "dense" in found.best else "coverage_all"] >= weights.on_topic
        return _not_stated(question, found, parts) if topical else _outside(parts)
    if parts.chat:
        body = await _with_model(
            question, found.plan, day, found, spans, signals, parts, parts.chat, shown
        )
    else:
        body = await asyncio.to_thread(
            _extract, question, found, spans, sure >= weights.full, parts
        )
    mine = own_record(question.text)
    return (
        _of_own(body, mine, bool(parts.contacts.named(mine.topic, question.asker.country)))
        if mine
        else body
    )


async def _with_model(
    question: Question,
    plan: Plan,
    day: date | None,
    found: SearchResult,
    spans: list[AnswerSpan],
    signals: dict[str, float],
    parts: AnswerParts,
    chat: Chat,
    shown: _Shown | None,
) -> _Body:
    settings = parts.settings
    try:
        written = await compose_answer(
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
        body = _extract(question, found, spans, signals["confidence"] >= weights.full, parts)
        return body._replace(trace={"degraded": (f"model: {reason(failed)}",)})
    spent = ModelUsage(
        written.model, written.prompts, written.tokens_in, written.tokens_out, written.price
    )
    read = {hit.chunk.id for hit in written.evidence}
    trace = {
        "evidence": tuple(hit.chunk.id for hit in found.evidence.hits if hit.chunk.id in read),
        "notes": written.notes,
        "degraded": written.degraded,
    }
    if written.outcome == "denied":
        return _not_stated(question, found, parts)._replace(
            trace=trace, spent=spent, reasoning=written.reasoning
        )
    return _Body(
        written.outcome,
        "none",
        written.composed,
        written.suggestions,
        trace,
        spent,
        written.covers,
        written.reasoning,
    )


def _extract(
    question: Question, found: SearchResult, spans: list[AnswerSpan], full: bool, parts: AnswerParts
) -> _Body:
    composed = quote_spans(choose(spans, parts.knowledge.embedder), spans, parts.stored)
    if not composed.claims:
        return _not_stated(question, found, parts)
    cited = {citation.chunk_id for citation in composed.citations}
    spoken = {span.hit.chunk.language for span in spans if span.hit.chunk.id in cited}
    if said := apology("quoted", asked_in(question.text), spoken):
        composed = composed._replace(text=f"{said}\n\n{composed.text}")
    return _Body("full" if full else "partial", "none", composed)


def _handoff(
    question: Question, matter: Matter, spans: list[AnswerSpan], sure: bool, parts: AnswerParts
) -> _Body:
    opening = wording.handoff(matter, question.asker.country, parts.settings.answer.emergency)
    quotes = Composed((), (), "")
    if sure and parts.settings.answer.sensitive_quotes:
        quotes = quote_spans(choose(spans[:8], parts.knowledge.embedder)[:2], spans, parts.stored)
    text = f"{opening}\n\n{wording.POLICY_SAYS}\n\n{quotes.text}" if quotes.claims else opening
    return _Body("partial" if quotes.claims else "denied", "handoff", quotes._replace(text=text))


def _of_own(body: _Body, mine: Record, shown_below: bool) -> _Body:
    """The policy answers in part; the figure itself is nowhere in the documents."""
    if body.outcome == "denied" and body.action != "contact":
        return body
    text = f"{wording.own_record(mine.name, shown_below)}\n\n{body.composed.text}".strip()
    outcome: Outcome = "denied" if body.outcome == "denied" else "partial"
    return body._replace(outcome=outcome, composed=body.composed._replace(text=text))


def _headings(found: SearchResult) -> tuple[str, ...]:
    """Where the best passages stand, best first, each place once."""
    headings: dict[str, None] = {}
    for hit in found.evidence.hits:
        headings.setdefault(
            " · ".join(dict.fromkeys((hit.chunk.title, *hit.chunk.trail[-1:]))), None
        )
    return tuple(headings)


def _clarify(found: SearchResult, parts: AnswerParts) -> _Body:
    if parts.settings.answer.vague == "deny":
        return _Body("denied", "none", Composed((), (), wording.TOO_VAGUE))
    choices = _headings(found)[:4]
    return _Body("denied", "clarify", Composed((), (), wording.clarify(choices)), choices)


def _outside(parts: AnswerParts) -> _Body:
    return _Body("denied", "none", Composed((), (), wording.off_topic(parts.settings.general.name)))


def _not_stated(question: Question, found: SearchResult, parts: AnswerParts) -> _Body:
    """Says what was looked for in vain and where the closest passages stand."""
    closest = _headings(found)[:3]
    missing = unheard(question.text, found.evidence.hits, parts.knowledge.engine)
    return _Body("denied", "contact", Composed((), (), wording.not_stated(missing, closest)))


def _off_topic(body: _Body) -> bool:
    return body.outcome == "denied" and body.action == "none"
