"""What the organisation knows: documents, the chunks they are cut into, triplets.

Offsets are Unicode code points into `Document.text`, end exclusive. Pages count from 1. Dates are
days."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from ombud.types.records import Record

Audience = dict[str, tuple[str, ...]]
"""roles | grades | groups | contracts -> list. Inside a key any, between keys all, empty =
everyone."""

Status = Literal["draft", "published", "withdrawn"]


class Block(Record):
    kind: Literal["heading", "text", "list", "table", "code"]
    text: str
    level: int = 0
    """Depth of a heading, 1 outermost; 0 for everything else."""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    """x0, top, x1, bottom in points from the page's upper left corner."""


BETWEEN_BLOCKS = 2
"""Characters between two blocks of a text."""


def text_version(digest: str, parser: str) -> str:
    """Names the text that a version of the parsers made of some bytes."""
    return f"{digest}.{parser}" if parser else digest


class Annotation(Record):
    """A link, a footnote mark or struck words beside a text, which itself holds no markup."""

    start: int
    end: int
    """Offsets into `Document.text`. Struck words are not part of it: they lie between two of its
    characters, start = end."""
    kind: Literal["link", "struck", "footnote"]
    url: Annotated[str, Field(pattern="^((?i:https?|mailto):|$)")] = ""
    """Of a link: http, https or mailto."""
    text: str = ""
    """The struck words, or the note that a footnote mark leads to."""


class Loss(Record):
    """Content of a file that its `Document` does not contain."""

    struck: int = 0
    """Passages that are struck out."""
    hidden: int = 0
    """Passages, rows, columns, sheets or shapes that the original hides."""
    pages: tuple[int, ...] = ()
    """Pages without text, such as scans."""
    attachments: tuple[str, ...] = ()
    """Names of attached files that were not read."""
    quoted: int = 0
    """Passages of older messages that a message quotes."""
    repeated: int = 0
    """Running headers and footers."""
    pictures: int = 0
    """Pictures without a description."""
    undecodable: int = 0
    """Characters that no encoding explains."""
    notes: tuple[str, ...] = ()
    """Anything else, in sentences."""

    def __add__(self, other: "Loss") -> "Loss":
        added = {name: getattr(self, name) + value for name, value in other if value}
        return self.model_copy(update=added) if added else self

    def __bool__(self) -> bool:
        return any(value for _, value in self)


class Document(Record):
    id: str
    """First 16 hex digits of sha256(uri)."""
    source: str
    uri: str
    title: str
    url: str = ""
    """Where people open the original; empty for files."""
    blocks: tuple[Block, ...] = ()
    text: str = ""
    """The block texts joined by a blank line, NFC; tables as Markdown."""
    annotations: tuple[Annotation, ...] = ()
    """In the order of the text."""
    loss: Loss = Loss()
    language: str = "en"
    countries: tuple[str, ...] = ()
    """ISO 3166 alpha-2; empty means everywhere."""
    audience: Audience = {}
    effective_from: date | None = None
    effective_to: date | None = None
    supersedes: str | None = None
    """uri of the document that this one replaces."""
    status: Status = "published"
    mandatory: bool = False
    """A global floor that local rules may only raise."""
    topic: str = ""
    owner: str = ""
    digest: str = ""
    """sha256 of the bytes, hex."""
    parser: str = ""
    """Version of the parsers that made the text of these bytes; empty for texts from before
    versions were recorded."""
    updated: datetime | None = None

    @property
    def version(self) -> str:
        """Names this text of the document."""
        return text_version(self.digest, self.parser)

    def placed_blocks(self) -> Iterator[tuple[int, Block]]:
        """Yield each block with its offset in the text."""
        start = 0
        for block in self.blocks:
            yield start, block
            start += len(block.text) + BETWEEN_BLOCKS

    def annotations_in(self, start: int, end: int) -> tuple[Annotation, ...]:
        """Return links and footnote marks within an interval of the text, cut to it."""
        cut: list[Annotation] = []
        for one in self.annotations:
            if one.kind != "struck" and one.start < end and one.end > start:
                bounds = {"start": max(one.start, start), "end": min(one.end, end)}
                cut.append(one.model_copy(update=bounds))
        return tuple(cut)


CONTENT = ("text", "blocks", "annotations")
"""Fields of a `Document` that make up a version of its text; lists of documents go without."""
PARSED = (*CONTENT, "loss", "parser")
"""Fields that only parsing the bytes fills in."""


class Chunk(Record):
    id: str
    """document_id + "-" + first 12 hex digits of sha256(digest, parser, chunker
    settings, start, end)."""
    document_id: str
    title: str
    uri: str
    trail: tuple[str, ...] = ()
    """Headings above this text, outermost first."""
    header: str = ""
    """A table's repeated header; no part of `text`, not counted in offsets."""
    text: str
    page_from: int | None = None
    page_to: int | None = None
    start: int
    end: int
    annotations: tuple[Annotation, ...] = ()
    """Links and footnote marks within `start` and `end`; their offsets count in the document."""
    countries: tuple[str, ...] = ()
    audience: Audience = {}
    effective_from: date | None = None
    effective_to: date | None = None
    status: Status = "published"
    mandatory: bool = False
    topic: str = ""
    language: str = "en"
    digest: str = ""
    parser: str = ""
    """As in `Document`."""

    @property
    def version(self) -> str:
        """Names the text of the document that the offsets count in."""
        return text_version(self.digest, self.parser)


class Triplet(Record):
    subject: str
    predicate: str
    object: str
    chunk_id: str
