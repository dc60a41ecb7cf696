"""PDF: lines and tables of each page become blocks; sizes and weights of the type say what is a
heading."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ombud.documents.blocks import BlockKind, ParsedFile, pipe_table
from ombud.documents.pdf.borderless import MOST_PAGES, tables_without_lines
from ombud.documents.pdf.columns import columns_of
from ombud.documents.pdf.lines import PdfLine, lines_of, spacing
from ombud.documents.pdf.ocr import FEWEST, PACKAGE, installed, languages, needs_reading, recognise
from ombud.documents.pdf.running import without_running
from ombud.documents.pdf.tables import Table, aligned, ruled
from ombud.documents.pdf.words import Edge, PdfPage, read_pages
from ombud.errors import SourceError
from ombud.types import Block

LONGEST_HEADING = 160
"""Characters of a line that is a heading for its size."""
LONGEST_SET_APART = 100
"""Characters below which a line may be a heading for its words or weight."""
_BULLET = re.compile(r"^[•●○◦▪■□–—➢➤✓*\uf0b7\uf0a7\uf0d8\uf076-](?=\s)")
_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]"
    r"|\d{1,2}(?:\.\d{1,2})+"
    r"|§+ ?\d[\w.-]*)(?=\s)"
)
_CLAUSE = re.compile(
    r"§+ ?\d[\w.-]*[.:]? [^\W\d]"
    r"|(?:sub)?chapter [\dA-Z]|article [\dIVX]|section \d+[.:]? [A-Z][^.]*$"
    r"|(?:annex|appendix|schedule|teil|anlage) [A-Z\d]+\b",
    re.IGNORECASE,
)
"""What opens a part of a law or a contract, whatever type it is set in."""
_NAME = re.compile(
    r"[A-Z][\w'’/-]*"
    r"(?: (?:[A-Z\d][\w'’/-]*|&|and|or|of|for|the|to|in|on|with|by|at|a|an|from)){1,8}"
)
"""Title case, which italic lines need to be headings: they are captions, names and quotations
too."""
_ENDS = (".", ";", ",")
Item = PdfLine | Table


def read(data: bytes, pages: int) -> ParsedFile:
    """Blocks with the page they stand on. Raises SourceError when the pages hold (almost) no
    text."""
    pdf_pages = read_pages(data, pages)
    _recognise_scanned(data, pdf_pages)
    characters = sum(page.characters for page in pdf_pages)
    if characters < FEWEST * max(1, len(pdf_pages)):
        raise _without_text()
    tables = _ruled_tables(pdf_pages)
    without_running(pdf_pages, _boxes(tables))
    levels = _Levels(pdf_pages)
    without_ruled = [page for page in pdf_pages if page.number not in tables]
    tables |= _undrawn(data, without_ruled, len(pdf_pages))
    blocks: list[Block] = []
    for page in pdf_pages:
        items = list(_items(page, tables.get(page.number, [])))
        blocks += _PageBlocks(page, items, levels).blocks
    return ParsedFile(list(_continued(blocks)))


def _recognise_scanned(data: bytes, pages: list[PdfPage]) -> None:
    """Put words on the pages that are pictures, where OCR is installed."""
    scanned = [page for page in pages if needs_reading(page)]
    if not scanned or not installed():
        return
    sizes: Counter[float] = Counter()
    for page in pages:
        sizes.update(word.size for word in page.words)
    recognise(data, scanned, _most_common(sizes))


def _most_common(sizes: Counter[float]) -> float:
    """The size of type that the body is set in."""
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _ruled_tables(pages: list[PdfPage]) -> dict[int, list[Table]]:
    """Page number -> its tables drawn with lines; no empty lists."""
    tables = {}
    for page in pages:
        drawn = ruled(page)
        if drawn:
            tables[page.number] = drawn
    return tables


def _boxes(tables: dict[int, list[Table]]) -> dict[int, list[Edge]]:
    """Page number -> where its tables stand."""
    boxes = {}
    for number, tables_of_page in tables.items():
        boxes[number] = [table.box for table in tables_of_page]
    return boxes


def _without_text() -> SourceError:
    if installed():
        known = ", ".join(languages())
        return SourceError(
            "The PDF has almost no text, and OCR found no more in its pictures.",
            hint=f"Is it in another language than {known}? Install {PACKAGE}-LANGUAGE for it.",
        )
    return SourceError(
        "The PDF has almost no text, so its pages are probably scanned: it needs OCR.",
        hint=f"Install {PACKAGE} (on Debian: apt install {PACKAGE}) and sync again.",
    )


def _undrawn(data: bytes, pages: list[PdfPage], total: int) -> dict[int, list[Table]]:
    """Tables by page that xberg makes of pages where words stand in columns but no lines are
    drawn."""
    wanted = [page for page in pages if _stands_in_columns(page)]
    tables: dict[int, list[Table]] = {}
    if wanted and total <= MOST_PAGES:
        for table in tables_without_lines(data, wanted):
            tables.setdefault(table.page, []).append(table)
    return tables


def _stands_in_columns(page: PdfPage) -> bool:
    return any(True for _ in aligned(page.number, lines_of(page.words)))


def _items(page: PdfPage, tables: list[Table]) -> Iterator[Item]:
    """Lines and tables of a page in reading order."""
    boxes = [table.box for table in tables]
    page.words = [word for word in page.words if not word.is_in_any(boxes)]
    if tables:
        yield from _in_order(page.number, lines_of(page.words), tables)
        return
    parts = columns_of(page)
    if len(parts) == 1:
        yield from _in_order(page.number, lines_of(parts[0]), [])
        return
    for words in parts:
        # Beside another column words in line are no table.
        yield from sorted(lines_of(words), key=_top)


def _in_order(number: int, lines: list[PdfLine], tables: list[Table]) -> list[Item]:
    """The lines, those in columns as tables, and the tables that are known, from top to bottom."""
    items: list[Item] = list(tables)
    taken: set[int] = set()
    for start, end, table in aligned(number, lines):
        items.append(table)
        taken.update(range(start, end))
    items += [line for position, line in enumerate(lines) if position not in taken]
    return sorted(items, key=_top)


def _top(item: Item) -> float:
    return item.box[1] if isinstance(item, Table) else item.top


class _Levels:
    """Heading levels of a document: sizes larger than the body's, largest first, then bold lines of
    body size."""

    def __init__(self, pages: list[PdfPage]) -> None:
        sizes: Counter[float] = Counter()
        bold = 0
        for page in pages:
            for word in page.words:
                sizes[word.size] += len(word.text)
                bold += len(word.text) if word.bold else 0
        self.body = _most_common(sizes)
        larger = sorted((size for size in sizes if size > self.body * 1.08), reverse=True)
        self.levels = {size: level for level, size in enumerate(larger[:5], 1)}
        self.lowest = len(self.levels) + 2
        # Where half of the text is bold, bold says nothing.
        self.bold_counts = bold < 0.4 * max(1, sizes.total())

    def of(self, line: PdfLine) -> int:
        """1 to 6, or 0 for a line that is no heading."""
        text = line.text
        if len(text) > LONGEST_HEADING or not any(map(str.isalpha, text)):
            return 0
        if line.size in self.levels:
            return self.levels[line.size]
        if len(text) >= LONGEST_SET_APART:
            return 0
        # A section's name stands alone; where its text follows on the line, it is a clause.
        if _CLAUSE.match(text) and ". " not in text[8:]:
            return self.lowest if text.startswith("§") else self.lowest - 1
        if self._is_set_apart(line):
            return self.lowest - 1
        return 0

    def _is_set_apart(self, line: PdfLine) -> bool:
        if not self.bold_counts or not line.bold:
            return False
        return not line.text.endswith(_ENDS) and not _BULLET.match(line.text)


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


class _PageBlocks:
    """Lines of a page joined to headings, paragraphs and lists; a gap, a mark or another type ends
    one."""

    def __init__(self, page: PdfPage, items: list[Item], levels: _Levels) -> None:
        self.blocks: list[Block] = []
        self._page = page.number
        self._levels = levels
        self._usual_gap = spacing([item for item in items if isinstance(item, PdfLine)])
        self._leaning = set(_leaning(items, levels.body))
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
        marked = bool(_BULLET.match(line.text) or _NUMBER.match(line.text))
        return _MarkedLine(line, level, marked)

    def _add_table(self, table: Table) -> None:
        self._end_run()
        text = pipe_table(table.rows)
        if text:
            self.blocks.append(Block(kind="table", text=text, page=self._page, bbox=table.box))

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
            if marked.level != first.level or marked.is_marked:
                return False
            return -height < gap < 0.5 * height
        near = 0.6 * height
        if self._usual_gap > near:
            # Double spacing: gaps do not tell paragraphs apart, indents do.
            near = self._usual_gap * 1.25
            if not marked.is_marked and line.x0 > before.x0 + height:
                return False
        if first.kind == "list":
            return gap < (max(near, 1.3 * height) if marked.is_marked else near)
        return marked.kind == "text" and -height < gap < near

    def _end_run(self) -> None:
        """The lines of the run become a block."""
        if not self._run:
            return
        first = self._run[0]
        lines = [marked.line for marked in self._run]
        self._run = []
        left = min(line.x0 for line in lines)
        right = max(line.x1 for line in lines)
        self.blocks.append(
            Block(
                kind=first.kind,
                text="\n".join(_listed(lines)) if first.kind == "list" else _flowing(lines),
                level=first.level,
                page=self._page,
                bbox=(left, lines[0].top, right, lines[-1].bottom),
            )
        )


def _leaning(items: list[Item], body: float) -> Iterator[int]:
    """Identities of lines in italics that stand alone right above a paragraph: headings, as
    quotations are not."""
    for above, line, below in zip([None, *items], items, items[1:], strict=False):
        if not isinstance(line, PdfLine) or not isinstance(below, PdfLine):
            continue
        if not line.italic or below.italic or not _NAME.fullmatch(line.text):
            continue
        if _is_alone(above, line, below) and _opens_paragraph(line, below, body):
            yield id(line)


def _is_alone(above: Item | None, line: PdfLine, below: PdfLine) -> bool:
    """Whether a line is nearer to the line below than to what is above."""
    over = line.height
    if isinstance(above, PdfLine) and above.top < line.top:
        over = line.top - above.bottom
    under = below.top - line.bottom
    return over > max(0.5 * line.height, under)


def _opens_paragraph(line: PdfLine, below: PdfLine, body: float) -> bool:
    """Whether the line below stands close, as far left, goes further right and is of the body's
    size."""
    gap = below.top - line.bottom
    if not -0.5 * line.height < gap < line.height or abs(below.x0 - line.x0) >= 3:
        return False
    return below.size == body and below.x1 > line.x1


def _flowing(lines: list[PdfLine]) -> str:
    """One paragraph; a word broken at a line's end is mended."""
    text = ""
    for line in lines:
        if text.endswith("-") and text[-2:-1].isalpha() and line.text[:1].islower():
            text = text[:-1] + line.text
        else:
            text = f"{text} {line.text}" if text else line.text
    return text


def _listed(lines: list[PdfLine]) -> Iterator[str]:
    """Items one to a line, bullets as "-", nested by where their marks stand."""
    items: list[list[PdfLine]] = []
    for line in lines:
        if not items or _BULLET.match(line.text) or _NUMBER.match(line.text):
            items.append([line])
        else:
            items[-1].append(line)
    indents = _indents(items)
    for item in items:
        left = item[0].x0
        outer = sum(1 for indent in indents if indent <= left + 1)
        depth = min(max(0, outer - 1), 6)
        yield "  " * depth + _BULLET.sub("-", _flowing(item))


def _indents(items: list[list[PdfLine]]) -> list[float]:
    """Where the marks of items stand, from left to right, those close to each other as one."""
    indents: list[float] = []
    for left in sorted(item[0].x0 for item in items):
        if not indents or left - indents[-1] > 8:
            indents.append(left)
    return indents


def _continued(blocks: list[Block]) -> Iterator[Block]:
    """The blocks; a table that goes on over a page break has its header again."""
    before: Block | None = None
    for block in blocks:
        if before and block.kind == before.kind == "table" and block.page != before.page:
            block = _with_header(before, block)
        yield block
        before = block


def _with_header(before: Block, block: Block) -> Block:
    """A table that goes on after a page break says its header again, if it does not do so
    itself."""
    header, rule, *_ = before.text.split("\n")
    first, _, *others = block.text.split("\n")
    if first == header or first.count(" | ") != header.count(" | ") or block.bbox is None:
        return block
    text = "\n".join([header, rule, first, *others])
    return block.model_copy(update={"text": text})
