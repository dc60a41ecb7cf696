"""What of a chunk is embedded and indexed."""

from collections.abc import Iterator, Sequence

from ombud.index import Row, analyse
from ombud.models import Embedder
from ombud.types import Chunk, Document


def rows_of(documents: Sequence[Document], chunks: Sequence[Chunk], embedder: Embedder | None) -> Iterator[Row]:
    """Rows of the index: each chunk with its source, its terms and, where the embedder reads its language, vectors."""
    source = {document.id: document.source for document in documents}
    known = [c for c in chunks if embedder and (embedder.languages is None or c.language not in UNREADABLE)]
    vectors = embedder.windows([searchable(c) for c in known]) if embedder and known else []
    by_id = {c.id: windows for c, windows in zip(known, vectors, strict=True)}
    for c in chunks:
        yield Row(c, source[c.document_id], terms(c), by_id.get(c.id))


def searchable(chunk: Chunk) -> str:
    """What is embedded and indexed: the heading trail as context, a table's header, the text."""
    return "\n".join(part for part in (" > ".join(chunk.trail), chunk.header, chunk.text) if part)


def terms(chunk: Chunk) -> str:
    """Index terms; headings count three times, for they say what the text is about (dev: +.04 quote recall@1000w)."""
    trail = analyse(" ".join(chunk.trail), chunk.language)
    return " ".join([*trail, *trail, *analyse(searchable(chunk), chunk.language)])


def estimate(text: str) -> int:
    """Tokens without a tokenizer: words x 4/3."""
    return -(-len(text.split()) * 4 // 3)


UNREADABLE = frozenset({"ja", "ko", "zh"})
"""Languages whose script MiniLM's vocabulary mostly lacks (17 % unknown tokens in Japanese)."""
