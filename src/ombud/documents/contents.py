"""Compute from the text of a document what ingest stores: chunks and the abbreviations that it
explains."""

from typing import NamedTuple

from ombud.documents.blocks import AttachedFile
from ombud.documents.chunking.chunks import chunk
from ombud.documents.chunking.outline import Count, Embed
from ombud.settings import IndexSettings
from ombud.text import find_abbreviations
from ombud.types import Chunk, Document


class Chunking(NamedTuple):
    """The settings and models by which documents are cut."""

    settings: IndexSettings
    count: Count
    """Counts the tokens of a text."""
    embed: Embed | None = None
    """Embeds texts as unit vectors, for the chunker `semantic`."""


class DocumentContents(NamedTuple):
    document: Document
    chunks: list[Chunk]
    abbreviations: list[tuple[str, str]]
    """(abbreviation, expansion) pairs that the document explains."""
    attached: tuple[AttachedFile, ...] = ()
    """Files inside it that are documents of their own."""


def document_contents(document: Document, chunking: Chunking) -> DocumentContents:
    """Cut a parsed document in this process; raises as `chunk` does."""
    chunks = chunk(document, chunking.settings, chunking.count, chunking.embed)
    abbreviations = find_abbreviations(document.text, document.language)
    return DocumentContents(document, chunks, abbreviations)
