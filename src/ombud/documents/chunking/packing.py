"""Pack sentences into chunks, for the chunkers other than `structure`.

Their chunks contain headings as text; the trail holds those above a chunk's first character."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.documents.chunking.cuts import TokenLimit, fit, sentences_of
from ombud.documents.chunking.outline import (
    ChunkBounds,
    Count,
    PlacedBlock,
    Trail,
    fitting,
    sections,
    table_header,
)
from ombud.types import Document


class Unit(NamedTuple):
    """A sentence, heading, table row or line of code, or a part of one that is too long for a
    chunk."""

    start: int
    end: int
    tokens: int
    heading: bool
    header: str = ""
    """The table header that a chunk beginning here repeats."""


class Above(NamedTuple):
    """The trail as it is embedded before a chunk's text."""

    trail: Trail
    text: str
    tokens: int


class Packer:
    """Makes chunks of the units of one document.

    most: tokens of a chunk, with its trail and repeated header."""

    def __init__(self, document: Document, most: int, count: Count) -> None:
        self.text = document.text
        self.most = most
        self._count = count
        self._language = document.language
        self._blocks: list[PlacedBlock] = []
        self._trails: list[Trail] = []
        for section in sections(document):
            if section.heading:
                self._blocks.append(section.heading)
                self._trails.append(section.above)
            self._blocks += section.body
            self._trails += [section.trail] * len(section.body)
        self._starts = [placed.start for placed in self._blocks]
        self._above: dict[Trail, Above] = {}
        self._headers: dict[int, tuple[str, int]] = {}

    def above(self, position: int) -> Above:
        """Return the trail of a chunk that begins at this position of the text."""
        trail = self._trails[self._block_at(position)] if self._trails else ()
        if trail not in self._above:
            shortened = fitting(trail, self.most, self._count)
            text = " > ".join(shortened) + "\n"
            self._above[trail] = Above(shortened, text, self._count(text))
        return self._above[trail]

    def room(self, position: int) -> int:
        """Return the tokens left to the text of a chunk that begins here; at least half of all."""
        return max(1, self.most - self.above(position).tokens)

    def cut(self, start: int, end: int, header: str = "") -> ChunkBounds:
        """Make the chunk of the text between two positions."""
        pages = set()
        for placed in self._between(start, end):
            page = placed.block.page
            if page is not None and placed.end > start:
                pages.add(page)
        return ChunkBounds(
            start=start,
            end=end,
            trail=self.above(start).trail,
            pages=tuple(sorted(pages)),
            header=header,
        )

    def units(self, start: int, end: int) -> Iterator[Unit]:
        """Split the text between two positions into units, which contain all of it but white
        space."""
        for placed in self._between(start, end):
            first = max(placed.start, start)
            last = min(placed.end, end)
            if first < last:
                yield from self._units(placed, first, last)

    def pack(
        self, units: Sequence[Unit], overlap: int = 0, goal: float | None = None
    ) -> Iterator[ChunkBounds]:
        """Make chunks of as many whole units as fit; neighbours share whole units of at most
        `overlap` tokens.

        goal: tokens of text after which a chunk is long enough."""
        begin = 0
        done = 0
        while done < len(units):
            if done:
                begin = self._next_begin(units, begin, done, overlap)
            done = self._extent(units, begin, done + 1, goal)
            yield self._chunk_of(units[begin:done])

    def piece(self, units: Sequence[Unit]) -> Iterator[ChunkBounds]:
        """Make one chunk if the units fit, else as few as possible, of about the same length."""
        if not units:
            return
        if self._size(units) <= self.most:
            yield self._chunk_of(units)
            return
        total = total_tokens(units)
        room = self.room(units[0].start)
        parts = max(2, math.ceil(total / room))
        yield from self.pack(units, goal=total / parts * 1.1)

    def _chunk_of(self, units: Sequence[Unit]) -> ChunkBounds:
        first = units[0]
        return self.cut(first.start, units[-1].end, first.header)

    def _block_at(self, position: int) -> int:
        """Find the block that contains the position, or precedes it."""
        return max(0, bisect_right(self._starts, position) - 1)

    def _between(self, start: int, end: int) -> Iterator[PlacedBlock]:
        """Yield the block that contains the position `start`, or precedes it, and those after it up
        to `end`."""
        for number in range(self._block_at(start), len(self._blocks)):
            placed = self._blocks[number]
            if placed.start >= end:
                return
            yield placed

    def _units(self, placed: PlacedBlock, first: int, last: int) -> Iterator[Unit]:
        """Split a block between two positions into units."""
        header, header_tokens = self._header(placed)
        part = placed.block
        if last - first < len(part.text):
            part = part.model_copy(update={"text": self.text[first:last]})
        room = max(1, self.room(placed.start) - header_tokens)
        limit = TokenLimit(room, self._count, self._language)
        joints = [(0, len(part.text))]
        if part.kind != "heading":
            joints = sentences_of(part, self._language)
        for joint_start, joint_end in joints:
            for span in fit(part.text, joint_start, joint_end, limit):
                start, end = self._stripped(first + span.start, first + span.end)
                if start >= end:
                    continue
                # The first rows follow the header anyway.
                is_below_header = start >= placed.start + len(header)
                yield Unit(
                    start=start,
                    end=end,
                    tokens=span.tokens,
                    heading=part.kind == "heading",
                    header=header if is_below_header else "",
                )

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        """Move the positions inwards past white space."""
        without_tail = self.text[start:end].rstrip()
        end = start + len(without_tail)
        start = end - len(without_tail.lstrip())
        return start, end

    def _header(self, placed: PlacedBlock) -> tuple[str, int]:
        """Return the header of a table and its tokens, cached, as the table may be cut at each
        row."""
        cached = self._headers.get(placed.start)
        if cached is not None:
            return cached
        header = table_header(placed.block, self.room(placed.start), self._count)
        tokens = self._count(header + "\n") if header else 0
        self._headers[placed.start] = header, tokens
        return header, tokens

    def _size(self, units: Sequence[Unit]) -> int:
        """Count the tokens of the chunk of those units."""
        first = units[0]
        above = self.above(first.start).text
        header = first.header + "\n" if first.header else ""
        return self._count(above + header + self._text_of(units))

    def _text_of(self, units: Sequence[Unit]) -> str:
        """Return the text from the first unit to the last."""
        start = units[0].start
        end = units[-1].end
        return self.text[start:end]

    def _next_begin(self, units: Sequence[Unit], before: int, done: int, overlap: int) -> int:
        """Return where the next chunk begins: after the start of the last one, and so that it adds
        a unit to it."""
        begin = done
        tokens = 0
        for unit in reversed(units[before + 1 : done]):
            tokens += unit.tokens
            if tokens > overlap:
                break
            begin -= 1
        while begin < done:
            repeated = self._text_of(units[begin:done])
            repeats_enough = self._count(repeated) <= overlap
            if repeats_enough and self._size(units[begin : done + 1]) <= self.most:
                break
            begin += 1
        return begin

    def _extent(self, units: Sequence[Unit], begin: int, least: int, goal: float | None) -> int:
        """Return the end of the units from `begin` that become one chunk; a heading stays with the
        unit below it."""
        first = units[begin]
        room = self.room(first.start)
        if first.header:
            room -= self._count(first.header + "\n")
        enough = room if goal is None else min(room, goal)
        end = least
        tokens = total_tokens(units[begin:least])
        while end < len(units):
            tokens += units[end].tokens
            if tokens > enough:
                break
            end += 1
        # Tokens of units do not quite add up; the whole chunk must fit.
        while end > least and self._size(units[begin:end]) > self.most:
            end -= 1
        while least < end < len(units) and units[end - 1].heading:
            end -= 1
        return end


def total_tokens(units: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in units)
