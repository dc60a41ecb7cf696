"""Deduplicate passages: copies of a page in several files take one place."""

import re
from collections.abc import Sequence

from ombud.text import remembered, word_runs
from ombud.types import Chunk, Copy, Hit

RUN = 6
"""Words of a sequence."""
COPIED = 0.8
"""Share of a passage's sequences that one before it has from which on it says nothing new (law
text in several files: first passage within 1,000 words .52 to .58 without such copies)."""
LEAST_WORDS = 20
"""A shorter passage is compared by little, and takes little room."""
FIGURE = re.compile(r"\d[\d.,]*")
NUMBERING = re.compile(
    r"(?:§+|\b(?:sections?|articles?|art\.|clauses?|chapters?|rules?|paragraphs?))\s*\d[\w.–-]*"
    r"|^\W*\(?\d[\d.]*\)?(?=\s)",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers of clauses, which differ where the same law stands in two files."""

Sequences = frozenset[tuple[str, ...]]


def without_copies(hits: Sequence[Hit], most: int) -> list[Hit]:
    """Return the first `most` hits with content of their own, best first, each with its duplicates
    in `copies`.

    Passages that differ in a figure are no duplicates: pages of two countries are often worded
    alike. Nor is a country's own or a mandatory page a duplicate of an optional global one."""
    distinct: list[Hit] = []
    sequences: list[Sequences] = []
    for hit in hits:
        of_hit = _sequences(hit.chunk.text)
        place = _original(hit, of_hit, distinct, sequences)
        if place is not None:
            distinct[place] = with_copy(distinct[place], hit.chunk)
        elif len(distinct) == most:
            break
        else:
            distinct.append(hit)
            sequences.append(of_hit)
    return distinct


def with_copy(hit: Hit, chunk: Chunk) -> Hit:
    if chunk.uri == hit.chunk.uri:
        return hit
    copy = Copy(
        title=chunk.title,
        uri=chunk.uri,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
    )
    return hit.model_copy(update={"copies": (*hit.copies, copy)})


def _original(
    hit: Hit, sequences: Sequences, distinct: Sequence[Hit], distinct_sequences: Sequence[Sequences]
) -> int | None:
    """Return the place of the hit that this one repeats; None if it has content of its own."""
    if not sequences:
        return None
    for place, (other, others) in enumerate(zip(distinct, distinct_sequences, strict=True)):
        shared = len(sequences & others)
        if shared < COPIED * len(sequences):
            continue
        has_figures = _figures(hit.chunk.text) <= _figures(other.chunk.text)
        if has_figures and counts_alike(hit.chunk, other.chunk):
            return place
    return None


def counts_alike(copy: Chunk, original: Chunk) -> bool:
    """Tell whether two pages have the same standing."""
    same_scope = not copy.countries or set(copy.countries) <= set(original.countries)
    return same_scope and copy.mandatory == original.mandatory


@remembered(4096)
def _figures(text: str) -> frozenset[str]:
    return frozenset(FIGURE.findall(NUMBERING.sub(" ", text)))


@remembered(4096)
def _sequences(text: str) -> Sequences:
    words = word_runs(text.casefold())
    if len(words) < LEAST_WORDS:
        return frozenset()
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))
