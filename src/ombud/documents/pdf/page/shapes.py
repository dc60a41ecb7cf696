"""Read what is drawn on a PDF page besides letters: ruling lines, boxes and pictures."""

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple
from zlib import crc32

from pypdfium2 import PdfMatrix, raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.placing import Edge, PagePlacing

MAX_SHAPES = 20_000
MAX_OBJECTS = 200_000
"""Objects of one page, letters included: forms that draw each other never end."""
_DEEPEST = 4
"""Depth of nested forms."""

Colour = tuple[int, int, int]


class PageShape(NamedTuple):
    """A path, picture or shade of colour."""

    box: Edge
    order: int
    """Number in painting order, letters included: later objects are above."""
    segments: int = 0
    """Number of segments of a path; 0 for others."""
    is_filled: bool = True
    colour: Colour | None = None
    """Colour of the inside, if visible."""
    picture: int = 0
    """Checksum of a picture's data, by which repetitions are recognised; 0 for others."""

    @property
    def size(self) -> float:
        """Shorter side, in points."""
        x0, top, x1, bottom = self.box
        return min(x1 - x0, bottom - top)


class PaintedLetters(NamedTuple):
    """A text object."""

    handle: Any
    order: int


class Painted(NamedTuple):
    """Everything that is painted on a page."""

    shapes: list[PageShape]
    letters: dict[int, PaintedLetters]
    """Text objects by address."""


def painted_on(page: Any, place: PagePlacing) -> Painted:
    """Read what is painted on a page, from bottom to top."""
    painted = Painted([], {})
    for order, (drawn, matrix) in enumerate(painted_objects(page)):
        if order > MAX_OBJECTS or len(painted.shapes) > MAX_SHAPES:
            break
        kind = raw.FPDFPageObj_GetType(drawn)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            address = ctypes.cast(drawn, ctypes.c_void_p).value or 0
            painted.letters[address] = PaintedLetters(drawn, order)
            continue
        box = object_box(drawn, matrix, place)
        if box:
            painted.shapes.append(make_shape(drawn, kind, box, order))
    return painted


def painted_objects(
    parent: Any, matrix: PdfMatrix | None = None, depth: int = 1
) -> Iterator[tuple[Any, PdfMatrix | None]]:
    """Yield each painted object with the matrix of its form; forms themselves are left out."""
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
            yield from painted_objects(drawn, form_matrix(drawn, matrix), depth + 1)


def form_matrix(form: Any, outer: PdfMatrix | None) -> PdfMatrix:
    """Return the matrix of a form on the page, or inside another form with that matrix."""
    raw_matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(form, ctypes.byref(raw_matrix))
    matrix = PdfMatrix.from_raw(raw_matrix)
    return matrix.multiply(outer) if outer else matrix


def object_box(drawn: Any, matrix: PdfMatrix | None, place: PagePlacing) -> Edge | None:
    bounds = bounds_of(drawn)
    if bounds and matrix:
        bounds = matrix.on_rect(*bounds)
    return place.box(*bounds) if bounds else None


def bounds_of(drawn: Any) -> tuple[float, float, float, float] | None:
    """Return the left, low, right and high side of an object; None if pdfium has none."""
    left, low, right, high = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(drawn, *map(ctypes.byref, (left, low, right, high))):
        return None
    return left.value, low.value, right.value, high.value


def make_shape(drawn: Any, kind: int, box: Edge, order: int) -> PageShape:
    if kind != raw.FPDF_PAGEOBJ_PATH:
        return PageShape(box, order, picture=checksum(drawn))
    fill = ctypes.c_int()
    stroke = ctypes.c_int()
    raw.FPDFPath_GetDrawMode(drawn, ctypes.byref(fill), ctypes.byref(stroke))
    segments = raw.FPDFPath_CountSegments(drawn)
    colour = colour_of(drawn) if fill.value else None
    return PageShape(box, order, segments, bool(fill.value), colour)


def checksum(drawn: Any) -> int:
    length = raw.FPDFImageObj_GetImageDataRaw(drawn, None, 0)
    data = ctypes.create_string_buffer(length)
    raw.FPDFImageObj_GetImageDataRaw(drawn, data, length)
    return crc32(data) if length else 0


def colour_of(drawn: Any) -> Colour | None:
    """Return the colour of the inside; None if it is invisible."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(drawn, *map(ctypes.byref, parts)):
        return None
    red, green, blue, opaque = (part.value for part in parts)
    return (red, green, blue) if opaque else None


def edges_of(shapes: list[PageShape], place: PagePlacing) -> Iterator[Edge]:
    """Yield lines, thin rectangles, and the four sides of boxes."""
    for shape in shapes:
        # Drawings have more segments.
        if 0 < shape.segments <= 12:
            yield from shape_sides(shape.box, place)


def shape_sides(box: Edge, place: PagePlacing) -> Iterator[Edge]:
    """Yield the lines of a shape: itself, or the four sides of a box, but not the frame of the
    page."""
    x0, top, x1, bottom = box
    width = x1 - x0
    height = bottom - top
    if width < 4 or height < 4:
        # An upright line shorter than a row of text is a stroke of a letter or underline.
        if height > 7 or width > 4 > height:
            yield box
    elif width < place.width * 0.98 or height < place.height * 0.9:
        yield x0, top, x1, top
        yield x0, bottom, x1, bottom
        yield x0, top, x0, bottom
        yield x1, top, x1, bottom
