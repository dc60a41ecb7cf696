"""What the evidence is worth beside the question, before anything is written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.answer.parts import AnswerParts
from ombud.answer.quoting.applying import named_rows
from ombud.answer.quoting.confidence import (
    UNWEIGHED,
    Basis,
    ConfidenceWeights,
    estimate_confidence,
    load_weights,
)
from ombud.answer.quoting.groups import favour_groups
from ombud.answer.quoting.reading import NOT_READ, ReadEvidence, joined, read_evidence
from ombud.answer.quoting.sections import RankedSection, rank_sections
from ombud.answer.quoting.spans import (
    AnswerSpan,
    SpanRow,
    candidate_spans,
    rank_by,
    span_weights,
    weighed,
)
from ombud.answer.quoting.underlining import span_features
from ombud.answer.signals import askable, measure_signals, section_signals, term_weights
from ombud.errors import ModelError
from ombud.index import Filter
from ombud.retrieve import (
    SearchResult,
    find_passages,
    query_terms,
    standard_query,
)
from ombud.types import Plan, Query, Question

NAMED = 10.0
"""Factor of the odds of a row that is named."""
DOUBTED_BELOW = 0.18
DOUBTED_ABOVE = 0.05
"""How far below and above the threshold of confidence an unsure ombud asks the small reader: on dev
that is a third of plain, terse, mistyped and near questions."""


class Assessment(NamedTuple):
    sections: Sequence[RankedSection] = ()
    """Of the evidence, likeliest to answer first."""
    signals: Mapping[str, float] = {}
    """As the trace holds them: `confidence`, `own_terms`, and what they are made of."""
    confidence: float = 0.0
    """How likely the section that leads answers."""
    least: float = 1.0
    """Confidence from which it is called the answer."""
    weights: ConfidenceWeights = UNWEIGHED

    @property
    def is_sure(self) -> bool:
        """Tell whether the section that leads is called the answer."""
        return bool(self.sections) and self.confidence >= self.least


def assess_evidence(
    question: Question, results: SearchResult, where: Filter, parts: AnswerParts, plan: Plan
) -> Assessment:
    """Return the sections and signals of the question in its own words: what a model wrote is a
    search key and proves nothing. The plan and `parts.may_read` decide whether the small reader
    scores them."""
    comparison = _compare(question, results, where, parts)
    # Like the embedder, the reader was trained on English.
    is_readable = comparison.is_dense and comparison.results.translation is None
    if not is_readable or plan.reader == "never":
        return _weigh(comparison, parts, plan)
    if plan.reader == "unsure" or not parts.may_read:
        unread = _weigh(comparison, parts, plan)
        above = unread.confidence - unread.least
        if plan.reader == "unsure" and not -DOUBTED_BELOW <= above <= DOUBTED_ABOVE:
            return unread
        if not parts.may_read:
            return unread._replace(signals={**unread.signals, "unread": 1.0})
    reader = parts.reader()
    if reader is None:
        return _weigh(comparison, parts, plan)
    passage, spans, features = comparison.query.passage, comparison.spans, comparison.features
    return _weigh(comparison, parts, plan, read_evidence(passage, spans, features, reader))


def answered_questions(
    texts: Sequence[str], question: Question, where: Filter, parts: AnswerParts, plan: Plan
) -> list[str]:
    """Return those of the questions that would be answered, the surest first. They are asked as
    `question` is, by the same person."""
    surest: list[tuple[float, str]] = []
    unread = plan.model_copy(update={"reader": "never"})
    for text in texts:
        assessment = assess_alone(text, question, where, parts, unread)
        if assessment.is_sure:
            surest.append((-assessment.confidence, text))
    return [text for _, text in sorted(surest)]


def assess_alone(
    text: str, question: Question, where: Filter, parts: AnswerParts, plan: Plan
) -> Assessment:
    """Assess what a question of the same person finds by itself."""
    alone = question.model_copy(update={"text": text, "history": ()})
    query = standard_query(alone, parts.knowledge.glossary)
    results = find_passages([query], plan, where, parts.knowledge)
    return assess_evidence(alone, results, where, parts, plan)


class _Comparison(NamedTuple):
    """The evidence compared with the question, before the reader scores it."""

    question: Question
    results: SearchResult
    query: Query
    spans: Sequence[AnswerSpan]
    features: Sequence[SpanRow]
    is_dense: bool


def _compare(
    question: Question, results: SearchResult, where: Filter, parts: AnswerParts
) -> _Comparison:
    knowledge = parts.knowledge
    engine = knowledge.engine
    question = results.question or question
    query = standard_query(question, knowledge.glossary)
    if results.queries != (query,):
        own_results = find_passages([query], results.plan, where, knowledge)
        results = results._replace(best=own_results.best)
    weights = term_weights(query_terms(query.text, engine), engine)
    spans = candidate_spans(results.evidence)
    try:
        features = span_features(question, query, weights, spans, knowledge.embedder)
    except ModelError:  # weighed as a search by words
        by_words = {leg: score for leg, score in results.best.items() if leg != "dense"}
        results = results._replace(best=by_words)
        features = span_features(question, query, weights, spans, None)
    return _Comparison(
        question=question,
        results=results,
        query=query,
        spans=spans,
        features=features,
        is_dense="dense" in results.best,
    )


def _weigh(
    comparison: _Comparison, parts: AnswerParts, plan: Plan, read: ReadEvidence = NOT_READ
) -> Assessment:
    question, results = comparison.question, comparison.results
    engine = parts.knowledge.engine
    basis: Basis = "sparse"
    if comparison.is_dense:
        basis = "read" if read.columns else "hybrid"
    rows = joined(comparison.features, read)
    terms = query_terms(comparison.query.passage, engine)
    spans = answering_spans(question, comparison.spans, rows, span_weights(basis))
    sections = rank_sections(spans)
    signals = measure_signals(terms, results, engine, rows) | section_signals(sections)
    signals |= read.signals
    signals["askable"] = askable(question.text, parts.knowledge.embedder)
    weights = load_weights(basis=basis)
    signals["confidence"] = estimate_confidence(signals, weights)
    # What an abbreviation stands for is among them.
    signals["own_terms"] = float(len(set(terms)))
    return Assessment(
        sections=sections,
        signals=signals,
        confidence=signals["confidence"],
        least=weights.answer if plan.abstain is None else plan.abstain,
        weights=weights,
    )


def answering_spans(
    question: Question,
    spans: Sequence[AnswerSpan],
    rows: Sequence[SpanRow],
    weights: ConfidenceWeights,
) -> list[AnswerSpan]:
    """Return spans likeliest to answer first; rows are their features. A row of a table that the
    question names by its key is likelier."""
    ranked = favour_groups(rank_by(spans, rows, weights), question)
    named = named_rows(spans, question)
    return weighed(ranked, NAMED, lambda span: span.place in named)
