"""What is drawn on a PDF page beside its letters: ruling lines, boxes and pictures."""

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdfium2 import PdfMatrix, raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge, PagePlacing

MOST_SHAPES = 20_000
MOST_OBJECTS = 200_000
"""Of one page, letters included: forms that draw each other have no end."""
_DEEPEST = 4
"""Forms inside of each other."""

Colour = tuple[int, int, int]


class PageShape(NamedTuple):
    """A path, picture or shade of colour."""

    box: Edge
    order: int
    """Number among all that is painted, letters included: what comes later lies above."""
    segments: int = 0
    """Of a path; 0 of others."""
    is_filled: bool = True
    colour: Colour | None = None
    """Of the inside, where it is one."""
    is_picture: bool = False

    @property
    def size(self) -> float:
        """Its shorter side, in points."""
        x0, top, x1, bottom = self.box
        return min(x1 - x0, bottom - top)


class PaintedLetters(NamedTuple):
    """A text object."""

    handle: Any
    order: int


class Painted(NamedTuple):
    """All that is painted on a page."""

    shapes: list[PageShape]
    letters: dict[int, PaintedLetters]
    """By the address of the text object."""


def painted_on(page: Any, place: PagePlacing) -> Painted:
    """Find what is painted on a page, from the lowest to the highest."""
    found = Painted([], {})
    for order, (drawn, matrix) in enumerate(_objects(page)):
        if order > MOST_OBJECTS or len(found.shapes) > MOST_SHAPES:
            break
        kind = raw.FPDFPageObj_GetType(drawn)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            address = ctypes.cast(drawn, ctypes.c_void_p).value or 0
            found.letters[address] = PaintedLetters(drawn, order)
            continue
        box = _box(drawn, matrix, place)
        if box:
            found.shapes.append(_shape(drawn, kind, box, order))
    return found


def _objects(
    parent: Any, matrix: PdfMatrix | None = None, depth: int = 1
) -> Iterator[tuple[Any, PdfMatrix | None]]:
    """(what is painted, matrix of the form that it stands in); forms themselves left out."""
    is_page = matrix is None
    count = raw.FPDFPage_CountObjects if is_page else raw.FPDFFormObj_CountObjects
    get = raw.FPDFPage_GetObject if is_page else raw.FPDFFormObj_GetObject
    for number in range(count(parent)):
        drawn = get(parent, number)
        if not drawn:
            continue
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_FORM:
            yield drawn, matrix
        elif depth < _DEEPEST:
            yield from _objects(drawn, _matrix(drawn, matrix), depth + 1)


def _matrix(form: Any, outer: PdfMatrix | None) -> PdfMatrix:
    """Return the matrix of a form on the page, or inside another with that matrix."""
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(form, ctypes.byref(found))
    matrix = PdfMatrix.from_raw(found)
    return matrix.multiply(outer) if outer else matrix


def _box(drawn: Any, matrix: PdfMatrix | None, place: PagePlacing) -> Edge | None:
    sides = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(drawn, *map(ctypes.byref, sides)):
        return None
    left, low, right, high = (side.value for side in sides)
    if matrix:
        left, low, right, high = matrix.on_rect(left, low, right, high)
    return place.box(left, low, right, high)


def _shape(drawn: Any, kind: int, box: Edge, order: int) -> PageShape:
    if kind != raw.FPDF_PAGEOBJ_PATH:
        return PageShape(box, order, is_picture=kind == raw.FPDF_PAGEOBJ_IMAGE)
    fill = ctypes.c_int()
    stroke = ctypes.c_int()
    raw.FPDFPath_GetDrawMode(drawn, ctypes.byref(fill), ctypes.byref(stroke))
    segments = raw.FPDFPath_CountSegments(drawn)
    colour = colour_of(drawn) if fill.value else None
    return PageShape(box, order, segments, bool(fill.value), colour)


def colour_of(drawn: Any) -> Colour | None:
    """Return the colour of the inside; None where nobody sees it."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(drawn, *map(ctypes.byref, parts)):
        return None
    red, green, blue, opaque = (part.value for part in parts)
    return (red, green, blue) if opaque else None


def edges_of(shapes: list[PageShape], place: PagePlacing) -> Iterator[Edge]:
    """Lines, thin rectangles, and the four sides of boxes."""
    for shape in shapes:
        # A drawing has more of them.
        if 0 < shape.segments <= 12:
            yield from _sides(shape.box, place)


def _sides(box: Edge, place: PagePlacing) -> Iterator[Edge]:
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
