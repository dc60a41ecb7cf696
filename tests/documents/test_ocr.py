"""Scanned pages: drawn here, read by tesseract where it is installed."""

import io
import shutil
import subprocess
from collections.abc import Iterator

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import Worker, parse
from ombud.documents.pdf import ocr
from ombud.documents.pdf.page.placing import Edge
from ombud.errors import SourceError
from ombud.settings import DocumentSettings
from ombud.types import Document

A4 = (595, 842)
RULES = (
    ("Sick leave", 22),
    ("Employees who fall ill must tell their manager before ten in the morning,", 12),
    ("and hand in a certificate on the fourth day of the illness at the latest.", 12),
    ("Payment", 17),
    ("Pay goes on for six weeks. After that, the insurance pays sickness benefit.", 12),
)
MORE = (("Travel is booked by the office, and is paid for in advance by the company.", 12),)
needs_tesseract = pytest.mark.skipif(
    "eng" not in ocr.languages(), reason="tesseract-ocr-eng is not installed"
)


def typed(*pages: tuple[tuple[str, int], ...]) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for lines in pages:
        down = 700.0
        for text, size in lines:
            canvas.setFont("Helvetica", size)
            canvas.drawString(72, down, text)
            down -= size * (2 if size > 12 else 1.25)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def scanned(data: bytes, *typed_pages: tuple[tuple[str, int], ...], turned: int = 0) -> bytes:
    """The pages as pictures, and after them pages with a text. turned: degrees."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    pages = pdfium.PdfDocument(data)
    for page in pages:
        picture = page.render(scale=200 / 72, rotation=turned).to_pil()
        sheet = A4[::-1] if turned % 180 else A4
        canvas.setPageSize(sheet)
        canvas.drawImage(ImageReader(picture), 0, 0, *sheet)
        canvas.showPage()
    canvas.setPageSize(A4)
    pages.close()
    for lines in typed_pages:
        for number, (text, size) in enumerate(lines):
            canvas.setFont("Helvetica", size)
            canvas.drawString(72, 600 - 15 * number, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def facts() -> Document:
    return Document(id="x", source="s", uri="gb/sick-leave.pdf", title="")


@needs_tesseract
def test_a_scanned_page_is_laid_out_like_any_other() -> None:
    document = parse(scanned(typed(RULES)), facts())
    assert [(block.kind, block.text, block.page) for block in document.blocks] == [
        ("heading", "Sick leave", 1),
        ("text", f"{RULES[1][0]} {RULES[2][0]}", 1),
        ("heading", "Payment", 1),
        ("text", RULES[4][0], 1),
    ]
    assert document.title == "Sick leave"
    box = document.blocks[0].bbox
    assert box
    assert box[0] == pytest.approx(72, abs=3)
    assert box[3] == pytest.approx(842 - 700, abs=8)


@needs_tesseract
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_that_was_scanned_sideways_is_turned(turned: int) -> None:
    document = parse(scanned(typed(RULES), turned=turned), facts())
    assert document.blocks[0].text == "Sick leave"
    assert f"{RULES[1][0]} {RULES[2][0]}" in document.text
    assert document.text.endswith(RULES[4][0])


@needs_tesseract
def test_some_pages_are_scanned() -> None:
    with Worker(DocumentSettings()) as worker:
        document = worker.parse(scanned(typed(RULES), MORE, ()), facts())
    assert [block.page for block in document.blocks] == [1, 1, 1, 1, 2]
    assert document.blocks[-1].text == MORE[0][0]


@needs_tesseract
def test_pictures_without_words_say_so() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.circle(300, 400, 150, fill=1)
    canvas.save()
    with pytest.raises(SourceError, match="OCR found no more") as wrong:
        parse(out.getvalue(), facts())
    assert "tesseract-ocr-" in wrong.value.hint


@pytest.fixture
def without_tesseract(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", "/nowhere")
    ocr.languages.cache_clear()
    yield
    ocr.languages.cache_clear()


def pictured(*pages: tuple[Edge, tuple[str, ...]], name: str = "Quiet hours are kept") -> bytes:
    """Pages with a picture of a sentence in that box, and lines of text from the top."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for number, ((x, y, width, height), lines) in enumerate(pages, 1):
        picture = Image.new("L", (int(width * 3), int(height * 3)), 255)
        words = f"{name} on floor {number} until noon."
        ImageDraw.Draw(picture).text((90, 90), words, font=ImageFont.load_default(40), fill=0)
        canvas.drawImage(ImageReader(picture), x, y, width, height)
        for line, text in enumerate(lines):
            canvas.drawString(72, (815 if lines == STAMP else 700) - 20 * line, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


FULL = (0, 0, *A4)
PART = (72, 200, 420, 90)
STAMP = ("Received 2026-02-11, registry no. 17",)
TEXT = ("Rules of the house", "", "Doors are closed at eight.", "", "Lights are turned off.")


@needs_tesseract
@pytest.mark.parametrize(
    ("box", "text"), [(FULL, STAMP), (FULL, TEXT), (PART, TEXT), ((0, 400, 595, 442), ())]
)
def test_a_picture_of_text_is_read_beside_what_is_written(box: Edge, text: tuple[str, ...]) -> None:
    document = parse(pictured((box, text)), facts())
    assert document.text.count("Quiet hours are kept on floor 1 until noon.") == 1
    assert all(document.text.count(line) == 1 for line in text if line)
    assert not document.loss


@needs_tesseract
def test_a_scan_in_strips_is_one_picture() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    page = pdfium.PdfDocument(typed(RULES))[0].render(scale=2).to_pil()
    for top in range(0, page.height, 30):
        strip = page.crop((0, top, page.width, min(top + 30, page.height)))
        canvas.drawImage(
            ImageReader(strip), 0, 842 - (top + strip.height) / 2, 595, strip.height / 2
        )
    for number in range(3):
        canvas.drawString(72, 60 + 14 * number, "Typed below the picture at a later time.")
    canvas.save()
    assert RULES[4][0] in parse(out.getvalue(), facts()).text


@needs_tesseract
def test_a_picture_that_hides_words_hides_them_from_a_scanner_too() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(100, 500, "Karin Olsen reported the theft.")
    canvas.drawImage(ImageReader(Image.new("L", (400, 400), 200)), 72, 400, 300, 200)
    canvas.drawString(72, 700, MORE[0][0])
    canvas.save()
    document = parse(out.getvalue(), facts())
    assert document.text == MORE[0][0]
    assert document.loss.hidden == 1


@pytest.mark.usefixtures("without_tesseract")
def test_without_tesseract_the_document_needs_ocr() -> None:
    with pytest.raises(SourceError, match="needs OCR") as wrong:
        parse(scanned(typed(RULES)), facts())
    assert "apt install tesseract-ocr" in wrong.value.hint
    assert RULES[4][0] in parse(typed(RULES), facts()).text


@pytest.mark.usefixtures("without_tesseract")
def test_without_tesseract_pages_and_pictures_that_are_not_read_are_named() -> None:
    pages = ((FULL, STAMP), (FULL, TEXT), (PART, TEXT), (FULL, ()))
    document = parse(pictured(*pages), facts())
    assert document.text.count("Doors are closed at eight.") == 2
    assert document.loss.pages == (1, 4)
    assert document.loss.pictures == 2


def test_a_page_with_a_single_word_is_read() -> None:
    assert parse(typed((("Closed.", 12),)), facts()).text == "Closed."


def test_typed_pages_and_blank_ones_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "place_words", lambda *_: pytest.fail("tesseract was asked"))
    monkeypatch.setattr(ocr, "languages", lambda: ("eng",))
    assert parse(typed(RULES, ()), facts()).blocks


def test_a_few_languages_are_used_and_english_first(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "List of available languages (7):\nafr\neng\nfra\nosd\nscript/Latin\nzho\ndeu\nita\n"
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/tesseract")
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, told, "")
    )
    ocr.languages.cache_clear()
    try:
        assert ocr.languages() == ("eng", "deu", "fra", "ita")
    finally:
        ocr.languages.cache_clear()
