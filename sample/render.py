"""Render the sample drafts: Markdown in, the handbook's PDF and Word files out.

    python sample/render.py

`drafts/<folder>/NAME.pdf.md` becomes `handbook/<folder>/NAME.pdf`, `NAME.docx.md`
becomes `NAME.docx`. A draft is plain Markdown: headings, paragraphs, lists, pipe
tables, bold, italic; its first `#` line is the title. Anything else is an error that
names the draft. The same draft always gives the same bytes. Needs reportlab,
python-docx and markdown-it-py.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from html import escape
from io import BytesIO
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Inches, Pt
from docx.text.paragraph import Paragraph as WordParagraph
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    ListFlowable,
    SimpleDocTemplate,
    Spacer,
    TableStyle,
)
from reportlab.platypus import Paragraph as PdfParagraph
from reportlab.platypus import Table as PdfTable

SAMPLE = Path(__file__).resolve().parent
DRAFTS = SAMPLE / "drafts"
HANDBOOK = SAMPLE / "handbook"

COMPANY = "Larkmere Instruments"
FOOTER = f"{COMPANY} | Internal"
LETTER_FOLDERS = {"us"}  # everyone else prints on A4
FIXED_DATE = datetime(2026, 1, 1, tzinfo=UTC)


# --- the draft: what both writers need, and no more -----------------------------------


@dataclass(frozen=True)
class Span:
    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


Spans = tuple[Span, ...]


@dataclass(frozen=True)
class Heading:
    level: int
    spans: Spans


@dataclass(frozen=True)
class Text:
    spans: Spans


@dataclass(frozen=True)
class Items:
    start: int | None  # first number, None for bullets
    items: tuple[tuple[Block, ...], ...]


@dataclass(frozen=True)
class Grid:
    rows: tuple[tuple[Spans, ...], ...]  # the first row is the header


Block = Heading | Text | Items | Grid


@dataclass(frozen=True)
class Draft:
    title: str
    blocks: tuple[Block, ...]  # without the title
    letter: bool


def read_draft(path: Path) -> Draft:
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(path.read_text(encoding="utf-8"))
    blocks = tuple(read_blocks(SyntaxTreeNode(tokens)))
    if not blocks or not isinstance(blocks[0], Heading) or blocks[0].level != 1:
        raise ValueError("a draft starts with its title, a line '# ...'")
    folder = path.relative_to(DRAFTS).parts[0]
    return Draft(plain(blocks[0].spans), blocks[1:], folder in LETTER_FOLDERS)


def read_blocks(parent: SyntaxTreeNode) -> Iterator[Block]:
    for node in parent.children:
        match node.type:
            case "heading":
                yield Heading(int(node.tag[1:]), read_spans(node))
            case "paragraph":
                yield Text(read_spans(node))
            case "bullet_list":
                yield Items(None, read_items(node))
            case "ordered_list":
                yield Items(int(node.attrs.get("start", 1)), read_items(node))
            case "table":
                yield Grid(read_rows(node))
            case other:
                line = node.map[0] + 1 if node.map else "?"
                raise ValueError(f"line {line}: {other} is not plain Markdown")


def read_rows(table: SyntaxTreeNode) -> tuple[tuple[Spans, ...], ...]:
    rows = []
    for part in table.children:
        for row in part.children:
            rows.append(tuple(map(read_spans, row.children)))
    return tuple(rows)


def read_items(node: SyntaxTreeNode) -> tuple[tuple[Block, ...], ...]:
    return tuple(tuple(read_blocks(item)) for item in node.children)


def read_spans(node: SyntaxTreeNode) -> Spans:
    return tuple(_walk_spans(node, bold=False, italic=False))


def _walk_spans(parent: SyntaxTreeNode, bold: bool, italic: bool) -> Iterator[Span]:
    for node in parent.children:
        match node.type:
            case "text":
                yield Span(node.content, bold, italic)
            case "code_inline":
                yield Span(node.content, bold, italic, code=True)
            case "softbreak":
                yield Span(" ", bold, italic)
            case "hardbreak":
                yield Span("\n", bold, italic)
            case "inline" | "link":
                yield from _walk_spans(node, bold, italic)
            case "strong":
                yield from _walk_spans(node, True, italic)
            case "em":
                yield from _walk_spans(node, bold, True)
            case other:
                raise ValueError(f"{other} is not plain Markdown")


def plain(spans: Spans) -> str:
    return "".join(span.text for span in spans)


# --- PDF ------------------------------------------------------------------------------

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9.5, leading=13, spaceAfter=6)
ITEM = ParagraphStyle("item", BODY, spaceAfter=2)
CELL = ParagraphStyle("cell", BODY, fontSize=8.5, leading=11, spaceAfter=0)
CELL_HEAD = ParagraphStyle("cell-head", CELL, fontName="Helvetica-Bold")
BOLD = ParagraphStyle("bold", BODY, fontName="Helvetica-Bold", keepWithNext=1)
HEADINGS = {
    1: ParagraphStyle("h1", BOLD, fontSize=20, leading=25, spaceAfter=12),
    2: ParagraphStyle("h2", BOLD, fontSize=14, leading=18, spaceBefore=12),
    3: ParagraphStyle("h3", BOLD, fontSize=11, leading=15, spaceBefore=8),
}
INK, RULE = colors.HexColor("#444444"), colors.HexColor("#888888")
SHADE = colors.HexColor("#e8ecf0")
MARGIN, CELL_PADDING = 22 * mm, 5.0
INDENT = 16
FRAME_PADDING = 6.0  # reportlab's own, inside the margins
GRID_STYLE = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.5, RULE),
        ("BACKGROUND", (0, 0), (-1, 0), SHADE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), CELL_PADDING),
        ("RIGHTPADDING", (0, 0), (-1, -1), CELL_PADDING),
    ]
)


def write_pdf(draft: Draft, target: Path) -> None:
    _, pages = layout_pdf(draft, pages=0)  # the first pass only counts
    content, _ = layout_pdf(draft, pages)
    target.write_bytes(content)


def layout_pdf(draft: Draft, pages: int) -> tuple[bytes, int]:
    """The PDF and its number of pages; the footers give `pages` as the total."""
    buffer = BytesIO()
    document = SimpleDocTemplate(
        buffer,
        pagesize=LETTER if draft.letter else A4,
        leftMargin=MARGIN - FRAME_PADDING,
        rightMargin=MARGIN - FRAME_PADDING,
        topMargin=MARGIN + 4 * mm,
        bottomMargin=MARGIN,
        title=draft.title,
        author=COMPANY,
        invariant=1,
    )
    width = document.width - 2 * FRAME_PADDING
    story: list[Flowable] = [PdfParagraph(escape(draft.title), HEADINGS[1])]
    for block in draft.blocks:
        story += pdf_block(block, width)
    furniture = partial(draw_furniture, draft=draft, pages=pages)
    document.build(story, onFirstPage=furniture, onLaterPages=furniture)
    return buffer.getvalue(), document.page


def draw_furniture(canvas: Canvas, document: SimpleDocTemplate, draft: Draft, pages: int) -> None:
    """Running header and footer of one page."""
    width, height = document.pagesize
    right = width - MARGIN
    top = height - 15 * mm
    bottom = 13 * mm
    canvas.saveState()
    canvas.setFont("Helvetica", 8)
    canvas.setFillColor(INK)
    canvas.setStrokeColor(RULE)
    canvas.drawString(MARGIN, top, draft.title)
    canvas.drawRightString(right, top, COMPANY)
    canvas.line(MARGIN, top - 4, right, top - 4)
    canvas.line(MARGIN, bottom + 10, right, bottom + 10)
    canvas.drawString(MARGIN, bottom, f"{FOOTER} | Page {document.page} of {pages}")
    canvas.restoreState()


def pdf_block(block: Block, width: float) -> list[Flowable]:
    match block:
        case Heading(level, spans):
            return [PdfParagraph(pdf_markup(spans), HEADINGS[min(level, 3)])]
        case Text(spans):
            return [PdfParagraph(pdf_markup(spans), BODY)]
        case Items():
            return [pdf_list(block, width), Spacer(0, 5)]
        case Grid():
            return [pdf_table(block, width), Spacer(0, 9)]


def pdf_list(block: Items, width: float) -> ListFlowable:
    is_numbered = block.start is not None
    return ListFlowable(
        [pdf_item(item, width - INDENT) for item in block.items],
        bulletType="1" if is_numbered else "bullet",
        start=block.start if is_numbered else "\u2022",
        bulletFormat="%s." if is_numbered else None,
        bulletFontName="Helvetica",
        bulletFontSize=BODY.fontSize,
        leftIndent=INDENT,
    )


def pdf_item(item: tuple[Block, ...], width: float) -> list[Flowable]:
    parts: list[Flowable] = []
    for block in item:
        parts += pdf_item_block(block, width)
    return parts


def pdf_item_block(block: Block, width: float) -> list[Flowable]:
    if isinstance(block, Text):
        return [PdfParagraph(pdf_markup(block.spans), ITEM)]
    return pdf_block(block, width)


def pdf_table(block: Grid, width: float) -> PdfTable:
    head, *body = block.rows
    return PdfTable(
        [pdf_row(head, CELL_HEAD), *(pdf_row(row, CELL) for row in body)],
        colWidths=column_widths(block, width),
        repeatRows=1,
        style=GRID_STYLE,
    )


def pdf_row(row: tuple[Spans, ...], style: ParagraphStyle) -> list[PdfParagraph]:
    return [PdfParagraph(pdf_markup(spans), style) for spans in row]


def column_widths(block: Grid, width: float) -> list[float]:
    """Every column fits its longest word; the rest goes where the long texts are."""
    least = []
    extra = []
    for column in zip(*block.rows, strict=True):
        texts = list(map(plain, column))
        longest_word = text_width(" ".join(texts).split())
        least.append(longest_word)
        extra.append(text_width(texts) - longest_word + 1)
    spare = width - sum(least)
    if spare < 0:
        return [width * part / sum(least) for part in least]
    share = spare / sum(extra)
    return [low + share * part for low, part in zip(least, extra, strict=True)]


def text_width(texts: list[str]) -> float:
    font, size = CELL_HEAD.fontName, CELL_HEAD.fontSize
    widths = (stringWidth(text, font, size) for text in texts)
    return max(widths, default=0.0) + 2 * CELL_PADDING + 1


def pdf_markup(spans: Spans) -> str:
    return "".join(map(_pdf_span, spans))


def _pdf_span(span: Span) -> str:
    # The standard fonts have no other letters: fail rather than print boxes.
    span.text.encode("cp1252")
    markup = escape(span.text).replace("\n", "<br/>")
    if span.bold:
        markup = f"<b>{markup}</b>"
    if span.italic:
        markup = f"<i>{markup}</i>"
    if span.code:
        markup = f'<font face="Courier">{markup}</font>'
    return markup


# --- Word -----------------------------------------------------------------------------


def write_docx(draft: Draft, target: Path) -> None:
    document = docx.Document()
    set_properties(document, draft)
    set_page(document, draft)
    document.add_heading(draft.title, level=0)
    for block in draft.blocks:
        add_block(document, block)
    buffer = BytesIO()
    document.save(buffer)
    target.write_bytes(without_timestamps(buffer))


def set_properties(document: WordDocument, draft: Draft) -> None:
    properties = document.core_properties
    properties.title = draft.title
    properties.author = COMPANY
    properties.last_modified_by = COMPANY
    properties.comments = ""
    properties.created = FIXED_DATE
    properties.modified = FIXED_DATE


def set_page(document: WordDocument, draft: Draft) -> None:
    section = document.sections[0]
    section.page_width = Inches(8.5) if draft.letter else Cm(21)
    section.page_height = Inches(11) if draft.letter else Cm(29.7)
    section.left_margin = Cm(2.2)
    section.right_margin = Cm(2.2)
    section.header.paragraphs[0].text = f"{draft.title} | {COMPANY}"
    footer = section.footer.paragraphs[0]
    footer.add_run(f"{FOOTER} | Page ")
    add_field(footer, "PAGE")
    footer.add_run(" of ")
    add_field(footer, "NUMPAGES")


def add_field(paragraph: WordParagraph, name: str) -> None:
    """A field Word computes itself, such as the page number."""
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    paragraph._p.append(field)


def add_block(document: WordDocument, block: Block, depth: int = 1) -> None:
    match block:
        case Heading(level, spans):
            heading = document.add_heading(level=max(level - 1, 1))
            add_runs(heading, spans)
        case Text(spans):
            add_runs(document.add_paragraph(), spans)
        case Items():
            add_list(document, block, depth)
        case Grid():
            add_table(document, block)


def add_list(document: WordDocument, block: Items, depth: int) -> None:
    kind = "List Bullet" if block.start is None else "List Number"
    style = kind if depth == 1 else f"{kind} {min(depth, 3)}"
    numbering = None
    if block.start is not None:
        numbering = new_numbering(document, style, block.start)
    for item in block.items:
        match item:
            case (Text(spans), *rest):
                paragraph = document.add_paragraph(style=style)
                add_runs(paragraph, spans)
            case _:
                raise ValueError("a list item starts with text")
        if numbering is not None:
            properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
            properties.get_or_add_numId().val = numbering
        for inner in rest:
            add_block(document, inner, depth + 1)


def new_numbering(document: WordDocument, style: str, start: int) -> int:
    """A numbering of its own, so that each list counts anew instead of going on."""
    numbering = document.part.numbering_part.element
    style_id = style.replace(" ", "")
    used = document.styles.get_by_id(style_id, WD_STYLE_TYPE.PARAGRAPH).element
    abstract = numbering.num_having_numId(used.pPr.numPr.numId.val).abstractNumId.val
    number = numbering.add_num(abstract)
    number.add_lvlOverride(ilvl=0).add_startOverride(start)
    return int(number.numId)


def add_table(document: WordDocument, block: Grid) -> None:
    table = document.add_table(len(block.rows), len(block.rows[0]), style="Table Grid")
    for row, texts in zip(table.rows, block.rows, strict=True):
        for cell, spans in zip(row.cells, texts, strict=True):
            add_runs(cell.paragraphs[0], spans)
    for cell in table.rows[0].cells:
        for run in cell.paragraphs[0].runs:
            run.bold = True
    repeated = OxmlElement("w:tblHeader")
    table.rows[0]._tr.get_or_add_trPr().append(repeated)
    document.add_paragraph().paragraph_format.space_after = Pt(2)


def add_runs(paragraph: WordParagraph, spans: Spans) -> None:
    for span in spans:
        run = paragraph.add_run(span.text)
        run.bold = span.bold or None
        run.italic = span.italic or None
        if span.code:
            run.font.name = "Courier New"


def without_timestamps(package: BytesIO) -> bytes:
    """The same package with one fixed time on every entry."""
    result = BytesIO()
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(result, "w") as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, FIXED_DATE.timetuple()[:6])
            target.writestr(entry, source.read(name), zipfile.ZIP_DEFLATED)
    return result.getvalue()


# --- command --------------------------------------------------------------------------

WRITERS = {".pdf": write_pdf, ".docx": write_docx}


def render_draft(path: Path, target: Path) -> None:
    """Raises ValueError for a draft that is not plain Markdown, or has the wrong name."""
    write = WRITERS.get(target.suffix)
    if write is None:
        raise ValueError("a draft is called NAME.pdf.md or NAME.docx.md")
    target.parent.mkdir(parents=True, exist_ok=True)
    write(read_draft(path), target)


def main() -> int:
    failed = 0
    for path in sorted(DRAFTS.rglob("*.md")):
        target = HANDBOOK / path.relative_to(DRAFTS).with_suffix("")
        try:
            render_draft(path, target)
        except ValueError as error:
            failed += 1
            print(f"{path.relative_to(SAMPLE)}: {error}", file=sys.stderr)
        else:
            print(target.relative_to(SAMPLE))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
