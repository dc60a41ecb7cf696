"""Cut a document into chunks: the chunker of the settings decides where, this module what a chunk
contains."""

import hashlib
from functools import cache, partial
from typing import Any

from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.errors import BadSetting
from ombud.registry import find, plugin_faults
from ombud.settings import IndexSettings
from ombud.types import Chunk, Document

MAX_TOKEN_CHARACTERS = 32
"""Characters of a token at most; ordinary text has four to six."""
MAX_COUNTED_TOKENS = 100_000
"""Tokens above which a text is not counted exactly, far above every limit."""


def chunk(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> list[Chunk]:
    """Cut a document into chunks in reading order, each a slice of its text.

    count: tokens of a text, by the embedder's own tokenizer. embed: unit vectors of texts, for
    `semantic`. A chunk's trail, joined by " > ", and its text on the next line have at most
    settings.size tokens, unless one character alone has more. Raises UnknownName for a chunker that
    does not exist, BadSetting for settings that it cannot work with, SourceError for a document
    that it cannot cut."""
    check_overlap(settings)
    recipe = recipe_of(settings)
    chunker = find_chunker(settings.chunker)
    counted = partial(count_tokens, count)
    with plugin_faults("chunker", settings.chunker):
        cuts = list(chunker(document, settings, counted, embed))
        return [make_chunk(document, recipe, bounds) for bounds in cuts]


def count_tokens(count: Count, text: str) -> int:
    """Count tokens, but no fewer than the characters make: the tokenizer takes a word of a million
    letters for one unknown token."""
    fewest = len(text) // MAX_TOKEN_CHARACTERS
    return fewest if fewest > MAX_COUNTED_TOKENS else max(count(text), fewest)


def check_overlap(settings: IndexSettings) -> None:
    if "overlap" not in READS.get(settings.chunker, ()):
        return
    if settings.overlap >= settings.size:
        raise BadSetting(
            f"index.overlap_tokens = {settings.overlap} is not less than "
            f"index.chunk_tokens = {settings.size}.",
            hint="A quarter of it is usual.",
        )


def recipe_of(settings: IndexSettings) -> tuple[str | float, ...]:
    """List the chunker and all settings that it reads; equal recipes cut a document alike."""
    names = READS.get(settings.chunker, EVERYTHING)
    return settings.chunker, *(getattr(settings, name) for name in names)


@cache
def find_chunker(name: str) -> Any:
    return find("chunker", name, CHUNKERS)


def make_chunk(document: Document, recipe: tuple[str | float, ...], bounds: ChunkBounds) -> Chunk:
    return Chunk(
        id=chunk_id(document, recipe, bounds),
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


def chunk_id(document: Document, recipe: tuple[str | float, ...], bounds: ChunkBounds) -> str:
    """Make an id of the document's id and 12 hexadecimal digits; the same text cut alike gets the
    same id."""
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
"""Chunker -> settings that it reads."""
EVERYTHING = ("size", "overlap", "pattern", "percentile", "window", "min_sentences")
"""Settings that a plugin may read."""
