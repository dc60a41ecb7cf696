"""OpenDocument texts by odfpy."""

import io
from typing import Any

from odf import draw, office, style, svg, table, text
from odf.namespaces import TABLENS, TEXTNS
from odf.opendocument import OpenDocumentText

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

LOOKS = {
    "struck": {"textlinethroughstyle": "solid"},
    "hidden": {"display": "none"},
    "raised": {"textposition": "super 58%"},
}


class OpenText:
    def __init__(self) -> None:
        self.document = OpenDocumentText()
        for name, properties in LOOKS.items():
            look = style.Style(name=name, family="text")
            look.addElement(style.TextProperties(**properties))
            self.document.automaticstyles.addElement(look)
        self.notes = 0

    def write(self, elements: Elements) -> bytes:
        body = self.document.text
        for element in elements:
            match element:
                case Paragraph():
                    body.addElement(self.paragraph(element.pieces))
                case Table():
                    self.table(element)
                case Picture():
                    self.picture(element)
                case Edges():
                    add_edges(self.document, element)
                case Hidden():
                    section = text.Section(name="old", display="none")
                    section.addElement(text.P(text=element.words))
                    body.addElement(section)
                case _:
                    raise ImpossibleFault
        out = io.BytesIO()
        self.document.write(out)
        return out.getvalue()

    def paragraph(self, pieces: tuple[Piece, ...]) -> Any:
        made = text.P()
        for piece in pieces:
            self.add(made, piece)
        return made

    def add(self, paragraph: Any, piece: Piece) -> None:
        words, look = piece
        match look:
            case "":
                paragraph.addText(words)
            case "link":
                paragraph.addElement(text.A(href=FORM, type="simple", text=words))
            case "note":
                paragraph.addElement(self.note(words))
            case "comment":
                remark = office.Annotation()
                remark.addElement(text.P(text=words))
                paragraph.addElement(remark)
            case "inserted" | "deleted":
                self.change(paragraph, words, look)
            case _ if look in LOOKS:
                paragraph.addElement(text.Span(stylename=look, text=words))
            case _:
                raise ImpossibleFault

    def note(self, words: str) -> Any:
        self.notes += 1
        made = text.Note(noteclass="footnote", id=f"ftn{self.notes}")
        made.addElement(text.NoteCitation(text=str(self.notes)))
        body = text.NoteBody()
        body.addElement(text.P(text=words))
        made.addElement(body)
        return made

    def change(self, paragraph: Any, words: str, look: str) -> None:
        """Inserted words stay where they are; deleted ones are stored at the front."""
        region = text.ChangedRegion(check_grammar=False)
        region.setAttrNS(TEXTNS, "id", look)
        change = text.Insertion() if look == "inserted" else text.Deletion()
        change.addElement(office.ChangeInfo())
        if look == "deleted":
            change.addElement(text.P(text=words))
        region.addElement(change)
        body = self.document.text
        tracked = text.TrackedChanges()
        tracked.addElement(region)
        body.insertBefore(tracked, body.firstChild) if body.firstChild else body.addElement(tracked)
        if look == "deleted":
            paragraph.addElement(text.Change(changeid=look))
            return
        paragraph.addElement(text.ChangeStart(changeid=look))
        paragraph.addText(words)
        paragraph.addElement(text.ChangeEnd(changeid=look))

    def table(self, given: Table) -> None:
        if given.broken_before:
            raise ImpossibleFault
        if given.caption:
            self.document.text.addElement(text.P(text=given.caption))
        made = table.Table(name="t")
        for column in range(given.width):
            made.addElement(table.TableColumn(**_shown(column != given.hidden_column)))
        for number, cells in enumerate(given.grid()):
            line = table.TableRow(**_shown(number != given.hidden_row))
            for cell in cells:
                line.addElement(self.cell(cell) if cell else table.CoveredTableCell())
            made.addElement(line)
        self.document.text.addElement(made)

    def cell(self, cell: Cell) -> Any:
        made = table.TableCell(valuetype="string")
        if cell.rows > 1:
            made.setAttrNS(TABLENS, "number-rows-spanned", cell.rows)
        made.addElement(self.paragraph(cell.pieces))
        if cell.inner:
            inner = table.Table(name="inner")
            inner.addElement(table.TableColumn(numbercolumnsrepeated=len(cell.inner[0])))
            for words in cell.inner:
                line = table.TableRow()
                for word in words:
                    line.addElement(self.cell(Cell((Piece(word),))))
                inner.addElement(line)
            made.addElement(inner)
        return made

    def picture(self, picture: Picture) -> None:
        frame = draw.Frame(anchortype="paragraph", width="4cm", height="3cm")
        frame.addElement(draw.Image(href="Pictures/map.png", type="simple"))
        frame.addElement(svg.Desc(text=picture.description))
        holder = text.P()
        holder.addElement(frame)
        self.document.text.addElement(holder)


def add_edges(document: Any, edges: Edges) -> None:
    layout = style.PageLayout(name="page")
    document.automaticstyles.addElement(layout)
    master = style.MasterPage(name="Standard", pagelayoutname="page")
    header = style.Header()
    header.addElement(text.P(text=edges.header))
    master.addElement(header)
    footer = style.Footer()
    number = text.P(text="Page ")
    number.addElement(text.PageNumber(selectpage="current", text="1"))
    footer.addElement(number)
    master.addElement(footer)
    document.masterstyles.addElement(master)


def _shown(is_shown: bool) -> dict[str, str]:
    return {} if is_shown else {"visibility": "collapse"}


def open_text(elements: Elements) -> bytes:
    return OpenText().write(elements)
