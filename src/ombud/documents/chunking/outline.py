"""Shared by all chunkers: the sections of a document, heading trails that fit, and the bounds of a
chunk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ombud.types import Block, Document

Count = Callable[[str], int]
"""Counts the tokens of a text."""
Embed = Callable[[Sequence[str]], Any]
"""Embeds texts as unit vectors, an array of shape (texts, dimension)."""
Trail = tuple[str, ...]
"""The title and the headings above a text, outermost first."""


@dataclass(frozen=True)
class ChunkBounds:
    """The place of a chunk in the document's text, with its trail and table header."""

    start: int
    end: int
    trail: Trail
    pages: tuple[int, ...] = ()
    header: str = ""


class PlacedBlock(NamedTuple):
    """A block with its start in the document's text."""

    block: Block
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.block.text)


@dataclass
class OutlineSection:
    """A heading and the blocks below it, up to the next heading."""

    above: Trail
    """The title and the headings above this one."""
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
        # A heading often repeats the title, right above it.
        return (*self.above, heading) if heading and self.above[-1:] != (heading,) else self.above


def sections(document: Document) -> Iterator[OutlineSection]:
    """Yield sections in reading order; the first is the text above all headings, and may be
    empty."""
    title = (document.title,) if document.title else ()
    open_headings: list[tuple[int, Trail]] = []
    section = OutlineSection(title)
    for placed in placed_blocks(document):
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


def placed_blocks(document: Document) -> Iterator[PlacedBlock]:
    """Yield the blocks of a document, between which its text has a blank line."""
    blocks = document.blocks
    if not blocks:  # a document made without a parser may have only text
        blocks = tuple(Block(kind="text", text=part) for part in document.text.split("\n\n"))
    start = 0
    for block in blocks:
        yield PlacedBlock(block, start)
        start += len(block.text) + len("\n\n")


def table_header(block: Block, room: int, count: Count) -> str:
    """Return the header that continuation chunks repeat; empty if it would fill most of a chunk."""
    if block.kind != "table":
        return ""
    lines = block.text.split("\n", 2)
    if len(lines) < 3:
        return ""
    header = "\n".join(lines[:2])
    return header if count(header) * 2 <= room else ""


def fitting(trail: Trail, most: int, count: Count) -> Trail:
    """Shorten a trail from the middle until it leaves at least half of the chunk to the text."""

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
