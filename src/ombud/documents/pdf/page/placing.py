"""Where things stand on a PDF page: points from its upper left corner as a reader holds it,
rotation included."""

from typing import Any

Edge = tuple[float, float, float, float]
"""x0, top, x1, bottom of a ruling line; one of its sides is (almost) nothing. Of a box, too."""


def is_inside(box: Edge, outer: Edge) -> bool:
    """Tell whether the middle of a box lies in another."""
    x0, top, x1, bottom = box
    left, high, right, low = outer
    return left <= (x0 + x1) / 2 <= right and high <= (top + bottom) / 2 <= low


class PagePlacing:
    """From PDF coordinates (origin lower left, unrotated) to the reader's."""

    def __init__(self, page: Any) -> None:
        self.left, self.low, self.right, self.high = page.get_cropbox()
        self.turn = page.get_rotation() % 360
        self.width: float = self.right - self.left
        self.height: float = self.high - self.low
        if self.turn in {90, 270}:
            self.width, self.height = self.height, self.width

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Edge:
        """(x0, top, x1, bottom) of a rectangle given by two corners, the lower left one first."""
        if not self.turn:
            return x0 - self.left, self.high - y1, x1 - self.left, self.high - y0
        ax, ay = self.point(x0, y0)
        bx, by = self.point(x1, y1)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def shows(self, box: Edge) -> bool:
        """Tell whether the middle of a box is on the page."""
        x0, top, x1, bottom = box
        return 0 <= top + bottom <= 2 * self.height and 0 <= x0 + x1 <= 2 * self.width

    def turned(self, box: Edge, turn: int) -> Edge:
        """A box on the page after a reader turned that by 90 or 270 degrees clockwise, to read
        what is set sideways."""
        x0, top, x1, bottom = box
        if turn == 90:
            return self.height - bottom, x0, self.height - top, x1
        return top, self.width - x1, bottom, self.width - x0

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
