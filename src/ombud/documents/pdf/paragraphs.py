"""Join the lines of a PDF page into headings, paragraphs and lists."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.documents.blocks import BlockKind, pipe_table
from ombud.documents.pdf.headings import BULLET, HeadingLevels, Item, italic_headings
from ombud.documents.pdf.hyphens import BrokenWords
from ombud.documents.pdf.lines import PdfLine, spacing
from ombud.documents.pdf.page.words import PdfPage
from ombud.documents.pdf.tables import Table
from ombud.types import Block

_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]"
    r"|\d{1,2}(?:\.\d{1,2})+"
    r"|§+ ?\d[\w.-]*)(?=\s)"
)


class _MarkedLine(NamedTuple):
    line: PdfLine
    level: int
    """Level of a heading, else 0."""
    is_marked: bool
    """True if it begins with a bullet or a number."""

    @property
    def kind(self) -> BlockKind:
        if self.level:
            return "heading"
        return "list" if self.is_marked else "text"


class PageBlocks:
    """Joins the lines of a page into headings, paragraphs and lists; a gap, a mark or another type
    ends one."""

    def __init__(
        self, page: PdfPage, items: list[Item], levels: HeadingLevels, broken: BrokenWords
    ) -> None:
        self.blocks: list[Block] = []
        self._broken = broken
        self._page = page.number
        self._levels = levels
        self._usual_gap = spacing([item for item in items if isinstance(item, PdfLine)])
        self._italic_headings = set(italic_headings(items, levels.body))
        self._run: list[_MarkedLine] = []
        for item in items:
            if isinstance(item, Table):
                self._add_table(item)
                continue
            marked = self._marked(item)
            if self._run and not self._goes_on(marked):
                self._end_run()
            self._run.append(marked)
        self._end_run()

    def _marked(self, line: PdfLine) -> _MarkedLine:
        level = self._levels.of(line)
        if not level and id(line) in self._italic_headings:
            level = self._levels.lowest
        return _MarkedLine(line, level, has_mark(line))

    def _add_table(self, table: Table) -> None:
        self._end_run()
        text = pipe_table(table.rows)
        if text:
            block = Block(kind="table", text=text, page=self._page, bbox=table.box)
            self.blocks.append(block)

    def _goes_on(self, marked: _MarkedLine) -> bool:
        """Tell whether a line continues the run before it."""
        first = self._run[0]
        before = self._run[-1].line
        line = marked.line
        gap = line.top - before.bottom
        height = line.height
        if "heading" in {first.kind, marked.kind}:
            is_same_heading = marked.level == first.level and not marked.is_marked
            return is_same_heading and -height < gap < 0.5 * height
        near = 0.6 * height
        if self._usual_gap > near:
            # With double spacing, indents separate paragraphs, not gaps.
            near = self._usual_gap * 1.25
            is_indented = line.x0 > before.x0 + height
            if is_indented and not marked.is_marked:
                return False
        if first.kind == "text":
            return marked.kind == "text" and -height < gap < near
        if marked.is_marked:
            near = max(near, 1.3 * height)
        return gap < near

    def _end_run(self) -> None:
        """Make a block of the lines of the run."""
        if not self._run:
            return
        first = self._run[0]
        lines = [marked.line for marked in self._run]
        self._run = []
        left = min(line.x0 for line in lines)
        right = max(line.x1 for line in lines)
        is_list = first.kind == "list"
        block = Block(
            kind=first.kind,
            text="\n".join(list_lines(lines, self._broken))
            if is_list
            else self._broken.flowing(lines),
            level=first.level,
            page=self._page,
            bbox=(left, lines[0].top, right, lines[-1].bottom),
        )
        self.blocks.append(block)


def has_mark(line: PdfLine) -> bool:
    return bool(BULLET.match(line.text) or _NUMBER.match(line.text))


def list_lines(lines: list[PdfLine], broken: BrokenWords) -> Iterator[str]:
    """Yield items one per line, bullets as "-", nested by the place of their marks."""
    items: list[list[PdfLine]] = []
    for line in lines:
        if not items or has_mark(line):
            items.append([line])
        else:
            items[-1].append(line)
    indents = list_indents(items)
    for item in items:
        left = item[0].x0
        outer = sum(1 for indent in indents if indent <= left + 1)
        depth = min(max(0, outer - 1), 6)
        yield "  " * depth + BULLET.sub("-", broken.flowing(item))


def list_indents(items: list[list[PdfLine]]) -> list[float]:
    """List the places of the marks of items from left to right, close ones as one."""
    indents: list[float] = []
    for left in sorted(item[0].x0 for item in items):
        if not indents or left - indents[-1] > 8:
            indents.append(left)
    return indents
