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
from ombud.answer.quoting.reading import NOT_READ, joined, read_evidence
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
from ombud.types import Question


class Assessment(NamedTuple):
    spans: Sequence[AnswerSpan] = ()
    """Of the evidence, likeliest to answer first."""
    signals: Mapping[str, float] = {}
    """As the trace holds them: `confidence`, `own_terms`, and what they are made of."""
    basis: Basis = "sparse"
    """What they were measured with."""


def assess_evidence(
    question: Question,
    found: SearchResult,
    where: Filter,
    parts: AnswerParts,
) -> Assessment:
    """Spans and signals of the question as it was said: what a model wrote is a search key and
    proves nothing."""
    knowledge, reader = parts.knowledge, parts.reader
    engine = knowledge.engine
    question = found.question or question
    query = standard_query(question, knowledge.glossary)
    if found.queries != (query,):
        as_said = find_passages([query], found.plan, where, knowledge)
        found = found._replace(best=as_said.best)
    basis = _basis(found, reader)
    search_terms = query_terms(query.text, engine)
    weights = term_weights(search_terms, engine)
    spans = candidate_spans(found.evidence)
    read = read_evidence(query.passage, spans, reader) if basis == "read" and reader else NOT_READ
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


def _basis(found: SearchResult, reader: Reader | None) -> Basis:
    """The reader was taught English, as the embedder was."""
    if "dense" not in found.best:
        return "sparse"
    return "read" if reader and found.translation is None else "hybrid"


def count_own_terms(question: Question, engine: Engine) -> int:
    """Distinct index terms of the last turn alone."""
    terms = query_terms(question.text, engine)
    return len(set(terms))
