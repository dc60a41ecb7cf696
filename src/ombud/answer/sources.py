"""The list that an answer ends with: each document it cites, most relevant first, and what it
covers."""

from collections.abc import Iterable, Mapping, Sequence

from ombud.types import Citation, Claim, Source

HEADINGS = 3
"""Headings of a document that are named."""
LONGEST = 120
"""Characters of a line."""


def sources_of(
    claims: Sequence[Claim], citations: Sequence[Citation], covers: Mapping[str, str]
) -> tuple[Source, ...]:
    """One a document. Most relevant is what most of the answer rests on, and of two equals what
    comes first in it.

    covers: chunk id -> what a model says it covers; where it says nothing the headings above the
    cited text stand."""
    by_uri: dict[str, list[int]] = {}
    for place, citation in enumerate(citations):
        by_uri.setdefault(citation.uri, []).append(place)

    def weight(places: Iterable[int]) -> int:
        return sum(bool(set(places) & set(claim.citations)) for claim in claims)

    found = sorted(by_uri.values(), key=lambda places: (-weight(places), places[0]))
    return tuple(
        Source(
            title=citations[places[0]].title,
            uri=citations[places[0]].uri,
            covers=_line([citations[place] for place in places], covers),
            citations=tuple(places),
        )
        for places in found
    )


def _line(cited: Sequence[Citation], covers: Mapping[str, str]) -> str:
    said = dict.fromkeys(covers[c.chunk_id] for c in cited if c.chunk_id in covers)
    headings = dict.fromkeys(c.trail[-1] for c in cited if c.trail and c.trail[-1] != c.title)
    line = "; ".join(list(said)[:1] or list(headings)[:HEADINGS])
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rpartition(' ')[0]}…"
