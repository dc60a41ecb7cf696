"""Sentences put together into chunks: what the chunkers beside `structure` share.

In their chunks headings are text like any other; the trail holds those above a chunk's first
character."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.documents.chunking.cuts import fit, sentences_of
from ombud.documents.outline import ChunkBounds, Count, fitting, sections, table_header
from ombud.types import Block, Document


class Unit(NamedTuple):
    """A sentence, a heading, a row of a table, a line of code; a part of one that is too long for a
    chunk."""

    start: int
    end: int
    tokens: int
    heading: bool
    header: str = ""
    """What a chunk that begins here repeats of its table."""


class Above(NamedTuple):
    """What is embedded before a chunk's text."""

    trail: tuple[str, ...]
    text: str
    tokens: int


class Packer:
    """most: tokens of a chunk, with its trail and the header that it repeats."""

    def __init__(self, document: Document, most: int, count: Count) -> None:
        self.text, self.most, self._count = document.text, most, count
        self._language = document.language
        self._blocks: list[tuple[Block, int, tuple[str, ...]]] = []
        for section in sections(document):
            if section.heading:
                self._blocks.append((*section.heading, section.above))
            self._blocks += [(block, at, section.trail) for block, at in section.body]
        self._starts = [at for _, at, _ in self._blocks]
        self._above: dict[tuple[str, ...], Above] = {}
        self._headers: dict[int, tuple[str, int]] = {}

    def above(self, position: int) -> Above:
        """The trail of a chunk that begins at this position of the text."""
        trail = self._blocks[self._at(position)][2] if self._blocks else ()
        if trail not in self._above:
            short = fitting(trail, self.most, self._count)
            text = " > ".join(short) + "\n"
            self._above[trail] = Above(short, text, self._count(text))
        return self._above[trail]

    def room(self, position: int) -> int:
        """Tokens left to the text of a chunk that begins here; at least half of them all."""
        return max(1, self.most - self.above(position).tokens)

    def cut(self, start: int, end: int, header: str = "") -> ChunkBounds:
        pages = set()
        for number in range(self._at(start), len(self._blocks)):
            block, at, _ = self._blocks[number]
            if at >= end:
                break
            if block.page is not None and at + len(block.text) > start:
                pages.add(block.page)
        return ChunkBounds(start, end, self.above(start).trail, tuple(sorted(pages)), header)

    def units(self, start: int, end: int) -> Iterator[Unit]:
        """What lies between two positions, in order; white space apart, everything is in one of
        them."""
        for number in range(self._at(start), len(self._blocks)):
            block, at, _ = self._blocks[number]
            if at >= end:
                return
            first, last = max(at, start), min(at + len(block.text), end)
            if first < last:
                yield from self._units(block, at, first, last)

    def pack(
        self, units: Sequence[Unit], overlap: int = 0, goal: float | None = None
    ) -> Iterator[ChunkBounds]:
        """Chunks of whole units, as many in each as fit; neighbours share whole units of at most
        `overlap` tokens.

        goal: tokens of text after which a chunk is long enough.
        """
        begin = done = 0
        while done < len(units):
            if done:
                begin = self._back(units, begin, done, overlap)
            done = self._extent(units, begin, done + 1, goal)
            yield self.cut(units[begin].start, units[done - 1].end, units[begin].header)

    def piece(self, units: Sequence[Unit]) -> Iterator[ChunkBounds]:
        """One chunk where they fit; else as few as can be, of about the same length."""
        if not units:
            return
        if self._size(units, 0, len(units)) <= self.most:
            yield self.cut(units[0].start, units[-1].end, units[0].header)
            return
        total = sum(unit.tokens for unit in units)
        parts = max(2, -(-total // self.room(units[0].start)))
        yield from self.pack(units, goal=total / parts * 1.1)

    def _at(self, position: int) -> int:
        """Number of the block that holds the position, or stands before it."""
        return max(0, bisect_right(self._starts, position) - 1)

    def _units(self, block: Block, at: int, first: int, last: int) -> Iterator[Unit]:
        part = (
            block.model_copy(update={"text": self.text[first:last]})
            if last - first < len(block.text)
            else block
        )
        heading = block.kind == "heading"
        header, tokens = self._header(block, at)
        room = max(1, self.room(at) - tokens)
        joints = [(0, len(part.text))] if heading else sentences_of(part, self._language)
        for joint in joints:
            for span in fit(part.text, *joint, room, self._count, self._language):
                start, end = first + span.start, first + span.end
                end -= len(self.text[start:end]) - len(self.text[start:end].rstrip())
                start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
                if start < end:
                    yield Unit(
                        start,
                        end,
                        span.tokens,
                        heading,
                        header if start >= at + len(header) else "",
                    )

    def _header(self, block: Block, at: int) -> tuple[str, int]:
        """The header of a table, and its tokens; looked for once, for the table may be cut at each
        of its rows."""
        if at not in self._headers:
            header = table_header(block, self.room(at), self._count)
            self._headers[at] = header, self._count(header + "\n") if header else 0
        return self._headers[at]

    def _size(self, units: Sequence[Unit], begin: int, end: int) -> int:
        first = units[begin]
        header = first.header + "\n" if first.header else ""
        return self._count(
            self.above(first.start).text + header + self.text[first.start : units[end - 1].end]
        )

    def _back(self, units: Sequence[Unit], before: int, done: int, overlap: int) -> int:
        """Where the next chunk begins: after the last one's beginning, and so that it holds more
        than that did."""
        begin, tokens = done, 0
        while begin - 1 > before and tokens + units[begin - 1].tokens <= overlap:
            begin -= 1
            tokens += units[begin].tokens
        while begin < done and (
            self._count(self.text[units[begin].start : units[done - 1].end]) > overlap
            or self._size(units, begin, done + 1) > self.most
        ):
            begin += 1
        return begin

    def _extent(self, units: Sequence[Unit], begin: int, least: int, goal: float | None) -> int:
        """End of the run of units from `begin` that become one chunk; a heading goes with what it
        stands above."""
        room = self.room(units[begin].start)
        if units[begin].header:
            room -= self._count(units[begin].header + "\n")
        enough = room if goal is None else min(room, goal)
        end, tokens = least, sum(unit.tokens for unit in units[begin:least])
        while end < len(units) and tokens + units[end].tokens <= enough:
            tokens += units[end].tokens
            end += 1
        # Tokens of units do not quite add up; the whole chunk is what must fit.
        while end > least and self._size(units, begin, end) > self.most:
            end -= 1
        while least < end < len(units) and units[end - 1].heading:
            end -= 1
        return end
