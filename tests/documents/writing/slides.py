"""PowerPoint decks by python-pptx."""

import io
from copy import deepcopy
from typing import Any
from xml.sax.saxutils import escape

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from .elements import (
    FORM,
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

COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.comments+xml"
PLACE = (Inches(1), Inches(1), Inches(8), Inches(1))


def powerpoint(elements: Elements) -> bytes:
    deck = Presentation()
    layout = deck.slide_layouts[5]
    slide = deck.slides.add_slide(layout)
    slide.shapes.title.text = "Rules"
    for element in elements:
        match element:
            case Paragraph():
                box = slide.shapes.add_textbox(*PLACE)
                _fill(slide, box.text_frame.paragraphs[0], element.pieces)
            case Table():
                _table(slide, element)
            case Picture():
                picture = slide.shapes.add_picture(a_picture(), *PLACE)
                picture._element.nvPicPr.cNvPr.set("descr", element.description)
            case Edges():
                _edges(slide, layout, element)
            case Hidden():
                other = deck.slides.add_slide(layout)
                other.shapes.title.text = element.words
                other._element.set("show", "0")
                box = slide.shapes.add_textbox(*PLACE)
                box.text_frame.text = element.words
                box._element.nvSpPr.cNvPr.set("hidden", "1")
            case _:
                raise ImpossibleFault
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def _fill(slide: Any, paragraph: Any, pieces: tuple[Piece, ...]) -> None:
    for words, look in pieces:
        if look == "comment":
            _comment(slide, words)
            continue
        run = paragraph.add_run()
        run.text = words
        match look:
            case "":
                pass
            case "raised":
                run.font._element.set("baseline", "30000")
            case "struck":
                run.font._element.set("strike", "sngStrike")
            case "link":
                run.hyperlink.address = FORM
            case _:
                raise ImpossibleFault


def _comment(slide: Any, words: str) -> None:
    space = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    text = f'<p:cm authorId="0" idx="1"><p:pos x="1" y="1"/><p:text>{escape(words)}</p:text></p:cm>'
    xml = f"<p:cmLst {space}>{text}</p:cmLst>".encode()
    package = slide.part.package
    part = Part(PackURI("/ppt/comments/comment1.xml"), COMMENTS_TYPE, package, xml)
    slide.part.relate_to(part, RELATIONSHIP_TYPE.COMMENTS)


def _table(slide: Any, table: Table) -> None:
    if table.hidden_row >= 0 or table.hidden_column >= 0 or table.caption or table.broken_before:
        raise ImpossibleFault
    made = slide.shapes.add_table(len(table.rows), table.width, *PLACE).table
    for number, cells in enumerate(table.grid()):
        for column, cell in enumerate(cells):
            if cell is None:
                continue
            if cell.inner:
                raise ImpossibleFault
            place = made.cell(number, column)
            if cell.rows > 1:
                place.merge(made.cell(number + cell.rows - 1, column))
            _fill(slide, place.text_frame.paragraphs[0], cell.pieces)


def _edges(slide: Any, layout: Any, edges: Edges) -> None:
    """What stands below each slide; decks have no header."""
    for shape in layout.placeholders:
        kind = shape.placeholder_format.type
        if kind not in {PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER}:
            continue
        slide.shapes._spTree.append(deepcopy(shape._element))
        if kind == PP_PLACEHOLDER.FOOTER:
            slide.shapes[-1].text_frame.text = edges.header
