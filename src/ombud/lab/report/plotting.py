"""Charts of reports, drawn by matplotlib as SVG that is the same each time.

They stand in files and, as images, in pages: an image runs no script and its styles need no leave
of the page's policy. units: of x and y, as `format_figure` takes them."""

import base64
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ombud.lab.extra import lab_library
from ombud.lab.report.figures import format_figure, is_drawable

Pair = tuple[str, str]
"""Of x and of y."""
Row = tuple[float, float, float | None, float | None]
"""x, y, low and high of y."""
Mark = tuple[float, str]
"""x of a vertical line, and its words."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767676")
"""Told apart by the colour-blind (Okabe & Ito 2008); markers differ as well."""
MARKERS = "osD^vPX"
GREY = "#5f6368"
LONGEST = 44
"""Characters of a label."""
WIDTH = 7.6
"""Inches of a chart."""
ACROSS = 3
"""Panels beside each other."""
_STYLE = {
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "font.size": 9,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "ombud",
    "text.parse_math": False,
}
_DRAWING = threading.RLock()
"""The style of matplotlib is one for the whole process."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Interval:
    label: str
    series: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """A point, with an interval of y from `low` to `high`. front: no other point is better in
    both."""

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


def draw_intervals(
    title: str, rows: Sequence[Interval], *, unit: str = "", order: Sequence[str] = ()
) -> str:
    """Draw a forest plot: rows grouped by label, a colour and marker for each series, the value at
    the row's end. order: of the series, so that each has its own colour in several charts."""
    by_label: dict[str, list[Interval]] = {}
    series = list(order)
    for row in rows:
        if is_drawable(row.value):
            by_label.setdefault(row.label, []).append(row)
            series.append(row.series)
    names = list(dict.fromkeys(series))
    height = 1.0 + 0.1 * len(by_label) + 0.22 * max(len(rows), 1)
    with _chart(title, height) as (figure, written):
        axes = figure.subplots()
        place = 0.0
        ticks: list[float] = []
        for number, own in enumerate(by_label.values()):
            ticks.append(place + (len(own) - 1) / 2)
            for row in own:
                _draw_row(axes, row, place, names.index(row.series), unit, is_named=number == 0)
                place += 1
            place += 0.5
        axes.set_yticks(ticks, list(map(_short, by_label)))
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(_figures(unit))
        if unit == "points":
            axes.axvline(0, color=GREY, linewidth=1)
        elif unit == "0-1":
            axes.set_xlim(-0.02, 1.02)
        _finish(axes, ticks)
    return written()


def _draw_row(
    axes: Any, row: Interval, place: float, number: int, unit: str, *, is_named: bool
) -> None:
    name = row.series if is_named else ""
    _mark(axes, (row.value, place), (row.low, row.high), number, name, across=True)
    words = format_figure(row.value, unit)
    axes.annotate(words, (1.01, place), xycoords=("axes fraction", "data"), va="center")


def draw_scatter(
    title: str, labels: Pair, points: Sequence[Point], *, units: Pair = ("", "")
) -> str:
    """Draw gain against cost: points of the front are filled, bold and joined."""
    drawn = [point for point in points if is_drawable(point.x) and is_drawable(point.y)]
    with _chart(title, 4.2) as (figure, written):
        axes = figure.subplots()
        for point in drawn:
            place = (point.x, point.y)
            _mark(axes, place, (point.low, point.high), 0, filled=point.front)
            weight = "bold" if point.front else "normal"
            beside = {"xytext": (7, 4), "textcoords": "offset points", "weight": weight}
            axes.annotate(_short(point.label), place, **beside)
        front = sorted((point.x, point.y) for point in drawn if point.front)
        if len(front) > 1:
            xs, ys = zip(*front, strict=True)
            axes.step(xs, ys, where="post", linestyle="--", color=COLOURS[0], linewidth=1)
        _name_axes(axes, labels, units)
        _finish(axes, drawn)
    return written()


def draw_lines(
    title: str,
    labels: Pair,
    series: Sequence[Series],
    *,
    marks: Sequence[Mark] = (),
    units: Pair = ("", ""),
) -> str:
    """Draw lines with markers and intervals. Several with intervals have a panel each, on one scale
    with the others in grey behind, for bands over each other cannot be read."""
    ordered = [Series(one.name, _in_order(one.points)) for one in series]
    drawn = [one for one in ordered if one.points]
    banded = list(filter(_has_intervals, drawn))
    panels = [[one] for one in drawn] if len(banded) > 1 else [drawn]
    across = min(len(panels), ACROSS)
    down = -(-len(panels) // across)
    thresholds = [(x, words) for x, words in marks if is_drawable(x)]
    with _chart(title, 0.6 + (3.4 if down == 1 else 2.4 * down)) as (figure, written):
        grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        for axes, own in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, drawn, own)
            for x, words in thresholds:
                axes.axvline(x, color=GREY, linestyle=":")
                axes.annotate(_short(words), (x, 1), xycoords=("data", "axes fraction"))
            _name_axes(axes, labels, units)
            _finish(axes, own)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
    return written()


def _has_intervals(series: Series) -> bool:
    return any(is_drawable(low) for _, _, low, _ in series.points)


def _draw_panel(axes: Any, series: Sequence[Series], own: Sequence[Series]) -> None:
    for number, one in enumerate(series):
        if one in own:
            _line(axes, one, number)
        else:
            _draw_behind(axes, one)


def _draw_behind(axes: Any, series: Series) -> None:
    xs, ys, *_ = zip(*series.points, strict=True)
    axes.plot(xs, ys, color=GREY, alpha=0.3, linewidth=1)


def image_address(svg: str) -> str:
    """Return an SVG as the address of an image that a page holds itself."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@contextmanager
def _chart(title: str, height: float) -> Iterator[tuple[Any, Callable[[], str]]]:
    """Yield a figure to draw on, and what returns its SVG once that is done."""
    matplotlib = lab_library("matplotlib")
    text = StringIO()
    with _DRAWING, matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # Its own fonts lack letters that a reader's have: only widths are guessed.
        warnings.simplefilter("ignore", UserWarning)
        figure = lab_library("matplotlib.figure").Figure((WIDTH, height), layout="constrained")
        figure.suptitle(_short(title), x=0.01, ha="left", weight="bold")
        yield figure, text.getvalue
        metadata = {"Date": None, "Creator": None, "Title": _printable(title)}
        figure.savefig(text, format="svg", metadata=metadata)
        whole = text.getvalue()
        text.seek(0)
        text.truncate()
        text.write(whole[whole.index("<svg") :])


def _line(axes: Any, series: Series, number: int) -> None:
    colour = COLOURS[number % len(COLOURS)]
    xs, ys, *_ = zip(*series.points, strict=True)
    marker = MARKERS[number % len(MARKERS)] if len(xs) <= LONGEST else ""
    axes.plot(xs, ys, color=colour, marker=marker, markersize=4)
    for x, y, low, high in series.points:
        _mark(axes, (x, y), (low, high), number, bare=True)
    name = {"xytext": (4, 6), "textcoords": "offset points", "color": colour, "ha": "right"}
    axes.annotate(_short(series.name), (xs[-1], ys[-1]), **name)


def _mark(
    axes: Any,
    place: tuple[float, float],
    ends: tuple[float | None, float | None],
    number: int,
    name: str = "",
    *,
    across: bool = False,
    filled: bool = True,
    bare: bool = False,
) -> None:
    """Draw a marker with its interval, along x where `across`; the interval alone where `bare`."""
    colour = COLOURS[number % len(COLOURS)]
    low, high = ends
    if is_drawable(low) and is_drawable(high):
        draw = axes.hlines if across else axes.vlines
        draw(place[1 if across else 0], low, high, color=colour, alpha=0.55, linewidth=1.6)
    if not bare:
        face = colour if filled else "white"
        look = {"marker": MARKERS[number % len(MARKERS)], "markersize": 5, "linestyle": ""}
        label = _short(name) if name else "_nolegend_"
        axes.plot(*place, color=colour, markerfacecolor=face, label=label, **look)


def _name_axes(axes: Any, labels: Pair, units: Pair) -> None:
    axes.set_xlabel(_short(labels[0]))
    axes.set_ylabel(_short(labels[1]))
    axes.xaxis.set_major_formatter(_figures(units[0]))
    axes.yaxis.set_major_formatter(_figures(units[1]))
    axes.label_outer()


def _finish(axes: Any, drawn: Sequence[object]) -> None:
    if not drawn:
        words = "There are no values to draw."
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=ACROSS, borderaxespad=0)


def _figures(unit: str) -> Callable[[float, int], str]:
    return lambda value, _: format_figure(value, unit)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    drawable = [row for row in rows if is_drawable(row[0]) and is_drawable(row[1])]
    return sorted(drawable, key=lambda row: row[:2])


def _printable(words: str) -> str:
    """Replace characters that XML does not know."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", words)


def _short(words: str) -> str:
    printable = _printable(words)
    return printable if len(printable) <= LONGEST else f"{printable[: LONGEST - 1]}…"
