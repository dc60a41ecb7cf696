"""Text that a reader turns the page for is read as if the page were turned."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import parse
from ombud.types import Document

LAST = "Hand it in by the end of the month."


def read(canvas: Canvas, out: io.BytesIO) -> Document:
    canvas.save()
    facts = Document(id="x" * 16, source="s", uri="plan.pdf", title="", language="en")
    return parse(out.getvalue(), facts)


def turned(canvas: Canvas, degrees: int) -> None:
    """Draw what follows at the middle of the page, turned against the clock."""
    canvas.setFont("Helvetica", 11)
    canvas.drawString(72, 790, LAST)
    canvas.translate(297, 420)
    canvas.rotate(degrees)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_sideways_text_is_read_after_the_upright_one(degrees: int) -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    turned(canvas, degrees)
    canvas.drawString(-200, 0, "Leave is asked for in writing by all")
    canvas.drawString(-200, -14, "members of the staff.")
    assert read(canvas, out).text == (
        f"{LAST}\n\nLeave is asked for in writing by all members of the staff."
    )


def test_a_sideways_table_goes_on_over_pages_under_upright_headers() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    for page in range(3):
        canvas.drawString(72, 815, "Travel handbook")
        canvas.drawString(280, 25, f"Page {page + 1}")
        canvas.translate(540, 72)
        canvas.rotate(90)
        for number in range(page * 4, page * 4 + 4):
            row = (f"City {number}", str(100 + number)) if number else ("City", "Hotel")
            for column, cell in enumerate(row):
                canvas.rect(20 + 150 * column, 400 - 20 * number % 80, 150, 20)
                canvas.drawString(24 + 150 * column, 405 - 20 * number % 80, cell)
        canvas.showPage()
    document = read(canvas, out)
    assert document.text.count("| City | Hotel |") == 3
    assert all(f"| City {number} | {100 + number} |" in document.text for number in range(1, 12))
    assert document.text.count("Travel handbook") == 1
    assert "Page" not in document.text


def test_struck_and_hidden_words_are_so_sideways_too() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    turned(canvas, 90)
    canvas.drawString(-200, 0, "40 euros")
    canvas.line(-200, 4, -200 + canvas.stringWidth("40 euros", "Helvetica", 11), 4)
    canvas.drawString(-200, -40, "60 euros are paid.")
    canvas.setFillGray(1)
    canvas.drawString(-200, -80, "Karin Olsen")
    document = read(canvas, out)
    assert document.text == f"{LAST}\n\n60 euros are paid."
    assert "Olsen" not in document.model_dump_json()
    assert (document.loss.struck, document.loss.hidden) == (1, 1)
