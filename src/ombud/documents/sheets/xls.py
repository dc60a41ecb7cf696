"""Parse Excel workbooks from before 2007 by xlrd (BSD): the visible cells of each sheet, as tables
under its name.

xlrd rather than xberg, which returns neither struck nor raised words nor what is hidden."""

import io
from collections.abc import Iterator
from typing import Any

from ombud.documents.blocks import ParsedFile, heading, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows, without_hidden
from ombud.documents.office.xlsx_codes import SHOWS_NOTHING
from ombud.documents.office.xlsx_formats import format_number, general
from ombud.documents.runs import link, run, strike
from ombud.errors import SourceError
from ombud.types import Block, Loss


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse every visible sheet; raises SourceError beyond `pages` times 500 rows."""
    import xlrd

    again = "Save it as .xlsx without a password."
    try:
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        is_locked = "encrypted" in str(error).lower()
        what = "encrypted" if is_locked else "broken or no Excel workbook of before 2007"
        raise SourceError(f"The file is {what}.", hint=again) from error
    except Exception as error:  # xlrd raises anything on broken files
        raise SourceError("The file is broken.", hint=again) from error
    parsed: list[Block] = []
    hidden = 0
    rows_left = pages * ROWS
    for sheet in book.sheets():
        if sheet.visibility:
            hidden += 1
            continue
        reader = _Sheet(book, sheet)
        cells = reader.cells(rows_left, pages)
        hidden += reader.hidden
        rows_left -= len(cells)
        if cells and book.nsheets > 1:
            parsed.append(heading(tidy(sheet.name), 2))
        parsed += blocks(cells)
    return ParsedFile(parsed, loss=Loss(hidden=hidden))


class _Sheet:
    """Reads the cells of one sheet."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self.hidden = 0
        """Number of filled hidden rows and columns."""
        self._book = book
        self._sheet = sheet
        self._links = {}
        for one in sheet.hyperlink_list:
            self._links[one.frowx, one.fcolx] = one.url_or_path or ""

    def cells(self, most: int, pages: int) -> Cells:
        """Read the visible cells, without gaps at hidden rows and columns."""
        columns, rows = self._sheet.colinfo_map, self._sheet.rowinfo_map
        hidden_columns = [at for at, column in columns.items() if column.hidden or not column.width]
        hidden_rows = [at for at, row in rows.items() if row.hidden or not row.height]
        cells = {at: row for at in range(self._sheet.nrows) if (row := dict(self._row(at)))}
        if len(cells) > most:
            raise too_many_rows(pages)
        cells, self.hidden = without_hidden(cells, hidden_rows, hidden_columns)
        return cells

    def _row(self, at: int) -> Iterator[tuple[int, str]]:
        for column in range(self._sheet.row_len(at)):
            top, left = self._merged_from(at, column)
            cell = self._sheet.cell(top, left)
            text = tidy(self._text(cell, top, left))
            style = self._book.xf_list[cell.xf_index] if cell.xf_index is not None else None
            if text and style and self._book.font_list[style.font_index].struck_out:
                text = strike(text)
            if text:
                yield column, link(text, self._links.get((top, left), ""))

    def _merged_from(self, row: int, column: int) -> tuple[int, int]:
        """Return the place whose text a cell displays."""
        for top, bottom, left, right in self._sheet.merged_cells:
            if top <= row < bottom and left <= column < right:
                return top, left
        return row, column

    def _text(self, cell: Any, row: int, column: int) -> str:
        import xlrd

        style = self._book.xf_list[cell.xf_index]
        code = self._book.format_map[style.format_key].format_str
        if code == SHOWS_NOTHING:
            return run(str(cell.value), hidden=True)
        if cell.ctype == xlrd.XL_CELL_TEXT:
            return self._runs(cell.value, self._sheet.rich_text_runlist_map.get((row, column)))
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        if cell.ctype == xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, ""))
        if cell.ctype not in {xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE}:
            return ""
        is_general = code.lower() == "general"
        from_1904 = bool(self._book.datemode)
        return general(cell.value) if is_general else format_number(cell.value, code, from_1904)

    def _runs(self, text: str, starts: list[tuple[int, int]] | None) -> str:
        """Read the runs of a text. starts: start and font number of each run."""
        if not starts:
            return run(text)
        pieces = [run(text[: starts[0][0]])]
        ends = [start for start, _ in starts[1:]]
        for (start, number), end in zip(starts, [*ends, len(text)], strict=True):
            font = self._book.font_list[number]
            raised = font.escapement == 1
            pieces.append(run(text[start:end], struck=bool(font.struck_out), superscript=raised))
        return "".join(pieces)
