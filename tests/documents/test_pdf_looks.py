"""How words of a PDF look says whether they count: struck, raised, linked, hidden."""

import io
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import parse
from ombud.types import Document

LAST = "Hand it in by the end of the month in which the costs arose."


def drawn(draw: Callable[[Canvas], None], replaced: tuple[bytes, bytes] = (b"", b"")) -> Document:
    """The document of a page that holds what is drawn, above a sentence."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    canvas.setFont("Helvetica", 11)
    draw(canvas)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(72, 400, LAST)
    canvas.save()
    facts = Document(id="x" * 16, source="s", uri="a.pdf", title="", language="en")
    return parse(out.getvalue().replace(*replaced), facts)


def test_a_line_that_goes_on_beyond_its_words_strikes_nothing() -> None:
    def chart(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "40 euros")
        canvas.line(60, 703, 400, 703)

    document = drawn(chart)
    assert "40 euros" in document.text
    assert document.loss.struck == 0


@pytest.mark.parametrize("kind", [b"/Highlight", b"/StrikeOut"])
def test_words_that_a_reviewer_strikes_out_are_struck(kind: bytes) -> None:
    def review(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Staff get 25 days.")
        canvas.highlightAnnotation("", [70, 697, 170, 712], [70, 712, 170, 712, 70, 697, 170, 697])

    document = drawn(review, (b"/Highlight", kind))
    assert ("25 days" in document.text) == (kind == b"/Highlight")
    assert document.loss.struck == (kind == b"/StrikeOut")


def test_words_that_are_marked_to_be_blacked_out_are_hidden() -> None:
    def review(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Olsen wrote it.")
        canvas.highlightAnnotation("", [70, 697, 100, 712], [70, 712, 100, 712, 70, 697, 100, 697])

    document = drawn(review, (b"/Highlight", b"/Redact"))
    assert "wrote it." in document.text
    assert "Olsen" not in document.model_dump_json()
    assert document.loss.hidden == 1


def test_the_upper_figure_of_a_fraction_is_no_footnote_mark() -> None:
    def fraction(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Staff work 2")
        x = 72 + canvas.stringWidth("Staff work 2", "Helvetica", 11)
        canvas.setFont("Helvetica", 7)
        canvas.drawString(x, 704, "1")
        canvas.drawString(x + 4, 700, "/4 hours.")

    assert "Staff work 2 1/4 hours." in drawn(fraction).text.replace(" /", "/")


def test_a_name_is_as_hidden_as_the_part_of_its_line_under_a_bar() -> None:
    def report(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "The report came from Karin Olsen in May.")
        before = canvas.stringWidth("The report came from ", "Helvetica", 11)
        name = canvas.stringWidth("Karin Olsen", "Helvetica", 11)
        canvas.rect(72 + before - 1, 697, name + 2, 13, stroke=0, fill=1)

    document = drawn(report)
    assert "The report came from in May." in document.text
    assert "Olsen" not in document.model_dump_json()
    assert document.loss.hidden == 1


def test_white_words_on_a_dark_bar_are_seen_and_on_paper_are_not() -> None:
    def bar(canvas: Canvas) -> None:
        canvas.rect(60, 690, 300, 24, stroke=0, fill=1)
        canvas.setFillGray(1)
        canvas.drawString(72, 700, "Read this")
        canvas.drawString(72, 600, "Not this")
        canvas.setFillGray(0)

    text = drawn(bar).text
    assert "Read this" in text
    assert "Not this" not in text


def scan(words: str, *, blackened: bool) -> Image.Image:
    """A scan of words at (72, 100), with a bar over them or without."""
    picture = Image.new("L", (1190, 1684), 255)
    pen = ImageDraw.Draw(picture)
    pen.text((144, 200), words, font=ImageFont.load_default(28), fill=0)
    if blackened:
        pen.rectangle((130, 190, 600, 245), fill=0)
    return picture


@pytest.mark.parametrize("blackened", [False, True])
def test_invisible_words_over_a_scan_are_what_it_shows(blackened: bool) -> None:
    """Whoever blackens the picture of a scan often leaves the words that a scanner laid over it."""

    def page(canvas: Canvas) -> None:
        picture = scan("Karin Olsen", blackened=blackened)
        canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)
        canvas.saveState()
        words = canvas.beginText(72, 842 - 114)
        words.setFont("Helvetica", 13)
        words.setTextRenderMode(3)
        words.textOut("Karin Olsen")
        canvas.drawText(words)
        canvas.restoreState()

    assert ("Olsen" in drawn(page).text) != blackened


def test_words_that_a_path_cuts_off_are_hidden() -> None:
    """As where a page, or a cell of a sheet, was cropped before it was printed."""

    def cropped(canvas: Canvas) -> None:
        for low, words in ((690, "Costs are paid. Olsen"), (640, "Fares too. Nothing is cut.")):
            canvas.saveState()
            path = canvas.beginPath()
            path.rect(72, low, 78 if low == 690 else 300, 30)
            canvas.clipPath(path, stroke=0)
            canvas.drawString(72, low + 10, words)
            canvas.drawString(72, low + 50, "Secret bonus")
            canvas.restoreState()

    document = drawn(cropped)
    assert "Costs are paid." in document.text
    assert "Fares too. Nothing is cut." in document.text
    dumped = document.model_dump_json()
    assert [word for word in ("Olsen", "Secret", "bonus") if word in dumped] == []
    assert document.loss.hidden
