"""What a model reads: hits with the rest of their sections, for a rule is often cut off from its
lead-in or its exceptions."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.answer.compose.prompting import token_cost
from ombud.answer.proof.citing import Stored
from ombud.index import Engine, Filter
from ombud.retrieve import SearchParts, SearchResult, by_scope, search
from ombud.types import Chunk, Document, Evidence, Hit, Question

OWN = "standard"
"""The strategy that searches with the question itself."""

SECTION = "section"
"""In `found_by` of a passage that stands in the section of one that was found."""


class PromptSection(NamedTuple):
    """Chunks that stand one after another under the same headings, as one passage."""

    hit: Hit
    """The best of them, with the text of all."""
    members: tuple[Chunk, ...]
    """In reading order."""


async def search_unaided(
    results: SearchResult, question: Question, where: Filter, knowledge: SearchParts
) -> SearchResult:
    """Search by the question alone, where a model wrote the search texts: its reading may be why
    it could not answer."""
    if all(query.strategy == OWN for query in results.queries):
        return results
    plan = results.plan.model_copy(update={"strategies": (OWN,), "reranker": "none"})
    again = await search(question, plan, where, knowledge._replace(chat=None))
    note = "strategy: searched again without what the model wrote"
    return again._replace(
        plan=results.plan, spent=results.spent, degraded=(*results.degraded, note)
    )


async def with_sections(evidence: Evidence, engine: Engine, budget: int) -> Evidence:
    """Add to each hit, best first, its neighbours under the same headings.

    What is left of the budget is shared out: a long section takes no more than its share, and what
    a short one leaves goes to the others. Nothing else is added to fill it up."""
    hits = evidence.hits
    documents = await chunks_in_order(engine, hits)
    included = {hit.chunk.id: hit for hit in hits}
    left = budget - sum(map(token_cost, (hit.chunk for hit in hits)))
    for place, hit in enumerate(hits):
        share = left / (len(hits) - place)
        for chunk in section_neighbours(hit.chunk, documents.get(hit.chunk.document_id, ())):
            if chunk.id in included:
                continue
            cost = token_cost(chunk)
            if cost > share:
                break
            share -= cost
            left -= cost
            score = math.nextafter(hit.score, -math.inf)
            included[chunk.id] = Hit(chunk=chunk, score=score, found_by=(SECTION,))
    return by_scope(list(included.values())).model_copy(update={"triplets": evidence.triplets})


async def chunks_in_order(engine: Engine, hits: Sequence[Hit]) -> Mapping[str, Sequence[Chunk]]:
    """Return the chunks of each document that a hit is of, in reading order."""
    identities = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
    chunks: dict[str, list[Chunk]] = {}
    for row in await engine.rows(identities) if identities else ():
        chunks.setdefault(row.chunk.document_id, []).append(row.chunk)
    for of_document in chunks.values():
        of_document.sort(key=lambda chunk: chunk.start)
    return chunks


def section_neighbours(chunk: Chunk, in_order: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return the other chunks of a section, the nearest first, of two the one that comes later."""
    places = [place for place, other in enumerate(in_order) if other.id == chunk.id]
    if not places:
        return ()
    first = last = places[0]
    while first > 0 and in_order[first - 1].trail == chunk.trail:
        first -= 1
    while last + 1 < len(in_order) and in_order[last + 1].trail == chunk.trail:
        last += 1
    section = range(first, last + 1)
    nearest = sorted(section, key=lambda place: (abs(place - places[0]), -place))
    return [in_order[place] for place in nearest[1:]]


def join_sections(hits: Sequence[Hit], stored: Stored) -> list[PromptSection]:
    """Return hits as passages, best first: those that follow one another in a section as one."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Hit]] = {}
    for hit in hits:
        chunk = hit.chunk
        groups.setdefault((chunk.document_id, chunk.version, chunk.trail), []).append(hit)
    section_of: dict[str, PromptSection] = {}
    for (identity, version, _), members in groups.items():
        document = stored(identity, version) if len(members) > 1 else None
        for run in contiguous_runs(members, document):
            section_of[run[0].chunk.id] = join_run(run, document)
    return [section_of[hit.chunk.id] for hit in hits if hit.chunk.id in section_of]


def contiguous_runs(hits: Sequence[Hit], document: Document | None) -> list[list[Hit]]:
    """Return the hits that follow one another without a gap, each run with its best first."""
    if document is None:
        return [[hit] for hit in hits]
    runs: list[list[Hit]] = []
    end = 0
    for hit in sorted(hits, key=lambda hit: hit.chunk.start):
        chunk = hit.chunk
        is_whole = document.text[chunk.start : chunk.end] == chunk.text
        if runs and is_whole and not document.text[end : chunk.start].strip():
            runs[-1].append(hit)
        else:
            runs.append([hit])
        end = max(end, chunk.end) if is_whole else len(document.text)
    rank = {hit.chunk.id: place for place, hit in enumerate(hits)}
    return [sorted(run, key=lambda hit: rank[hit.chunk.id]) for run in runs]


def join_run(run: Sequence[Hit], document: Document | None) -> PromptSection:
    best = run[0]
    members = sorted((hit.chunk for hit in run), key=lambda chunk: chunk.start)
    if document is None or len(run) == 1:
        return PromptSection(best, tuple(members))
    start = members[0].start
    end = max(chunk.end for chunk in members)
    joined = best.chunk.model_copy(
        update={
            "header": members[0].header,
            "text": document.text[start:end],
            "start": start,
            "end": end,
            "annotations": document.annotations_in(start, end),
        }
    )
    return PromptSection(best.model_copy(update={"chunk": joined}), tuple(members))
