"""What every chunker shares: the sections of a document, heading trails that fit, and where a chunk
was cut."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ombud.types import Block, Document

Count = Callable[[str], int]
"""Tokens of a text."""
Embed = Callable[[Sequence[str]], Any]
"""Texts -> their unit vectors, an array of shape (texts, dimension)."""


@dataclass(frozen=True)
class ChunkBounds:
    """Where one chunk lies in the document's text, and what stands above it."""

    start: int
    end: int
    trail: tuple[str, ...]
    pages: tuple[int, ...] = ()
    header: str = ""


@dataclass
class OutlineSection:
    """A heading and the blocks below it, up to the next heading; with their offsets in the
    document's text."""

    above: tuple[str, ...]
    """The title and the headings over this one."""
    heading: tuple[Block, int] | None = None
    body: list[tuple[Block, int]] = field(default_factory=list)
    name: str = ""
    """The joined headings of several sections."""

    @property
    def level(self) -> int:
        return self.heading[0].level if self.heading else 0

    @property
    def trail(self) -> tuple[str, ...]:
        heading = self.heading[0].text if self.heading else self.name
        return _below(self.above, heading) if heading else self.above


def sections(document: Document) -> Iterator[OutlineSection]:
    """In reading order; the first is what stands above all headings, and may be empty."""
    # A document made without a parser may have its text only.
    blocks = document.blocks or tuple(
        Block(kind="text", text=part) for part in document.text.split("\n\n")
    )
    title = (document.title,) if document.title else ()
    open_headings: list[tuple[int, tuple[str, ...]]] = []
    section, at = OutlineSection(title), 0
    for block in blocks:
        if block.kind == "heading":
            yield section
            open_headings = [pair for pair in open_headings if pair[0] < block.level]
            section = OutlineSection(open_headings[-1][1] if open_headings else title, (block, at))
            open_headings.append((block.level, section.trail))
        elif block.text.strip():
            section.body.append((block, at))
        at += len(block.text) + 2
    yield section


def _below(above: tuple[str, ...], heading: str) -> tuple[str, ...]:
    """A heading that repeats what stands right above it, as the title often does, is not said
    twice."""
    return above if above[-1:] == (heading,) else (*above, heading)


def table_header(block: Block, room: int, count: Count) -> str:
    """The header that continuation chunks repeat; none when it would fill most of the chunk."""
    lines = block.text.split("\n", 2) if block.kind == "table" else []
    if len(lines) < 3:
        return ""
    header = "\n".join(lines[:2])
    return header if count(header) * 2 <= room else ""


def fitting(trail: tuple[str, ...], most: int, count: Count) -> tuple[str, ...]:
    """The trail, shortened from the middle until it leaves at least half of the chunk to the
    text."""

    def fits(parts: tuple[str, ...]) -> bool:
        return count(" > ".join(parts) + "\n") * 2 <= most

    if sum(len(part) for part in trail) * 2 <= most or fits(trail):
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
