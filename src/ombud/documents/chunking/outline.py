"""What every chunker shares: the sections of a document, heading trails that fit, and where a chunk
was cut."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ombud.types import Block, Document

Count = Callable[[str], int]
"""Tokens of a text."""
Embed = Callable[[Sequence[str]], Any]
"""Texts -> their unit vectors, an array of shape (texts, dimension)."""
Trail = tuple[str, ...]
"""The title and the headings above something, the outermost first."""


@dataclass(frozen=True)
class ChunkBounds:
    """Where one chunk lies in the document's text, and what stands above it."""

    start: int
    end: int
    trail: Trail
    pages: tuple[int, ...] = ()
    header: str = ""


class PlacedBlock(NamedTuple):
    """A block, and where it begins in the document's text."""

    block: Block
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.block.text)


@dataclass
class OutlineSection:
    """A heading and the blocks below it, up to the next heading."""

    above: Trail
    """The title and the headings over this one."""
    heading: PlacedBlock | None = None
    body: list[PlacedBlock] = field(default_factory=list)
    name: str = ""
    """The joined headings of several sections."""

    @property
    def level(self) -> int:
        return self.heading.block.level if self.heading else 0

    @property
    def trail(self) -> Trail:
        heading = self.heading.block.text if self.heading else self.name
        return _below(self.above, heading) if heading else self.above


def sections(document: Document) -> Iterator[OutlineSection]:
    """In reading order; the first is what stands above all headings, and may be empty."""
    title = (document.title,) if document.title else ()
    open_headings: list[tuple[int, Trail]] = []
    section = OutlineSection(title)
    for placed in _placed(document):
        block = placed.block
        if block.kind == "heading":
            yield section
            open_headings = [opened for opened in open_headings if opened[0] < block.level]
            above = open_headings[-1][1] if open_headings else title
            section = OutlineSection(above, placed)
            open_headings.append((block.level, section.trail))
        elif block.text.strip():
            section.body.append(placed)
    yield section


def _placed(document: Document) -> Iterator[PlacedBlock]:
    """The blocks of a document, which a blank line parts in its text."""
    start = 0
    for block in document.blocks or _paragraphs(document.text):
        yield PlacedBlock(block, start)
        start += len(block.text) + len("\n\n")


def _paragraphs(text: str) -> Iterator[Block]:
    """A document made without a parser may have its text only."""
    for part in text.split("\n\n"):
        yield Block(kind="text", text=part)


def _below(above: Trail, heading: str) -> Trail:
    """A heading that repeats what stands right above it, as the title often does, is not said
    twice."""
    return above if above[-1:] == (heading,) else (*above, heading)


def table_header(block: Block, room: int, count: Count) -> str:
    """The header that continuation chunks repeat; none when it would fill most of the chunk."""
    if block.kind != "table":
        return ""
    lines = block.text.split("\n", 2)
    if len(lines) < 3:
        return ""
    header = "\n".join(lines[:2])
    return header if count(header) * 2 <= room else ""


def fitting(trail: Trail, most: int, count: Count) -> Trail:
    """The trail, shortened from the middle until it leaves at least half of the chunk to the
    text."""

    def fits(parts: Trail) -> bool:
        return count(" > ".join(parts) + "\n") * 2 <= most

    characters = sum(map(len, trail))
    if characters * 2 <= most or fits(trail):
        return trail
    while len(trail) > 2 and not fits(trail):
        trail = (trail[0], *trail[2:])
    if not fits(trail):
        trail = trail[-1:]
    words = trail[0].split()
    while trail and not fits(trail):
        words = words[: len(words) * 3 // 4]
        trail = (" ".join(words) + "…",) if words else ()
    return trail
