"""Parse OpenDocument texts from their XML.

Own code rather than odfpy, which does not count lists, builds an object for every element, and does
not limit what it unpacks (`docs/results/parts.md`). Pages are unknown: a file contains only manual
page breaks."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.blocks import (
    Edges,
    ParsedFile,
    heading,
    list_of,
    paragraph,
    table_blocks,
    tidy,
)
from ombud.documents.grids import Cells, without_hidden
from ombud.documents.office.numbering import DEEPEST, Counts, whole
from ombud.documents.office.odt_lists import Lists
from ombud.documents.office.odt_words import OdtRuns
from ombud.documents.office.packages import Package, Program, broken, opened
from ombud.documents.runs import run
from ombud.errors import SourceError
from ombud.types import Block, Loss

_WRITER = Program("LibreOffice", "OpenDocument text", ".odt")
MAX_REPEATED = 200
"""Repetitions of a cell or row; a hostile table repeats a cell a thousand million times."""
MAX_CELLS = 1_000_000
_SECTIONS = {"section", "index-body", "text-box", "numbered-paragraph"}
_GROUPS = frozenset(
    f"table-{group}"
    for group in ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
)
_INVISIBLE = ("collapse", "filter")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse numbered headings and clauses, lists, tables, text boxes and footnotes, but no table of
    contents."""
    del pages
    with opened(data, _WRITER) as package:
        check_not_encrypted(package)
        content = package.part("content.xml", local=True)
        common = package.part("styles.xml", local=True)
    body = content.find("body/text") if content is not None else None
    if body is None:
        raise broken(_WRITER)
    reader = _Reader()
    for root in (common, content):
        if root is not None:
            reader.add_styles(root)
    blocks = level_headings(list(reader.blocks(body)), has_title=reader.titles == 1)
    edges = page_edges(common, reader.words)
    blocks += edges.blocks()
    loss = Loss(hidden=reader.hidden, repeated=edges.repeated, pictures=reader.pictures)
    return ParsedFile(blocks, loss=loss)


def level_headings(blocks: list[Block], has_title: bool) -> list[Block]:
    """Give titles, which have level 0, level 1, and move all other headings one level below a
    single title."""
    levelled = []
    for block in blocks:
        if block.kind == "heading":
            level = block.level + 1 if has_title else block.level
            block = block.model_copy(update={"level": level or 1})
        levelled.append(block)
    return levelled


def page_edges(
    common: Element | None, words: OdtRuns, pages: Collection[str] | None = None
) -> Edges:
    """Read the headers and footers of all pages, or of the master pages of these names."""
    edges = Edges()
    for page in common.iter("master-page") if common is not None else ():
        if pages is not None and page.get("name", "") not in pages:
            continue
        for side in page:
            is_visible = side.get("display") != "false"
            for node in side.iter("p") if is_visible else ():
                has_number = next(node.iter("page-number"), None) is not None
                edges.add(tidy(words.read(node)), counts_pages=has_number)
    return edges


def check_not_encrypted(package: Package) -> None:
    manifest = package.part("META-INF/manifest.xml", local=True)
    if manifest is not None and next(manifest.iter("encryption-data"), None) is not None:
        raise SourceError("The file is encrypted.", hint="Save a copy without a password.")


class _ItemPart(NamedTuple):
    """A paragraph of a list item."""

    paragraph: Element
    label: str
    """Number of the item."""
    depth: int
    is_first: bool
    """True if it opens the item."""


@dataclass
class _Reader:
    lists: Lists = field(default_factory=Lists)
    styles: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Paragraph style -> (its parent, list style)."""
    outline: Counts = field(default_factory=Counts)
    words: OdtRuns = field(default_factory=OdtRuns)
    titles: int = 0
    cells: int = 0
    hidden: int = 0
    """Number of hidden sections, rows and columns."""
    pictures: int = 0
    """Number of pictures without a description."""

    def add_styles(self, root: Element) -> None:
        """Add the styles of a part."""
        self.lists.add(root)
        self.words.add(root)
        for style in root.iter("style"):
            if style.get("family") == "paragraph":
                parent = style.get("parent-style-name", "")
                self.styles[style.get("name", "")] = parent, style.get("list-style-name")

    def blocks(self, parent: Element) -> Iterator[Block]:
        for node in parent:
            if node.tag in {"h", "p"}:
                yield from self._paragraph(node)
            elif node.tag == "list":
                yield from self._list(node)
            elif node.tag == "table":
                yield from self._table(node)
            elif node.tag in _SECTIONS and (
                node.get("display") == "none" or node.get("is-hidden") == "true"
            ):
                self.hidden += 1
            elif node.tag in _SECTIONS:
                yield from self.blocks(node)

    def _paragraph(self, node: Element, label: str | None = None) -> Iterator[Block]:
        """Read a paragraph. label: number of the list item that it opens."""
        text = tidy(self.words.read(node))
        if text and node.tag == "h":
            yield self._heading(node, text, label)
        elif text and self._is_title(node.get("style-name", "")):
            self.titles += 1
            yield heading(text, 0)
        elif text:
            yield paragraph(f"{label} {text}" if label else text)
        yield from self._anchored(node)

    def _heading(self, node: Element, text: str, label: str | None) -> Block:
        level = min(whole(node.get("outline-level")) or 1, 9)
        if label is None and node.get("is-list-header") != "true":
            label = self.lists.label("", level - 1, self.outline)
        has_number = label not in {"", "-", None}
        return heading(f"{label} {text}" if has_number else text, level)

    def _is_title(self, name: str) -> bool:
        seen: set[str] = set()
        while name and name not in seen:
            if name == "Title":
                return True
            seen.add(name)
            name, _ = self.styles.get(name, ("", None))
        return False

    def _anchored(self, node: Element) -> Iterator[Block]:
        """Collect footnotes, text boxes, tables and descriptions of pictures that are anchored to a
        paragraph."""
        for child in node:
            if child.tag == "note":
                yield from self._footnote(child)
            elif child.tag in {"frame", "custom-shape"}:
                described = tidy(child.findtext("desc") or "")
                if described:
                    yield paragraph(described)
                elif child.find("image") is not None:
                    self.pictures += 1
                yield from self.blocks(child)
            elif child.tag not in {"annotation", "tracked-changes"}:
                yield from self._anchored(child)

    def _footnote(self, note: Element) -> Iterator[Block]:
        mark = run(tidy(note.findtext("note-citation") or ""), footnote_ref=True)
        body = note.find("note-body")
        if body is None:
            return
        text = tidy(" ".join(map(self.words.read, body.iter("p"))))
        if text:
            yield paragraph(f"{mark} {text}" if mark else text)

    def _list(self, node: Element) -> Iterator[Block]:
        """Read the items as one block, split at headings and at anchored content."""
        style = node.get("style-name") or self._first_style(node)
        counts = self.lists.begin(style, node)
        items: list[str] = []
        for part in self._item_parts(node, style, counts, 0):
            if part.paragraph.tag == "h":
                yield from list_of(items)
                items = []
                yield from self._paragraph(part.paragraph, part.label)
                continue
            text = tidy(self.words.read(part.paragraph))
            if text and items and not part.is_first:
                items[-1] += f" {text}"
            elif text:
                indent = "  " * part.depth
                label = part.label or "-"
                items.append(f"{indent}{label} {text}")
            anchored = list(self._anchored(part.paragraph))
            if anchored:
                yield from list_of(items)
                items = []
            yield from anchored
        yield from list_of(items)

    def _first_style(self, node: Element) -> str:
        """Find the style of a list by its first paragraph."""
        paragraph = next((child for child in node.iter() if child.tag in {"p", "h"}), None)
        name = paragraph.get("style-name", "") if paragraph is not None else ""
        for _ in range(DEEPEST):
            parent, style = self.styles.get(name, ("", None))
            if style:
                return style
            name = parent
        return ""

    def _item_parts(
        self, node: Element, style: str, counts: Counts, depth: int
    ) -> Iterator[_ItemPart]:
        depth = min(depth, DEEPEST - 1)
        for item in node:
            if item.tag not in {"list-item", "list-header"}:
                continue
            label = ""
            is_first = True
            for child in item:
                if child.tag in {"p", "h"}:
                    if is_first and item.tag == "list-item":
                        start = whole(item.get("start-value"))
                        label = self.lists.label(style, depth, counts, start)
                    yield _ItemPart(child, label, depth, is_first)
                    is_first = False
                elif child.tag == "list":
                    inner_style = child.get("style-name") or style
                    yield from self._item_parts(child, inner_style, counts, depth + 1)

    def _table(self, table: Element) -> Iterator[Block]:
        cells, hidden = read_table(table, self._cell, self._count)
        self.hidden += hidden
        width = max((max(row) + 1 for row in cells.values()), default=0)
        rows = []
        for row in cells.values():
            rows.append([row.get(column, "") for column in range(width)])
        yield from table_blocks(rows)

    def _cell(self, cell: Element) -> str:
        return tidy(" ".join(map(self.words.read, cell_paragraphs(cell))))

    def _count(self, row: Mapping[int, str]) -> None:
        self.cells += len(row)
        if self.cells > MAX_CELLS:
            raise SourceError(
                "The tables have more than a million cells.", hint="Split the document."
            )


def read_table(
    table: Element, text: Callable[[Element], str], count: Callable[[Mapping[int, str]], None]
) -> tuple[Cells, int]:
    """Read the visible cells of a table, and count its filled hidden rows and columns. text: reads
    a cell. count: gets each row, and raises if there are too many."""
    cells: Cells = {}
    reaching: dict[int, tuple[str, int]] = {}
    hidden = number = at = 0
    for row in table_parts(table, "table-row"):
        words = read_row(row, at, reaching, text)
        repeated = whole(row.get("number-rows-repeated")) or 1
        at += repeated
        if row.get("visibility") in _INVISIBLE:
            hidden += bool(words)
            continue
        for _ in range(min(repeated, MAX_REPEATED) if words else 0):
            count(words)
            number += 1
            cells[number] = words
        number += 0 if words else repeated
    cells, lost = without_hidden(cells, (), hidden_columns(table))
    return cells, hidden + lost


def read_row(
    row: Element, at: int, reaching: dict[int, tuple[str, int]], text: Callable[[Element], str]
) -> dict[int, str]:
    """Read the text of each column of a row; a spanning cell is repeated in each.

    at: number of the row. reaching: column -> text of its last filled cell, and the last row that
    the cell spans."""
    words: dict[int, str] = {}
    column = 0
    for cell in row:
        repeated = whole(cell.get("number-columns-repeated")) or 1
        across = whole(cell.get("number-columns-spanned")) or repeated
        columns = range(column, column + min(across, MAX_REPEATED))
        cell_text = text(cell) if cell.tag == "table-cell" else ""
        if cell_text:
            last = at + (whole(cell.get("number-rows-spanned")) or 1) - 1
            words.update(dict.fromkeys(columns, cell_text))
            reaching.update(dict.fromkeys(columns, (cell_text, last)))
        elif cell.tag == "covered-table-cell":
            for covered in columns:
                above, last = reaching.get(covered, ("", -1))
                words |= {covered: above} if at <= last else {}
        column += repeated
    return words


def hidden_columns(table: Element) -> Iterator[int]:
    column = 0
    for node in table_parts(table, "table-column"):
        repeated = whole(node.get("number-columns-repeated")) or 1
        if node.get("visibility") in _INVISIBLE:
            yield from range(column, column + min(repeated, 16_384))
        column += repeated


def table_parts(table: Element, tag: str) -> Iterator[Element]:
    """Yield the rows or the columns of a table."""
    for node in table:
        if node.tag == tag:
            yield node
        elif node.tag in _GROUPS:
            yield from table_parts(node, tag)


def cell_paragraphs(cell: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell, also in lists and inner tables."""
    for node in cell:
        if node.tag in {"p", "h"}:
            yield node
        else:
            yield from cell_paragraphs(node)
