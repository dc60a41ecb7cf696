"""Excel workbooks of before 2007, by xlrd (BSD): what each sheet shows, as tables under its name.

xlrd rather than xberg, which gives neither struck nor raised words nor what is hidden."""

from collections.abc import Iterator
from typing import Any

from ombud.documents.blocks import ParsedFile, heading, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.xlsx_formats import general, shown
from ombud.documents.runs import link, run, strike
from ombud.errors import SourceError
from ombud.types import Block, Loss


def read(data: bytes, pages: int) -> ParsedFile:
    """Every sheet that is not hidden; raises SourceError beyond `pages` times 500 rows."""
    import xlrd

    again = "Save it as .xlsx without a password."
    try:
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=_Nowhere())
    except xlrd.XLRDError as error:
        is_locked = "encrypted" in str(error).lower()
        what = "encrypted" if is_locked else "broken or no Excel workbook of before 2007"
        raise SourceError(f"The file is {what}.", hint=again) from error
    except Exception as error:  # xlrd raises all kinds on broken files
        raise SourceError("The file is broken.", hint=again) from error
    made: list[Block] = []
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
            made.append(heading(tidy(sheet.name), 2))
        made += blocks(cells)
    return ParsedFile(made, loss=Loss(hidden=hidden))


class _Nowhere:
    """Takes what xlrd would print of odd files."""

    def write(self, text: str) -> None:
        del text


class _Sheet:
    """Reads the cells of one sheet."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self.hidden = 0
        """Rows and columns that hold something and are not shown."""
        self._book = book
        self._sheet = sheet
        self._links = {}
        for one in sheet.hyperlink_list:
            self._links[one.frowx, one.fcolx] = one.url_or_path or ""

    def cells(self, most: int, pages: int) -> Cells:
        """What the sheet shows; rows and columns close up where others are hidden."""
        sheet = self._sheet
        hidden_columns = {at for at, column in sheet.colinfo_map.items() if column.hidden}
        lost_columns: set[int] = set()
        cells: Cells = {}
        number = 0
        for at in range(sheet.nrows):
            row = dict(self._row(at))
            info = sheet.rowinfo_map.get(at)
            if info is not None and info.hidden:
                self.hidden += bool(row)
                continue
            number += 1
            lost_columns |= hidden_columns & row.keys()
            visible = {}
            for column, text in row.items():
                if column not in hidden_columns:
                    visible[column - sum(one < column for one in hidden_columns)] = text
            if visible:
                cells[number] = visible
            if len(cells) > most:
                raise too_many_rows(pages)
        self.hidden += len(lost_columns)
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
        """The place whose text a cell shows."""
        for top, bottom, left, right in self._sheet.merged_cells:
            if top <= row < bottom and left <= column < right:
                return top, left
        return row, column

    def _text(self, cell: Any, row: int, column: int) -> str:
        import xlrd

        if cell.ctype == xlrd.XL_CELL_TEXT:
            return self._runs(cell.value, self._sheet.rich_text_runlist_map.get((row, column)))
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        if cell.ctype == xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, ""))
        if cell.ctype not in {xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE}:
            return ""
        style = self._book.xf_list[cell.xf_index]
        code = self._book.format_map[style.format_key].format_str
        is_general = code.lower() == "general"
        return general(cell.value) if is_general else shown(cell.value, code, self._from_1904)

    @property
    def _from_1904(self) -> bool:
        return bool(self._book.datemode)

    def _runs(self, text: str, starts: list[tuple[int, int]] | None) -> str:
        """starts: where a run begins, and the number of its font."""
        if not starts:
            return run(text)
        pieces = [run(text[: starts[0][0]])]
        ends = [start for start, _ in starts[1:]]
        for (start, number), end in zip(starts, [*ends, len(text)], strict=True):
            font = self._book.font_list[number]
            raised = font.escapement == 1
            pieces.append(run(text[start:end], struck=bool(font.struck_out), superscript=raised))
        return "".join(pieces)
