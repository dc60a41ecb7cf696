"""Read the letters of a PDF page with their type."""

import ctypes
import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge, PagePlacing

MAX_CHARACTERS = 200_000
"""Characters of one page; a dense page has 10,000."""
_BOLD = 600
"""Weight of bold type; 400 is regular."""
_BOLD_NAMES = (b"bold", b"black", b"heavy", b"demi")
_ITALIC = 1 << 6
"""Flag of a font."""
_ITALIC_NAMES = (b"italic", b"oblique")
_STAND_INS = {0: " ", 2: "-"}
"""Character for special codes of PDFium; 2 is the hyphen at a line's end."""


class Typeface(NamedTuple):
    """The type of the letters in a text object."""

    size: float
    """Size in points."""
    bold: bool = False
    italic: bool = False
    origin: tuple[float, float] = (0.0, 0.0)
    """Start of its first letter's baseline."""
    turn: int = 0
    """Degrees clockwise by which a reader turns the page to read it."""
    painted: int = 0
    """Address of the text object; 0 for a space that PDFium adds."""

    @property
    def baseline(self) -> float:
        """Points from the top of the page."""
        return self.origin[1]


class Letter(NamedTuple):
    text: str
    box: Edge
    face: Typeface

    @property
    def across(self) -> float:
        """Horizontal centre."""
        x0, _, x1, _ = self.box
        return (x0 + x1) / 2


def letters_of(text: Any, place: PagePlacing) -> Iterator[Letter]:
    """Yield letters in reading order. Type is looked up once for each text object."""
    rectangle = raw.FS_RECTF()
    pointer = ctypes.byref(rectangle)
    get_box, get_text_object = raw.FPDFText_GetLooseCharBox, raw.FPDFText_GetTextObject
    faces: dict[bytes, Typeface] = {}
    for position, letter in page_characters(text):
        if not get_box(text, position, pointer):
            continue
        address = bytes(get_text_object(text, position))
        face = faces.get(address)
        if face is None:
            number = int.from_bytes(address, sys.byteorder)
            face = faces[address] = read_typeface(text, position, place, number)
        box = place.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        # Letters outside the page are invisible.
        if place.shows(box):
            yield Letter(letter, box, face)


def page_characters(text: Any) -> Iterator[tuple[int, str]]:
    """Yield (position, character); of a surrogate pair the position of the second."""
    high_surrogate = 0
    get_code = raw.FPDFText_GetUnicode
    for position in range(min(raw.FPDFText_CountChars(text), MAX_CHARACTERS)):
        code = get_code(text, position)
        if 0xD800 <= code < 0xDC00:
            high_surrogate = code
            continue
        if 0xDC00 <= code < 0xE000 and high_surrogate:
            high_bits = (high_surrogate - 0xD800) << 10
            code = 0x10000 + high_bits + code - 0xDC00
            high_surrogate = 0
        yield position, _STAND_INS.get(code) or chr(code)


def read_typeface(text: Any, position: int, place: PagePlacing, address: int) -> Typeface:
    matrix = raw.FS_MATRIX()
    size = raw.FPDFText_GetFontSize(text, position)
    origin = (0.0, 0.0)
    turn = 0
    if raw.FPDFText_GetMatrix(text, position, ctypes.byref(matrix)):
        size *= math.hypot(matrix.c, matrix.d)
        origin = place.point(matrix.e, matrix.f)
        turn = turn_of(matrix.a, matrix.b, place.turn)
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
        origin=origin,
        turn=turn,
        painted=address,
    )


def turn_of(along: float, up: float, page: int) -> int:
    """Return 0, 90, 180 or 270 by the direction of a line on a page turned by `page` degrees."""
    if abs(along) >= abs(up):
        direction = 0 if along >= 0 else 180
    else:
        direction = 90 if up > 0 else 270
    return (direction - page) % 360
