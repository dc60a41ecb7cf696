"""PDFs by reportlab, drawn piece by piece."""

import io

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from .elements import (
    FORM,
    Cell,
    Edges,
    Elements,
    ImpossibleFault,
    Paragraph,
    Piece,
    Table,
)

FONT = "Helvetica"
SIZE = 11.0
LEFT = 72.0
TOP = 760.0
BOTTOM = 80.0
COLUMN = 130.0
ROW = 22.0


class Pages:
    def __init__(self) -> None:
        self.out = io.BytesIO()
        self.canvas = Canvas(self.out, pagesize=A4)
        self.y = TOP
        self.edges: Edges | None = None
        self.notes: list[str] = []

    def write(self, elements: Elements) -> bytes:
        for element in elements:
            match element:
                case Paragraph():
                    if element.starts_note:
                        self.y = min(self.y, BOTTOM + 40)
                    self.line(LEFT, self.y, element.pieces, 8 if element.starts_note else SIZE)
                    self.y -= 20
                case Table():
                    self.table(element)
                case Edges():
                    self.edges = element
                    for number in range(3):
                        self.line(
                            LEFT, self.y, (Piece(f"Rule {'ABC'[number]} is explained here."),)
                        )
                        self.end_page()
                case _:
                    raise ImpossibleFault
        for number, words in enumerate(self.notes, 1):
            mark = (Piece(str(number), "raised"), Piece(f" {words}"))
            self.line(LEFT, BOTTOM + 12 * (len(self.notes) - number), mark, 8)
        self.end_page()
        self.canvas.save()
        return self.out.getvalue()

    def end_page(self) -> None:
        if self.edges:
            self.line(LEFT, TOP + 45, (Piece(self.edges.header),), 9)
            number = self.canvas.getPageNumber()
            self.line(LEFT + 200, 40, (Piece(f"Page {number}"),), 9)
        self.canvas.showPage()
        self.y = TOP

    def line(self, x: float, y: float, pieces: tuple[Piece, ...], size: float = SIZE) -> None:
        for piece in pieces:
            x += self.piece(x, y, piece, size)

    def piece(self, x: float, y: float, piece: Piece, size: float) -> float:
        """Draw words, and return how far they reach."""
        words, look = piece
        if look == "note":
            self.notes.append(words)
            return self.piece(x, y, Piece(str(len(self.notes)), "raised"), size)
        if look == "comment":
            self.canvas.textAnnotation(words, Rect=[x, y, x + 10, y + 10], relative=1)
            return 0
        size = size * 0.6 if look == "raised" else size
        width = stringWidth(words, FONT, size)
        self.canvas.saveState()
        text = self.canvas.beginText(x, y + (size * 0.6 if look == "raised" else 0))
        text.setFont(FONT, size)
        text.setTextRenderMode(3 if look == "hidden" else 0)
        text.setFillGray(1 if look == "white" else 0)
        text.textOut(words)
        self.canvas.drawText(text)
        self.canvas.restoreState()
        match look:
            case "" | "raised" | "hidden" | "white":
                pass
            case "struck":
                self.canvas.line(x, y + size * 0.3, x + width, y + size * 0.3)
            case "covered":
                self.canvas.rect(x - 1, y - 3, width + 2, size + 2, stroke=0, fill=1)
            case "link":
                self.canvas.linkURL(FORM, (x, y - 2, x + width, y + size), relative=1)
            case _:
                raise ImpossibleFault
        return width

    def table(self, table: Table) -> None:
        if table.hidden_row >= 0 or table.hidden_column >= 0:
            raise ImpossibleFault
        if table.caption:
            self.line(LEFT, self.y, (Piece(table.caption),))
            self.y -= 20
        for number, cells in enumerate(table.grid()):
            is_continued = number and number == table.broken_before
            if is_continued or self.y < BOTTOM + ROW:
                self.end_page()
            if is_continued:
                self.line(LEFT, self.y, (Piece("Premiums (continued)"),))
                self.y -= 20
            for column, cell in enumerate(cells):
                if cell is not None:
                    self.cell(LEFT + column * COLUMN, cell)
            self.y -= ROW
        self.y -= 20

    def cell(self, x: float, cell: Cell) -> None:
        if cell.inner:
            raise ImpossibleFault
        height = ROW * cell.rows
        self.canvas.rect(x, self.y - height + 15, COLUMN, height, stroke=1, fill=0)
        self.line(x + 4, self.y, cell.pieces)


def pdf(elements: Elements) -> bytes:
    return Pages().write(elements)
