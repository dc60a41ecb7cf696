"""The row of a table that a question names by its key, in front of the rest of its table and of all
that holds less of the question."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from ombud.index import Engine, Filter
from ombud.retrieve.rerank.nearness import descending
from ombud.retrieve.strategies.own_words import chunk_terms, query_terms
from ombud.text import analyse, key_rows, named_row, numbers_in
from ombud.types import Hit

MOST_PARTS = 200
"""Parts of the best table that are looked at beside those that the question's words match."""


class _NamedRow(NamedTuple):
    part: Hit
    """The part of its table that holds it."""
    terms: frozenset[str]
    """Of the row, with its columns and headings."""


async def with_named_rows(
    question: str, hits: Sequence[Hit], where: Filter, engine: Engine
) -> list[Hit]:
    """Put the rows first that the question names, among `hits`, best first.

    The part of a table with such a row takes the best place of the parts of its table, and then
    moves in front of hits that hold less of the question than the row alone."""
    tables = list(dict.fromkeys(table for table in map(table_of, hits) if table))
    if not tables:
        return list(hits)
    others: Sequence[Hit] = ()
    if numbers_in(question):
        # A range need not hold the number itself, so that words do not lead to its part.
        others = await other_parts(_parts(hits, tables[0]), where, engine)
    weights = await _weights(question, engine)
    ordered = list(hits)
    for table in tables:
        parts = [*_parts(ordered, table), *(others if table == tables[0] else ())]
        named = _named_row(question, parts)
        if named is not None:
            lead_table(named.part, parts, ordered)
            _raise(named, ordered, weights)
    return list(descending(ordered)) if ordered != hits else ordered


def table_of(hit: Hit) -> Hashable:
    """Return what the chunks of one table share: document, headings and table head. None if there
    is no table."""
    chunk = hit.chunk
    for line in (chunk.header or chunk.text).split("\n"):
        if line.startswith("|"):
            return chunk.document_id, chunk.trail, line
    return None


def _parts(hits: Sequence[Hit], table: Hashable) -> list[Hit]:
    return [hit for hit in hits if table_of(hit) == table]


async def other_parts(parts: Sequence[Hit], where: Filter, engine: Engine) -> list[Hit]:
    """Find the other parts of the same table by its headings and its head."""
    chunk = parts[0].chunk
    table = table_of(parts[0])
    head = analyse(f"{' '.join(chunk.trail)} {table}", chunk.language)
    legs = await engine.search(" ".join(head), None, where, MOST_PARTS, "sparse")
    present = {hit.chunk.id for hit in parts}
    others = []
    for leg in legs:
        for chunk, _ in leg.hits:
            hit = parts[-1].model_copy(update={"chunk": chunk})
            if chunk.id not in present and table_of(hit) == table:
                others.append(hit)
    return others


def _named_row(question: str, parts: Sequence[Hit]) -> _NamedRow | None:
    """Return the table row that the question names; None if it names none."""
    rows = []
    owners = []
    for part in parts:
        chunk = part.chunk
        for row in key_rows(f"{chunk.header}\n{chunk.text}", chunk.language):
            rows.append(row)
            owners.append(part)
    named = named_row(question, rows, parts[0].chunk.language)
    if named is None:
        return None
    part = owners[named]
    terms = analyse(f"{' '.join(part.chunk.trail)} {rows[named].text}", part.chunk.language)
    return _NamedRow(part, frozenset(terms))


def lead_table(part: Hit, parts: Sequence[Hit], hits: list[Hit]) -> None:
    """Give a part the first place of its table among the hits; the others move down by one."""
    table = table_of(part)
    places = [place for place, hit in enumerate(hits) if table_of(hit) == table]
    others = [hit for hit in parts if hit.chunk.id != part.chunk.id]
    for place, hit in zip(places, [part, *others], strict=False):
        hits[place] = hit


def _raise(named: _NamedRow, hits: list[Hit], weights: Mapping[str, float]) -> None:
    """Move a part in front of those before it that hold less of the question than its row, and of
    prose that holds no more."""

    def share(terms: frozenset[str]) -> float:
        return sum(weight for term, weight in weights.items() if term in terms)

    own = share(named.terms)
    place = at = hits.index(named.part)
    while place:
        before = hits[place - 1]
        other = share(frozenset(chunk_terms(before.chunk)))
        if other > own or (other == own and table_of(before)):
            break
        place -= 1
    hits.insert(place, hits.pop(at))


async def _weights(question: str, engine: Engine) -> dict[str, float]:
    """Return the inverse document frequency of each term of the question."""
    terms = list(dict.fromkeys(query_terms(question, engine)))
    stats = await engine.stats(terms)
    weights: dict[str, float] = {}
    for term, holders in stats.documents_with.items():
        if holders:
            weights[term] = math.log1p(stats.chunks / holders)
    return weights
