"""OpenDocument spreadsheets by odfpy."""

import io
from typing import Any

from odf import draw, office, style, svg, table, text
from odf.namespaces import TABLENS
from odf.opendocument import OpenDocumentSpreadsheet

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
from .open_text import LOOKS, add_edges


class OpenSheet:
    def __init__(self) -> None:
        self.document = OpenDocumentSpreadsheet()
        for name in ("struck", "raised"):
            look = style.Style(name=name, family="text")
            look.addElement(style.TextProperties(**LOOKS[name]))
            self.document.automaticstyles.addElement(look)
        for name, is_shown in (("shown", "true"), ("gone", "false")):
            sheet = style.Style(name=name, family="table", masterpagename="Standard")
            sheet.addElement(style.TableProperties(display=is_shown))
            self.document.automaticstyles.addElement(sheet)

    def write(self, elements: Elements) -> bytes:
        tables = [element for element in elements if isinstance(element, Table)]
        columns = tables[0] if tables else Table(((Cell(()),),))
        sheet = table.Table(name="Rules", stylename="shown")
        for column in range(columns.width):
            sheet.addElement(table.TableColumn(**_shown(column != columns.hidden_column)))
        self.document.spreadsheet.addElement(sheet)
        for element in elements:
            match element:
                case Paragraph():
                    sheet.addElement(self.row([Cell(element.pieces)]))
                    sheet.addElement(self.row([]))
                case Table():
                    self.table(sheet, element)
                case Picture():
                    line = self.row([Cell(())])
                    line.firstChild.addElement(_frame(element))
                    sheet.addElement(line)
                case Edges():
                    add_edges(self.document, element)
                case Hidden():
                    old = table.Table(name="Old", stylename="gone")
                    old.addElement(self.row([Cell((Piece(element.words),))]))
                    self.document.spreadsheet.addElement(old)
                case _:
                    raise ImpossibleFault
        out = io.BytesIO()
        self.document.write(out)
        return out.getvalue()

    def table(self, sheet: Any, given: Table) -> None:
        if given.caption or given.broken_before:
            raise ImpossibleFault
        for number, cells in enumerate(given.grid()):
            sheet.addElement(self.row(cells, is_shown=number != given.hidden_row))
        sheet.addElement(self.row([]))

    def row(self, cells: list[Cell | None] | list[Cell], *, is_shown: bool = True) -> Any:
        line = table.TableRow(**_shown(is_shown))
        for cell in cells:
            line.addElement(self.cell(cell) if cell else table.CoveredTableCell())
        return line

    def cell(self, cell: Cell) -> Any:
        if cell.inner:
            raise ImpossibleFault
        made = table.TableCell(valuetype="string")
        if cell.rows > 1:
            made.setAttrNS(TABLENS, "number-rows-spanned", cell.rows)
        line = text.P()
        for words, look in cell.pieces:
            match look:
                case "":
                    line.addText(words)
                case "link":
                    line.addElement(text.A(href=FORM, type="simple", text=words))
                case "struck" | "raised":
                    line.addElement(text.Span(stylename=look, text=words))
                case "comment":
                    remark = office.Annotation()
                    remark.addElement(text.P(text=words))
                    made.addElement(remark)
                case _:
                    raise ImpossibleFault
        made.addElement(line)
        return made


def _frame(picture: Picture) -> Any:
    frame = draw.Frame(width="4cm", height="3cm")
    frame.addElement(draw.Image(href="Pictures/map.png", type="simple"))
    frame.addElement(svg.Desc(text=picture.description))
    return frame


def _shown(is_shown: bool) -> dict[str, str]:
    return {} if is_shown else {"visibility": "collapse"}


def open_sheet(elements: Elements) -> bytes:
    return OpenSheet().write(elements)
