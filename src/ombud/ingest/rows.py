"""Make the index rows of chunks: the text that is searched, its terms and its vectors."""

from collections.abc import Iterator, Sequence

from ombud.index import Row, Vector
from ombud.models import Embedder
from ombud.settings import IndexSettings
from ombud.text import analyse, read_rows
from ombud.types import Chunk, Document

UNREADABLE = frozenset({"ja", "ko", "zh"})
"""Languages whose script MiniLM's vocabulary mostly lacks."""


def rows_of(
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    embedder: Embedder | None,
    form: IndexSettings,
) -> Iterator[Row]:
    """Make the index row of each chunk; chunks in a language that the embedder does not read get no
    vectors."""
    sources = {document.id: document.source for document in documents}
    vectors = ChunkVectors(embedder, form, chunks) if embedder else None
    for chunk in chunks:
        yield Row(
            chunk=chunk,
            source=sources[chunk.document_id],
            terms=terms(chunk, form),
            vectors=vectors.windows.get(chunk.id) if vectors else None,
            tokens=vectors.tokens.get(chunk.id) if vectors else None,
        )


def form_of(form: IndexSettings) -> tuple[str, ...]:
    """List the settings that change rows but not chunks, where they differ from the defaults."""
    usual = IndexSettings()
    parts: list[str] = []
    for name in ("header", "tables"):
        value = getattr(form, name)
        if value != getattr(usual, name):
            parts.append(f"{name}={value}")
    return tuple(parts)


def searchable(chunk: Chunk, form: IndexSettings) -> str:
    """Write the text that is embedded and indexed: heading trail, table header, text."""
    trail = " > ".join(chunk.trail) if form.header else ""
    body = join_lines(chunk.header, chunk.text)
    if form.tables == "rows":
        body = read_rows(body)
    return join_lines(trail, body)


def join_lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def terms(chunk: Chunk, form: IndexSettings) -> str:
    """List the index terms of a chunk; headings count three times, as they name its subject."""
    whole = analyse(searchable(chunk, form), chunk.language)
    if not form.header:
        return " ".join(whole)
    trail = analyse(" ".join(chunk.trail), chunk.language)
    return " ".join([*trail, *trail, *whole])


def estimate(text: str) -> int:
    """Estimate the number of tokens without a tokenizer: words x 4/3."""
    return -(-len(text.split()) * 4 // 3)


class ChunkVectors:
    """Vectors and packed tokens of those chunks whose language the embedder reads."""

    def __init__(self, embedder: Embedder, form: IndexSettings, chunks: Sequence[Chunk]) -> None:
        self.windows: dict[str, Vector] = {}
        """Chunk id -> its vectors."""
        self.tokens: dict[str, bytes] = {}
        """Chunk id -> its packed tokens."""
        if embedder.languages is not None:
            chunks = [chunk for chunk in chunks if chunk.language not in UNREADABLE]
        if chunks:
            self._read(embedder, form, chunks)

    def _read(self, embedder: Embedder, form: IndexSettings, chunks: Sequence[Chunk]) -> None:
        readings = embedder.read([searchable(chunk, form) for chunk in chunks])
        for chunk, reading in zip(chunks, readings, strict=True):
            self.windows[chunk.id] = reading.windows
            if reading.tokens:
                self.tokens[chunk.id] = reading.tokens.pack()
