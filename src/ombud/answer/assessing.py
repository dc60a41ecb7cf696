"""What the evidence is worth beside the question, before anything is written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.answer.confidence import Basis, estimate_confidence, load_weights
from ombud.answer.parts import AnswerParts
from ombud.answer.quoting.continuing import favour_shown
from ombud.answer.quoting.counterparts import favour_local
from ombud.answer.quoting.definitions import definitions_first
from ombud.answer.quoting.fitness import quotable
from ombud.answer.quoting.groups import favour_everyone, named_groups
from ombud.answer.quoting.reading import NOT_READ, ReadEvidence, joined, read_evidence
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans, rank_spans
from ombud.answer.quoting.underlining import span_features
from ombud.answer.signals import measure_signals, span_signals, term_weights
from ombud.answer.triage.policy_likeness import askable
from ombud.index import Engine, Filter
from ombud.models import Reader
from ombud.retrieve import (
    SearchResult,
    asked_meaning,
    find_passages,
    query_terms,
    standard_query,
)
from ombud.types import Plan, Question

DOUBTED_BELOW = 0.18
DOUBTED_ABOVE = 0.05
"""How far below and above the threshold of confidence the small reader is asked. On dev that is a
third of plain, terse, mistyped and near questions, and as much is gained as by reading all."""


class Assessment(NamedTuple):
    spans: Sequence[AnswerSpan] = ()
    """Of the evidence, likeliest to answer first."""
    signals: Mapping[str, float] = {}
    """As the trace holds them: `confidence`, `own_terms`, and what they are made of."""
    basis: Basis = "sparse"
    """What they were measured with."""


def assess_evidence(
    question: Question, found: SearchResult, where: Filter, parts: AnswerParts, plan: Plan
) -> Assessment:
    """`measure_evidence`, with the small reader as the plan wants it: where confidence is near the
    threshold it tells."""
    if plan.reader == "always":
        return measure_evidence(question, found, where, parts, parts.reader())
    assessment = measure_evidence(question, found, where, parts)
    is_readable = assessment.basis == "hybrid" and found.translation is None
    if plan.reader == "never" or not is_readable or not _is_doubtful(assessment, plan):
        return assessment
    if not parts.may_read:
        return assessment._replace(signals={**assessment.signals, "unread": 1.0})
    reader = parts.reader()
    return measure_evidence(question, found, where, parts, reader) if reader else assessment


def _is_doubtful(assessment: Assessment, plan: Plan) -> bool:
    threshold = plan.abstain
    if threshold is None:
        threshold = load_weights(basis=assessment.basis).answer
    above = assessment.signals["confidence"] - threshold
    return -DOUBTED_BELOW <= above <= DOUBTED_ABOVE


def measure_evidence(
    question: Question,
    found: SearchResult,
    where: Filter,
    parts: AnswerParts,
    reader: Reader | None = None,
) -> Assessment:
    """Spans and signals of the question as it was said: what a model wrote is a search key and
    proves nothing.

    reader: None where nothing is to be read."""
    knowledge = parts.knowledge
    engine = knowledge.engine
    question = found.question or question
    query = standard_query(question, knowledge.glossary)
    if found.queries != (query,):
        as_said = find_passages([query], found.plan, where, knowledge)
        found = found._replace(best=as_said.best)
    search_terms = query_terms(query.text, engine)
    weights = term_weights(search_terms, engine)
    spans = candidate_spans(found.evidence)
    read = _read(query.passage, spans, found, reader)
    basis = _basis(found, read)
    features = span_features(question, query, weights, spans, knowledge.embedder)
    rows = joined(features, read)
    # What was said before finds passages, and proves nothing of what is asked now.
    now_asked = query_terms(question.text, engine) if question.history else []
    passage_terms = query_terms(query.passage, engine)
    said_terms = now_asked or passage_terms
    named = named_groups(question)
    ranked = favour_everyone(rank_spans(spans, rows, basis), named)
    ranked = favour_shown(ranked, question)
    if found.evidence.counterparts:
        said = term_weights(passage_terms, engine)
        ranked = favour_local(ranked, found.evidence, said, named, knowledge.embedder)
    signals = measure_signals(said_terms, found, engine, rows) | span_signals(ranked)
    signals |= read.signals
    signals["askable"] = askable(question.text, knowledge.embedder)
    confidence_weights = load_weights(basis=basis)
    signals["confidence"] = estimate_confidence(signals, confidence_weights)
    abbreviation = asked_meaning(question, knowledge.glossary)
    if abbreviation:
        ranked = definitions_first(ranked, abbreviation)
    own_terms = count_own_terms(question, engine)
    if abbreviation:
        # What it stands for was added.
        own_terms = len(set(said_terms))
    signals["own_terms"] = float(own_terms)
    return Assessment(
        spans=quotable(ranked, question.text),
        signals=signals,
        basis=basis,
    )


def _read(
    question: str, spans: Sequence[AnswerSpan], found: SearchResult, reader: Reader | None
) -> ReadEvidence:
    """The reader was taught English, as the embedder was."""
    if reader is None or "dense" not in found.best or found.translation is not None:
        return NOT_READ
    return read_evidence(question, spans, reader)


def _basis(found: SearchResult, read: ReadEvidence) -> Basis:
    if "dense" not in found.best:
        return "sparse"
    return "read" if read.columns else "hybrid"


def count_own_terms(question: Question, engine: Engine) -> int:
    """Distinct index terms of the last turn alone."""
    terms = query_terms(question.text, engine)
    return len(set(terms))
