"""What a passage holds, as the index reads it."""

from ombud.text import analyse
from ombud.types import Chunk


def chunk_terms(chunk: Chunk) -> list[str]:
    """Index terms of a passage with its headings and, of a table, its header; repeated as they
    are."""
    lines = (*chunk.trail, chunk.header, chunk.text)
    return analyse("\n".join(lines), chunk.language)
