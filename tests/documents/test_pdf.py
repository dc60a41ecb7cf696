"""PDFs made for the purpose, whose contents are known."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from ombud.documents import parse
from ombud.documents.pdf import parser as pdf
from ombud.documents.pdf.lines import lines_of
from ombud.documents.pdf.page.words import PdfWord
from ombud.errors import SourceError
from ombud.types import Document

STYLES = getSampleStyleSheet()
GRID = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
LONG = (
    "Staff may carry over unused days to the next year if the business asked them to work "
    "during their leave. "
)


def parsed(data: bytes) -> Document:
    return parse(data, Document(id="x", source="s", uri="gb/leave.pdf", title=""))


def built(*story: Any, furniture: Callable[[Canvas, Any], None] | None = None) -> bytes:
    out = io.BytesIO()
    template = SimpleDocTemplate(out, pagesize=A4)
    nothing: Callable[[Canvas, Any], None] = lambda canvas, template: None  # noqa: E731
    template.build(list(story), onFirstPage=furniture or nothing, onLaterPages=furniture or nothing)
    return out.getvalue()


def said(text: str, style: str = "BodyText") -> Paragraph:
    return Paragraph(text, STYLES[style])


def running(canvas: Canvas, template: Any) -> None:
    canvas.drawString(72, 810, "Harbour Ltd. Staff Handbook")
    canvas.drawString(280, 30, f"Page {template.page}")


def test_headings_by_size_and_weight() -> None:
    document = parsed(
        built(
            said("Leave", "Title"),
            said("Carry over", "Heading2"),
            said(LONG * 3),
            said("Sickness", "Heading2"),
            said(LONG),
        )
    )
    assert [(b.text, b.level) for b in document.blocks if b.kind == "heading"] == [
        ("Leave", 1),
        ("Carry over", 2),
        ("Sickness", 2),
    ]
    assert document.title == "Leave"
    assert document.blocks[2].text == (LONG * 3).strip()


def test_an_italic_name_alone_above_a_paragraph_is_a_heading() -> None:
    name, quoted = said("<i>Carry Over of Leave</i>"), said("<i>Annual Report</i>")
    document = parsed(
        built(said(LONG), Spacer(1, 12), name, said(LONG), quoted, Spacer(1, 40), quoted, quoted)
    )
    assert [block.text for block in document.blocks if block.kind == "heading"] == [
        "Carry Over of Leave"
    ]


def test_pages_are_exact_and_running_lines_go() -> None:
    story: list[Any] = []
    for word in ("alpha", "beta", "gamma", "delta"):
        story += [said(f"Rule {word}. {LONG * 4}"), PageBreak()]
    document = parsed(built(*story, furniture=running))
    assert [b.page for b in document.blocks] == [1, 2, 3, 4, 4]
    assert [
        word in b.text
        for word, b in zip(("alpha", "beta", "gamma", "delta"), document.blocks[:4], strict=True)
    ] == [True] * 4
    assert document.blocks[4].text == "Harbour Ltd. Staff Handbook"
    assert "Page" not in document.text


def test_a_single_page_keeps_its_header() -> None:
    assert "Harbour Ltd. Staff Handbook" in parsed(built(said(LONG * 3), furniture=running)).text


def test_ruled_tables() -> None:
    rows = [["Grade", "Days", "Notice"], ["A", "25", "1 month"], ["B", "27", "2 months"]]
    document = parsed(built(said(LONG), Spacer(1, 12), Table(rows, style=GRID), said(LONG)))
    tables = [b for b in document.blocks if b.kind == "table"]
    assert [t.text for t in tables] == [
        "| Grade | Days | Notice |\n| --- | --- | --- |\n"
        "| A | 25 | 1 month |\n| B | 27 | 2 months |"
    ]
    assert [b.kind for b in document.blocks] == ["text", "table", "text"]


def test_a_table_that_goes_on_says_its_header_on_each_page() -> None:
    rows = [["Grade", "Days"], *([f"G{n}", str(n)] for n in range(1, 81))]
    tables = [b for b in parsed(built(Table(rows, style=GRID))).blocks if b.kind == "table"]
    assert [t.page for t in tables] == [1, 2, 3]
    assert all(t.text.startswith("| Grade | Days |\n| --- | --- |\n| G") for t in tables)
    body = [line for t in tables for line in t.text.split("\n")[2:]]
    assert body == [f"| G{n} | {n} |" for n in range(1, 81)]


def test_numbered_clauses_keep_their_numbers() -> None:
    clauses = [
        "1.1 Leave is asked for in writing.",
        "1.2 The manager answers within a week.",
        "(a) A refusal gives its reasons.",
    ]
    document = parsed(built(said(LONG), *(said(c) for c in clauses)))
    assert all(clause in document.text for clause in clauses)


def test_bullets_become_a_list_and_a_broken_word_is_mended() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for at, line in enumerate(
        [
            "You need the follow-",
            "ing papers to travel:",
            "• a passport",
            "• a visa that is",
            "   valid for the stay",
        ]
    ):
        canvas.drawString(72, 700 - 14 * at, line)
    canvas.save()
    document = parsed(out.getvalue())
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("text", "You need the following papers to travel:"),
        ("list", "- a passport\n- a visa that is valid for the stay"),
    ]


def test_two_columns_are_read_one_after_the_other() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica", 9)
    for side, x in (("left", 60), ("right", 320)):
        for line in range(30):
            canvas.drawString(
                x, 760 - 12 * line, f"{side} column goes on in line number {line:02d} of it"
            )
    canvas.save()
    text = parsed(out.getvalue()).text
    assert text.index("left column goes on in line number 29") < text.index(
        "right column goes on in line number 00"
    )


def test_words_that_run_to_the_left_are_read_from_the_right() -> None:
    """Hebrew as a printer sets it: letters of a word each at its place, the first word on the
    right."""
    where = {"sick": ("מחלה", 500), "leave": ("חופשת", 560), "days": ("Policy 12", 430)}
    words = [
        PdfWord(text, right - 50, 100, right, 112, 10, bold=False) for text, right in where.values()
    ]
    (line,) = lines_of(words)
    assert line.text == "חופשת מחלה Policy 12"
    (line,) = lines_of(
        [
            PdfWord(text, n * 40, 100, n * 40 + 30, 112, 10, bold=False)
            for n, text in enumerate("ABC")
        ]
    )
    assert line.text == "A B C"


def test_a_full_stop_left_over_is_no_line() -> None:
    rows = [
        PdfWord(".", 72, 90, 74, 100, 10, bold=True),
        PdfWord("Notice", 72, 110, 100, 120, 10, bold=False),
    ]
    assert [line.text for line in lines_of(rows)] == ["Notice"]


def test_a_turned_page_reads_as_a_person_holds_it() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    canvas.setPageRotation(90)
    canvas.rotate(90)
    canvas.drawString(100, -200, "Leave is asked for in writing by all")
    canvas.drawString(100, -214, "members of the staff of the company.")
    canvas.save()
    assert (
        parsed(out.getvalue()).text
        == "Leave is asked for in writing by all members of the staff of the company."
    )


def test_pictures_of_text_need_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "installed", lambda: False)
    out = io.BytesIO()
    canvas = Canvas(out)
    for _ in range(3):
        canvas.rect(50, 50, 400, 600, fill=1)
        canvas.showPage()
    canvas.save()
    with pytest.raises(SourceError, match="needs OCR"):
        parsed(out.getvalue())


def test_encrypted() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, encrypt="secret")
    canvas.drawString(72, 700, LONG)
    canvas.save()
    with pytest.raises(SourceError, match="encrypted"):
        parsed(out.getvalue())


def test_too_many_pages() -> None:
    data = built(*(thing for _ in range(4) for thing in (said(LONG), PageBreak())))
    with pytest.raises(SourceError, match="4 pages; the limit is 3"):
        parse(data, Document(id="x", source="s", uri="a.pdf", title=""), pages=3)


def test_the_same_bytes_give_the_same_document() -> None:
    data = built(
        said("Leave", "Title"), Paragraph(LONG * 30, ParagraphStyle("narrow", rightIndent=200))
    )
    assert parsed(data) == parsed(data)
