"""What of a chunk is embedded and indexed."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ombud.index import Row, Vector
from ombud.models import Embedder
from ombud.settings import IndexSettings
from ombud.text import analyse, read_rows
from ombud.types import Chunk, Document

UNREADABLE = frozenset({"ja", "ko", "zh"})
"""Languages whose script MiniLM's vocabulary mostly lacks (17 % unknown tokens in Japanese)."""
MOST_PAIRS = 16
"""Pairs of paragraphs of one chunk that get a vector of their own."""


def rows_of(
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    embedder: Embedder | None,
    form: IndexSettings,
) -> Iterator[Row]:
    """Rows of the index: each chunk with its source, its terms and, where the embedder reads its
    language, vectors."""
    source = {document.id: document.source for document in documents}
    known = [
        c
        for c in chunks
        if embedder and (embedder.languages is None or c.language not in UNREADABLE)
    ]
    read = _read(known, embedder, form) if embedder and known else {}
    for c in chunks:
        vectors, tokens = read.get(c.id, (None, None))
        yield Row(c, source[c.document_id], terms(c, form), vectors, tokens)


def form_of(form: IndexSettings) -> tuple[str, ...]:
    """What of the settings changes rows without cutting anything anew; empty for the usual form."""
    usual = IndexSettings()
    names = ("header", "tables", "vectors")
    return tuple(
        f"{name}={getattr(form, name)}"
        for name in names
        if getattr(form, name) != getattr(usual, name)
    )


def searchable(chunk: Chunk, form: IndexSettings) -> str:
    """What is embedded and indexed: the heading trail as context, a table's header, the text."""
    trail = " > ".join(chunk.trail) if form.header else ""
    body = "\n".join(filter(None, (chunk.header, chunk.text)))
    return "\n".join(filter(None, (trail, read_rows(body) if form.tables == "rows" else body)))


def terms(chunk: Chunk, form: IndexSettings) -> str:
    """Index terms; headings count three times, for they say what the text is about (dev: +.04 quote
    recall@1000w)."""
    trail = analyse(" ".join(chunk.trail), chunk.language) if form.header else []
    return " ".join([*trail, *trail, *analyse(searchable(chunk, form), chunk.language)])


def estimate(text: str) -> int:
    """Tokens without a tokenizer: words x 4/3."""
    return -(-len(text.split()) * 4 // 3)


def _read(
    chunks: Sequence[Chunk], embedder: Embedder, form: IndexSettings
) -> dict[str, tuple[Vector, bytes | None]]:
    """Chunk id -> its vectors and its packed tokens."""
    whole = embedder.read([searchable(c, form) for c in chunks])
    pairs = [[] if form.vectors == "chunk" else _pairs(c, form) for c in chunks]
    texts = [text for some in pairs for text in some]
    inner = [reading.windows for reading in embedder.read(texts)] if texts else []
    found: dict[str, tuple[Vector, bytes | None]] = {}
    for c, reading, some in zip(chunks, whole, pairs, strict=True):
        mine, inner = inner[: len(some)], inner[len(some) :]
        found[c.id] = (
            np.concatenate([reading.windows, *mine]),
            reading.tokens.pack() if reading.tokens else None,
        )
    return found


def _pairs(chunk: Chunk, form: IndexSettings) -> list[str]:
    """Neighbouring paragraphs two by two, under their heading; none for a chunk of one or two."""
    paragraphs = [part for part in re.split(r"\n\s*\n", chunk.text) if part.strip()]
    if len(paragraphs) < 3:
        return []
    trail = " > ".join(chunk.trail) + "\n" if form.header else ""
    return [f"{trail}{one}\n{other}" for one, other in pairwise(paragraphs)][:MOST_PAIRS]
