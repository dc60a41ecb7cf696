"""Passages that say the same, such as copies of a page in several files, take one place."""

import re
from collections.abc import Sequence

from ombud.text import remembered
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
WORD = re.compile(r"\w+")

Sequences = frozenset[tuple[str, ...]]


def without_copies(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The first `most` hits that each say something of their own, best first; the others that were
    passed on the way stand in `copies` of the one whose text they repeat.

    A passage with another figure is no copy: pages of two countries are often worded alike. Nor is
    a country's own page, and a mandatory one, of a global page that binds nobody."""
    kept: list[Hit] = []
    sequences: list[Sequences] = []
    for hit in hits:
        of_hit = _sequences(hit.chunk.text)
        place = _original(hit, of_hit, kept, sequences)
        if place is not None:
            kept[place] = _with_copy(kept[place], hit.chunk)
        elif len(kept) == most:
            break
        else:
            kept.append(hit)
            sequences.append(of_hit)
    return kept


def _with_copy(hit: Hit, chunk: Chunk) -> Hit:
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
    hit: Hit, sequences: Sequences, kept: Sequence[Hit], kept_sequences: Sequence[Sequences]
) -> int | None:
    """The place of the hit that says what this one says; None where it has something of its own."""
    if not sequences:
        return None
    for place, (other, others) in enumerate(zip(kept, kept_sequences, strict=True)):
        shared = len(sequences & others)
        if shared < COPIED * len(sequences):
            continue
        if _counts_alike(hit.chunk, other.chunk) and _same_figures(hit.chunk, other.chunk):
            return place
    return None


def _counts_alike(copy: Chunk, original: Chunk) -> bool:
    """Whether it makes no difference which of two pages speaks."""
    same_scope = not copy.countries or set(copy.countries) <= set(original.countries)
    return same_scope and copy.mandatory == original.mandatory


def _same_figures(copy: Chunk, original: Chunk) -> bool:
    """Whether a passage has no figure that the other lacks."""
    return _figures(copy.text) <= _figures(original.text)


@remembered(4096)
def _figures(text: str) -> frozenset[str]:
    return frozenset(FIGURE.findall(NUMBERING.sub(" ", text)))


@remembered(4096)
def _sequences(text: str) -> Sequences:
    words = WORD.findall(text.casefold())
    if len(words) < LEAST_WORDS:
        return frozenset()
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))
