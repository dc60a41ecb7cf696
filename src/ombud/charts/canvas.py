"""A chart as it is drawn, from its title down: words, marks, a legend, and which places are
taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf
from typing import NamedTuple

from ombud.charts import svg
from ombud.charts.axes import Scale
from ombud.charts.figures import axis_figures
from ombud.charts.lettering import shortened, text_width

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
"""Told apart by the colour-blind (Okabe & Ito 2008; grey in place of black and yellow); shapes
differ as well."""
SMALL = 12.0
USUAL = 12.5
LABEL = 13.0
HEADING = 14.0
"""Sizes of letters, in pixels."""
NARROW = 520
"""Pixels of a picture below which labels stand above their rows."""
TOP = 34.0
"""Where the first thing below the title begins."""
BOLD: svg.Attributes = {"font-weight": "600"}
QUIET: svg.Attributes = {"fill-opacity": ".68"}
CENTRED: svg.Attributes = {"text-anchor": "middle"}
RIGHT: svg.Attributes = {"text-anchor": "end"}
GRID: svg.Attributes = {
    "stroke-width": "1",
    "stroke-opacity": ".13",
    "shape-rendering": "crispEdges",
}
ZERO_LINE: svg.Attributes = {"stroke-width": "1", "stroke-opacity": ".55"}
_EMPTY = "There are no values to draw."


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, place: svg.Place, reach: float) -> "Box":
        """The square around a place. reach: from its middle to each side, in pixels."""
        x, y = place
        return cls(
            left=x - reach,
            top=y - reach,
            right=x + reach,
            bottom=y + reach,
        )

    def overlaps(self, other: "Box") -> bool:
        across = self.right >= other.left and self.left <= other.right
        down = self.bottom >= other.top and self.top <= other.bottom
        return across and down


@dataclass(slots=True)
class Canvas:
    """SVG elements from the top down; `y` is where the next one begins."""

    title: str
    width: int
    y: float = TOP
    behind: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text((0, 16), self.title, look=BOLD, size=HEADING, room=self.width)

    @property
    def is_narrow(self) -> bool:
        return self.width < NARROW

    def text(
        self,
        place: svg.Place,
        words: str,
        *,
        look: svg.Attributes | None = None,
        size: float = USUAL,
        room: float = inf,
    ) -> None:
        """Words from `place`; what does not fit into `room` is cut, and whole in the tooltip."""
        shown = shortened(words, room, size)
        tooltip = svg.title(words) if shown != words else ""
        attributes = {
            "x": float(place[0]),
            "y": float(place[1]),
            "font-size": f"{size:g}",
            **(look or {}),
        }
        element = svg.element("text", attributes, tooltip, svg.escaped(shown))
        self.parts.append(element)

    def path(
        self,
        data: str,
        look: svg.Attributes,
        *,
        series: int | None = None,
        behind: bool = False,
    ) -> None:
        """A line, in the colour of a series or of the text."""
        colour: svg.Attributes = {"stroke": "currentColor"}
        if series is not None:
            colour = _coloured(series, "stroke")
        line = svg.element("path", {"d": data, "fill": "none", **colour, **look})
        if behind:
            self.behind.append(line)
        else:
            self.parts.append(line)

    def area(self, data: str, look: svg.Attributes, *, series: int) -> None:
        colour = _coloured(series, "fill")
        self.parts.append(svg.element("path", {"d": data, **colour, **look}))

    def mark(
        self, place: svg.Place, series: int, tooltip: str, *, filled: bool = True, size: float = 4.5
    ) -> None:
        """The shape of a series around a place."""
        look = _coloured(series, "fill")
        if not filled:
            look = {**_coloured(series, "stroke"), "fill": "none"}
        attributes = {"d": _shape(place, series, size), **look}
        title = svg.title(tooltip) if tooltip else ""
        self.parts.append(svg.element("path", attributes, title))
        self.taken.append(Box.around(place, size + 1))

    def legend(self, names: Mapping[int, str]) -> None:
        """names: number of the series -> its name; beside each other, as many as a row holds."""
        if not names:
            return
        start = 6.0
        x = start
        for series, name in names.items():
            wanted = text_width(name, USUAL) + 16
            width = min(wanted, self.width - 20) + 20
            if x > start and x + width > self.width:
                x = start
                self.y += 20
            self.mark((x, self.y + 6), series, "")
            beside = (x + 11, self.y + 10.5)
            self.text(beside, name, room=self.width - x - 12)
            x += width
        self.y += 30

    def horizontal_axis(self, ticks: list[float], scale: Scale, top: float, unit: str) -> None:
        """Figures below, and a line from each up to `top`."""
        for tick, figure in zip(ticks, axis_figures(ticks, unit), strict=True):
            x = scale(tick)
            line = svg.vertical((x, top), self.y + 4)
            is_zero = unit == "points" and tick == 0
            self.path(line, ZERO_LINE if is_zero else GRID, behind=True)
            below = (x, self.y + 19)
            self.text(below, figure, look={**CENTRED, **QUIET})
        self.y += 28

    def vertical_axis(self, ticks: list[float], scale: Scale, left: float, unit: str) -> None:
        """Figures that end left of `left`, and a line from there to the right end."""
        for tick, figure in zip(ticks, axis_figures(ticks, unit), strict=True):
            y = scale(tick)
            line = svg.horizontal((left, y), self.width)
            self.path(line, GRID, behind=True)
            beside = (left - 10, y + 4)
            self.text(beside, figure, look={**RIGHT, **QUIET})

    def without_values(self) -> str:
        self.y += 26
        self.text((0, self.y - 12), _EMPTY, look=QUIET)
        return self.finished("There are no values.")

    def finished(self, description: str) -> str:
        """The SVG. description: what a reader hears who does not see it."""
        attributes = {
            "class": "chart",
            "fill": "currentColor",
            "stroke-width": "1.5",
            "font-family": "Inter, system-ui, sans-serif",
        }
        title = svg.title(self.title)
        detail = svg.element("desc", {}, svg.escaped(description))
        parts = [title + detail, *self.behind, *self.parts]
        return svg.document(attributes, self.width, ceil(self.y), parts)


def _coloured(series: int, attribute: str) -> dict[str, str | int | float]:
    """The colour of a series as `fill` or `stroke`, with the class that a page may recolour."""
    number = series % len(COLOURS)
    return {"class": f"s{number} {attribute}", attribute: COLOURS[number]}


def _shape(centre: svg.Place, series: int, size: float) -> str:
    """Path data: circle, square, diamond or triangle of about one area."""
    x, y = centre
    side = size * 0.88
    tip = size * 1.22
    kind = series % 4
    if kind == 0:
        return svg.circle(centre, size)
    if kind == 1:
        corners = [
            (x - side, y - side),
            (x + side, y - side),
            (x + side, y + side),
            (x - side, y + side),
        ]
    elif kind == 2:
        corners = [
            (x, y - tip),
            (x + tip, y),
            (x, y + tip),
            (x - tip, y),
        ]
    else:
        corners = [
            (x, y - tip),
            (x + tip, y + side),
            (x - tip, y + side),
        ]
    return svg.polyline(corners, closed=True)
