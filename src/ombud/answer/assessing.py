"""What the evidence is worth beside the question, before anything is written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.answer.confidence import Basis, estimate_confidence, load_weights
from ombud.answer.parts import AnswerParts
from ombud.answer.policy_likeness import askable
from ombud.answer.quoting.counterparts import favour_local
from ombud.answer.quoting.definitions import definitions_first
from ombud.answer.quoting.fitness import quotable
from ombud.answer.quoting.meant_for import favour_everyone, favour_own_country, named_groups
from ombud.answer.quoting.reading import NOT_READ, ReadEvidence, joined, read_evidence
from ombud.answer.quoting.spans import AnswerSpan, SpanRow, candidate_spans, rank_spans
from ombud.answer.quoting.underlining import span_features
from ombud.answer.signals import measure_signals, span_signals, term_weights
from ombud.index import Engine, Filter
from ombud.models import Reader
from ombud.retrieve import (
    SearchResult,
    asked_meaning,
    find_passages,
    query_terms,
    standard_query,
)
from ombud.types import Plan, Query, Question

DOUBTED_BELOW = 0.18
DOUBTED_ABOVE = 0.05
"""How far below and above the threshold of confidence an unsure ombud asks the small reader: on dev
that is a third of plain, terse, mistyped and near questions."""


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
    """Spans and signals of the question as it was said: what a model wrote is a search key and
    proves nothing. The small reader reads as the plan wants it, where there is a place for it."""
    seen = _look(question, found, where, parts)
    wants_reader = seen.is_readable and plan.reader != "never"
    if wants_reader and parts.may_read and plan.reader == "always":
        return _weigh(seen, parts, _read(seen, parts.reader()))
    unread = _weigh(seen, parts)
    if not wants_reader or (plan.reader == "unsure" and not _is_doubtful(unread, plan)):
        return unread
    if not parts.may_read:
        return unread._replace(signals={**unread.signals, "unread": 1.0})
    reader = parts.reader()
    return _weigh(seen, parts, _read(seen, reader)) if reader else unread


def _is_doubtful(assessment: Assessment, plan: Plan) -> bool:
    threshold = plan.abstain
    if threshold is None:
        threshold = load_weights(basis=assessment.basis).answer
    above = assessment.signals["confidence"] - threshold
    return -DOUBTED_BELOW <= above <= DOUBTED_ABOVE


class _Seen(NamedTuple):
    """What the evidence is beside the question, whether or not it is read."""

    question: Question
    found: SearchResult
    query: Query
    spans: Sequence[AnswerSpan]
    features: Sequence[SpanRow]

    @property
    def is_dense(self) -> bool:
        return "dense" in self.found.best

    @property
    def is_readable(self) -> bool:
        """The reader was taught English, as the embedder was."""
        return self.is_dense and self.found.translation is None


def _look(question: Question, found: SearchResult, where: Filter, parts: AnswerParts) -> _Seen:
    knowledge = parts.knowledge
    engine = knowledge.engine
    question = found.question or question
    query = standard_query(question, knowledge.glossary)
    if found.queries != (query,):
        as_said = find_passages([query], found.plan, where, knowledge)
        found = found._replace(best=as_said.best)
    weights = term_weights(query_terms(query.text, engine), engine)
    spans = candidate_spans(found.evidence)
    features = span_features(question, query, weights, spans, knowledge.embedder)
    return _Seen(
        question=question,
        found=found,
        query=query,
        spans=spans,
        features=features,
    )


def _read(seen: _Seen, reader: Reader | None) -> ReadEvidence:
    if reader is None:
        return NOT_READ
    return read_evidence(seen.query.passage, seen.spans, seen.features, reader)


def _weigh(seen: _Seen, parts: AnswerParts, read: ReadEvidence = NOT_READ) -> Assessment:
    question, found, query = seen.question, seen.found, seen.query
    knowledge = parts.knowledge
    engine = knowledge.engine
    basis = _basis(seen, read)
    rows = joined(seen.features, read)
    passage_terms = query_terms(query.passage, engine)
    named = named_groups(question)
    ranked = favour_everyone(rank_spans(seen.spans, rows, basis), named)
    ranked = favour_own_country(ranked, question)
    if found.evidence.counterparts:
        said = term_weights(passage_terms, engine)
        ranked = favour_local(ranked, found.evidence, said, named, knowledge.embedder)
    signals = measure_signals(passage_terms, found, engine, rows) | span_signals(ranked)
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
        own_terms = len(set(passage_terms))
    signals["own_terms"] = float(own_terms)
    return Assessment(
        spans=quotable(ranked, question.text),
        signals=signals,
        basis=basis,
    )


def _basis(seen: _Seen, read: ReadEvidence) -> Basis:
    if not seen.is_dense:
        return "sparse"
    return "read" if read.columns else "hybrid"


def count_own_terms(question: Question, engine: Engine) -> int:
    """Distinct index terms of the last turn alone."""
    terms = query_terms(question.text, engine)
    return len(set(terms))
