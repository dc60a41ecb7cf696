"""OpenDocument spreadsheets: what each sheet shows, as tables under its name."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, heading, paragraph, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.numbering import whole
from ombud.documents.office.odt import MOST_REPEATED, check_not_encrypted, page_edges
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
        made += [*blocks(cells), *sheets.drawn(table)]
    edges = page_edges(common, sheets.words, sheets.pages_of(tables))
    loss = Loss(hidden=sheets.hidden, pictures=sheets.pictures, repeated=edges.repeated)
    return ParsedFile(made + edges.blocks(), loss=loss)


class _Sheets:
    """Reads the cells of one file's sheets."""

    def __init__(self, pages: int) -> None:
        self.hidden = 0
        """Sheets, rows and columns that hold something and are not shown."""
        self.pictures = 0
        """Those that nothing describes."""
        self.words = OdtRuns()
        self._pages = pages
        self._rows_left = pages * ROWS
        self._master_pages: dict[str, str] = {}
        """Style of a table -> the page on which it is printed."""
        self._hidden_styles: set[str] = set()
        self._struck_styles: set[str] = set()

    def add_styles(self, root: Element) -> None:
        """Take over the styles of a part."""
        self.words.add(root)
        for style in root.iter("style"):
            name = style.get("name", "")
            self._master_pages[name] = style.get("master-page-name", "")
            shown = style.find("table-properties")
            look = style.find("text-properties")
            if shown is not None and shown.get("display") == "false":
                self._hidden_styles.add(name)
            if style.get("family") == "table-cell" and look is not None:
                line = look.get("text-line-through-style") or "none"
                if line != "none":
                    self._struck_styles.add(name)

    def pages_of(self, tables: Iterable[Element]) -> set[str]:
        """The master pages of the sheets that are shown."""
        styles = {table.get("style-name", "") for table in tables} - self._hidden_styles
        return {self._master_pages.get(style, "") for style in styles}

    def drawn(self, table: Element) -> Iterator[Block]:
        """Text boxes and descriptions of pictures that lie on a sheet that is shown."""
        is_shown = table.get("style-name") not in self._hidden_styles
        for shape in table.iter() if is_shown else ():
            if shape.tag not in {"frame", "custom-shape"}:
                continue
            described = tidy(shape.findtext("desc") or "")
            lines = [self.words.read(line) for line in shape.iter("p")]
            yield from map(paragraph, filter(None, [described, *map(tidy, lines)]))
            self.pictures += not described and shape.find("image") is not None

    def cells(self, table: Element) -> Cells:
        """What a sheet shows; rows and columns close up where others are hidden."""
        if table.get("style-name") in self._hidden_styles:
            self.hidden += 1
            return {}
        hidden_columns = set(_hidden_columns(table))
        lost_columns: set[int] = set()
        cells: Cells = {}
        number = 0
        reaching: _Reaching = {}
        at = 0
        for row in _inside(table, "table-row"):
            words = self._words(row, at, reaching)
            repeated = whole(row.get("number-rows-repeated")) or 1
            at += repeated
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

    def _words(self, row: Element, at: int, reaching: "_Reaching") -> dict[int, str]:
        """Column -> what is shown there. at: number of the row."""
        words: dict[int, str] = {}
        column = 0
        for cell in row:
            if cell.tag not in {"table-cell", "covered-table-cell"}:
                continue
            repeated = whole(cell.get("number-columns-repeated")) or 1
            text = self._text(cell)
            if text:
                across = whole(cell.get("number-columns-spanned")) or repeated
                columns = range(column, column + min(across, MOST_REPEATED))
                words.update(dict.fromkeys(columns, text))
                last = at + (whole(cell.get("number-rows-spanned")) or 1) - 1
                reaching.update(dict.fromkeys(columns, (text, last)))
            elif cell.tag == "covered-table-cell":
                text, last = reaching.get(column, ("", -1))
                words |= {column: text} if at <= last else {}
            column += repeated
        return words

    def _text(self, cell: Element) -> str:
        lines = [self.words.read(line) for line in cell.iterfind("p")]
        text = tidy(" ".join(lines))
        return strike(text) if cell.get("style-name") in self._struck_styles else text


_Reaching = dict[int, tuple[str, int]]
"""Column -> the text of its last cell with words, and the last row that this reaches down to."""


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
