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
    """One a document. Most relevant is what most of the answer rests on, and of two equals what
    comes first in it.

    covers: chunk id -> what a model says it covers; where it says nothing the headings above the
    cited text stand. hits: the evidence, which knows where else a passage stands."""
    by_uri: dict[str, list[int]] = {}
    for place, citation in enumerate(citations):
        by_uri.setdefault(citation.uri, []).append(place)

    def rank(places: Sequence[int]) -> tuple[int, int]:
        return -_claims_resting_on(places, claims), places[0]

    sources: list[CitedDocument] = []
    for places in sorted(by_uri.values(), key=rank):
        first = citations[places[0]]
        source = CitedDocument(
            title=first.title,
            uri=first.uri,
            covers=_line([citations[place] for place in places], covers),
            citations=tuple(places),
            also_in=_copies_of({citations[place].chunk_id for place in places}, hits),
        )
        sources.append(source)
    return tuple(sources)


def _copies_of(chunk_ids: Set[str], hits: Sequence[Hit]) -> tuple[Copy, ...]:
    """Other documents with the text of these passages, each once."""
    by_uri: dict[str, Copy] = {}
    for hit in hits:
        if hit.chunk.id in chunk_ids:
            for copy in hit.copies:
                by_uri.setdefault(copy.uri, copy)
    return tuple(by_uri.values())


def _claims_resting_on(places: Sequence[int], claims: Sequence[Claim]) -> int:
    count = 0
    for claim in claims:
        if not set(places).isdisjoint(claim.citations):
            count += 1
    return count


def _line(cited: Sequence[Citation], covers: Mapping[str, str]) -> str:
    """What the model says that the first of them covers, else the headings above them."""
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
