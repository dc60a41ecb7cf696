"""Word documents by python-docx, and by hand what it cannot write: notes, tracked changes."""

import io
from typing import Any
from xml.sax.saxutils import escape

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from PIL import Image

from .elements import FORM, Cell, Edges, Elements, ImpossibleFault, Paragraph, Picture, Piece, Table

NOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
CHANGED = {"inserted": ("w:ins", "w:t"), "deleted": ("w:del", "w:delText")}


def a_picture() -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "gray").save(out, "PNG")
    out.seek(0)
    return out


def word(elements: Elements) -> bytes:
    document = docx.Document()
    notes: list[str] = []
    for element in elements:
        match element:
            case Paragraph():
                _fill(document, document.add_paragraph(), element.pieces, notes)
            case Table():
                _table(document, element, notes)
            case Picture():
                document.add_picture(a_picture())
                (properties,) = document.element.body.iter(qn("wp:docPr"))
                properties.set("descr", element.description)
            case Edges():
                _edges(document, element)
            case _:
                raise ImpossibleFault
    if notes:
        _add_notes(document, notes)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _fill(document: Any, paragraph: Any, pieces: tuple[Piece, ...], notes: list[str]) -> None:
    for words, look in pieces:
        if look == "link":
            relation = document.part.relate_to(FORM, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link = (
                f'<w:hyperlink {nsdecls("w", "r")} r:id="{relation}"><w:r><w:t>{words}</w:t></w:r>'
            )
            paragraph._p.append(parse_xml(f"{link}</w:hyperlink>"))
        elif look == "note":
            notes.append(words)
            mark = f'<w:r {nsdecls("w")}><w:footnoteReference w:id="{len(notes)}"/></w:r>'
            paragraph._p.append(parse_xml(mark))
        elif look in CHANGED:
            change, text = CHANGED[look]
            run = f'<w:r><{text} xml:space="preserve">{escape(words)}</{text}></w:r>'
            paragraph._p.append(
                parse_xml(f'<{change} {nsdecls("w")} w:id="7" w:author="A">{run}</{change}>')
            )
        elif look == "comment":
            document.add_comment(paragraph.runs[-1], text=words, author="A")
        else:
            _look(paragraph.add_run(words), look)


def _look(run: Any, look: str) -> None:
    match look:
        case "":
            pass
        case "raised":
            run.font.superscript = True
        case "struck":
            run.font.strike = True
        case "hidden":
            run.font.hidden = True
        case _:
            raise ImpossibleFault


def _table(document: Any, table: Table, notes: list[str]) -> None:
    if table.hidden_column >= 0 or table.broken_before:
        raise ImpossibleFault
    if table.caption:
        document.add_paragraph(table.caption, style="Caption")
    made = document.add_table(len(table.rows), table.width)
    for number, cells in enumerate(table.grid()):
        for column, cell in enumerate(cells):
            if cell is not None:
                _cell(document, made, number, column, cell, notes)
    if table.hidden_row >= 0:
        properties = made.rows[table.hidden_row]._tr.get_or_add_trPr()
        properties.append(OxmlElement("w:hidden"))


def _cell(document: Any, made: Any, row: int, column: int, cell: Cell, notes: list[str]) -> None:
    place = made.cell(row, column)
    if cell.rows > 1:
        place = place.merge(made.cell(row + cell.rows - 1, column))
    _fill(document, place.paragraphs[0], cell.pieces, notes)
    if cell.inner:
        inner = place.add_table(len(cell.inner), len(cell.inner[0]))
        for inner_row, words in enumerate(cell.inner):
            for inner_column, word in enumerate(words):
                inner.cell(inner_row, inner_column).text = word


def _edges(document: Any, edges: Edges) -> None:
    (section,) = document.sections
    section.header.paragraphs[0].text = edges.header
    number = section.footer.paragraphs[0]
    number.add_run("Page ")
    field = f'<w:fldSimple {nsdecls("w")} w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>'
    number._p.append(parse_xml(field))


def _add_notes(document: Any, notes: list[str]) -> None:
    made = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:r><w:t>{escape(words)}</w:t></w:r></w:p></w:footnote>'
        for number, words in enumerate(notes, 1)
    )
    xml = f"<w:footnotes {nsdecls('w')}>{made}</w:footnotes>".encode()
    part = Part(PackURI("/word/footnotes.xml"), NOTES_TYPE, xml, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
