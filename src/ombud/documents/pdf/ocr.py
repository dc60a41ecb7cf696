"""Words of scanned pages, by tesseract where it is installed.

PDFium draws a page, tesseract says which words stand where, and the page is laid out like any
other. One page at a time: the deadline of the parser process is what ends a document that takes
too long.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from ombud.documents.pdf.page.words import PdfPage, PdfWord

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
_NO_LANGUAGES = frozenset(("", "osd", "equ", "snum"))
"""Packs for the direction of a page, for formulas and digits."""
_SURE = 30
"""Percent, from which a word is taken; specks and drawings are read as words too, with less."""
_LINE_LEVEL = "4"
_WORD_LEVEL = "5"
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
    listing = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, check=False
    ).stdout
    packs = {line.strip() for line in listing.splitlines()[1:]}
    languages = set()
    for pack in packs - _NO_LANGUAGES:
        if "/" not in pack:
            languages.add(pack)
    usual = [language for language in _FIRST if language in languages]
    others = sorted(languages.difference(usual))
    return tuple([*usual, *others][:MOST_LANGUAGES])


def needs_reading(page: PdfPage) -> bool:
    """Whether a page has hardly any text of its own."""
    return page.characters < FEWEST


def recognise(data: bytes, pages: list[PdfPage], body: float = 10.0) -> None:
    """Put the words of those pages in place of what they have; pages that are blank or fail stay as
    they are.

    body: size of type of the pages that have a text, so that a scan of any scale fits in.
    """
    document = pdfium.PdfDocument(data)
    try:
        for page in pages:
            try:
                image = _image(document, page)
            except pdfium.PdfiumError:
                continue
            words = list(_words(image, body)) if image else []
            page.words = words or page.words
    finally:
        document.close()


class PageImage(NamedTuple):
    """A page as a grey image."""

    pgm: bytes
    """https://netpbm.sourceforge.net/doc/pgm.html, binary."""
    scale: float
    """Pixels a point."""


def _image(document: Any, page: PdfPage) -> PageImage | None:
    """The page as it is printed, None for a page with nothing on it."""
    sheet = document[page.number - 1]
    try:
        if next(iter(sheet.get_objects(max_depth=2)), None) is None:
            return None
        scale = min(SCALE, MOST_PIXELS / max(page.width, page.height, 1.0))
        bitmap = sheet.render(scale=scale, grayscale=True)
        try:
            pixels = bitmap.to_numpy()
            height, width = pixels.shape[:2]
            if pixels.min() == pixels.max():
                return None
            header = b"P5 %d %d 255\n" % (width, height)
            return PageImage(header + pixels.reshape(height, width).tobytes(), scale)
        finally:
            bitmap.close()
    finally:
        sheet.close()


@dataclass
class _ScannedWord:
    text: str
    left: int
    width: int


@dataclass
class _ScannedLine:
    """A line as tesseract sees it, in pixels."""

    bottom: int
    height: int
    words: list[_ScannedWord] = field(default_factory=list)

    def type(self) -> tuple[float, float]:
        """(baseline, size of type) from the line's box, which depends on the letters that stand on
        it."""
        text = "".join(word.text for word in self.words)
        above = 0.72 if re.search(r"[A-Zbdfhiklt\d]|[^\x00-\x7f]", text) else 0.52
        below = 0.21 if re.search(r"[gjpqy,;()Q]", text) else 0.0
        size = self.height / (above + below)
        return self.bottom - below * size, size


def _words(image: PageImage, body: float) -> Iterator[PdfWord]:
    """The words of a page. body: size of type that the usual one on it is taken for, in points."""
    lines = [line for line in _scanned_lines(image) if line.words]
    sizes: list[float] = []
    for line in lines:
        _, size = line.type()
        sizes += [size] * len(line.words)
    usual = median(sizes) if sizes else 1.0
    scale = image.scale
    for line in lines:
        baseline, size = line.type()
        for word in line.words:
            left = word.left / scale
            yield PdfWord(
                text=word.text.strip(),
                x0=left,
                top=(baseline - 0.8 * size) / scale,
                x1=left + word.width / scale,
                bottom=(baseline + 0.2 * size) / scale,
                size=body * _times(size / usual),
                bold=False,
            )


def _scanned_lines(image: PageImage) -> list[_ScannedLine]:
    """What stands in tesseract's table, whose columns are level, page, block, paragraph, line,
    word, left, top, width, height, certainty, text."""
    lines: dict[tuple[str, ...], _ScannedLine] = {}
    for row in _tesseract_table(image).splitlines()[1:]:
        cells = row.split("\t", 11)
        if len(cells) != 12:
            continue
        place = tuple(cells[1:5])
        left, top, width, height = cells[6:10]
        certainty, text = cells[10:]
        if cells[0] == _LINE_LEVEL:
            bottom = int(top) + int(height)
            lines[place] = _ScannedLine(bottom, int(height))
        elif cells[0] == _WORD_LEVEL and text.strip() and float(certainty) >= _SURE:
            word = _ScannedWord(text, int(left), int(width))
            lines[place].words.append(word)
    return list(lines.values())


def _tesseract_table(image: PageImage) -> str:
    resolution = round(image.scale * 72)
    command = ["tesseract", "stdin", "stdout", "-l", "+".join(languages())]
    command += ["--dpi", str(resolution), "tsv"]
    done = subprocess.run(
        command,
        input=image.pgm,
        capture_output=True,
        check=False,
        env={**os.environ, "OMP_THREAD_LIMIT": "2"},
    )
    return done.stdout.decode("utf-8", errors="replace")


def _times(ratio: float) -> float:
    """Size of type against the usual one, in few steps: what is measured on a scan is not exact."""
    return 1.0 if 0.5 < ratio < _LARGER else round(ratio * 4) / 4
