"""One case of a run, whole: what was asked, searched, ranked, said and scored."""

from collections.abc import Iterator, Sequence
from textwrap import fill, indent, shorten
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.types import Answer, Observation, Score, Trace

ROWS = 10
"""Rows of each ranking that are printed."""


def case_text(seen: "Observation", scores: Sequence["Score"]) -> str:
    return "\n".join([*_asked(seen), *_searched(seen), *_answered(seen.answer), *_scored(scores)])


def _asked(seen: "Observation") -> Iterator[str]:
    case = seen.case
    person = {key: value for key, value in case.person.model_dump(mode="json").items() if value}
    yield f"{case.id}: {case.question}"
    for turn in case.history:
        yield f"  before that, {turn.role}: {turn.content}"
    if case.goal:
        yield f"  wants {case.goal.wanted}"
    for earlier in seen.turns[:-1]:
        yield f"  user: {earlier.question}\n  assistant: {earlier.answer.text}"
    for last in seen.turns[1:][-1:]:
        yield f"  user: {last.question}"
    as_of = f" as of {case.as_of}" if case.as_of else ""
    yield f"  {case.type}, to {case.expect}; asked by {person}{as_of}"
    for reference in case.references:
        yield f"  reference: {reference.text}"
    for item in case.evidence:
        yield f"  evidence ({item.document}): {item.quote}"
    if seen.error:
        yield f"\nThe target failed: {seen.error}"
    if seen.lost:
        yield f"\nLost: {seen.lost}"


def _searched(seen: "Observation") -> Iterator[str]:
    trace = seen.answer.trace if seen.answer else seen.trace
    hits = seen.hits or ()
    if trace:
        yield "\nQueries"
        for query in trace.queries:
            yield f"  {query.strategy}: {query.text!r}; to embed: {query.passage!r}"
        uris = {hit.chunk.id: hit.chunk.uri for hit in hits}
        yield from _rankings(trace, uris)
    if seen.hits is not None:
        yield "\nHits"
    for rank, hit in enumerate(hits, start=1):
        chunk = hit.chunk
        heading = " > ".join(chunk.trail) or chunk.title
        legs = ", ".join(hit.found_by)
        yield f"  {rank:>2}  {hit.score:.4f}  {chunk.uri}  {heading}  ({legs})"
        yield f"      {shorten(chunk.text, 160)}"


def _rankings(trace: "Trace", uris: dict[str, str]) -> Iterator[str]:
    for ranking in trace.rankings:
        yield f"\nRanking {ranking.leg}"
        for identity, rank, score in ranking.rows[:ROWS]:
            yield f"  {rank:>2}  {score:.4f}  {identity}  {uris.get(identity, '')}".rstrip()
        if len(ranking.rows) > ROWS:
            yield f"  and {len(ranking.rows) - ROWS} more; --json has all"


def _answered(answer: "Answer | None") -> Iterator[str]:
    if answer is None:
        return
    yield f"\nAnswer ({answer.outcome}, action {answer.action}; {answer.trace.model or 'no model'})"
    yield indent(answer.text, "  ")
    for number, citation in enumerate(answer.citations, 1):
        yield f"  [{number}] {citation.uri}: {citation.quote}"
    if answer.claims:
        yield "\nClaims"
    for claim in answer.claims:
        numbers = [position + 1 for position in claim.citations]
        yield f"  {claim.verdict}: {claim.text} {numbers}"
    yield f"\nSeconds: {answer.trace.seconds}; signals: {answer.trace.signals}"
    for note in (*answer.trace.notes, *answer.trace.degraded):
        yield f"  note: {note}"


def _scored(scores: Sequence["Score"]) -> Iterator[str]:
    yield "\nScores"
    for score in scores:
        value = f"none ({score.reason})" if score.value is None else f"{score.value:.4f}"
        by = f"  by {score.by}" if score.by else ""
        yield f"  {score.metric:<22} {value}{by}"
        if score.by and score.value is not None and score.reason:
            yield indent(fill(score.reason, 92), "      ")
