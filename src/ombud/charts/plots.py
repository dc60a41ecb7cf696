"""Charts as SVG text that stands alone as a file and inside a page, any number of times: no ids, no
scripts, no links.

Text takes the colour around it (`currentColor`); series have the classes s0 to s6, so that a page
may lighten them at night. Values that are no numbers, or too great to draw, are left out. width: of
the picture, in pixels; below 520 labels stand above their rows. units: of x and y, as
`format_figure` takes them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ombud.charts import svg
from ombud.charts.axes import Numbers, round_ticks, scale_of
from ombud.charts.canvas import BOLD, LABEL, QUIET, RIGHT, SMALL, TOP, USUAL, Box, Canvas
from ombud.charts.figures import axis_figures, format_figure, is_drawable
from ombud.charts.lettering import shortened, text_width, widest

Pair = tuple[str, str]
"""Of x and of y."""
Row = tuple[float, float, float | None, float | None]
"""x, y, low and high of y."""
Mark = tuple[float, str]
"""x of a vertical line, and its words."""
MOST_TOLD = 60
"""Values that the description for readers who do not see the picture holds."""


@dataclass(frozen=True, slots=True)
class Interval:
    label: str
    series: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """low, high: of y. front: no other point is better in both."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    front: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: Sequence[Row]


# Intervals ----------------------------------------------------------------------------------------


def draw_intervals(
    title: str,
    rows: Sequence[Interval],
    *,
    unit: str = "",
    width: int = 760,
    order: Sequence[str] = (),
) -> str:
    """A forest plot: rows grouped by label, one colour a series, the value at the row's end.

    unit: as `format_figure` takes it. Shares are drawn on the whole of 0 to 100 %, differences with
    a line at none. order: of the series, so that each has its own colour in several plots."""
    canvas = Canvas(title, width)
    series_numbers = _series_numbers(rows, order)
    row_height = 20
    gap = 8
    if len(series_numbers.used) > 1:
        row_height = 18
        gap = 14
        canvas.legend(series_numbers.used)
    if not rows:
        return canvas.without_values()
    forest = _Forest(canvas, rows, unit)
    top = canvas.y
    for label, members in _by_label(rows).items():
        forest.label(label, row_height * len(members))
        for place, row in enumerate(members):
            y = canvas.y + 5 + row_height * (place + 0.5)
            forest.whisker(row, series_numbers.of[row.series], y)
        canvas.y += row_height * len(members) + gap
    canvas.horizontal_axis(forest.ticks, forest.scale, top, unit)
    descriptions = [_described(row, unit) for row in rows[:MOST_TOLD]]
    if len(rows) > MOST_TOLD:
        descriptions.append("and more")
    return canvas.finished("; ".join(descriptions))


class _Forest:
    """Rows of one label each, on one scale."""

    def __init__(self, canvas: Canvas, rows: Sequence[Interval], unit: str) -> None:
        self.canvas = canvas
        self.unit = unit
        values: list[float | None] = []
        for row in rows:
            values += [row.value, row.low, row.high]
        self.ticks = round_ticks(values, unit, 3 if canvas.is_narrow else 5, whole=True)
        label_width = widest([row.label for row in rows], LABEL)
        left = 16.0
        if not canvas.is_narrow:
            left += min(0.36 * canvas.width, label_width + 4)
        figures = [format_figure(row.value, unit) for row in rows]
        right = canvas.width - widest(figures, USUAL) - 22
        self.scale = scale_of(self.ticks, left, right)

    def label(self, words: str, height: float) -> None:
        """Beside the rows, of that height together; above them where the picture is narrow."""
        canvas = self.canvas
        if canvas.is_narrow:
            above = (0, canvas.y + 15)
            canvas.text(above, words, size=LABEL, room=canvas.width)
            canvas.y += 19
            return
        middle = canvas.y + 5 + height / 2
        beside = (0, middle + 4.5)
        canvas.text(beside, words, size=LABEL, room=self.scale.start - 14)

    def whisker(self, row: Interval, series: int, y: float) -> None:
        canvas = self.canvas
        if is_drawable(row.value):
            if is_drawable(row.low) and is_drawable(row.high):
                low = (self.scale(row.low), y)
                line = svg.horizontal(low, self.scale(row.high))
                canvas.path(line, {"stroke-width": "2"}, series=series)
            place = (self.scale(row.value), y)
            canvas.mark(place, series, _described(row, self.unit))
        figure = format_figure(row.value, self.unit)
        canvas.text((canvas.width, y + 4.5), figure, look=RIGHT)


class _SeriesNumbers(NamedTuple):
    of: Mapping[str, int]
    used: Mapping[int, str]
    """Those that have a row."""


def _series_numbers(rows: Sequence[Interval], order: Sequence[str]) -> _SeriesNumbers:
    with_rows = dict.fromkeys(row.series for row in rows)
    of: dict[str, int] = {}
    used: dict[int, str] = {}
    for number, name in enumerate(dict.fromkeys([*order, *with_rows])):
        of[name] = number
        if name in with_rows:
            used[number] = name
    return _SeriesNumbers(of, used)


def _by_label(rows: Sequence[Interval]) -> Mapping[str, list[Interval]]:
    groups: dict[str, list[Interval]] = {}
    for row in rows:
        groups.setdefault(row.label, []).append(row)
    return groups


def _described(row: Interval, unit: str) -> str:
    name = f"{row.label}, {row.series}" if row.series else row.label
    words = f"{name}: {format_figure(row.value, unit)}"
    if is_drawable(row.low) and is_drawable(row.high):
        low = format_figure(row.low, unit)
        high = format_figure(row.high, unit)
        words += f" ({low} to {high})"
    return words


# Planes -------------------------------------------------------------------------------------------


class _Plane:
    """Two axes: the grid, what stands at it, and what it counts."""

    def __init__(self, canvas: Canvas, xs: Numbers, ys: Numbers, labels: Pair, units: Pair) -> None:
        self.canvas = canvas
        self.across = round_ticks(xs, units[0], 3 if canvas.is_narrow else 6)
        self.up = round_ticks(ys, units[1], 4)
        self.labels = labels
        self.units = units

    def draw(self, height: float) -> "_Plane":
        """height: in pixels, a quarter less where the picture is narrow."""
        canvas = self.canvas
        x_label, y_label = self.labels
        x_unit, y_unit = self.units
        above = (0, canvas.y + 8)
        canvas.text(above, y_label, look=QUIET, room=canvas.width)
        self.top = canvas.y + 26
        self.bottom = self.top + (0.75 * height if canvas.is_narrow else height)
        left = widest(axis_figures(self.up, y_unit), USUAL) + 12
        self.x = scale_of(self.across, left, canvas.width - 20)
        self.y = scale_of(self.up, self.bottom, self.top)
        canvas.vertical_axis(self.up, self.y, left, y_unit)
        canvas.y = self.bottom
        canvas.horizontal_axis(self.across, self.x, self.bottom, x_unit)
        right_end = (canvas.width - 16, canvas.y + 8)
        canvas.text(right_end, x_label, look={**RIGHT, **QUIET}, room=canvas.width - left)
        canvas.y += 16
        return self

    def place(self, x: float, y: float) -> svg.Place:
        return self.x(x), self.y(y)


# Points -------------------------------------------------------------------------------------------


def draw_scatter(
    title: str,
    labels: Pair,
    points: Sequence[Point],
    *,
    units: Pair = ("", ""),
    width: int = 760,
) -> str:
    """What is gained against what it costs: points of the front are filled, named and joined, the
    others hollow."""
    canvas = Canvas(title, width)
    drawn = []
    for point in points:
        if is_drawable(point.x) and is_drawable(point.y):
            drawn.append(point)
    if not drawn:
        return canvas.without_values()
    xs = []
    ys: list[float | None] = []
    for point in drawn:
        xs.append(point.x)
        ys += [point.y, point.low, point.high]
    plane = _Plane(canvas, xs, ys, labels, units).draw(height=380)
    _join_front(plane, drawn)
    descriptions = []
    for point in drawn:
        x_words = f"{labels[0]} {format_figure(point.x, units[0])}"
        y_words = f"{labels[1]} {format_figure(point.y, units[1])}"
        words = f"{point.label}: {y_words}, {x_words}"
        descriptions.append(words)
        _draw_point(plane, point, words)
    _name_points(plane, sorted(drawn, key=lambda point: not point.front))
    listed = "; ".join(descriptions[:MOST_TOLD])
    return canvas.finished(f"{labels[1]} by {labels[0]}. {listed}")


def _join_front(plane: _Plane, points: Sequence[Point]) -> None:
    """A staircase through the points of the front."""
    front = [point for point in points if point.front]
    if len(front) < 2:
        return
    front.sort(key=lambda point: (point.x, point.y))
    corners = [plane.place(point.x, point.y) for point in front]
    look = {"stroke-dasharray": "5 4", "stroke-opacity": ".7"}
    plane.canvas.path(svg.staircase(corners), look, series=0)
    for (x, y), (next_x, next_y) in pairwise(corners):
        tread = Box(x, y - 2, next_x, y + 2)
        riser = Box(
            left=next_x - 2,
            top=min(y, next_y),
            right=next_x + 2,
            bottom=max(y, next_y),
        )
        plane.canvas.taken += [tread, riser]


def _draw_point(plane: _Plane, point: Point, tooltip: str) -> None:
    canvas = plane.canvas
    x, y = plane.place(point.x, point.y)
    if is_drawable(point.low) and is_drawable(point.high):
        low = plane.y(point.low)
        high = plane.y(point.high)
        whisker = svg.vertical((x, low), high)
        canvas.path(whisker, {"stroke-opacity": ".45"}, series=0)
        canvas.taken.append(Box(x - 2, high, x + 2, low))
    size = 5.5 if point.front else 4.5
    canvas.mark((x, y), 0, tooltip, filled=point.front, size=size)


def _name_points(plane: _Plane, points: Sequence[Point]) -> None:
    """A label beside each point where a place is free; a point of the front may send its label
    further away."""
    canvas = plane.canvas
    for point in points:
        size = USUAL if point.front else 11
        words = shortened(point.label, 170, size)
        box = _free_box(plane, point, (text_width(words, size), size + 3))
        if not box:
            continue
        canvas.taken.append(box)
        canvas.text(
            (box.left, box.bottom - 3),
            point.label,
            look=BOLD if point.front else QUIET,
            size=size,
            room=170,
        )


def _free_box(plane: _Plane, point: Point, label: svg.Place) -> Box | None:
    """label: its width and height."""
    place = plane.place(point.x, point.y)
    for distance in (9, 20, 34) if point.front else (8,):
        for box in _boxes_around(place, label, distance):
            if _is_free(box, plane):
                return box
    return None


def _boxes_around(place: svg.Place, label: svg.Place, distance: float) -> Iterator[Box]:
    """Right, left, above, below, then the corners."""
    x, y = place
    width, height = label
    right = x + distance
    left = x - distance - width
    above = y - distance - height
    below = y + distance
    corners = [
        (right, y - height / 2),
        (left, y - height / 2),
        (x - width / 2, above),
        (x - width / 2, below),
        (right, above + height / 2),
        (right, below - height / 2),
        (left, above + height / 2),
        (left, below - height / 2),
    ]
    for begin, top in corners:
        yield Box(begin, top, begin + width, top + height)


def _is_free(box: Box, plane: _Plane) -> bool:
    canvas = plane.canvas
    if box.left < 0 or box.right > canvas.width:
        return False
    if box.top < TOP or box.bottom > plane.bottom:
        return False
    return not any(map(box.overlaps, canvas.taken))


# Lines --------------------------------------------------------------------------------------------


def draw_lines(
    title: str,
    labels: Pair,
    series: Sequence[Series],
    *,
    marks: Sequence[Mark] = (),
    units: Pair = ("", ""),
    width: int = 760,
) -> str:
    """Lines with a shaded interval and vertical marks, such as a threshold."""
    canvas = Canvas(title, width)
    drawn = [Series(one.name, _drawable_rows(one.points)) for one in series]
    if len(drawn) > 1:
        canvas.legend(_names_by_number(drawn))
    thresholds = _drawable_marks(marks)
    xs: list[float] = []
    ys: list[float | None] = []
    for one in drawn:
        for x, *own_ys in one.points:
            xs.append(x)
            ys += own_ys
    if not xs:
        return canvas.without_values()
    canvas.y += 15 * len(thresholds)
    xs += [x for x, _ in thresholds]
    plane = _Plane(canvas, xs, ys, labels, units).draw(height=260)
    for number, one in enumerate(drawn):
        _draw_series(plane, one, number)
    for level, (x, words) in enumerate(thresholds):
        _draw_threshold(plane, x, words, level)
    listed = "; ".join(_listed(drawn, thresholds))
    return canvas.finished(f"{labels[1]} by {labels[0]}. {listed}")


def _names_by_number(series: Sequence[Series]) -> dict[int, str]:
    names = {}
    for number, one in enumerate(series):
        if one.points:
            names[number] = one.name
    return names


def _drawable_marks(marks: Iterable[Mark]) -> list[Mark]:
    """From the right to the left: the words of each stand above those of the one before."""
    return sorted([(x, words) for x, words in marks if is_drawable(x)], reverse=True)


def _listed(series: Iterable[Series], marks: Iterable[Mark]) -> Iterator[str]:
    for one in series:
        if one.points:
            yield f"{one.name}: {len(one.points)} points"
    for _, words in marks:
        yield words


def _drawable_rows(rows: Iterable[Row]) -> list[Row]:
    """By x."""
    drawable = []
    for row in rows:
        if is_drawable(row[0]) and is_drawable(row[1]):
            drawable.append(row)
    return sorted(drawable, key=lambda row: row[0])


def _draw_series(plane: _Plane, series: Series, number: int) -> None:
    canvas = plane.canvas
    _draw_band(plane, series.points, number)
    places = [plane.place(x, y) for x, y, _, _ in series.points]
    if len(places) == 1:
        canvas.mark(places[0], number, series.name)
    elif places:
        canvas.path(svg.polyline(places), {"stroke-width": "2"}, series=number)


def _draw_band(plane: _Plane, rows: Sequence[Row], series: int) -> None:
    """From the low ends to the high ones; none where fewer than two rows have both."""
    highs: list[svg.Place] = []
    lows: list[svg.Place] = []
    for x, _, low, high in rows:
        if is_drawable(low) and is_drawable(high):
            highs.append(plane.place(x, high))
            lows.append(plane.place(x, low))
    if len(highs) > 1:
        outline = svg.polyline(highs + lows[::-1], closed=True)
        plane.canvas.area(outline, {"fill-opacity": ".16"}, series=series)


def _draw_threshold(plane: _Plane, value: float, words: str, level: int) -> None:
    """level: how many lines of words stand below."""
    canvas = plane.canvas
    x = plane.x(value)
    y = plane.top - 6 - 15 * level
    line = svg.vertical((x, y - 10), plane.bottom)
    canvas.path(line, {"stroke-dasharray": "2 3", "stroke-opacity": ".6"})
    room = canvas.width / 2
    if x + 6 + text_width(words, SMALL) <= canvas.width:
        canvas.text((x + 6, y), words, size=SMALL, room=room)
    else:
        canvas.text((x - 6, y), words, look=RIGHT, size=SMALL, room=room)
