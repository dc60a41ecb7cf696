"""One case of a run, whole: what was asked, searched, ranked, said and scored."""

from collections.abc import Iterator, Sequence
from textwrap import indent, shorten
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
    yield f"  {case.type}, to {case.expect}; asked by {person}" + (
        f" as of {case.as_of}" if case.as_of else ""
    )
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
    by_id = {hit.chunk.id: hit.chunk for hit in seen.hits or ()}
    if trace:
        yield "\nQueries"
        for query in trace.queries:
            yield f"  {query.strategy}: {query.text!r}; to embed: {query.passage!r}"
        yield from _rankings(trace, {identity: chunk.uri for identity, chunk in by_id.items()})
    if seen.hits is not None:
        yield "\nHits"
    for rank, hit in enumerate(seen.hits or (), 1):
        where = " > ".join(hit.chunk.trail) or hit.chunk.title
        yield f"  {rank:>2}  {hit.score:.4f}  {hit.chunk.uri}  {where}  ({', '.join(hit.found_by)})"
        yield f"      {shorten(hit.chunk.text, 160)}"


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
        yield f"  {claim.verdict}: {claim.text} {[at + 1 for at in claim.citations]}"
    yield f"\nSeconds: {answer.trace.seconds}; signals: {answer.trace.signals}"
    for note in (*answer.trace.notes, *answer.trace.degraded):
        yield f"  note: {note}"


def _scored(scores: Sequence["Score"]) -> Iterator[str]:
    yield "\nScores"
    for score in scores:
        said = f"none ({score.reason})" if score.value is None else f"{score.value:.4f}"
        yield f"  {score.metric:<22} {said}" + (f"  by {score.by}" if score.by else "")
