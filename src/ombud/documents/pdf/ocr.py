"""Words of scanned pages, by tesseract where it is installed.

PDFium draws a page, tesseract says which words stand where, and the page is laid out like any
other. One page at a
time: the deadline of the parser process is what ends a document that takes too long.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from statistics import median
from typing import Any

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from ombud.documents.pdf.words import PdfPage, PdfWord

FEWEST = 15
"""Letters and digits on a page; one with less is a picture of text, if it is not blank."""
PACKAGE = "tesseract-ocr"
"""Of Debian and Ubuntu; each language has a package of its own, such as tesseract-ocr-deu."""
SCALE = 300 / 72
MOST_PIXELS = 5000
"""Along the longer side; A4 at 300 dpi has 3,508."""
MOST_LANGUAGES = 4
"""Each makes a page slower to read."""
_FIRST = ("eng", "deu", "fra", "spa", "ita", "nld", "por", "pol")
_SURE = 30
"""Percent, from which a word is taken; specks and drawings are read as words too, with less."""
_LARGER = 1.2
"""Times the usual size: headings."""


def installed() -> bool:
    return bool(languages())


@cache
def languages() -> tuple[str, ...]:
    """Installed language packs that are used, () without tesseract."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    told = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, check=False
    ).stdout
    packs = {line.strip() for line in told.splitlines()[1:]} - {"", "osd", "equ", "snum"}
    plain = {pack for pack in packs if "/" not in pack}
    usual = [pack for pack in _FIRST if pack in plain]
    return tuple([*usual, *sorted(plain - set(usual))][:MOST_LANGUAGES])


def needs_reading(page: PdfPage) -> bool:
    """Whether a page has hardly any text of its own."""
    return sum(1 for word in page.words for c in word.text if c.isalnum()) < FEWEST


def recognise(data: bytes, pages: list[PdfPage], body: float = 10.0) -> None:
    """Put the words of those pages in place of what they have; pages that are blank or fail stay as
    they are.

    body: size of type of the pages that have a text, so that a scan of any scale fits in.
    """
    document = pdfium.PdfDocument(data)
    try:
        for page in pages:
            try:
                drawn = _drawn(document, page)
            except pdfium.PdfiumError:
                continue
            words = list(_words(*drawn, body)) if drawn else []
            page.words = words or page.words
    finally:
        document.close()


def _drawn(document: Any, page: PdfPage) -> tuple[bytes, float] | None:
    """(the page as a grey image in PGM, pixels a point), None for a page with nothing on it."""
    sheet = document[page.number - 1]
    try:
        if next(iter(sheet.get_objects(max_depth=2)), None) is None:
            return None
        scale = min(SCALE, MOST_PIXELS / max(page.width, page.height, 1.0))
        bitmap = sheet.render(scale=scale, grayscale=True)
        try:
            rows = bitmap.to_numpy()
            height, width = rows.shape[:2]
            if rows.min() == rows.max():
                return None
            return b"P5 %d %d 255\n" % (width, height) + rows.reshape(
                height, width
            ).tobytes(), scale
        finally:
            bitmap.close()
    finally:
        sheet.close()


def _words(image: bytes, scale: float, body: float) -> Iterator[PdfWord]:
    table = subprocess.run(
        [  # noqa: S607
            "tesseract",
            "stdin",
            "stdout",
            "-l",
            "+".join(languages()),
            "--dpi",
            str(round(scale * 72)),
            "tsv",
        ],
        input=image,
        capture_output=True,
        check=False,
        env={**os.environ, "OMP_THREAD_LIMIT": "2"},
    ).stdout.decode("utf-8", errors="replace")
    found = [cells for line in table.splitlines()[1:] if len(cells := line.split("\t", 11)) == 12]
    lines: dict[tuple[str, ...], list[list[str]]] = {}
    boxes = {}
    for cells in found:
        # Level 4 is a line, level 5 a word of it.
        if cells[0] == "4":
            boxes[tuple(cells[1:5])] = int(cells[7]) + int(cells[9]), int(cells[9])
        elif cells[0] == "5" and cells[11].strip() and float(cells[10]) >= _SURE:
            lines.setdefault(tuple(cells[1:5]), []).append(cells)
    read = [
        (*_type(*boxes[place], "".join(c[11] for c in words)), words)
        for place, words in lines.items()
    ]
    usual = median([size for _, size, words in read for _ in words]) if read else 1.0
    for baseline, size, words in read:
        top, bottom = (baseline - 0.8 * size) / scale, (baseline + 0.2 * size) / scale
        for cells in words:
            left, width = int(cells[6]) / scale, int(cells[8]) / scale
            yield PdfWord(
                cells[11].strip(),
                left,
                top,
                left + width,
                bottom,
                body * _times(size / usual),
                False,
            )


def _type(bottom: int, height: int, text: str) -> tuple[float, float]:
    """(baseline, size of type) of a line from its box, which depends on the letters that stand on
    it."""
    above = 0.72 if re.search(r"[A-Zbdfhiklt\d]|[^\x00-\x7f]", text) else 0.52
    below = 0.21 if re.search(r"[gjpqy,;()Q]", text) else 0.0
    size = height / (above + below)
    return bottom - below * size, size


def _times(ratio: float) -> float:
    """Size of type against the usual one, in few steps: what is measured on a scan is not exact."""
    return 1.0 if 0.5 < ratio < _LARGER else round(ratio * 4) / 4
