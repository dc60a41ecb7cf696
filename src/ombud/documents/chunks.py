"""A document becomes chunks: the chunker that the settings name decides where, this module what a chunk carries."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ombud.documents.structure import Cut
from ombud.registry import find
from ombud.settings import Index
from ombud.types import Chunk, Document


def chunk(document: Document, settings: Index, count: Callable[[str], int]) -> list[Chunk]:
    """The chunks of a document in reading order, each a slice of its text.

    count: tokens of a text, by the embedder's own tokenizer. A chunk's trail, joined by " > ", and its text on the
    next line have at most settings.chunk_tokens. Raises UnknownName for a chunker that does not exist.
    """
    cuts = _chunker(settings.chunker)(document, settings.chunk_tokens, count)
    return [_chunk(document, settings, cut) for cut in cuts]


@cache
def _chunker(name: str) -> Any:
    return find("chunker", name, CHUNKERS)


def _chunk(document: Document, settings: Index, cut: Cut) -> Chunk:
    facts = f"{document.digest}|{settings.chunker}:{settings.chunk_tokens}|{cut.start}|{cut.end}"
    return Chunk(
        id=f"{document.id}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}",
        document_id=document.id,
        title=document.title,
        uri=document.uri,
        trail=cut.trail,
        header=cut.header,
        text=document.text[cut.start : cut.end],
        page_from=min(cut.pages, default=None),
        page_to=max(cut.pages, default=None),
        start=cut.start,
        end=cut.end,
        countries=document.countries,
        audience=document.audience,
        effective_from=document.effective_from,
        effective_to=document.effective_to,
        status=document.status,
        mandatory=document.mandatory,
        topic=document.topic,
        language=document.language,
        digest=document.digest,
    )


CHUNKERS: dict[str, str] = {
    "structure": "ombud.documents.structure:cut",
}
"""Name -> `(document, most tokens, count) -> Iterator[Cut]`; plugins register under `ombud.chunker`."""
