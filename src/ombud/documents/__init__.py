"""Bytes -> `Document` -> `Chunk`s.

Parsers read untrusted files, and every one of them hangs or crashes on some: `Worker` parses and
cuts in a process of its own that can be killed; `InlineParser`, `parse` and `chunk` run here."""

from ombud.documents.blocks import AttachedFile, ParsedFile
from ombud.documents.chunking.chunks import chunk, recipe_of
from ombud.documents.contents import Chunking, DocumentContents
from ombud.documents.frontmatter import front_matter
from ombud.documents.losses import describe_loss
from ombud.documents.parsing import PARSED_BY, holds_documents, is_passing, kinds, parse
from ombud.documents.pdf.drawing import draw_page
from ombud.documents.worker import DocumentParser, InlineParser, Worker, open_parsers

__all__ = [
    "PARSED_BY",
    "AttachedFile",
    "Chunking",
    "DocumentContents",
    "DocumentParser",
    "InlineParser",
    "ParsedFile",
    "Worker",
    "chunk",
    "describe_loss",
    "draw_page",
    "front_matter",
    "holds_documents",
    "is_passing",
    "kinds",
    "open_parsers",
    "parse",
    "recipe_of",
]
