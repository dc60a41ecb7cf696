"""Excel workbooks by openpyxl."""

import io
import re
import zipfile

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from .elements import (
    FORM,
    Cell,
    Edges,
    Elements,
    Hidden,
    ImpossibleFault,
    Paragraph,
    Picture,
    Piece,
    Table,
)
from .word import a_picture


def excel(elements: Elements) -> bytes:
    book = Workbook()
    sheet = book.active
    sheet.title = "Rules"
    line = 1
    descriptions = []
    for element in elements:
        match element:
            case Paragraph():
                _fill(sheet, line, 1, element.pieces)
                line += 2
            case Table():
                line = _table(sheet, line, element)
            case Picture():
                sheet.add_image(Image(a_picture()), f"D{line}")
                descriptions.append(element.description)
            case Edges():
                sheet.oddHeader.left.text = element.header
                sheet.oddFooter.center.text = "Page &P of &N"
            case Hidden():
                hidden = book.create_sheet("Old")
                hidden.append([element.words, "more"])
                hidden.sheet_state = "hidden"
            case _:
                raise ImpossibleFault
    out = io.BytesIO()
    book.save(out)
    return _described(out.getvalue(), descriptions)


def _fill(sheet: Worksheet, row: int, column: int, pieces: tuple[Piece, ...]) -> None:
    cell = sheet.cell(row, column)
    looks = {piece.look for piece in pieces}
    if looks == {"struck"}:
        cell.value = pieces[0].words
        cell.font = Font(strike=True)
        return
    text = CellRichText()
    for words, look in pieces:
        match look:
            case "":
                text.append(words)
            case "link":
                text.append(words)
                cell.hyperlink = FORM
            case "raised":
                text.append(TextBlock(InlineFont(vertAlign="superscript"), words))
            case "struck":
                text.append(TextBlock(InlineFont(strike=True), words))
            case "comment":
                cell.comment = Comment(words, "A")
            case _:
                raise ImpossibleFault
    cell.value = text if looks & {"raised", "struck"} else "".join(map(str, text))


def _table(sheet: Worksheet, line: int, table: Table) -> int:
    if table.caption or table.broken_before:
        raise ImpossibleFault
    for number, cells in enumerate(table.grid()):
        for column, cell in enumerate(cells, 1):
            if cell is not None:
                _cell(sheet, line + number, column, cell)
    if table.hidden_row >= 0:
        sheet.row_dimensions[line + table.hidden_row].hidden = True
    if table.hidden_column >= 0:
        sheet.column_dimensions[get_column_letter(table.hidden_column + 1)].hidden = True
    return line + len(table.rows) + 1


def _cell(sheet: Worksheet, row: int, column: int, cell: Cell) -> None:
    if cell.inner:
        raise ImpossibleFault
    _fill(sheet, row, column, cell.pieces)
    if cell.words.isdigit() and len(cell.pieces) == 1:
        sheet.cell(row, column).value = int(cell.words)
    if cell.rows > 1:
        sheet.merge_cells(
            start_row=row, end_row=row + cell.rows - 1, start_column=column, end_column=column
        )


def _described(data: bytes, descriptions: list[str]) -> bytes:
    """openpyxl gives every picture the same description."""
    if not descriptions:
        return data
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as made, zipfile.ZipFile(out, "w") as described:
        for name in made.namelist():
            part = made.read(name)
            if name.startswith("xl/drawings/drawing"):
                part = re.sub(b'descr="[^"]*"', f'descr="{descriptions[0]}"'.encode(), part)
                assert descriptions[0].encode() in part
            described.writestr(name, part)
    return out.getvalue()
