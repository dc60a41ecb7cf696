"""OpenDocument texts, read from their XML.

Own code rather than odfpy: that does not count lists, builds an object for every element, and does
not bound what it unpacks (`docs/results/parts.md`). Pages are not known: a file holds no page
breaks but those that somebody set."""

from collections.abc import Collection, Iterator
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
from ombud.documents.office.numbering import DEEPEST, Counts, whole
from ombud.documents.office.odt_lists import Lists
from ombud.documents.office.odt_words import OdtRuns
from ombud.documents.office.packages import Package, Program, broken, opened
from ombud.documents.runs import run
from ombud.errors import SourceError
from ombud.types import Block, Loss

_WRITER = Program("LibreOffice", "OpenDocument text", ".odt")
MOST_REPEATED = 200
"""Of one cell or row; a hostile table repeats a cell a thousand million times."""
MOST_CELLS = 1_000_000
_SECTIONS = {"section", "index-body", "text-box", "numbered-paragraph"}
_GROUPS = frozenset(
    f"table-{group}"
    for group in ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
)
_INVISIBLE = ("collapse", "filter")


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings and clauses with their numbers, lists, tables, text boxes, footnotes; no table of
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
    blocks = _levelled(list(reader.blocks(body)), has_title=reader.titles == 1)
    edges = page_edges(common, reader.words)
    blocks += edges.blocks()
    loss = Loss(hidden=reader.hidden, repeated=edges.repeated, pictures=reader.pictures)
    return ParsedFile(blocks, loss=loss)


def _levelled(blocks: list[Block], has_title: bool) -> list[Block]:
    """Titles, which come with level 0, get 1; under a single title all other headings are one level
    deeper."""
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
            is_shown = side.get("display") != "false"
            for node in side.iter("p") if is_shown else ():
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
    """Whether it opens the item."""


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
    """Sections, rows and columns that are not shown."""
    pictures: int = 0
    """Pictures that nothing describes."""

    def add_styles(self, root: Element) -> None:
        """Take over the styles of a part."""
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
            elif node.tag in _SECTIONS and node.get("display") in {"none", "condition"}:
                self.hidden += 1
            elif node.tag in _SECTIONS:
                yield from self.blocks(node)

    def _paragraph(self, node: Element, label: str | None = None) -> Iterator[Block]:
        """label: number of the list item that the paragraph opens."""
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
        """Footnotes, text boxes, tables and descriptions of pictures that hang on a paragraph."""
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
        """The items as one block, parted by headings and by what hangs on an item."""
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
        """Lists without a style of their own have that of their first paragraph."""
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
        rows: list[list[str]] = []
        spanning = _SpanningCells()
        hidden_columns: set[int] = set()
        width = 0
        for column in _parts(table, "table-column"):
            repeated = _limited(column, "number-columns-repeated")
            if column.get("visibility") in _INVISIBLE:
                hidden_columns.update(range(width, width + repeated))
                self.hidden += 1
            width += repeated
        for line in _parts(table, "table-row"):
            if line.get("visibility") in _INVISIBLE:
                self.hidden += 1
                continue
            row = _row(line, spanning, self.words)
            row = [text for place, text in enumerate(row) if place not in hidden_columns]
            repeated = _limited(line, "number-rows-repeated") if any(row) else 1
            rows += [row] * repeated
            self.cells += len(row) * repeated
            if self.cells > MOST_CELLS:
                raise SourceError(
                    "The tables have more than a million cells.", hint="Split the document."
                )
        yield from table_blocks(rows)


@dataclass
class _SpanningCells:
    """Cells of a table that reach over several columns or rows."""

    below: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Column -> text from above, and in how many rows it still stands."""

    def from_above(self, column: int) -> str | None:
        """The text that reaches down into a covered cell."""
        text, left = self.below.pop(column, ("", 0))
        if left > 1:
            self.below[column] = (text, left - 1)
        return text if left else None


def _row(line: Element, spanning: _SpanningCells, words: OdtRuns) -> list[str]:
    """Texts of one row; what spans columns or rows is said in each of them."""
    row: list[str] = []
    covered = 0
    """Cells that the last one still reaches over."""
    for cell in line:
        repeated = _limited(cell, "number-columns-repeated")
        if cell.tag == "covered-table-cell":
            for _ in range(repeated):
                beside = row[-1] if covered > 0 and row else ""
                above = spanning.from_above(len(row))
                row.append(beside if above is None else above)
                covered -= 1
        elif cell.tag == "table-cell":
            text = tidy(" ".join(map(words.read, _texts(cell))))
            across = _limited(cell, "number-columns-spanned")
            down = _limited(cell, "number-rows-spanned")
            covered = across - 1
            if down > 1:
                columns = range(len(row), len(row) + across)
                spanning.below.update(dict.fromkeys(columns, (text, down - 1)))
            row += [text] * repeated
    return row


def _limited(node: Element, attribute: str) -> int:
    """How often a row or cell is repeated, or how far it spans."""
    return min(whole(node.get(attribute)) or 1, MOST_REPEATED)


def _parts(table: Element, tag: str) -> Iterator[Element]:
    """The rows or the columns of a table."""
    for node in table:
        if node.tag == tag:
            yield node
        elif node.tag in _GROUPS:
            yield from _parts(node, tag)


def _texts(cell: Element) -> Iterator[Element]:
    """Paragraphs of a cell, in lists and inner tables too."""
    for node in cell:
        if node.tag in {"p", "h"}:
            yield node
        else:
            yield from _texts(node)
