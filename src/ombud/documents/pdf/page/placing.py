"""Places on a PDF page: points from its upper left corner as a reader holds it, with rotation."""

from collections.abc import Iterable
from typing import Any

Edge = tuple[float, float, float, float]
"""x0, top, x1, bottom of a box, or of a ruling line, which has (almost) no width or height."""


def is_inside(box: Edge, outer: Edge) -> bool:
    """Tell whether the middle of a box lies in another."""
    x0, top, x1, bottom = box
    left, high, right, low = outer
    return left <= (x0 + x1) / 2 <= right and high <= (top + bottom) / 2 <= low


def area(box: Edge) -> float:
    x0, top, x1, bottom = box
    return max(x1 - x0, 0.0) * max(bottom - top, 0.0)


def common(box: Edge, other: Edge) -> Edge:
    """Intersect two boxes; the sides of an empty intersection are reversed."""
    return (
        max(box[0], other[0]),
        max(box[1], other[1]),
        min(box[2], other[2]),
        min(box[3], other[3]),
    )


def box_around(boxes: Iterable[Edge]) -> Edge:
    x0, top, x1, bottom = zip(*boxes, strict=True)
    return min(x0), min(top), max(x1), max(bottom)


class PagePlacing:
    """Converts PDF coordinates (origin lower left, unrotated) to the reader's.

    turn: degrees clockwise by which the reader turns the page to read sideways text."""

    def __init__(self, page: Any, turn: int) -> None:
        self.left, self.low, self.right, self.high = page.get_cropbox()
        self.turn = (page.get_rotation() + turn) % 360
        self.width: float = self.right - self.left
        self.height: float = self.high - self.low
        if self.turn in {90, 270}:
            self.width, self.height = self.height, self.width

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Edge:
        """Convert a rectangle, given by its lower left and upper right corner."""
        if not self.turn:
            return x0 - self.left, self.high - y1, x1 - self.left, self.high - y0
        ax, ay = self.point(x0, y0)
        bx, by = self.point(x1, y1)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def shows(self, box: Edge) -> bool:
        """Tell whether the middle of a box is on the page."""
        x0, top, x1, bottom = box
        return 0 <= top + bottom <= 2 * self.height and 0 <= x0 + x1 <= 2 * self.width

    def point(self, x: float, y: float) -> tuple[float, float]:
        x -= self.left
        y -= self.low
        if self.turn == 90:
            return y, x
        if self.turn == 180:
            return self.width - x, y
        if self.turn == 270:
            return self.width - y, self.height - x
        return x, self.height - y
