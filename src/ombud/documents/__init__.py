"""Parse bytes into a `Document` and cut it into `Chunk`s.

Files are untrusted, and any parser hangs or crashes on some: `Worker` parses and cuts in a process
that can be killed; `InlineParser`, `parse` and `chunk` run in this process."""

from ombud.documents.blocks import AttachedFile, ParsedFile
from ombud.documents.chunking.chunks import chunk, recipe_of
from ombud.documents.contents import Chunking, DocumentContents
from ombud.documents.frontmatter import front_matter
from ombud.documents.losses import describe_loss
from ombud.documents.parsing import PARSED_BY, holds_documents, is_passing, kinds, parse
from ombud.documents.pdf.drawing import draw_page
from ombud.documents.worker import DocumentParser, InlineParser, Worker, open_parsers
