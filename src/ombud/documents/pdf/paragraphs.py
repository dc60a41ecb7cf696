"""Lines of a PDF page joined to headings, paragraphs and lists."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.documents.blocks import BlockKind, pipe_table
from ombud.documents.pdf.headings import BULLET, HeadingLevels, Item, leaning_lines
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
    """Of a heading, else 0."""
    is_marked: bool
    """Whether it begins with a bullet or a number."""

    @property
    def kind(self) -> BlockKind:
        if self.level:
            return "heading"
        return "list" if self.is_marked else "text"


class PageBlocks:
    """Lines of a page joined to headings, paragraphs and lists; a gap, a mark or another type ends
    one."""

    def __init__(self, page: PdfPage, items: list[Item], levels: HeadingLevels) -> None:
        self.blocks: list[Block] = []
        self._page = page.number
        self._levels = levels
        self._usual_gap = spacing([item for item in items if isinstance(item, PdfLine)])
        self._leaning = set(leaning_lines(items, levels.body))
        self._run: list[_MarkedLine] = []
        for item in items:
            if isinstance(item, Table):
                self._add_table(item)
            else:
                self._add_line(self._marked(item))
        self._end_run()

    def _marked(self, line: PdfLine) -> _MarkedLine:
        level = self._levels.of(line)
        if not level and id(line) in self._leaning:
            level = self._levels.lowest
        return _MarkedLine(line, level, _has_mark(line))

    def _add_table(self, table: Table) -> None:
        self._end_run()
        text = pipe_table(table.rows)
        if text:
            block = Block(
                kind="table",
                text=text,
                page=self._page,
                bbox=table.box,
            )
            self.blocks.append(block)

    def _add_line(self, marked: _MarkedLine) -> None:
        if self._run and not self._goes_on(marked):
            self._end_run()
        self._run.append(marked)

    def _goes_on(self, marked: _MarkedLine) -> bool:
        """Whether a line goes on with the run before it."""
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
            # Double spacing: gaps do not tell paragraphs apart, indents do.
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
        """The lines of the run become a block."""
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
            text="\n".join(_listed(lines)) if is_list else _flowing(lines),
            level=first.level,
            page=self._page,
            bbox=(left, lines[0].top, right, lines[-1].bottom),
        )
        self.blocks.append(block)


def _has_mark(line: PdfLine) -> bool:
    return bool(BULLET.match(line.text) or _NUMBER.match(line.text))


def _flowing(lines: list[PdfLine]) -> str:
    """One paragraph; a word broken at a line's end is mended."""
    text = ""
    for line in lines:
        if _is_broken_word(text, line.text):
            text = text[:-1] + line.marked
        else:
            text = f"{text} {line.marked}" if text else line.marked
    return text


def _is_broken_word(above: str, below: str) -> bool:
    """Whether the hyphen at a line's end stands within a word."""
    if not above.endswith("-") or not above[-2:-1].isalpha():
        return False
    return below[:1].islower()


def _listed(lines: list[PdfLine]) -> Iterator[str]:
    """Items one to a line, bullets as "-", nested by where their marks stand."""
    items: list[list[PdfLine]] = []
    for line in lines:
        if not items or _has_mark(line):
            items.append([line])
        else:
            items[-1].append(line)
    indents = _indents(items)
    for item in items:
        left = item[0].x0
        outer = sum(1 for indent in indents if indent <= left + 1)
        depth = min(max(0, outer - 1), 6)
        yield "  " * depth + BULLET.sub("-", _flowing(item))


def _indents(items: list[list[PdfLine]]) -> list[float]:
    """Where the marks of items stand, from left to right, those close to each other as one."""
    indents: list[float] = []
    for left in sorted(item[0].x0 for item in items):
        if not indents or left - indents[-1] > 8:
            indents.append(left)
    return indents
