"""Chunking by structure (`structure`): cuts along headings, paragraphs, lists and tables.

A section (everything under one heading) is cut into pieces that should stay whole: a paragraph, a
list with its lead-in, a table. Pieces that fit are packed together; a block that does not fit is
cut at its own joints. Headings are in the trail, and so embedded and searched with every chunk
below them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from ombud.documents.chunking.cuts import TokenLimit, spans
from ombud.documents.chunking.outline import (
    ChunkBounds,
    Count,
    Embed,
    OutlineSection,
    PlacedBlock,
    fitting,
    sections,
    table_header,
)
from ombud.settings import IndexSettings
from ombud.types import Block, Document


@dataclass(frozen=True)
class ChunkPiece:
    """A part of the text that is not cut further."""

    start: int
    end: int
    tokens: int
    page: int | None
    header: str = ""
    leads: bool = False
    """True if it introduces the next piece, as "The following applies:" does, and should stay with
    it."""


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    """Yield chunks in reading order; their texts contain headings only where several sections share
    a chunk."""
    with_content = sections_with_content(list(sections(document)))
    for section in join_siblings(with_content, settings.size, count):
        yield from SectionPacker(section, document, settings.size, count).bounds()


def sections_with_content(outline: list[OutlineSection]) -> Iterator[OutlineSection]:
    """Yield sections with a body, and headings without anything below them.

    A title alone is left out, unless the document has nothing else."""
    has_body = any(section.body for section in outline)
    for section, following in zip_longest(outline, outline[1:]):
        if section.body:
            yield section
            continue
        is_title = section.trail == section.above
        if not section.heading or (has_body and is_title):
            continue
        if following is None or following.level <= section.level:
            yield section


def join_siblings(
    outline: Iterable[OutlineSection], most: int, count: Count
) -> Iterator[OutlineSection]:
    """Join neighbouring sections of one parent while they fit a chunk together, with their headings
    in its trail: a section of two lines is hard to find alone."""
    run: list[OutlineSection] = []
    tokens = 0
    for section in outline:
        own_tokens = count(text_with_heading(section))
        if run:
            above = " > ".join(section.above)
            before = run[-1]
            are_siblings = before.heading is not None and (
                (before.level, before.above) == (section.level, section.above)
            )
            if not are_siblings or tokens + own_tokens + count(above) > most:
                yield merge_sections(run)
                run = []
                tokens = 0
        run.append(section)
        tokens += own_tokens
    if run:
        yield merge_sections(run)


def text_with_heading(section: OutlineSection) -> str:
    texts = list(section.trail[-1:])
    for placed in section.body:
        texts.append(placed.block.text)
    return " ".join(texts)


def merge_sections(run: list[OutlineSection]) -> OutlineSection:
    """Make one section of several. The first heading is only in the trail, the others also stay in
    the text."""
    first = run[0]
    if len(run) == 1 and first.body:
        return first
    names = []
    body: list[PlacedBlock] = []
    for section in run:
        if section.heading:
            names.append(section.heading.block.text)
            body += [section.heading, *section.body]
    if first.body:
        body = body[1:]
    return OutlineSection(first.above, body=body, name=" / ".join(names))


class SectionPacker:
    """Packs the pieces of a section evenly: three chunks of 170 tokens rather than 256, 250 and
    4."""

    def __init__(
        self, section: OutlineSection, document: Document, most: int, count: Count
    ) -> None:
        self._text = document.text
        self._most = most
        self._count = count
        self._trail = fitting(section.trail, most, count)
        self._above = " > ".join(self._trail) + "\n"
        self._room = max(1, most - count(self._above))
        limit = TokenLimit(self._room, count, document.language)
        self._pieces = list(section_pieces(section, limit))
        total = sum(piece.tokens for piece in self._pieces)
        chunks = max(1, -(-total // self._room))
        self._goal = min(self._room, total / chunks * 1.1)

    def bounds(self) -> Iterator[ChunkBounds]:
        at = 0
        while at < len(self._pieces):
            end = self._shortened(at, self._extent(at))
            yield self._bounds_of(self._pieces[at:end])
            at = end

    def _extent(self, at: int) -> int:
        """Return the end of the pieces from `at` that belong into one chunk."""
        before = self._pieces[at]
        tokens = before.tokens
        end = at + 1
        while end < len(self._pieces):
            piece = self._pieces[end]
            if tokens + piece.tokens > self._room:
                break
            may_end = tokens > self._goal / 2 and not before.leads
            if may_end and tokens + self._ahead(end) > self._goal:
                break
            tokens += piece.tokens
            before = piece
            end += 1
        return end

    def _ahead(self, at: int) -> int:
        """Count the tokens of a piece, and of the next one if it introduces that."""
        run = self._pieces[at : at + 2]
        if not run[0].leads:
            run = run[:1]
        return sum(piece.tokens for piece in run)

    def _shortened(self, at: int, end: int) -> int:
        """Move the end of a run back until its chunk fits and does not end with a lead-in."""
        # Tokens of pieces do not quite add up; the whole chunk must fit.
        least = at + 1
        while end > least and self._size(self._pieces[at:end]) > self._most:
            end -= 1
        while least < end < len(self._pieces) and self._pieces[end - 1].leads:
            end -= 1
        return end

    def _size(self, pieces: list[ChunkPiece]) -> int:
        """Count the tokens of the chunk of those pieces."""
        first = pieces[0]
        last = pieces[-1]
        header = first.header + "\n" if first.header else ""
        text = self._text[first.start : last.end]
        return self._count(self._above + header + text)

    def _bounds_of(self, pieces: list[ChunkPiece]) -> ChunkBounds:
        end = pieces[-1].end
        text = self._text[pieces[0].start : end]
        return ChunkBounds(
            # A nested item that opens a chunk is not indented.
            start=end - len(text.lstrip()),
            end=end,
            trail=self._trail,
            pages=tuple(piece.page for piece in pieces if piece.page is not None),
            header=pieces[0].header,
        )


def section_pieces(section: OutlineSection, limit: TokenLimit) -> Iterator[ChunkPiece]:
    for placed, following in zip_longest(section.body, section.body[1:]):
        tokens = limit.count(placed.block.text)
        if tokens > limit.room:
            yield from block_pieces(placed, limit)
            continue
        yield ChunkPiece(
            start=placed.start,
            end=placed.end,
            tokens=tokens,
            page=placed.block.page,
            leads=following is not None and introduces(placed.block, following.block),
        )


def block_pieces(placed: PlacedBlock, limit: TokenLimit) -> Iterator[ChunkPiece]:
    """Cut a block that is too long; all parts of a table but the first repeat its header."""
    header = table_header(placed.block, limit.room, limit.count)
    if header:
        limit = replace(limit, room=limit.room - limit.count(header + "\n"))
    for number, span in enumerate(spans(placed.block, limit)):
        yield ChunkPiece(
            start=placed.start + span.start,
            end=placed.start + span.end,
            tokens=span.tokens,
            page=placed.block.page,
            header=header if number else "",
        )


def introduces(block: Block, following: Block) -> bool:
    if block.kind == "heading":
        return True
    if block.kind != "text" or following.kind not in {"list", "table", "code"}:
        return False
    if block.text.endswith((":", "：")):
        return True
    return following.kind == "list" and len(block.text) < 200
