"""Parse OpenDocument spreadsheets: the visible cells of each sheet, as tables under its name."""

from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, heading, paragraph, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.odt import check_not_encrypted, page_edges, read_table
from ombud.documents.office.odt_words import OdtRuns
from ombud.documents.office.packages import Program, broken, opened
from ombud.documents.runs import strike
from ombud.types import Block, Loss

_CALC = Program("LibreOffice", "OpenDocument spreadsheet", ".ods")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse every visible sheet; raises SourceError beyond `pages` times 500 rows."""
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
    parsed: list[Block] = []
    for table in tables:
        cells = sheets.cells(table)
        if cells and len(tables) > 1:
            parsed.append(heading(table.get("name", ""), 2))
        parsed += [*blocks(cells), *sheets.drawn(table)]
    edges = page_edges(common, sheets.words, sheets.pages_of(tables))
    loss = Loss(hidden=sheets.hidden, pictures=sheets.pictures, repeated=edges.repeated)
    return ParsedFile(parsed + edges.blocks(), loss=loss)


class _Sheets:
    """Reads the cells of one file's sheets."""

    def __init__(self, pages: int) -> None:
        self.hidden = 0
        """Number of hidden sheets, and of filled hidden rows and columns."""
        self.pictures = 0
        """Number of pictures without a description."""
        self.words = OdtRuns()
        self._pages = pages
        self._rows_left = pages * ROWS
        self._master_pages: dict[str, str] = {}
        """Style of a table -> master page on which it is printed."""
        self._hidden_styles: set[str] = set()
        self._struck_styles: set[str] = set()

    def add_styles(self, root: Element) -> None:
        """Add the styles of a part."""
        self.words.add(root)
        for style in root.iter("style"):
            name = style.get("name", "")
            self._master_pages[name] = style.get("master-page-name", "")
            properties = style.find("table-properties")
            look = style.find("text-properties")
            if properties is not None and properties.get("display") == "false":
                self._hidden_styles.add(name)
            if style.get("family") == "table-cell" and look is not None:
                line = look.get("text-line-through-style") or "none"
                if line != "none":
                    self._struck_styles.add(name)

    def pages_of(self, tables: Iterable[Element]) -> set[str]:
        """Return the master pages of the visible sheets."""
        styles = {table.get("style-name", "") for table in tables} - self._hidden_styles
        return {self._master_pages.get(style, "") for style in styles}

    def drawn(self, table: Element) -> Iterator[Block]:
        """Yield the text boxes and descriptions of pictures on a visible sheet."""
        is_visible = table.get("style-name") not in self._hidden_styles
        for shape in table.iter() if is_visible else ():
            if shape.tag not in {"frame", "custom-shape"}:
                continue
            described = tidy(shape.findtext("desc") or "")
            lines = [self.words.read(line) for line in shape.iter("p")]
            yield from map(paragraph, filter(None, [described, *map(tidy, lines)]))
            self.pictures += not described and shape.find("image") is not None

    def cells(self, table: Element) -> Cells:
        """Read the visible cells of a sheet, without gaps at hidden rows and columns."""
        if table.get("style-name") in self._hidden_styles:
            self.hidden += 1
            return {}
        cells, hidden = read_table(table, self._text, self._count)
        self.hidden += hidden
        return cells

    def _count(self, row: Mapping[int, str]) -> None:
        if not self._rows_left:
            raise too_many_rows(self._pages)
        self._rows_left -= 1

    def _text(self, cell: Element) -> str:
        lines = [self.words.read(line) for line in cell.iterfind("p")]
        text = tidy(" ".join(lines))
        return strike(text) if cell.get("style-name") in self._struck_styles else text
