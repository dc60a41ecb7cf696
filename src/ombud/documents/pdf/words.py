"""Words and ruling lines of PDF pages, by PDFium: ten times as fast as pdfminer, and used to
hostile files.

All coordinates are points from the page's upper left corner as a reader holds it, rotation
included."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unicodedata import bidirectional

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from pypdfium2 import raw

from ombud.errors import SourceError

MOST_CHARACTERS = 200_000
"""Of one page; a dense page has 10,000."""
MOST_SHAPES = 20_000
_ENCRYPTED = raw.FPDF_ERR_PASSWORD
_BOLD = 600
"""Weight; 400 is regular."""
_ITALIC = 1 << 6
"""Flag of a font."""


@dataclass(slots=True)
class PdfWord:
    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    """Of the font, in points."""
    bold: bool
    italic: bool = False

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


Edge = tuple[float, float, float, float]
"""x0, top, x1, bottom of a ruling line; one of its sides is (almost) nothing."""


@dataclass
class PdfPage:
    number: int
    """From 1."""
    width: float
    height: float
    words: list[PdfWord] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def read_pages(data: bytes, most: int) -> list[PdfPage]:
    """Every page; raises SourceError for a file that is broken, encrypted or has more than `most`
    pages."""
    if b"%PDF-" not in data[:4096]:
        raise SourceError("The file is no PDF.", hint="Give it the ending of its real format.")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as wrong:
        if getattr(wrong, "err_code", None) == _ENCRYPTED:
            raise SourceError(
                "The PDF is encrypted.", hint="Save a copy without a password."
            ) from wrong
        raise SourceError(
            "The PDF is broken.", hint="Open it in its program and save it again."
        ) from wrong
    try:
        if len(document) > most:
            raise SourceError(
                f"The PDF has {len(document):,} pages; the limit is {most:,}.",
                hint="Split it, or raise [documents] pages.",
            )
        if len(document) == 0:
            raise SourceError(
                "The PDF has no pages.", hint="Open it in its program and save it again."
            )
        return [page for number in range(1, len(document) + 1) if (page := _page(document, number))]
    finally:
        document.close()


def _page(document: Any, number: int) -> PdfPage | None:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        # One page that cannot be opened is as good as blank; if all are, the document is reported.
        return None
    try:
        place = _Placing(page)
        made = PdfPage(number, place.width, place.height)
        text = page.get_textpage()
        try:
            made.words = _words(text.raw, place)
        finally:
            text.close()
        made.edges = list(_edges(page, place))
        return made
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


class _Placing:
    """From PDF coordinates (origin lower left, unrotated) to the reader's."""

    def __init__(self, page: Any) -> None:
        self.left, self.low, self.right, self.high = page.get_cropbox()
        self.turn = page.get_rotation() % 360
        across, up = self.right - self.left, self.high - self.low
        self.width, self.height = (up, across) if self.turn in {90, 270} else (across, up)

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Edge:
        """(x0, top, x1, bottom) of a rectangle given by two corners."""
        (ax, ay), (bx, by) = self._point(x0, y0), self._point(x1, y1)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        x, y = x - self.left, y - self.low
        if self.turn == 90:
            return y, x
        if self.turn == 180:
            return self.width - x, y
        if self.turn == 270:
            return self.width - y, self.height - x
        return x, self.height - y


def _words(text: Any, place: _Placing) -> list[PdfWord]:
    """Characters joined to words: a space, a jump or another line ends one."""
    words: list[PdfWord] = []
    word: PdfWord | None = None
    glyph: tuple[Edge, int] | None = None
    for letter, box, size, bold, italic in _characters(text, place):
        if letter.isspace():
            word = None
            continue
        x0, top, x1, bottom = box
        rtl = is_rtl(letter)
        # The letters of one glyph share its box, and those of a script that runs to the left come
        # in reverse.
        shared = glyph[1] if rtl and glyph and glyph[0] == box else 0
        if word is not None and _adjoins(word, box, size, leftwards=rtl):
            at = len(word.text) - shared
            word.text = word.text[:at] + letter + word.text[at:]
            word.x0, word.x1 = min(word.x0, x0), max(word.x1, x1)
            word.top, word.bottom = min(word.top, top), max(word.bottom, bottom)
            word.bold = word.bold and bold
            word.italic = word.italic and italic
        else:
            word = PdfWord(letter, x0, top, x1, bottom, size, bold, italic)
            words.append(word)
            shared = 0
        glyph = box, shared + 1
    return _without_shadows(words)


def is_rtl(text: str) -> bool:
    """Whether any letter is of a script that runs from right to left: Arabic, Hebrew and others."""
    return not text.isascii() and any(bidirectional(letter) in {"R", "AL"} for letter in text)


def _adjoins(word: PdfWord, box: Edge, size: float, *, leftwards: bool) -> bool:
    """PDFium gives letters in the order of reading: in a script that runs to the left the next one
    stands before."""
    x0, top, x1, bottom = box
    height = max(min(bottom - top, word.bottom - word.top), 1)
    overlap = min(word.bottom, bottom) - max(word.top, top)
    gap = word.x0 - x1 if leftwards else x0 - word.x1
    return overlap > height * 0.4 and -size < gap < 0.25 * max(size, 4)


def _without_shadows(words: list[PdfWord]) -> list[PdfWord]:
    """Bold that is made by printing twice, a hair apart, is read once."""
    seen: dict[tuple[str, int, int], PdfWord] = {}
    kept = []
    for word in words:
        key = (word.text, round(word.x0 / 2), round(word.top / 2))
        if key in seen:
            seen[key].bold = True
        else:
            seen[key] = word
            kept.append(word)
    return kept


def _characters(text: Any, place: _Placing) -> Iterator[tuple[str, Edge, float, bool, bool]]:
    """(character, box, size, bold, italic). Size and weight are looked up once for each text
    object."""
    rectangle = raw.FS_RECTF()
    pointer = ctypes.byref(rectangle)
    fonts: dict[int, tuple[float, bool, bool] | None] = {}
    surrogate = 0
    for position in range(min(raw.FPDFText_CountChars(text), MOST_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(text, position)
        if 0xD800 <= code < 0xDC00:
            surrogate = code
            continue
        if 0xDC00 <= code < 0xE000 and surrogate:
            code, surrogate = 0x10000 + ((surrogate - 0xD800) << 10) + code - 0xDC00, 0
        # PDFium writes 2 for the hyphen at a line's end.
        letter = "-" if code == 2 else chr(code) if code else " "
        if not raw.FPDFText_GetLooseCharBox(text, position, pointer):
            continue
        owner = ctypes.cast(raw.FPDFText_GetTextObject(text, position), ctypes.c_void_p).value or 0
        if owner not in fonts:
            fonts[owner] = _font(text, position, place.turn)
        box = place.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        font = fonts[owner]
        # Nobody sees what lies outside the page; what runs up its side is a stamp.
        if (
            font
            and 0 <= (box[1] + box[3]) / 2 <= place.height
            and 0 <= (box[0] + box[2]) / 2 <= place.width
        ):
            yield letter, box, *font


def _font(text: Any, position: int, turn: int) -> tuple[float, bool, bool] | None:
    """(size, bold, italic) of a character, None when it stands on its side on a page turned by
    `turn` degrees."""
    matrix = raw.FS_MATRIX()
    size = raw.FPDFText_GetFontSize(text, position)
    if raw.FPDFText_GetMatrix(text, position, ctypes.byref(matrix)):
        size *= math.hypot(matrix.c, matrix.d)
        if (abs(matrix.a) < abs(matrix.b)) != (turn in {90, 270}):
            return None
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, position, name, 128, ctypes.byref(flags))
    said = name.value.lower()
    named = any(mark in said for mark in (b"bold", b"black", b"heavy", b"demi"))
    italic = bool(flags.value & _ITALIC) or b"italic" in said or b"oblique" in said
    return round(size * 2) / 2, named or raw.FPDFText_GetFontWeight(text, position) >= _BOLD, italic


def _edges(page: Any, place: _Placing) -> Iterator[Edge]:
    """Lines, thin rectangles, and the four sides of boxes."""
    left, low, right, high = ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), ctypes.c_float()
    refs = [ctypes.byref(v) for v in (left, low, right, high)]
    for number, shape in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=4)):
        if number > MOST_SHAPES:
            return
        if raw.FPDFPath_CountSegments(shape.raw) > 12 or not raw.FPDFPageObj_GetBounds(
            shape.raw, *refs
        ):
            continue
        box = place.box(left.value, low.value, right.value, high.value)
        x0, top, x1, bottom = box
        if x1 - x0 < 4 or bottom - top < 4:
            # An upright line shorter than a row of text is a stroke of some letter or of an
            # underline.
            if bottom - top > 7 or x1 - x0 > 4 > bottom - top:
                yield box
        elif x1 - x0 < place.width * 0.98 or bottom - top < place.height * 0.9:
            yield from (
                (x0, top, x1, top),
                (x0, bottom, x1, bottom),
                (x0, top, x0, bottom),
                (x1, top, x1, bottom),
            )
