"""Find letters that a page contains but does not display: white on white, invisible, under a bar,
on a layer that is switched off, cut off by a clip path.

Colours and shapes above them tell which letters are in doubt. If there are any, the page is drawn
with and without them: letters that make no difference are invisible. Invisible letters that a
scanner lays over its picture repeat the picture, and are read."""

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.letters import Letter
from ombud.documents.pdf.page.placing import Edge, PagePlacing, area, box_around, is_inside
from ombud.documents.pdf.page.shapes import (
    Colour,
    PageShape,
    Painted,
    PaintedLetters,
    bounds_of,
    colour_of,
)

_MAX_PIXELS = 2000
"""Pixels of the longer side of a drawn page."""
_FAINT = 16
"""Levels of 255 by which a colour must differ from its background to be visible."""
_PAPER = (255,) * 3
_LAST = 1 << 40
"""Painting order of annotations, which are above everything else."""
_LEAST_COVER = 3.0
"""Points; a thinner line strikes words out and does not cover them."""
_UNPAINTED = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
SCAN = 0.5
"""Share of a page covered by pictures from which it is a scan."""
_INK = 0.05
"""Least share of a word's box covered by its letters; less is the rim of a bar."""


class Drawing(NamedTuple):
    """A drawn page."""

    pixels: np.ndarray[Any, np.dtype[np.uint8]]
    """Rows of (blue, green, red)."""
    scale: float
    """Pixels per point."""

    def part(self, box: Edge) -> Any:
        """Return the pixels of a box, at least one, without its rim, into which neighbours
        reach."""
        x0, top, x1, bottom = (side * self.scale for side in box)
        rim_x = 0.15 * (x1 - x0)
        rim_y = 0.1 * (bottom - top)
        left = max(int(x0 + rim_x), 0)
        upper = max(int(top + rim_y), 0)
        right = max(int(x1 - rim_x), left) + 1
        lower = max(int(bottom - rim_y), upper) + 1
        return self.pixels[upper:lower, left:right]


def unseen(
    page: Any,
    place: PagePlacing,
    letters: Sequence[Letter],
    painted: Painted,
    covers: Iterable[Edge],
) -> tuple[set[int], bool]:
    """Find the letters that the page does not display, by number, and whether it has letters that a
    scanner laid over its picture.

    covers: annotations that may cover letters."""
    doubtful = doubtful_objects(letters, painted, covers)
    if not doubtful:
        return set(), False
    # At one pixel per point, readable letters change some pixels.
    scale = min(1.0, _MAX_PIXELS / max(place.width, place.height))
    complete = draw_page_pixels(page, scale)
    for address in doubtful:
        raw.FPDFPageObj_SetIsActive(painted.letters[address].handle, False)
    without = draw_page_pixels(page, scale)
    hidden = []
    for number, letter in enumerate(letters):
        if letter.face.painted not in doubtful or letter.text.isspace():
            continue
        if not differ(complete.part(letter.box), without.part(letter.box)):
            hidden.append(number)
    scanned = set(scanned_letters(hidden, letters, painted, without))
    return set(hidden) - scanned, bool(scanned)


def draw_page_pixels(page: Any, scale: float) -> Drawing:
    return Drawing(page.render(scale=scale, may_draw_forms=False).to_numpy(), scale)


def differ(one: Any, other: Any) -> bool:
    """Tell whether a reader sees two parts of a page as different."""
    if not one.size:
        return False
    return int((np.maximum(one, other) - np.minimum(one, other)).max()) > _FAINT


def doubtful_objects(
    letters: Sequence[Letter], painted: Painted, covers: Iterable[Edge]
) -> set[int]:
    """Find text objects that may be hidden, by address: something is painted over them, a path cuts
    them off, or their colour is close to that of their background."""
    colours = {address: colour_of(one.handle) for address, one in painted.letters.items()}
    doubtful = set()
    for address, one in painted.letters.items():
        is_unseen = is_unpainted(one) or is_on_layer(one) or is_cut_off(one.handle)
        if is_unseen or is_similar_colour(colours[address], _PAPER):
            doubtful.add(address)
    shapes = list(background_shapes(painted, set(colours.values())))
    shapes += [PageShape(cover, _LAST) for cover in covers]
    return doubtful | affected_objects(shapes, letters, painted, colours) if shapes else doubtful


def background_shapes(painted: Painted, colours: set[Colour | None]) -> Iterator[PageShape]:
    """Yield shapes large enough to cover letters that are above some, or have their colour."""
    first = min((one.order for one in painted.letters.values()), default=0)
    for shape in painted.shapes:
        is_line = shape.segments == 2
        if shape.size < _LEAST_COVER or not (shape.is_filled or is_line):
            continue
        if shape.order > first or any(
            is_similar_colour(colour, shape.colour) for colour in colours
        ):
            yield shape


def affected_objects(
    shapes: Iterable[PageShape],
    letters: Sequence[Letter],
    painted: Painted,
    colours: Mapping[int, Colour | None],
) -> set[int]:
    """Find the addresses of text objects with letters that a shape covers, or that lie on a shape
    of their own colour."""
    in_objects = [letter for letter in letters if letter.face.painted in painted.letters]
    addresses = [letter.face.painted for letter in in_objects]
    boxes = np.array([letter.box for letter in in_objects]).reshape(-1, 4)
    across = (boxes[:, 0] + boxes[:, 2]) / 2
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    affected: set[int] = set()
    for shape in shapes:
        x0, top, x1, bottom = shape.box
        meets = (x0 <= across) & (across <= x1) & (top <= middles) & (middles <= bottom)
        for address in {addresses[number] for number in np.flatnonzero(meets)} - affected:
            is_below = painted.letters[address].order < shape.order
            if is_below or is_similar_colour(colours[address], shape.colour):
                affected.add(address)
    return affected


def is_similar_colour(colour: Colour | None, ground: Colour | None) -> bool:
    """Tell whether letters are hard to distinguish from their background: letters with a pattern
    always, letters on a picture never."""
    if colour is None or ground is None:
        return ground is not None
    pairs = zip(colour, ground, strict=True)
    return all(abs(one - other) <= 2 * _FAINT for one, other in pairs)


def is_unpainted(letters: PaintedLetters) -> bool:
    return raw.FPDFTextObj_GetTextRenderMode(letters.handle) in _UNPAINTED


def is_on_layer(letters: PaintedLetters) -> bool:
    """Tell whether a text object is part of a layer that may be switched off."""
    for number in range(raw.FPDFPageObj_CountMarks(letters.handle)):
        mark = raw.FPDFPageObj_GetMark(letters.handle, number)
        name = (ctypes.c_ushort * 3)()
        length = ctypes.c_ulong()
        fits = raw.FPDFPageObjMark_GetName(mark, name, ctypes.sizeof(name), ctypes.byref(length))
        if fits and bytes(name) == "OC\0".encode("utf-16-le"):
            return True
    return False


def is_cut_off(letters: Any) -> bool:
    """Tell whether a text object reaches out of one of its clip paths."""
    clip = raw.FPDFPageObj_GetClipPath(letters)
    for number in range(raw.FPDFClipPath_CountPaths(clip) if clip else 0):
        across, up = clip_corners(clip, number)
        bounds = bounds_of(letters)
        if across and bounds:
            left, low, right, high = bounds
            slack = 0.1 * (high - low)  # the bounds of the font are wider than the ink
            is_within = left >= min(across) - slack and right <= max(across) + slack
            if not is_within or low < min(up) - slack or high > max(up) + slack:
                return True
    return False


def clip_corners(clip: Any, number: int) -> tuple[list[float], list[float]]:
    """List the coordinates of the first corners of a clip path, across and up the page."""
    x, y = ctypes.c_float(), ctypes.c_float()
    across: list[float] = []
    up: list[float] = []
    for corner in range(min(raw.FPDFClipPath_CountPathSegments(clip, number), 100)):
        segment = raw.FPDFClipPath_GetPathSegment(clip, number, corner)
        if raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y)):
            across.append(x.value)
            up.append(y.value)
    return across, up


def scanned_letters(
    hidden: Sequence[int], letters: Sequence[Letter], painted: Painted, drawing: Drawing
) -> Iterator[int]:
    """Yield the hidden letters at places where a picture has a word."""
    pictures = [shape.box for shape in painted.shapes if shape.picture]
    if not pictures:
        return
    height, width = drawing.pixels.shape[:2]
    is_scan = sum(map(area, pictures)) * drawing.scale**2 > SCAN * width * height
    for word in group_words(hidden, letters):
        box = box_around(letters[number].box for number in word)
        first = painted.letters[letters[word[0]].face.painted]
        may_be_scanned = is_scan or is_unpainted(first)
        is_in_picture = any(is_inside(box, picture) for picture in pictures)
        if may_be_scanned and is_in_picture and has_ink(drawing.part(box)):
            yield from word


def group_words(hidden: Sequence[int], letters: Sequence[Letter]) -> Iterator[list[int]]:
    """Group numbers of letters into words without a space."""
    for _, run in groupby(enumerate(hidden), key=lambda pair: pair[1] - pair[0]):
        word: list[int] = []
        for _, number in run:
            if word and letters[number].face.baseline != letters[word[0]].face.baseline:
                yield word
                word = []
            word.append(number)
        yield word


def has_ink(part: Any) -> bool:
    """Tell whether a part of a picture has letters: two tones, each with a good share of it."""
    if not part.size:
        return False
    tones = part.max(axis=2)
    lowest = int(tones.min())
    highest = int(tones.max())
    dark = float((tones < (lowest + highest) / 2).mean())
    return highest - lowest > 2 * _FAINT and min(dark, 1 - dark) >= _INK
