"""Charts as SVG text that stands alone as a file and inside a page, any number of times: no ids, no
scripts, no links.

Text takes the colour around it (`currentColor`); series have the classes s0 to s6, so that a page
may lighten them at night. Values that are no numbers, or too great to draw, are left out. width: of
the picture, in pixels; below 520 labels stand above their rows. units: of x and y, as `written`
takes them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain, pairwise
from math import ceil, floor, inf, log10
from typing import TypeGuard
from unicodedata import combining, east_asian_width

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
"""Told apart by the colour-blind (Okabe & Ito 2008; grey in place of black and yellow); shapes
differ as well."""

Units = tuple[str, str]
Numbers = Iterable[float | None]
Box = tuple[float, float, float, float]
Row = tuple[float, float, float | None, float | None]
"""x, y, low and high of y."""

_SIZE = 12.5
_BOLD, _QUIET = 'font-weight="600"', ' fill-opacity=".68"'
_MIDDLE, _END = 'text-anchor="middle"', 'text-anchor="end"'
_GRID = 'stroke-width="1" stroke-opacity=".13" shape-rendering="crispEdges"'
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_THIN = frozenset("iljtfrI.,:;|!'`()[]{} ")
_BROAD = frozenset("mwMWQ@%—")


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


def written(value: float | None, unit: str = "") -> str:
    """A figure for people: `72 %` for a share (unit `%` or `0-1`), `+4.2` for a difference of
    shares (`points`)."""
    if not _drawn(value):
        return "–"
    if unit in {"%", "0-1"}:
        return _percent(value)
    if unit == "points":
        return "0.0" if abs(value) < 0.0005 else f"{100 * value:+.1f}".replace("-", "−")
    if unit == "US dollars":
        return f"{'−' if value < 0 else ''}${abs(value):,.{2 if value == 0 or abs(value) >= 1 else 4}f}"
    size = abs(value)
    digits = (
        0 if size >= 100 or (size == int(size) and unit != "seconds") else 1 if size >= 10 else 2
    )
    figure = f"{value:,.{digits}f}" if size >= 0.01 or size == 0 else f"{value:.2g}"
    return figure.replace("-", "−") + ("\N{NO-BREAK SPACE}s" if unit == "seconds" else "")


def intervals(
    title: str,
    rows: Sequence[Interval],
    *,
    unit: str = "",
    width: int = 760,
    order: Sequence[str] = (),
) -> str:
    """A forest plot: rows grouped by label, one colour a series, the value at the row's end.

    unit: as `written` takes it. Shares are drawn on the whole of 0 to 100 %, differences with a
    line at none. order: of the series, so that each has its own colour in several plots."""
    names = list(dict.fromkeys([*order, *(row.series for row in rows)]))
    used = [name for name in names if any(row.series == name for row in rows)]
    labels = list(dict.fromkeys(row.label for row in rows))
    drawing = _Drawing(title, width)
    drawing.legend({names.index(name): name for name in used} if len(used) > 1 else {})
    if not rows:
        return drawing.nothing()
    narrow, step = width < 520, 18 if len(used) > 1 else 20
    left = (
        16.0
        if narrow
        else min(0.36 * width, max(_width_of(label, 13) for label in labels) + 4) + 16
    )
    right = width - max(_width_of(written(row.value, unit), _SIZE) for row in rows) - 22
    ticks = _ticks(
        chain.from_iterable((row.value, row.low, row.high) for row in rows),
        unit,
        3 if narrow else 5,
        True,
    )
    scale = _Scale(ticks[0], ticks[-1], left, right)
    top = drawing.y
    for label in labels:
        members = [row for row in rows if row.label == label]
        if narrow:
            drawing.text(0, drawing.y + 15, label, size=13, room=width)
            drawing.y += 19
        else:
            middle = drawing.y + 5 + step * len(members) / 2
            drawing.text(0, middle + 4.5, label, size=13, room=left - 14)
        for place, row in enumerate(members):
            y = drawing.y + 5 + step * (place + 0.5)
            _whisker(drawing, row, names.index(row.series), scale, y, unit)
        drawing.y += step * len(members) + (14 if len(used) > 1 else 8)
    _across(drawing, ticks, scale, top, unit)
    said = [_spoken(row, unit) for row in rows[:60]]
    return drawing.done("; ".join(said) + ("; and more" if len(rows) > 60 else ""))


def scatter(
    title: str,
    x_label: str,
    y_label: str,
    points: Sequence[Point],
    *,
    units: Units = ("", ""),
    width: int = 760,
) -> str:
    """What is gained against what it costs: points of the front are filled, named and joined, the
    others hollow."""
    drawing = _Drawing(title, width)
    known = [point for point in points if _drawn(point.x) and _drawn(point.y)]
    if not known:
        return drawing.nothing()
    ys = chain.from_iterable((point.y, point.low, point.high) for point in known)
    plane = _Plane(drawing, (point.x for point in known), ys, (x_label, y_label), units, 380)
    front = sorted((point for point in known if point.front), key=lambda point: (point.x, point.y))
    if len(front) > 1:
        spots = [(plane.x(one.x), plane.y(one.y)) for one in front]
        way = f"M{spots[0][0]:.1f} {spots[0][1]:.1f}" + "".join(
            f"H{x:.1f}V{y:.1f}" for x, y in spots[1:]
        )
        drawing.path(way, 'stroke-dasharray="5 4" stroke-opacity=".7"', series=0)
        for (x, y), (to, end) in pairwise(spots):
            drawing.taken += [(x, y - 2, to, y + 2), (to - 2, min(y, end), to + 2, max(y, end))]
    said = []
    for point in known:
        x, y, look = plane.x(point.x), plane.y(point.y), 'stroke-opacity=".45"'
        if _drawn(point.low) and _drawn(point.high):
            drawing.path(
                f"M{x:.1f} {plane.y(point.low):.1f}V{plane.y(point.high):.1f}", look, series=0
            )
            drawing.taken.append((x - 2, plane.y(point.high), x + 2, plane.y(point.low)))
        said += [
            f"{point.label}: {y_label} {written(point.y, units[1])}, {x_label} {written(point.x, units[0])}"
        ]
        drawing.mark(x, y, 0, said[-1], filled=point.front, size=5.5 if point.front else 4.5)
    _name(drawing, plane, sorted(known, key=lambda point: not point.front))
    return drawing.done(f"{y_label} by {x_label}. " + "; ".join(said[:60]))


def lines(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    *,
    marks: Sequence[tuple[float, str]] = (),
    units: Units = ("", ""),
    width: int = 760,
) -> str:
    """Lines with a shaded interval and vertical marks, such as a threshold."""
    drawing = _Drawing(title, width)
    drawn = [(one.name, [p for p in one.points if _drawn(p[0]) and _drawn(p[1])]) for one in series]
    known = [point for _, points in drawn for point in points]
    drawing.legend(
        {place: name for place, (name, points) in enumerate(drawn) if points and len(drawn) > 1}
    )
    if not known:
        return drawing.nothing()
    marked = sorted((x, words) for x, words in marks if _drawn(x))[::-1]
    drawing.y += 15 * len(marked)
    xs = chain((point[0] for point in known), (x for x, _ in marked))
    ys = chain.from_iterable(point[1:] for point in known)
    plane = _Plane(drawing, xs, ys, (x_label, y_label), units, 260)
    for place, (name, points) in enumerate(drawn):
        points.sort(key=lambda point: point[0])
        _band(drawing, plane, points, place)
        spots = [(plane.x(x), plane.y(y)) for x, y, _, _ in points]
        if len(spots) == 1:
            drawing.mark(*spots[0], place, name)
        elif spots:
            drawing.path(
                "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots),
                'stroke-width="2"',
                series=place,
            )
    for level, (x, words) in enumerate(marked):
        at, high = plane.x(x), plane.top - 6 - 15 * level
        drawing.path(
            f"M{at:.1f} {high - 10:.1f}V{plane.bottom:.1f}",
            'stroke-dasharray="2 3" stroke-opacity=".6"',
        )
        fits = at + 6 + _width_of(words, 12) <= width
        drawing.text(at + 6 if fits else at - 6, high, words, "" if fits else _END, 12, width / 2)
    said = [f"{name}: {len(points)} points" for name, points in drawn if points]
    return drawing.done(
        f"{y_label} by {x_label}. " + "; ".join([*said, *(words for _, words in marked)])
    )


@dataclass(slots=True)
class _Drawing:
    """SVG elements from the top down; `y` is where the next one begins."""

    title: str
    width: int
    y: float = 34
    behind: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text(0, 16, self.title, _BOLD, 14, self.width)

    def text(
        self, x: float, y: float, words: str, look: str = "", size: float = _SIZE, room: float = inf
    ) -> None:
        shown = _shorten(words, room, size)
        tip = f"<title>{_safe(words)}</title>" if shown != words else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {look}>{tip}{_safe(shown)}</text>'
        )

    def path(
        self, way: str, more: str = "", *, series: int | None = None, behind: bool = False
    ) -> None:
        stroke = 'stroke="currentColor"' if series is None else _colour(series, "stroke")
        (self.behind if behind else self.parts).append(
            f'<path d="{way}" fill="none" {stroke} {more}/>'
        )

    def mark(
        self, x: float, y: float, series: int, tip: str, *, filled: bool = True, size: float = 4.5
    ) -> None:
        look = _colour(series, "fill") if filled else _colour(series, "stroke") + ' fill="none"'
        said = f"<title>{_safe(tip)}</title>" if tip else ""
        self.parts.append(f'<path d="{_shape(x, y, series, size)}" {look}>{said}</path>')
        self.taken.append((x - size - 1, y - size - 1, x + size + 1, y + size + 1))

    def legend(self, names: Mapping[int, str]) -> None:
        x = 6.0
        for place, name in names.items():
            wide = min(_width_of(name, _SIZE) + 16, self.width - 20) + 20
            if x > 6 and x + wide > self.width:
                x, self.y = 6.0, self.y + 20
            self.mark(x, self.y + 6, place, "")
            self.text(x + 11, self.y + 10.5, name, room=self.width - x - 12)
            x += wide
        self.y += 30 if names else 0

    def nothing(self) -> str:
        self.y += 26
        self.text(0, self.y - 12, "There are no values to draw.", _QUIET)
        return self.done("There are no values.")

    def done(self, description: str) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{self.width}"'
            f' height="{ceil(self.y)}" viewBox="0 0 {self.width} {ceil(self.y)}" fill="currentColor" stroke-width="1.5"'
            ' font-family="Inter, system-ui, sans-serif">'
        )
        said = f"<title>{_safe(self.title)}</title><desc>{_safe(description)}</desc>"
        return "\n".join([head, said, *self.behind, *self.parts, "</svg>"])


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * share


class _Plane:
    """Two axes, drawn: the grid, what stands at it, and what it counts."""

    def __init__(
        self, drawing: _Drawing, xs: Numbers, ys: Numbers, labels: Units, units: Units, height: int
    ) -> None:
        narrow = drawing.width < 520
        across, up = _ticks(xs, units[0], 3 if narrow else 6), _ticks(ys, units[1], 4)
        drawing.text(0, drawing.y + 8, labels[1], _QUIET, room=drawing.width)
        self.top = drawing.y + 26
        self.bottom = self.top + (0.75 * height if narrow else height)
        left = max(_width_of(figure, _SIZE) for figure in _figures(up, units[1])) + 12
        self.x = _Scale(across[0], across[-1], left, drawing.width - 20)
        self.y = _Scale(up[0], up[-1], self.bottom, self.top)
        for tick, figure in zip(up, _figures(up, units[1]), strict=True):
            at = self.y(tick)
            drawing.path(f"M{left:.1f} {at:.1f}H{drawing.width}", _GRID, behind=True)
            drawing.text(left - 10, at + 4, figure, _END + _QUIET)
        drawing.y = self.bottom
        _across(drawing, across, self.x, self.bottom, units[0])
        drawing.text(
            drawing.width - 16, drawing.y + 8, labels[0], _END + _QUIET, room=drawing.width - left
        )
        drawing.y += 16


def _across(
    drawing: _Drawing, ticks: Sequence[float], scale: _Scale, top: float, unit: str
) -> None:
    for tick, figure in zip(ticks, _figures(ticks, unit), strict=True):
        at, zero = scale(tick), unit == "points" and tick == 0
        stress = 'stroke-width="1" stroke-opacity=".55"' if zero else _GRID
        drawing.path(f"M{at:.1f} {top:.1f}V{drawing.y + 4:.1f}", stress, behind=True)
        drawing.text(at, drawing.y + 19, figure, _MIDDLE + _QUIET)
    drawing.y += 28


def _whisker(
    drawing: _Drawing, row: Interval, series: int, scale: _Scale, y: float, unit: str
) -> None:
    if _drawn(row.value):
        if _drawn(row.low) and _drawn(row.high):
            drawing.path(
                f"M{scale(row.low):.1f} {y:.1f}H{scale(row.high):.1f}",
                'stroke-width="2"',
                series=series,
            )
        drawing.mark(scale(row.value), y, series, _spoken(row, unit))
    drawing.text(drawing.width, y + 4.5, written(row.value, unit), _END)


def _band(drawing: _Drawing, plane: _Plane, points: Sequence[Row], series: int) -> None:
    known = [
        (plane.x(x), plane.y(low), plane.y(high))
        for x, _, low, high in points
        if _drawn(low) and _drawn(high)
    ]
    way = [f"{x:.1f} {high:.1f}" for x, _, high in known] + [
        f"{x:.1f} {low:.1f}" for x, low, _ in reversed(known)
    ]
    if len(known) > 1:
        drawing.parts.append(
            f'<path d="M{"L".join(way)}Z" {_colour(series, "fill")} fill-opacity=".16"/>'
        )


def _name(drawing: _Drawing, plane: _Plane, points: Sequence[Point]) -> None:
    """A label beside each point where one is free; a point of the front may send its label further
    away."""
    for point in points:
        size = 12.5 if point.front else 11
        words = _shorten(point.label, 170, size)
        x, y, wide = plane.x(point.x), plane.y(point.y), _width_of(words, size)
        for away in (9, 20, 34) if point.front else (8,):
            free = (
                box
                for box in _around(x, y, wide, size + 3, away)
                if _is_free(box, drawing, plane.bottom)
            )
            if box := next(free, None):
                drawing.taken.append(box)
                drawing.text(
                    box[0], box[3] - 3, point.label, _BOLD if point.front else _QUIET, size, 170
                )
                break


def _around(x: float, y: float, wide: float, tall: float, away: float) -> Iterator[Box]:
    right, left, above, below = x + away, x - away - wide, y - away - tall, y + away
    middle, level = x - wide / 2, y - tall / 2
    places = [(right, level), (left, level), (middle, above), (middle, below)]
    for begin, top in places + [
        (side, end) for side in (right, left) for end in (above + tall / 2, below - tall / 2)
    ]:
        yield begin, top, begin + wide, top + tall


def _is_free(box: Box, drawing: _Drawing, bottom: float) -> bool:
    left, top, right, low = box
    inside = left >= 0 and right <= drawing.width and top >= 34 and low <= bottom
    return inside and all(
        right < x or left > end or low < y or top > under for x, y, end, under in drawing.taken
    )


def _ticks(values: Numbers, unit: str, count: int, whole: bool = False) -> list[float]:
    """Round values that hold all of them between the first and the last; at least two."""
    known = [value for value in values if _drawn(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if unit in {"%", "0-1"} and whole and low >= 0 and high <= 1:
        return [0.0, 0.25, 0.5, 0.75, 1.0] if count > 3 else [0.0, 0.5, 1.0]
    if unit == "points":
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-3):
        room = abs(high) / 10 or (0.05 if unit == "points" else 1.0)
        low, high = (low - room if low or unit == "points" else 0.0), high + room
    size = (high - low) / count
    power = 10.0 ** floor(log10(size))
    step = next(times * power for times in (1, 2, 2.5, 5, 10, 20) if times * power >= size * 0.999)
    return [place * step for place in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def _spoken(row: Interval, unit: str) -> str:
    said = f"{row.label}{', ' if row.series else ''}{row.series}: {written(row.value, unit)}"
    known = _drawn(row.low) and _drawn(row.high)
    return said + (f" ({written(row.low, unit)} to {written(row.high, unit)})" if known else "")


def _shape(x: float, y: float, series: int, size: float) -> str:
    """Circle, square, diamond or triangle of about one area."""
    side, tip = size * 0.88, size * 1.22
    return (
        f"M{x - size:.1f} {y:.1f}a{size} {size} 0 1 0 {2 * size} 0a{size} {size} 0 1 0 {-2 * size} 0Z",
        f"M{x - side:.1f} {y - side:.1f}h{2 * side:.1f}v{2 * side:.1f}h{-2 * side:.1f}Z",
        f"M{x:.1f} {y - tip:.1f}L{x + tip:.1f} {y:.1f}L{x:.1f} {y + tip:.1f}L{x - tip:.1f} {y:.1f}Z",
        f"M{x:.1f} {y - tip:.1f}L{x + tip:.1f} {y + side:.1f}H{x - tip:.1f}Z",
    )[series % 4]


def _colour(series: int, of: str) -> str:
    return f'class="s{series % len(COLOURS)} {of}" {of}="{COLOURS[series % len(COLOURS)]}"'


def _percent(value: float) -> str:
    """To one place of a hundred, or to more where that would say all or nothing and it was not."""
    shown = (f"{100 * value:.{digits}f}" for digits in range(7))
    figure = next(
        (one for one in shown if abs(float(one)) not in {0, 100} or value in {-1, 0, 1}), "0"
    )
    return figure.replace("-", "−") + "\N{NO-BREAK SPACE}%"


def _figures(ticks: Sequence[float], unit: str) -> list[str]:
    shares, sign = unit in {"%", "0-1", "points"}, "+" if unit == "points" else ""
    values = [100 * tick if shares else tick for tick in ticks]
    exact = (
        p
        for p in range(12)
        if all(abs(round(v, p) - v) < (values[1] - values[0]) / 1000 for v in values)
    )
    places, before = next(exact, 12), "$" if unit == "US dollars" else ""
    after = {
        "%": "\N{NO-BREAK SPACE}%",
        "0-1": "\N{NO-BREAK SPACE}%",
        "seconds": "\N{NO-BREAK SPACE}s",
    }.get(unit, "")
    return [
        before + (f"{v:{sign},.{places}f}" if v else "0").replace("-", "−") + after for v in values
    ]


def _drawn(value: float | None) -> TypeGuard[float]:
    return value is not None and abs(value) < 1e15


def _safe(words: str) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", words))


def _shorten(words: str, room: float, size: float) -> str:
    if _width_of(words, size) <= room:
        return words
    kept = words[: max(int(room / size * 3.5), 1)]
    while kept and _width_of(kept + "…", size) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _width_of(words: str, size: float) -> float:
    broad = sum(c in _BROAD or east_asian_width(c) in "WF" for c in words)
    thin = sum(c in _THIN or combining(c) > 0 for c in words)
    return size * (broad + 0.31 * thin + 0.6 * (len(words) - broad - thin))
