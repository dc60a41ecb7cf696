"""OpenDocument texts, read from their XML.

Own code rather than odfpy (GPL or Apache-2.0; it builds an object for every element and does not
count lists).
Pages are not known: a file holds no page breaks but those that somebody set.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, pipe_table, tidy
from ombud.documents.office.docx_styles import DEEPEST, whole
from ombud.documents.office.odt_lists import Counts, Lists
from ombud.documents.office.packages import Package, Program, broken, opened
from ombud.errors import SourceError
from ombud.types import Block

_WRITER = Program("LibreOffice", "OpenDocument text", ".odt")
MOST_REPEATED = 200
"""Of one cell or row; a hostile table repeats a cell a thousand million times."""
MOST_CELLS = 1_000_000
_SECTIONS = {"section", "index-body", "text-box", "numbered-paragraph"}
_SKIPPED = {"note", "annotation", "tracked-changes", "frame", "custom-shape", "table", "ruby-text", "bookmark",
            "title", "desc"}  # fmt: skip
"""Not words of the paragraph in which they are anchored; some are read apart."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Headings and clauses with their numbers, lists, tables, text boxes, footnotes; no table of
    contents."""
    del pages
    with opened(data, _WRITER) as package:
        _check_not_encrypted(package)
        content, common = (
            package.part("content.xml", local=True),
            package.part("styles.xml", local=True),
        )
    body = content.find("body/text") if content is not None else None
    if body is None:
        raise broken(_WRITER)
    reader = _Reader()
    for root in (common, content):
        reader.lists.add(root)
        for style in root.iter("style") if root is not None else ():
            if style.get("family") == "paragraph":
                own = style.get("parent-style-name", ""), style.get("list-style-name")
                reader.styles[style.get("name", "")] = own
    blocks = list(reader.blocks(body))
    if reader.titles == 1:
        # Under a title all other headings are one level deeper.
        title = next(
            at for at, block in enumerate(blocks) if block.kind == "heading" and block.level == 0
        )
        blocks = [
            block.model_copy(update={"level": block.level + 1})
            if block.kind == "heading" or at == title
            else block
            for at, block in enumerate(blocks)
        ]
    return ParsedFile(
        [
            b.model_copy(update={"level": 1}) if b.kind == "heading" and not b.level else b
            for b in blocks
        ]
    )


def _check_not_encrypted(package: Package) -> None:
    manifest = package.part("META-INF/manifest.xml", local=True)
    if manifest is not None and next(manifest.iter("encryption-data"), None) is not None:
        raise SourceError("The file is encrypted.", hint="Save a copy without a password.")


@dataclass
class _Reader:
    lists: Lists = field(default_factory=Lists)
    styles: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Paragraph style -> (its parent, list style)."""
    outline: Counts = field(default_factory=lambda: [None] * DEEPEST)
    titles: int = 0
    cells: int = 0

    def blocks(self, parent: Element) -> Iterator[Block]:
        for node in parent:
            if node.tag in {"h", "p"}:
                yield from self._paragraph(node)
            elif node.tag == "list":
                yield from self._list(node)
            elif node.tag == "table":
                yield from self._table(node)
            elif node.tag in _SECTIONS:
                yield from self.blocks(node)

    def _paragraph(self, node: Element, label: str | None = None) -> Iterator[Block]:
        """label: number of the list item that the paragraph opens."""
        text = tidy(_words(node))
        level = min(whole(node.get("outline-level")) or 1, 9) if node.tag == "h" else 0
        if text and level:
            number = label
            if number is None and node.get("is-list-header") != "true":
                number = self.lists.label("", level - 1, self.outline)
            yield Block(
                kind="heading",
                text=f"{number} {text}" if number not in {"", "-", None} else text,
                level=level,
            )
        elif text and self._is_title(node.get("style-name", "")):
            self.titles += 1
            yield Block(kind="heading", text=text, level=0)
        elif text:
            yield Block(kind="text", text=f"{label} {text}" if label else text)
        yield from self._anchored(node)

    def _is_title(self, name: str) -> bool:
        seen: set[str] = set()
        while name and name not in seen:
            if name == "Title":
                return True
            seen.add(name)
            name = self.styles.get(name, ("", None))[0]
        return False

    def _anchored(self, node: Element) -> Iterator[Block]:
        """Footnotes, text boxes, tables and descriptions of pictures that hang on a paragraph."""
        for child in node:
            if child.tag == "note":
                number = tidy(child.findtext("note-citation") or "")
                body = child.find("note-body")
                if body is not None and (text := tidy(" ".join(_words(p) for p in body.iter("p")))):
                    yield Block(kind="text", text=f"[{number}] {text}" if number else text)
            elif child.tag in {"frame", "custom-shape"}:
                described = tidy(child.findtext("desc") or "")
                if described:
                    yield Block(kind="text", text=described)
                yield from self.blocks(child)
            elif child.tag not in {"annotation", "tracked-changes"}:
                yield from self._anchored(child)

    def _list(self, node: Element) -> Iterator[Block]:
        style = node.get("style-name") or self._first_style(node)
        counts = self.lists.begin(style, node)
        items: list[str] = []
        for label, depth, paragraph, first in self._items(node, style, counts, 0):
            text = tidy(_words(paragraph))
            if paragraph.tag == "h":
                if items:
                    yield Block(kind="list", text="\n".join(items))
                    items = []
                yield from self._paragraph(paragraph, label)
                continue
            if text and not first and items:
                items[-1] += f" {text}"
            elif text:
                items.append(f"{'  ' * depth}{label or '-'} {text}")
            aside = list(self._anchored(paragraph))
            if aside and items:
                yield Block(kind="list", text="\n".join(items))
                items = []
            yield from aside
        if items:
            yield Block(kind="list", text="\n".join(items))

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

    def _items(
        self, node: Element, style: str, counts: Counts, depth: int
    ) -> Iterator[tuple[str, int, Element, bool]]:
        """(number, depth, paragraph, whether it opens its item)."""
        depth = min(depth, DEEPEST - 1)
        for item in node:
            if item.tag not in {"list-item", "list-header"}:
                continue
            label, first = "", True
            for child in item:
                if child.tag in {"p", "h"}:
                    if first and item.tag == "list-item":
                        label = self.lists.label(
                            style, depth, counts, whole(item.get("start-value"))
                        )
                    yield label, depth, child, first
                    first = False
                elif child.tag == "list":
                    yield from self._items(
                        child, child.get("style-name") or style, counts, depth + 1
                    )

    def _table(self, table: Element) -> Iterator[Block]:
        rows: list[list[str]] = []
        below: dict[int, tuple[str, int]] = {}
        for line in _rows(table):
            row = self._row(line, below)
            repeated = (
                min(whole(line.get("number-rows-repeated")) or 1, MOST_REPEATED) if any(row) else 1
            )
            rows += [row] * repeated
            self.cells += len(row) * repeated
            if self.cells > MOST_CELLS:
                raise SourceError(
                    "The tables have more than a million cells.", hint="Split the document."
                )
        if max((len(row) for row in rows), default=0) < 2:
            yield from (Block(kind="text", text=cell) for row in rows for cell in row if cell)
        elif text := pipe_table(rows):
            yield Block(kind="table", text=text)

    def _row(self, line: Element, below: dict[int, tuple[str, int]]) -> list[str]:
        """Texts of one row; what spans columns or rows is said in each of them. below: column ->
        text from above."""
        row: list[str] = []
        covered = 0
        for cell in line:
            repeated = min(whole(cell.get("number-columns-repeated")) or 1, MOST_REPEATED)
            if cell.tag == "covered-table-cell":
                for _ in range(repeated):
                    text, left = below.pop(len(row), ("", 0))
                    if left > 1:
                        below[len(row)] = (text, left - 1)
                    row.append(text if left else row[-1] if covered > 0 and row else "")
                    covered -= 1
            elif cell.tag == "table-cell":
                text = tidy(" ".join(_words(part) for part in _texts(cell)))
                across = min(whole(cell.get("number-columns-spanned")) or 1, MOST_REPEATED)
                down = min(whole(cell.get("number-rows-spanned")) or 1, MOST_REPEATED)
                covered = across - 1
                for column in range(len(row), len(row) + across if down > 1 else 0):
                    below[column] = (text, down - 1)
                row += [text] * repeated
        return row


def _rows(table: Element) -> Iterator[Element]:
    for node in table:
        if node.tag == "table-row":
            yield node
        elif node.tag in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(node)


def _texts(cell: Element) -> Iterator[Element]:
    """Paragraphs of a cell, in lists and inner tables too."""
    for node in cell:
        if node.tag in {"p", "h"}:
            yield node
        else:
            yield from _texts(node)


def _words(node: Element) -> str:
    """Text of a paragraph as printed."""
    said = [node.text or ""]
    for child in node:
        if child.tag in {"s", "tab", "line-break"}:
            said.append(" ")
        elif child.tag not in _SKIPPED:
            said.append(_words(child))
        said.append(child.tail or "")
    return "".join(said)
