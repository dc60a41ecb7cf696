"""Letters that a page holds and does not show: white on white, invisible, under a bar, on a layer
that is switched off.

Which letters are in doubt follows from their colour and from what is painted over them. Where
there are any the page is drawn with and without them: what makes no difference nobody sees. The
invisible letters that a scanner lays over its picture are what the picture shows, and are read."""

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from pypdfium2 import raw  # type: ignore[import-untyped]

from ombud.documents.pdf.page.letters import Letter
from ombud.documents.pdf.page.placing import Edge, PagePlacing, is_inside
from ombud.documents.pdf.page.shapes import Colour, PageShape, Painted, PaintedLetters, colour_of

_SCALE = 1.0
"""Pixels a point, of which letters that a reader can read change some."""
_MOST_PIXELS = 2000
"""Along the longer side of a page that is drawn."""
_FAINT = 16
"""Levels of 255 by which a colour differs from what is behind it, at least, to be seen."""
_PAPER = (255,) * 3
_LAST = 1 << 40
"""Annotations are painted above everything else."""
_LEAST_COVER = 3.0
"""Points; a thinner line strikes words out, and does not cover them."""
_UNPAINTED = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
_SCAN = 0.5
"""Share of a page that is taken by pictures, from which on it is a scan."""
_INK = 0.05
"""Share of a word's box that its letters take at least; less is the rim of a bar."""


class Drawing(NamedTuple):
    """A page as it looks."""

    pixels: np.ndarray[Any, np.dtype[np.uint8]]
    """Rows of (blue, green, red)."""
    scale: float
    """Pixels a point."""

    def part(self, box: Edge) -> Any:
        """The pixels of a box, without its rim, where its neighbours reach in; at least one."""
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
) -> set[int]:
    """Numbers of the letters that the page does not show.

    covers: annotations that may lie above letters."""
    doubtful = _doubtful(letters, painted, covers)
    if not doubtful:
        return set()
    # At a pixel a point letters that a reader can read change some pixels.
    scale = min(1.0, _MOST_PIXELS / max(place.width, place.height))
    shown = _drawn(page, scale)
    for address in doubtful:
        raw.FPDFPageObj_SetIsActive(painted.letters[address].handle, False)
    without = _drawn(page, scale)
    hidden = []
    for number, letter in enumerate(letters):
        if letter.face.painted not in doubtful or letter.text.isspace():
            continue
        if not _differ(shown.part(letter.box), without.part(letter.box)):
            hidden.append(number)
    return set(hidden).difference(_scanned(hidden, letters, painted, without))


def _drawn(page: Any, scale: float) -> Drawing:
    return Drawing(page.render(scale=scale, may_draw_forms=False).to_numpy(), scale)


def _differ(one: Any, other: Any) -> bool:
    """Tell whether a reader sees two parts of a page as different."""
    if not one.size:
        return False
    return int((np.maximum(one, other) - np.minimum(one, other)).max()) > _FAINT


def _doubtful(letters: Sequence[Letter], painted: Painted, covers: Iterable[Edge]) -> set[int]:
    """Addresses of text objects that may be hidden: something is painted over them, or their colour
    is near that of what may be behind them."""
    colours = {address: colour_of(one.handle) for address, one in painted.letters.items()}
    found = set()
    for address, one in painted.letters.items():
        if _is_near(colours[address], _PAPER) or _is_unpainted(one) or _is_on_layer(one):
            found.add(address)
    shapes = list(_grounds(painted, set(colours.values())))
    shapes += [PageShape(cover, _LAST) for cover in covers]
    return found | _meeting(shapes, letters, painted, colours) if shapes else found


def _grounds(painted: Painted, colours: set[Colour | None]) -> Iterator[PageShape]:
    """Shapes large enough for letters that are painted above some, or whose colour some have."""
    first = min((one.order for one in painted.letters.values()), default=0)
    for shape in painted.shapes:
        is_line = shape.segments == 2
        if shape.size < _LEAST_COVER or not (shape.is_filled or is_line):
            continue
        if shape.order > first or any(_is_near(colour, shape.colour) for colour in colours):
            yield shape


def _meeting(
    shapes: Iterable[PageShape],
    letters: Sequence[Letter],
    painted: Painted,
    colours: Mapping[int, Colour | None],
) -> set[int]:
    """Addresses of text objects with letters below one of the shapes, or above one of their own
    colour."""
    known = [letter for letter in letters if letter.face.painted in painted.letters]
    addresses = [letter.face.painted for letter in known]
    boxes = np.array([letter.box for letter in known]).reshape(-1, 4)
    across = (boxes[:, 0] + boxes[:, 2]) / 2
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    found: set[int] = set()
    for shape in shapes:
        x0, top, x1, bottom = shape.box
        meets = (x0 <= across) & (across <= x1) & (top <= middles) & (middles <= bottom)
        for address in {addresses[number] for number in np.flatnonzero(meets)} - found:
            is_below = painted.letters[address].order < shape.order
            if is_below or _is_near(colours[address], shape.colour):
                found.add(address)
    return found


def _is_near(colour: Colour | None, ground: Colour | None) -> bool:
    """Tell whether letters are hard to tell from what is behind them: a pattern of letters from
    anything, letters on a picture from nothing."""
    if colour is None or ground is None:
        return ground is not None
    pairs = zip(colour, ground, strict=True)
    return all(abs(one - other) <= 2 * _FAINT for one, other in pairs)


def _is_unpainted(letters: PaintedLetters) -> bool:
    return raw.FPDFTextObj_GetTextRenderMode(letters.handle) in _UNPAINTED


def _is_on_layer(letters: PaintedLetters) -> bool:
    """Tell whether a text object is part of a layer that may be switched off."""
    for number in range(raw.FPDFPageObj_CountMarks(letters.handle)):
        mark = raw.FPDFPageObj_GetMark(letters.handle, number)
        name = (ctypes.c_ushort * 3)()
        length = ctypes.c_ulong()
        fits = raw.FPDFPageObjMark_GetName(mark, name, ctypes.sizeof(name), ctypes.byref(length))
        if fits and bytes(name) == "OC\0".encode("utf-16-le"):
            return True
    return False


def _scanned(
    hidden: Sequence[int], letters: Sequence[Letter], painted: Painted, drawing: Drawing
) -> Iterator[int]:
    """Find those of the hidden letters that stand where a picture shows a word."""
    pictures = [shape.box for shape in painted.shapes if shape.is_picture]
    if not pictures:
        return
    height, width = drawing.pixels.shape[:2]
    is_scan = sum(map(_area, pictures)) * drawing.scale**2 > _SCAN * width * height
    for word in _words(hidden, letters):
        lefts, tops, rights, bottoms = zip(*(letters[number].box for number in word), strict=True)
        box = min(lefts), min(tops), max(rights), max(bottoms)
        first = painted.letters[letters[word[0]].face.painted]
        may_be_scanned = is_scan or _is_unpainted(first)
        is_in_picture = any(is_inside(box, picture) for picture in pictures)
        if may_be_scanned and is_in_picture and _has_ink(drawing.part(box)):
            yield from word


def _words(hidden: Sequence[int], letters: Sequence[Letter]) -> Iterator[list[int]]:
    """Numbers of letters that follow each other, without a space between."""
    for _, run in groupby(enumerate(hidden), key=lambda pair: pair[1] - pair[0]):
        word: list[int] = []
        for _, number in run:
            if word and letters[number].face.baseline != letters[word[0]].face.baseline:
                yield word
                word = []
            word.append(number)
        yield word


def _area(box: Edge) -> float:
    x0, top, x1, bottom = box
    return (x1 - x0) * (bottom - top)


def _has_ink(part: Any) -> bool:
    """Tell whether a part of a picture shows letters: two tones, each with a good share of it."""
    if not part.size:
        return False
    tones = part.max(axis=2)
    lowest = int(tones.min())
    highest = int(tones.max())
    dark = float((tones < (lowest + highest) / 2).mean())
    return highest - lowest > 2 * _FAINT and min(dark, 1 - dark) >= _INK
