"""OpenDocument spreadsheets: what each sheet shows, as tables under its name."""

from collections.abc import Collection, Iterator, Mapping
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, heading, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.numbering import whole
from ombud.documents.office.odt import MOST_REPEATED, check_not_encrypted
from ombud.documents.office.odt_words import OdtRuns
from ombud.documents.office.packages import Program, broken, opened
from ombud.documents.runs import strike
from ombud.types import Block, Loss

_CALC = Program("LibreOffice", "OpenDocument spreadsheet", ".ods")
_INVISIBLE = ("collapse", "filter")


def read(data: bytes, pages: int) -> ParsedFile:
    """Every sheet that is not hidden; raises SourceError beyond `pages` times 500 rows."""
    with opened(data, _CALC) as package:
        check_not_encrypted(package)
        content = package.part("content.xml", local=True)
        common = package.part("styles.xml", local=True)
    book = content.find("body/spreadsheet") if content is not None else None
    if content is None or book is None:
        raise broken(_CALC)
    sheets = _Sheets(pages)
    for root in (common, content):
        if root is not None:
            sheets.add_styles(root)
    tables = book.findall("table")
    made: list[Block] = []
    for table in tables:
        cells = sheets.cells(table)
        if cells and len(tables) > 1:
            made.append(heading(table.get("name", ""), 2))
        made += blocks(cells)
    return ParsedFile(made, loss=Loss(hidden=sheets.hidden))


class _Sheets:
    """Reads the cells of one file's sheets."""

    def __init__(self, pages: int) -> None:
        self.hidden = 0
        """Sheets, rows and columns that hold something and are not shown."""
        self._pages = pages
        self._rows_left = pages * ROWS
        self._runs = OdtRuns()
        self._hidden_styles: set[str] = set()
        self._struck_styles: set[str] = set()

    def add_styles(self, root: Element) -> None:
        """Take over the styles of a part."""
        self._runs.add(root)
        for style in root.iter("style"):
            name = style.get("name", "")
            shown = style.find("table-properties")
            look = style.find("text-properties")
            if shown is not None and shown.get("display") == "false":
                self._hidden_styles.add(name)
            if style.get("family") == "table-cell" and look is not None:
                line = look.get("text-line-through-style") or "none"
                if line != "none":
                    self._struck_styles.add(name)

    def cells(self, table: Element) -> Cells:
        """What a sheet shows; rows and columns close up where others are hidden."""
        if table.get("style-name") in self._hidden_styles:
            self.hidden += 1
            return {}
        hidden_columns = set(_hidden_columns(table))
        lost_columns: set[int] = set()
        cells: Cells = {}
        number = 0
        for row in _inside(table, "table-row"):
            words = self._words(row)
            repeated = whole(row.get("number-rows-repeated")) or 1
            if row.get("visibility") in _INVISIBLE:
                self.hidden += bool(words)
                continue
            lost_columns |= hidden_columns & words.keys()
            visible = [column for column in words if column not in hidden_columns]
            for _ in range(min(repeated, MOST_REPEATED) if visible else 0):
                if len(cells) >= self._rows_left:
                    raise too_many_rows(self._pages)
                number += 1
                cells[number] = _closed_up(words, hidden_columns)
            number += 0 if visible else repeated
        self.hidden += len(lost_columns)
        self._rows_left -= len(cells)
        return cells

    def _words(self, row: Element) -> dict[int, str]:
        """Column -> what is shown there."""
        words: dict[int, str] = {}
        column = 0
        for cell in row:
            if cell.tag not in {"table-cell", "covered-table-cell"}:
                continue
            repeated = whole(cell.get("number-columns-repeated")) or 1
            lines = [self._runs.read(line) for line in cell.iterfind("p")]
            text = tidy(" ".join(lines))
            if cell.get("style-name") in self._struck_styles:
                text = strike(text)
            if text:
                across = whole(cell.get("number-columns-spanned")) or repeated
                words.update(
                    dict.fromkeys(range(column, column + min(across, MOST_REPEATED)), text)
                )
            column += repeated
        return words


def _closed_up(words: Mapping[int, str], hidden: Collection[int]) -> dict[int, str]:
    """Return a row as if its hidden columns were not there."""
    row: dict[int, str] = {}
    for column, text in words.items():
        if column not in hidden:
            row[column - sum(one < column for one in hidden)] = text
    return row


def _hidden_columns(table: Element) -> Iterator[int]:
    column = 0
    for node in _inside(table, "table-column"):
        repeated = whole(node.get("number-columns-repeated")) or 1
        if node.get("visibility") in _INVISIBLE:
            yield from range(column, column + min(repeated, 16_384))
        column += repeated


def _inside(table: Element, tag: str) -> Iterator[Element]:
    """Rows or columns of a table, in groups too."""
    for node in table:
        if node.tag == tag:
            yield node
        elif node.tag.startswith("table-") and node.tag not in {"table-row", "table-column"}:
            yield from _inside(node, tag)
