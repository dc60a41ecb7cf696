"""Scanned pages: drawn here, read by tesseract where it is installed."""

import io
import shutil
import subprocess

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import Worker, parse
from ombud.documents.pdf import ocr
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


def scanned(data: bytes, *typed_pages: tuple[tuple[str, int], ...]) -> bytes:
    """The pages as pictures, and after them pages with a text."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    pages = pdfium.PdfDocument(data)
    for page in pages:
        canvas.drawImage(ImageReader(page.render(scale=200 / 72).to_pil()), 0, 0, *A4)
        canvas.showPage()
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


def test_without_tesseract_the_document_needs_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    ocr.languages.cache_clear()
    try:
        with pytest.raises(SourceError, match="needs OCR") as wrong:
            parse(scanned(typed(RULES)), facts())
        assert "apt install tesseract-ocr" in wrong.value.hint
        assert RULES[4][0] in parse(typed(RULES), facts()).text
    finally:
        ocr.languages.cache_clear()


def test_typed_pages_and_blank_ones_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "_words", lambda *_: pytest.fail("tesseract was asked"))
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
