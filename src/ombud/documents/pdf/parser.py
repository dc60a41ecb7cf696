"""PDF: lines and tables of each page become blocks; sizes and weights of the type say what is a
heading."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ombud.documents.blocks import ParsedFile, pipe_table
from ombud.documents.pdf.borderless import MOST_PAGES, borderless
from ombud.documents.pdf.lines import (
    PdfLine,
    columns,
    is_inside,
    lines_of,
    spacing,
    without_running,
)
from ombud.documents.pdf.ocr import FEWEST, PACKAGE, installed, languages, needs_reading, recognise
from ombud.documents.pdf.tables import Table, aligned, ruled
from ombud.documents.pdf.words import PdfPage, read_pages
from ombud.errors import SourceError
from ombud.types import Block

LONGEST_HEADING = 160
_BULLET = re.compile(r"^[•●○◦▪■□–—➢➤✓*\uf0b7\uf0a7\uf0d8\uf076-](?=\s)")
_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\d{1,2}(?:\.\d{1,2})+|§+ ?\d[\w.-]*)(?=\s)"
)
_CLAUSE = re.compile(
    r"§+ ?\d[\w.-]*[.:]? [^\W\d]|(?:sub)?chapter [\dA-Z]|article [\dIVX]|section \d+[.:]? [A-Z][^.]*$"
    r"|(?:annex|appendix|schedule|teil|anlage) [A-Z\d]+\b",
    re.IGNORECASE,
)
"""What opens a part of a law or a contract, whatever type it is set in."""
_NAME = re.compile(
    r"[A-Z][\w'’/-]*(?: (?:[A-Z\d][\w'’/-]*|&|and|or|of|for|the|to|in|on|with|by|at|a|an|from)){1,8}"
)
"""Title case, which italic lines need to be headings: they are captions, names and quotations
too."""
_ENDS = (".", ";", ",", ":", "?", "!")
Item = PdfLine | Table
Kind = Literal["heading", "text", "list"]


def read(data: bytes, pages: int) -> ParsedFile:
    """Blocks with the page they stand on. Raises SourceError when the pages hold (almost) no
    text."""
    read_in = read_pages(data, pages)
    scanned = [page for page in read_in if needs_reading(page)]
    if scanned and installed():
        sizes = Counter(word.size for page in read_in for word in page.words)
        recognise(data, scanned, sizes.most_common(1)[0][0] if sizes else 10.0)
    letters = sum(1 for page in read_in for word in page.words for c in word.text if c.isalnum())
    if letters < FEWEST * max(1, len(read_in)):
        raise _without_text()
    drawn = {page.number: found for page in read_in if (found := ruled(page))}
    without_running(
        read_in, {number: [table.box for table in tables] for number, tables in drawn.items()}
    )
    levels = _Levels(read_in)
    tables = drawn | _undrawn(
        data, [page for page in read_in if page.number not in drawn], len(read_in)
    )
    items = [(page, list(_items(page, tables.get(page.number, [])))) for page in read_in]
    return ParsedFile(
        list(_continued(block for page, found in items for block in _blocks(page, found, levels)))
    )


def _without_text() -> SourceError:
    if installed():
        return SourceError(
            "The PDF has almost no text, and OCR found no more in its pictures.",
            hint=f"Is it in another language than {', '.join(languages())}? Install {PACKAGE}-LANGUAGE for it.",
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
        for table in borderless(data, wanted):
            tables.setdefault(table.page, []).append(table)
    return tables


def _stands_in_columns(page: PdfPage) -> bool:
    return any(True for _ in aligned(page.number, lines_of(page.words)))


def _items(page: PdfPage, tables: list[Table]) -> Iterator[Item]:
    """Lines and tables of a page in reading order."""
    page.words = [
        word for word in page.words if not any(is_inside(word, table.box) for table in tables)
    ]
    parts = [page.words] if tables else columns(page)
    for number, words in enumerate(parts):
        lines = lines_of(words)
        found: list[Item] = list(tables) if number == 0 else []
        taken: set[int] = set()
        for start, end, table in aligned(page.number, lines) if len(parts) == 1 else ():
            found.append(table)
            taken |= set(range(start, end))
        found += [line for at, line in enumerate(lines) if at not in taken]
        yield from sorted(
            found, key=lambda item: item.box[1] if isinstance(item, Table) else item.top
        )


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
        self.body = sizes.most_common(1)[0][0] if sizes else 10.0
        larger = sorted((size for size in sizes if size > self.body * 1.08), reverse=True)[:5]
        self.levels = {size: level for level, size in enumerate(larger, 1)}
        # Where half of the text is bold, bold says nothing.
        self.lowest = len(self.levels) + 2
        self.bold_counts = bold < 0.4 * max(1, sizes.total())

    def of(self, line: PdfLine) -> int:
        """1 to 6, or 0 for a line that is no heading."""
        if len(line.text) > LONGEST_HEADING or not any(c.isalpha() for c in line.text):
            return 0
        if line.size in self.levels:
            return self.levels[line.size]
        # A section's name stands alone; where its text follows on the line, it is a clause.
        if _CLAUSE.match(line.text) and len(line.text) < 100 and ". " not in line.text[8:]:
            return len(self.levels) + (1 if line.text[0] != "§" else 2)
        is_set_apart = (
            self.bold_counts
            and line.bold
            and len(line.text) < 100
            and not line.text.endswith(_ENDS[:3])
        )
        return len(self.levels) + 1 if is_set_apart and not _BULLET.match(line.text) else 0


def _blocks(page: PdfPage, items: list[Item], levels: _Levels) -> Iterator[Block]:
    """Lines joined to headings, paragraphs and lists; a gap, a mark or another type ends one."""
    run: list[PdfLine] = []
    kind: Kind = "text"
    level = 0
    usual = spacing([item for item in items if isinstance(item, PdfLine)])
    leaning = set(_leaning(items, levels.body))
    for item in items:
        if isinstance(item, Table):
            yield from _joined(page, run, kind, level)
            run = []
            if text := pipe_table(item.rows):
                yield Block(kind="table", text=text, page=page.number, bbox=item.box)
            continue
        its_level = levels.of(item) or (levels.lowest if id(item) in leaning else 0)
        marked = bool(_BULLET.match(item.text) or _NUMBER.match(item.text))
        its_kind: Kind = "heading" if its_level else "list" if marked else "text"
        if run and not _belongs(run, kind, level, item, its_kind, its_level, marked, usual):
            yield from _joined(page, run, kind, level)
            run = []
        if not run:
            kind, level = its_kind, its_level
        run.append(item)
    yield from _joined(page, run, kind, level)


def _leaning(items: list[Item], body: float) -> Iterator[int]:
    """Identities of lines in italics that stand alone right above a paragraph: headings, as
    quotations are not."""
    for above, line, below in zip([None, *items], items, items[1:], strict=False):
        if (
            not isinstance(line, PdfLine)
            or not isinstance(below, PdfLine)
            or not line.italic
            or below.italic
        ):
            continue
        height = max(line.bottom - line.top, 1.0)
        under = below.top - line.bottom
        over = (
            line.top - above.bottom
            if isinstance(above, PdfLine) and above.top < line.top
            else height
        )
        alone = over > max(0.5 * height, under)
        near = -0.5 * height < under < height and abs(below.x0 - line.x0) < 3
        if (
            alone
            and near
            and below.size == body
            and below.x1 > line.x1
            and _NAME.fullmatch(line.text)
        ):
            yield id(line)


def _belongs(
    run: list[PdfLine],
    kind: Kind,
    level: int,
    line: PdfLine,
    its_kind: Kind,
    its_level: int,
    marked: bool,
    usual: float,
) -> bool:
    """Whether a line goes on with the run before it."""
    gap, height = line.top - run[-1].bottom, max(line.bottom - line.top, 1.0)
    if kind == "heading" or its_kind == "heading":
        return (
            kind == its_kind and level == its_level and -height < gap < 0.5 * height and not marked
        )
    near = 0.6 * height
    if usual > near:
        # Double spacing: gaps do not tell paragraphs apart, indents do.
        near = usual * 1.25
        if not marked and line.x0 > run[-1].x0 + height:
            return False
    if kind == "list":
        return gap < max(near, 1.3 * height) if marked else gap < near
    return its_kind == "text" and -height < gap < near


def _joined(page: PdfPage, run: list[PdfLine], kind: Kind, level: int) -> Iterator[Block]:
    if not run:
        return
    box = (min(l.x0 for l in run), run[0].top, max(l.x1 for l in run), run[-1].bottom)  # noqa: E741
    text = "\n".join(_listed(run)) if kind == "list" else _flowing(run)
    yield Block(kind=kind, text=text, level=level, page=page.number, bbox=box)


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
    marks: list[float] = []
    for x0 in sorted(item[0].x0 for item in items):
        if not marks or x0 - marks[-1] > 8:
            marks.append(x0)
    for item in items:
        depth = max(0, sum(1 for mark in marks if mark <= item[0].x0 + 1) - 1)
        yield "  " * min(depth, 6) + _BULLET.sub("-", _flowing(item))


def _continued(blocks: Iterator[Block]) -> Iterator[Block]:
    """Paragraphs and tables that go on over a page break."""
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
    first = block.text.split("\n", 1)[0]
    if first == header or first.count(" | ") != header.count(" | ") or block.bbox is None:
        return block
    lines = block.text.split("\n")
    return block.model_copy(update={"text": "\n".join([header, rule, lines[0], *lines[2:]])})
