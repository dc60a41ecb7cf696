"""OCR: read the words of scanned pages by tesseract, if it is installed.

PDFium draws a page, tesseract finds the words and their places, and the page is laid out like any
other. Pages are read one at a time; the deadline of the parser process limits the time."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge, area, box_around, common
from ombud.documents.pdf.page.sight import SCAN
from ombud.documents.pdf.page.words import PdfPage, PdfWord
from ombud.documents.pdf.running import EDGE
from ombud.types import Loss

MIN_LETTERS = 15
"""Letters and digits of a page; one with fewer is a picture of text, if it is not blank."""
PACKAGE = "tesseract-ocr"
"""Package of Debian and Ubuntu; each language has its own, such as tesseract-ocr-deu."""
SCALE = 300 / 72
MAX_PIXELS = 5000
"""Pixels of the longer side; A4 at 300 dpi has 3,508."""
MAX_LANGUAGES = 4
"""Languages that are used; each makes reading slower."""
_FIRST = ("eng", "deu", "fra", "spa", "ita", "nld", "por", "pol")
_NO_LANGUAGES = frozenset(("", "osd", "equ", "snum"))
"""Packs for the direction of a page, for formulas and digits."""
_MIN_CERTAINTY = 30
"""Percent from which a word is accepted; specks and drawings get less."""
_MIN_CERTAINTY_BESIDE_TEXT = 2 * _MIN_CERTAINTY
"""Percent on pages with text, where most pictures contain no words."""
MAX_BESIDE_TEXT = 40
"""Pictures that are read on pages with text, to limit the time."""
_LINE_LEVEL = "4"
_WORD_LEVEL = "5"
_HEADING_RATIO = 1.2
"""Ratio to the usual size from which a line is a heading."""


def installed() -> bool:
    return bool(languages())


@cache
def languages() -> tuple[str, ...]:
    """List the installed language packs that are used; () without tesseract."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    listing = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, check=False
    ).stdout
    packs = {line.strip() for line in listing.splitlines()[1:]} - _NO_LANGUAGES
    languages = {pack for pack in packs if "/" not in pack}
    usual = [language for language in _FIRST if language in languages]
    others = sorted(languages.difference(usual))
    return tuple([*usual, *others][:MAX_LANGUAGES])


def ocr_pages(data: bytes, pages: list[PdfPage], body: float) -> Loss:
    """Put the words of pictures on the pages, and return what was not read.

    body: size of type of the pages that have a text, so that a scan of any scale fits in."""
    loss = Loss()
    document = pdfium.PdfDocument(data)
    read_before: set[int] = set()
    beside_text = 0
    try:
        for page in pages:
            has_text = has_text_layer(page)
            for region in unread_regions(page, read_before, body, has_text=has_text):
                beside_text += has_text
                is_read = installed() and beside_text <= MAX_BESIDE_TEXT
                words = ocr_region(document, page, region, body) if is_read else []
                page.words += words or ()
                if has_text or region != page.box:
                    loss += Loss(pictures=not is_read)
                elif words == [] and not (is_read and page.has_words):
                    loss += Loss(pages=(page.number,))
    finally:
        document.close()
    return loss


def has_text_layer(page: PdfPage) -> bool:
    """Tell whether a page has text besides running lines and a stamp in its margins."""
    upper, lower = EDGE * page.height, (1 - EDGE) * page.height
    words = [word.text for word in page.words if upper < word.middle < lower]
    words += (word.text for part in page.sideways for word in part.words)
    return sum(map(str.isalnum, "".join(words))) >= MIN_LETTERS


def unread_regions(
    page: PdfPage, read_before: set[int], body: float, *, has_text: bool
) -> list[Edge]:
    """Find the parts of a page whose words are only in a picture: the whole page if it has drawings
    and hardly any text, or if pictures take up most of it.

    read_before: checksums of the pictures on earlier pages; on pages with text each is read
    once."""
    if not has_text and page.is_drawn:
        return [page.box]
    new = {picture.picture for picture in page.pictures} - read_before
    read_before |= new
    boxes = []
    for picture in page.pictures if not page.is_recognised else ():
        box = x0, top, x1, bottom = common(picture.box, page.box)
        is_icon = min(x1 - x0, bottom - top) < body
        if picture.picture in new and not is_icon:
            boxes.append(box)
    regions = unite_boxes(boxes)
    return [page.box] if sum(map(area, regions)) > SCAN * area(page.box) else regions


def unite_boxes(boxes: Iterable[Edge]) -> list[Edge]:
    """Unite boxes that touch, as a scan may be cut into strips."""
    regions: list[Edge] = []
    for box in boxes:
        x0, top, x1, bottom = box
        wider = x0 - 1, top - 1, x1 + 1, bottom + 1
        strips = [region for region in regions if area(common(region, wider))]
        regions = [region for region in regions if region not in strips]
        if len(regions) < MAX_BESIDE_TEXT:
            regions.append(box_around([box, *strips]))
    return regions


def ocr_region(document: Any, page: PdfPage, region: Edge, body: float) -> list[PdfWord] | None:
    """Read the words in a part of a page, besides those in its text; None if it is blank."""
    sure = _MIN_CERTAINTY if region == page.box else _MIN_CERTAINTY_BESIDE_TEXT
    try:
        image = draw_region(document, page, region)
        lines = scanned_lines(image, sure) if image else []
        if image and region == page.box and not is_upright(lines):
            image = draw_region(document, page, region, turned=find_turn(image)) or image
            lines = scanned_lines(image, sure)
    except pdfium.PdfiumError:
        return []
    if image is None:
        return None
    in_text = [(word.x0, word.top, word.x1, word.bottom) for word in page.words]
    return [word for word in place_words(lines, image, body) if not word.is_in_any(in_text)]


class PageImage(NamedTuple):
    """A part of a page as a grey image."""

    pgm: bytes
    """Binary PGM, https://netpbm.sourceforge.net/doc/pgm.html."""
    scale: float
    """Pixels per point."""
    left: float
    top: float
    """Its upper left corner on the page."""


def draw_region(document: Any, page: PdfPage, region: Edge, *, turned: int = 0) -> PageImage | None:
    """Draw a part of a page; None if it is blank. turned: degrees."""
    left, top, right, bottom = region
    sheet = document[page.number - 1]
    try:
        scale = min(SCALE, MAX_PIXELS / max(right - left, bottom - top, 1.0))
        crop = left, page.height - bottom, page.width - right, top
        bitmap = sheet.render(scale=scale, grayscale=True, crop=crop, rotation=turned)
        try:
            pixels = bitmap.to_numpy()
            height, width = pixels.shape[:2]
            if pixels.min() == pixels.max():
                return None
            header = b"P5 %d %d 255\n" % (width, height)
            pgm = header + pixels.reshape(height, width).tobytes()
            return PageImage(pgm, scale, left, top)
        finally:
            bitmap.close()
    finally:
        sheet.close()


@dataclass
class _ScannedWord:
    text: str
    left: int
    width: int
    certainty: float


@dataclass
class _ScannedLine:
    """A line as tesseract sees it, in pixels."""

    bottom: int
    height: int
    width: int
    words: list[_ScannedWord] = field(default_factory=list)

    def type(self) -> tuple[float, float]:
        """Compute baseline and size of type from the line's box, whose height depends on its
        letters."""
        text = "".join(word.text for word in self.words)
        above = 0.72 if re.search(r"[A-Zbdfhiklt\d]|[^\x00-\x7f]", text) else 0.52
        below = 0.21 if re.search(r"[gjpqy,;()Q]", text) else 0.0
        size = self.height / (above + below)
        return self.bottom - below * size, size


def place_words(lines: Sequence[_ScannedLine], image: PageImage, body: float) -> Iterator[PdfWord]:
    """Yield the words of an image. body: size in points to which the usual size is scaled."""
    sizes: list[float] = []
    for line in lines:
        _, size = line.type()
        sizes += [size] * len(line.words)
    usual = median(sizes) if sizes else 1.0
    scale = image.scale
    for line in lines:
        baseline, size = line.type()
        ratio = size / usual
        for word in line.words:
            left = word.left / scale
            yield PdfWord(
                text=word.text.strip(),
                x0=image.left + left,
                top=image.top + (baseline - 0.8 * size) / scale,
                x1=image.left + left + word.width / scale,
                bottom=image.top + (baseline + 0.2 * size) / scale,
                # Sizes measured on a scan are not exact: round them to few steps.
                size=body * (1.0 if 0.5 < ratio < _HEADING_RATIO else round(ratio * 4) / 4),
                bold=False,
            )


def scanned_lines(image: PageImage, sure: int) -> list[_ScannedLine]:
    """Read tesseract's table, whose columns are level, page, block, paragraph, line, word, left,
    top, width, height, certainty, text. sure: percent from which a word is accepted."""
    lines: dict[tuple[str, ...], _ScannedLine] = {}
    for row in run_tesseract(image, "-l", "+".join(languages()), "tsv").splitlines()[1:]:
        cells = row.split("\t", 11)
        if len(cells) != 12:
            continue
        place = tuple(cells[1:5])
        left, top, width, height = cells[6:10]
        certainty, text = cells[10:]
        if cells[0] == _LINE_LEVEL:
            bottom = int(top) + int(height)
            lines[place] = _ScannedLine(bottom, int(height), int(width))
        elif cells[0] == _WORD_LEVEL and text.strip() and float(certainty) >= sure:
            word = _ScannedWord(text, int(left), int(width), float(certainty))
            lines[place].words.append(word)
    return [line for line in lines.values() if line.words]


def is_upright(lines: Sequence[_ScannedLine]) -> bool:
    """Tell whether a page was scanned upright: words are certain, lines are level."""
    certainties = [word.certainty for line in lines for word in line.words]
    level = sum(line.width > line.height for line in lines)
    return not lines or (
        median(certainties) >= _MIN_CERTAINTY_BESIDE_TEXT and 2 * level >= len(lines)
    )


def find_turn(image: PageImage) -> int:
    """Find by how many degrees a page must be turned, which takes as long as reading it."""
    for line in run_tesseract(image, "-l", "osd", "--psm", "0").splitlines():
        if line.startswith("Rotate:"):
            return int(line.split()[1])
    return 0


def run_tesseract(image: PageImage, *options: str) -> str:
    command = ["tesseract", "stdin", "stdout", "--dpi", f"{image.scale * 72:.0f}", *options]
    done = subprocess.run(
        command,
        input=image.pgm,
        capture_output=True,
        check=False,
        # On a busy machine, threads that wait for each other take fifty times as long.
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    return done.stdout.decode("utf-8", errors="replace")
