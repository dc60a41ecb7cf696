"""The list that an answer ends with: each document it cites, most relevant first, and what it
covers."""

from collections.abc import Mapping, Sequence, Set

from ombud.types import Citation, CitedDocument, Claim, Copy, Hit

HEADINGS = 3
"""Headings of a document that are named."""
LONGEST = 120
"""Characters of a line."""


def sources_of(
    claims: Sequence[Claim],
    citations: Sequence[Citation],
    covers: Mapping[str, str],
    hits: Sequence[Hit] = (),
) -> tuple[CitedDocument, ...]:
    """Return one source per document, the one that most of the answer rests on first.

    covers: chunk id -> a model's line on what it covers; without one the headings are used. hits:
    the evidence, with the other places of a passage."""
    by_uri: dict[str, list[int]] = {}
    for place, citation in enumerate(citations):
        by_uri.setdefault(citation.uri, []).append(place)

    def rank(places: Sequence[int]) -> tuple[int, int]:
        resting = [claim for claim in claims if not set(places).isdisjoint(claim.citations)]
        return -len(resting), places[0]

    sources: list[CitedDocument] = []
    for places in sorted(by_uri.values(), key=rank):
        first = citations[places[0]]
        source = CitedDocument(
            title=first.title,
            uri=first.uri,
            covers=covers_line([citations[place] for place in places], covers),
            citations=tuple(places),
            also_in=copies_of({citations[place].chunk_id for place in places}, hits),
        )
        sources.append(source)
    return tuple(sources)


def copies_of(chunk_ids: Set[str], hits: Sequence[Hit]) -> tuple[Copy, ...]:
    """Return the other documents with the text of these passages, without repetition."""
    by_uri: dict[str, Copy] = {}
    for hit in hits:
        if hit.chunk.id in chunk_ids:
            for copy in hit.copies:
                by_uri.setdefault(copy.uri, copy)
    return tuple(by_uri.values())


def covers_line(cited: Sequence[Citation], covers: Mapping[str, str]) -> str:
    """Return the model's line on what the first passage covers, else the passages' headings."""
    line = _headings(cited)
    for citation in cited:
        if citation.chunk_id in covers:
            line = covers[citation.chunk_id]
            break
    if len(line) <= LONGEST:
        return line
    whole_words, _, _ = line[: LONGEST - 1].rpartition(" ")
    return f"{whole_words}…"


def _headings(cited: Sequence[Citation]) -> str:
    headings: dict[str, None] = {}
    for citation in cited:
        if citation.trail and citation.trail[-1] != citation.title:
            headings[citation.trail[-1]] = None
    return "; ".join(list(headings)[:HEADINGS])
