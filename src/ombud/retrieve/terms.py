"""What a passage holds, as the index reads it."""

from ombud.text import analyse, remembered
from ombud.types import Chunk


def chunk_terms(chunk: Chunk) -> tuple[str, ...]:
    """Index terms of a passage with its headings and, of a table, its header; repeated as they
    are."""
    lines = (*chunk.trail, chunk.header, chunk.text)
    return _terms(lines, chunk.language)


@remembered(2048)
def _terms(lines: tuple[str, ...], language: str) -> tuple[str, ...]:
    return tuple(analyse("\n".join(lines), language))
