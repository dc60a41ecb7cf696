"""What the organisation knows: documents, the chunks they are cut into, triplets.

Offsets are Unicode code points into `Document.text`, end exclusive. Pages count from 1. Dates are
days."""

from datetime import date, datetime
from typing import Literal

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
    updated: datetime | None = None


class Chunk(Record):
    id: str
    """document_id + "-" + first 12 hex digits of sha256(digest, chunker settings, start, end)."""
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
    countries: tuple[str, ...] = ()
    audience: Audience = {}
    effective_from: date | None = None
    effective_to: date | None = None
    status: Status = "published"
    mandatory: bool = False
    topic: str = ""
    language: str = "en"
    digest: str = ""


class Triplet(Record):
    subject: str
    predicate: str
    object: str
    chunk_id: str
