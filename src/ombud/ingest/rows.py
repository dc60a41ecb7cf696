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
    sources = {document.id: document.source for document in documents}
    vectors = _ChunkVectors(embedder, form, chunks) if embedder else None
    for chunk in chunks:
        yield Row(
            chunk=chunk,
            source=sources[chunk.document_id],
            terms=terms(chunk, form),
            vectors=vectors.windows.get(chunk.id) if vectors else None,
            tokens=vectors.tokens.get(chunk.id) if vectors else None,
        )


def form_of(form: IndexSettings) -> tuple[str, ...]:
    """What of the settings changes rows without cutting anything anew; empty for the usual form."""
    usual = IndexSettings()
    parts: list[str] = []
    for name in ("header", "tables", "vectors"):
        value = getattr(form, name)
        if value != getattr(usual, name):
            parts.append(f"{name}={value}")
    return tuple(parts)


def searchable(chunk: Chunk, form: IndexSettings) -> str:
    """What is embedded and indexed: the heading trail as context, a table's header, the text."""
    trail = " > ".join(chunk.trail) if form.header else ""
    body = _lines(chunk.header, chunk.text)
    if form.tables == "rows":
        body = read_rows(body)
    return _lines(trail, body)


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def terms(chunk: Chunk, form: IndexSettings) -> str:
    """Index terms; headings count three times, for they say what the text is about (dev: +.04 quote
    recall@1000w)."""
    whole = analyse(searchable(chunk, form), chunk.language)
    if not form.header:
        return " ".join(whole)
    trail = analyse(" ".join(chunk.trail), chunk.language)
    return " ".join([*trail, *trail, *whole])


def estimate(text: str) -> int:
    """Tokens without a tokenizer: words x 4/3."""
    return -(-len(text.split()) * 4 // 3)


class _ChunkVectors:
    """What an embedder reads in those of the chunks whose language it reads."""

    def __init__(self, embedder: Embedder, form: IndexSettings, chunks: Sequence[Chunk]) -> None:
        self.windows: dict[str, Vector] = {}
        """Chunk id -> its vectors, those of its pairs of paragraphs last."""
        self.tokens: dict[str, bytes] = {}
        """Chunk id -> its packed tokens."""
        if embedder.languages is not None:
            chunks = [chunk for chunk in chunks if chunk.language not in UNREADABLE]
        if chunks:
            self._read(embedder, form, chunks)

    def _read(self, embedder: Embedder, form: IndexSettings, chunks: Sequence[Chunk]) -> None:
        readings = embedder.read([searchable(chunk, form) for chunk in chunks])
        pairs: list[str] = []
        owners: list[str] = []
        for chunk, reading in zip(chunks, readings, strict=True):
            self.windows[chunk.id] = reading.windows
            if reading.tokens:
                self.tokens[chunk.id] = reading.tokens.pack()
            for pair in _pairs(chunk, form):
                pairs.append(pair)
                owners.append(chunk.id)
        if not pairs:
            return
        of_pairs: dict[str, list[Vector]] = {}
        for owner, reading in zip(owners, embedder.read(pairs), strict=True):
            of_pairs.setdefault(owner, []).append(reading.windows)
        for chunk_id, windows in of_pairs.items():
            whole = self.windows[chunk_id]
            self.windows[chunk_id] = np.concatenate([whole, *windows])


def _pairs(chunk: Chunk, form: IndexSettings) -> list[str]:
    """Neighbouring paragraphs two by two, under their heading; none for a chunk of one or two, or
    where chunks have vectors of the whole alone."""
    if form.vectors == "chunk":
        return []
    paragraphs = [part for part in re.split(r"\n\s*\n", chunk.text) if part.strip()]
    if len(paragraphs) < 3:
        return []
    trail = " > ".join(chunk.trail) + "\n" if form.header else ""
    pairs = []
    for first, second in pairwise(paragraphs):
        pairs.append(f"{trail}{first}\n{second}")
    return pairs[:MOST_PAIRS]
