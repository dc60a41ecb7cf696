"""Words and ruling lines of PDF pages, by PDFium: ten times as fast as pdfminer, and used to
hostile files.

All coordinates are points from the page's upper left corner as a reader holds it, rotation
included."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
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
_BOLD_NAMES = (b"bold", b"black", b"heavy", b"demi")
_ITALIC = 1 << 6
"""Flag of a font."""
_ITALIC_NAMES = (b"italic", b"oblique")


Edge = tuple[float, float, float, float]
"""x0, top, x1, bottom of a ruling line; one of its sides is (almost) nothing. Of a box, too."""


class Typeface(NamedTuple):
    """How a character is set."""

    size: float
    """In points."""
    bold: bool
    italic: bool


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

    @property
    def across(self) -> float:
        """Half-way from left to right."""
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def is_in_any(self, boxes: list[Edge]) -> bool:
        """Whether its middle is in one of the boxes, or at most a point outside."""
        return any(map(self._is_in, boxes))

    def _is_in(self, box: Edge) -> bool:
        x0, top, x1, bottom = box
        if not top - 1 <= self.middle <= bottom + 1:
            return False
        return x0 - 1 <= self.across <= x1 + 1

    def add(self, letter: str, box: Edge, face: Typeface, at: int) -> None:
        """Put a letter into the text at that position, and make room for its box."""
        x0, top, x1, bottom = box
        before = self.text[:at]
        after = self.text[at:]
        self.text = before + letter + after
        self.x0 = min(self.x0, x0)
        self.x1 = max(self.x1, x1)
        self.top = min(self.top, top)
        self.bottom = max(self.bottom, bottom)
        self.bold = self.bold and face.bold
        self.italic = self.italic and face.italic


@dataclass
class PdfPage:
    number: int
    """From 1."""
    width: float
    height: float
    words: list[PdfWord] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    @property
    def characters(self) -> int:
        """How many letters and digits are on it."""
        return sum(character.isalnum() for word in self.words for character in word.text)


def read_pages(data: bytes, most: int) -> list[PdfPage]:
    """Every page; raises SourceError for a file that is broken, encrypted or has more than `most`
    pages."""
    if b"%PDF-" not in data[:4096]:
        raise SourceError("The file is no PDF.", hint="Give it the ending of its real format.")
    document = _opened(data)
    try:
        _check_length(len(document), most)
        pages = []
        for number in range(1, len(document) + 1):
            page = _page(document, number)
            if page:
                pages.append(page)
        return pages
    finally:
        document.close()


def _opened(data: bytes) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _ENCRYPTED:
            raise SourceError(
                "The PDF is encrypted.", hint="Save a copy without a password."
            ) from error
        raise SourceError(
            "The PDF is broken.", hint="Open it in its program and save it again."
        ) from error


def _check_length(pages: int, most: int) -> None:
    if pages > most:
        raise SourceError(
            f"The PDF has {pages:,} pages; the limit is {most:,}.",
            hint="Split it, or raise [documents] pages.",
        )
    if pages == 0:
        raise SourceError("The PDF has no pages.", hint="Open it in its program and save it again.")


def _page(document: Any, number: int) -> PdfPage | None:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        # One page that cannot be opened is as good as blank; if all are, the document is reported.
        return None
    try:
        place = _Placing(page)
        text = page.get_textpage()
        try:
            words = _words(text.raw, place)
        finally:
            text.close()
        return PdfPage(
            number=number,
            width=place.width,
            height=place.height,
            words=words,
            edges=list(_edges(page, place)),
        )
    except pdfium.PdfiumError:
        return None
    finally:
        page.close()


class _Placing:
    """From PDF coordinates (origin lower left, unrotated) to the reader's."""

    def __init__(self, page: Any) -> None:
        self.left, self.low, self.right, self.high = page.get_cropbox()
        self.turn = page.get_rotation() % 360
        self.width: float = self.right - self.left
        self.height: float = self.high - self.low
        if self.turn in {90, 270}:
            self.width, self.height = self.height, self.width

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Edge:
        """(x0, top, x1, bottom) of a rectangle given by two corners."""
        ax, ay = self._point(x0, y0)
        bx, by = self._point(x1, y1)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def shows(self, box: Edge) -> bool:
        """Whether the middle of a box is on the page."""
        x0, top, x1, bottom = box
        middle = (top + bottom) / 2
        across = (x0 + x1) / 2
        return 0 <= middle <= self.height and 0 <= across <= self.width

    def _point(self, x: float, y: float) -> tuple[float, float]:
        x -= self.left
        y -= self.low
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
    glyph: Edge | None = None
    letters_of_glyph = 0
    for letter, box, face in _characters(text, place):
        if letter.isspace():
            word = None
            continue
        runs_left = is_rtl(letter)
        # The letters of one glyph share its box, and those of a script that runs to the left come
        # in reverse.
        if not runs_left or box != glyph:
            letters_of_glyph = 0
        if word is not None and _adjoins(word, box, face.size, leftwards=runs_left):
            word.add(letter, box, face, at=len(word.text) - letters_of_glyph)
        else:
            word = _first_letter(letter, box, face)
            words.append(word)
            letters_of_glyph = 0
        glyph = box
        letters_of_glyph += 1
    return _without_shadows(words)


def _first_letter(letter: str, box: Edge, face: Typeface) -> PdfWord:
    x0, top, x1, bottom = box
    return PdfWord(
        text=letter,
        x0=x0,
        top=top,
        x1=x1,
        bottom=bottom,
        size=face.size,
        bold=face.bold,
        italic=face.italic,
    )


def is_rtl(text: str) -> bool:
    """Whether any letter is of a script that runs from right to left: Arabic, Hebrew and others."""
    if text.isascii():
        return False
    return any(bidirectional(letter) in {"R", "AL"} for letter in text)


def _adjoins(word: PdfWord, box: Edge, size: float, *, leftwards: bool) -> bool:
    """PDFium gives letters in the order of reading: in a script that runs to the left the next one
    stands before."""
    x0, top, x1, bottom = box
    smaller_height = max(min(bottom - top, word.height), 1)
    overlap = min(word.bottom, bottom) - max(word.top, top)
    if overlap <= smaller_height * 0.4:
        return False
    gap = word.x0 - x1 if leftwards else x0 - word.x1
    return -size < gap < 0.25 * max(size, 4)


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


def _characters(text: Any, place: _Placing) -> Iterator[tuple[str, Edge, Typeface]]:
    """(character, box, how it is set). Size and weight are looked up once for each text object."""
    rectangle = raw.FS_RECTF()
    pointer = ctypes.byref(rectangle)
    faces: dict[int, Typeface | None] = {}
    for position, letter in _letters(text):
        if not raw.FPDFText_GetLooseCharBox(text, position, pointer):
            continue
        text_object = raw.FPDFText_GetTextObject(text, position)
        address = ctypes.cast(text_object, ctypes.c_void_p).value or 0
        if address not in faces:
            faces[address] = _typeface(text, position, place.turn)
        face = faces[address]
        box = place.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        # Nobody sees what lies outside the page; what runs up its side is a stamp.
        if face and place.shows(box):
            yield letter, box, face


def _letters(text: Any) -> Iterator[tuple[int, str]]:
    """(position, character); of a pair of surrogates the position of the second."""
    high_surrogate = 0
    for position in range(min(raw.FPDFText_CountChars(text), MOST_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(text, position)
        if 0xD800 <= code < 0xDC00:
            high_surrogate = code
            continue
        if 0xDC00 <= code < 0xE000 and high_surrogate:
            high_bits = (high_surrogate - 0xD800) << 10
            code = 0x10000 + high_bits + code - 0xDC00
            high_surrogate = 0
        yield position, _letter(code)


def _letter(code: int) -> str:
    """PDFium writes 2 for the hyphen at a line's end."""
    if code == 2:
        return "-"
    return chr(code) if code else " "


def _typeface(text: Any, position: int, turn: int) -> Typeface | None:
    """How a character is set, None when it stands on its side on a page turned by `turn`
    degrees."""
    matrix = raw.FS_MATRIX()
    size = raw.FPDFText_GetFontSize(text, position)
    if raw.FPDFText_GetMatrix(text, position, ctypes.byref(matrix)):
        size *= math.hypot(matrix.c, matrix.d)
        runs_up = abs(matrix.a) < abs(matrix.b)
        if runs_up != (turn in {90, 270}):
            return None
    buffer = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, position, buffer, 128, ctypes.byref(flags))
    name = buffer.value.lower()
    has_bold_name = any(mark in name for mark in _BOLD_NAMES)
    has_italic_name = any(mark in name for mark in _ITALIC_NAMES)
    return Typeface(
        size=round(size * 2) / 2,
        bold=has_bold_name or raw.FPDFText_GetFontWeight(text, position) >= _BOLD,
        italic=has_italic_name or bool(flags.value & _ITALIC),
    )


def _edges(page: Any, place: _Placing) -> Iterator[Edge]:
    """Lines, thin rectangles, and the four sides of boxes."""
    shapes = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=4)
    for number, shape in enumerate(shapes):
        if number > MOST_SHAPES:
            return
        if raw.FPDFPath_CountSegments(shape.raw) > 12:
            continue
        box = _bounds(shape, place)
        if box:
            yield from _sides(box, place)


def _bounds(shape: Any, place: _Placing) -> Edge | None:
    left = ctypes.c_float()
    low = ctypes.c_float()
    right = ctypes.c_float()
    high = ctypes.c_float()
    pointers = list(map(ctypes.byref, (left, low, right, high)))
    if not raw.FPDFPageObj_GetBounds(shape.raw, *pointers):
        return None
    return place.box(left.value, low.value, right.value, high.value)


def _sides(box: Edge, place: _Placing) -> Iterator[Edge]:
    """What a shape draws: a line, the four sides of a box, nothing for the frame of the page."""
    x0, top, x1, bottom = box
    width = x1 - x0
    height = bottom - top
    if width < 4 or height < 4:
        # An upright line shorter than a row of text is a stroke of some letter or of an underline.
        if height > 7 or width > 4 > height:
            yield box
    elif width < place.width * 0.98 or height < place.height * 0.9:
        yield x0, top, x1, top
        yield x0, bottom, x1, bottom
        yield x0, top, x0, bottom
        yield x1, top, x1, bottom
