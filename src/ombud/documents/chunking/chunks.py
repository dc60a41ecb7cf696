"""A document becomes chunks: the chunker that the settings name decides where, this module what a
chunk carries."""

import hashlib
from functools import cache, partial
from typing import Any

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.errors import BadSetting
from ombud.registry import find, plugin_faults
from ombud.settings import IndexSettings
from ombud.types import Chunk, Document

CHARACTERS = 32
"""Of a token at most; ordinary text has four to six."""
LONGEST = 100_000
"""Tokens that are not counted more exactly: it is far above every limit."""


def chunk(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> list[Chunk]:
    """The chunks of a document in reading order, each a slice of its text.

    count: tokens of a text, by the embedder's own tokenizer. embed: unit vectors of texts, for
    `semantic`. A chunk's trail, joined by " > ", and its text on the next line have at most
    settings.size tokens, unless one character alone has more. Raises UnknownName for a chunker that
    does not exist, BadSetting for settings that it cannot work with, SourceError for a document
    that it cannot cut."""
    _check_overlap(settings)
    recipe = recipe_of(settings)
    chunker = _chunker(settings.chunker)
    counted = partial(_tokens, count)
    with plugin_faults("chunker", settings.chunker):
        cuts = list(chunker(document, settings, counted, embed))
        return [_chunk(document, recipe, bounds) for bounds in cuts]


def _tokens(count: Count, text: str) -> int:
    """As the tokenizer counts them, which takes a word of a million letters for one unknown token:
    so as many at least as the characters make."""
    fewest = len(text) // CHARACTERS
    return fewest if fewest > LONGEST else max(count(text), fewest)


def _check_overlap(settings: IndexSettings) -> None:
    if "overlap" not in READS.get(settings.chunker, ()):
        return
    if settings.overlap >= settings.size:
        raise BadSetting(
            f"index.overlap_tokens = {settings.overlap} is not less than "
            f"index.chunk_tokens = {settings.size}.",
            hint="A quarter of it is usual.",
        )


def recipe_of(settings: IndexSettings) -> tuple[str | float, ...]:
    """The chunker and all that it reads of the settings: the same recipe cuts a document alike."""
    names = READS.get(settings.chunker, EVERYTHING)
    return settings.chunker, *(getattr(settings, name) for name in names)


@cache
def _chunker(name: str) -> Any:
    return find("chunker", name, CHUNKERS)


def _chunk(document: Document, recipe: tuple[str | float, ...], bounds: ChunkBounds) -> Chunk:
    return Chunk(
        id=_chunk_id(document, recipe, bounds),
        document_id=document.id,
        title=document.title,
        uri=document.uri,
        trail=bounds.trail,
        header=bounds.header,
        text=document.text[bounds.start : bounds.end],
        page_from=min(bounds.pages, default=None),
        page_to=max(bounds.pages, default=None),
        start=bounds.start,
        end=bounds.end,
        annotations=document.annotations_in(bounds.start, bounds.end),
        countries=document.countries,
        audience=document.audience,
        effective_from=document.effective_from,
        effective_to=document.effective_to,
        status=document.status,
        mandatory=document.mandatory,
        topic=document.topic,
        language=document.language,
        digest=document.digest,
        parser=document.parser,
    )


def _chunk_id(document: Document, recipe: tuple[str | float, ...], bounds: ChunkBounds) -> str:
    """The document's id and 12 hexadecimal digits: the same text cut alike has the same id."""
    recipe_text = ":".join(map(str, recipe))
    version = f"{document.digest}{document.parser}"
    facts = f"{version}|{recipe_text}|{bounds.start}|{bounds.end}"
    return f"{document.id}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


CHUNKERS: dict[str, str] = {
    "structure": "ombud.documents.chunking.structure:cut",
    "sentence": "ombud.documents.chunking.sentence:cut",
    "semantic": "ombud.documents.chunking.semantic:cut",
    "pattern": "ombud.documents.chunking.pattern:cut",
    "fixed": "ombud.documents.chunking.fixed:cut",
}
"""Name -> `(document, settings, count, embed) -> Iterator[ChunkBounds]`; plugins register under
`ombud.chunker`."""
READS: dict[str, tuple[str, ...]] = {
    "structure": ("size",),
    "sentence": ("size", "overlap"),
    "semantic": ("size", "percentile", "window", "min_sentences"),
    "pattern": ("size", "pattern"),
    "fixed": ("size", "overlap"),
}
"""Chunker -> what it reads of the settings."""
EVERYTHING = ("size", "overlap", "pattern", "percentile", "window", "min_sentences")
"""What a plugin may read."""
