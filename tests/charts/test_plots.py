"""Charts: valid alone and inside a page, whatever is drawn, and nobody's words are markup."""

import re
from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from xml.etree import ElementTree

import pytest

from ombud.charts import (
    Interval,
    Point,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
    format_figure,
)
from ombud.charts.canvas import COLOURS

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert('x')</script> & \"quoted\" \x00\x0b \ud800 ﷽ \N{RIGHT-TO-LEFT OVERRIDE}txet "
    + "W" * 400
)


def forest(rows: list[Interval], **options: object) -> str:
    return draw_intervals("Metrics", rows, **options)  # type: ignore[arg-type]


def parsed(svg: str) -> ElementTree.Element:
    svg.encode("utf-8")
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def texts(svg: str) -> list[str]:
    """What is written in the picture, with the whole of what was shortened after it."""
    return ["".join(part.itertext()) for part in parsed(svg).iter(f"{SVG}text")]


def numbers(svg: str) -> list[float]:
    drawn = [
        value
        for part in parsed(svg).iter()
        for key, value in part.items()
        if key in {"d", "x", "y"}
    ]
    return [float(number) for value in drawn for number in re.findall(r"-?\d+\.?\d*", value)]


def row(
    value: float = 0.5,
    low: float | None = 0.4,
    high: float | None = 0.6,
    label: str = "a",
    series: str = "A",
) -> Interval:
    return Interval(label, series, value, low, high)


ODD: dict[str, Callable[[int], str]] = {
    "no rows": lambda width: forest([], width=width),
    "one row": lambda width: forest([row()], width=width),
    "one row without an interval": lambda width: forest([row(3, None, None)], width=width),
    "zeros": lambda width: forest([row(0, 0, 0), row(0, 0, 0, "b")], width=width),
    "equal values": lambda width: forest([row(7, 7, 7)] * 3, width=width),
    "negative values": lambda width: forest(
        [row(-0.3, -0.5, 0.1), row(-2, -3, -1, "b")], unit="points", width=width
    ),
    "no numbers": lambda width: forest(
        [row(nan, nan, inf), row(1e300, None, None, "b")], width=width
    ),
    "almost equal": lambda width: forest(
        [row(1, None, None), row(1 + 1e-15, None, None, "b")], width=width
    ),
    "forty rows": lambda width: forest(
        [row(n / 40, 0, 1, f"row {n}") for n in range(40)], unit="%", width=width
    ),
    "thirty series": lambda width: forest(
        [row(series=f"run {n}") for n in range(30)], unit="%", width=width
    ),
    "hostile words": lambda width: forest(
        [row(label=HOSTILE, series=HOSTILE), row(series="B")], width=width
    ),
    "no points": lambda width: draw_scatter("s", ("x", "y"), [], width=width),
    "one point": lambda width: draw_scatter(
        "s", ("x", "y"), [Point("only", 1, 1, front=True)], width=width
    ),
    "points in one place": lambda width: draw_scatter(
        "s", ("x", "y"), [Point(HOSTILE, 1, 1, 0, 2, True)] * 3, width=width
    ),
    "points without a place": lambda width: draw_scatter(
        "s", ("x", "y"), [Point("a", nan, 1), Point("b", 1, inf)], width=width
    ),
    "forty points": lambda width: draw_scatter(
        HOSTILE,
        (HOSTILE, HOSTILE),
        [Point(f"p{n}", n % 7, n % 5, front=n < 4) for n in range(40)],
        width=width,
    ),
    "no lines": lambda width: draw_lines("l", ("x", "y"), [], width=width),
    "a line without points": lambda width: draw_lines(
        "l", ("x", "y"), [Series("a", []), Series("b", [])], width=width
    ),
    "a line of one point": lambda width: draw_lines(
        "l", ("x", "y"), [Series("a", [(1, 1, None, None)])], width=width
    ),
    "a line with gaps": lambda width: draw_lines(
        "l",
        ("x", "y"),
        [Series(HOSTILE, [(2, 1, 0, 2), (1, nan, None, None), (0, -1, None, 3)])],
        marks=[(9, HOSTILE)],
        width=width,
    ),
}


@pytest.mark.parametrize("width", [760, 350])
@pytest.mark.parametrize("name", ODD)
def test_whatever_is_drawn_is_valid_and_inside_the_picture(name: str, width: int) -> None:
    svg = ODD[name](width)
    root = parsed(svg)
    assert "nan" not in svg.lower().replace("nano", "")
    assert not [
        part for part in root.iter() if part.tag in {f"{SVG}script", f"{SVG}image", f"{SVG}a"}
    ]
    assert not [
        key
        for part in root.iter()
        for key, _ in part.items()
        if key in {"id", "href", "style"} or key.startswith("on")
    ]
    assert max(map(abs, numbers(svg)), default=0) < 3000


@pytest.mark.parametrize("name", ODD)
def test_a_reader_who_does_not_see_it_is_told(name: str) -> None:
    root = parsed(ODD[name](760))
    assert root.get("role") == "img"
    assert [part.tag for part in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[1].text


def test_every_row_has_its_value_and_its_words() -> None:
    svg = forest(
        [row(0.725, 0.6, 0.8, "found", "A"), row(0.5, None, None, "found", "B")], unit="0-1"
    )
    assert {"found", "A", "B", "72\N{NO-BREAK SPACE}%", "50\N{NO-BREAK SPACE}%"} <= set(texts(svg))
    assert "found, A: 72\N{NO-BREAK SPACE}% (60\N{NO-BREAK SPACE}% to 80\N{NO-BREAK SPACE}%)" in svg


def test_a_legend_only_where_there_is_a_choice() -> None:
    assert "A" not in texts(forest([row(), row(label="b")]))
    assert texts(forest([row(), row(series="B")])).count("B") == 1


def test_a_series_keeps_its_colour_in_every_plot() -> None:
    alone = forest([row(series="B")], order=["A", "B"])
    assert COLOURS[1] in alone
    assert COLOURS[0] not in alone


def test_a_long_label_is_shortened_and_whole_in_its_tooltip() -> None:
    label = "a label about a thing " * 12
    shown = next(
        part
        for part in parsed(forest([row(label=label)])).iter(f"{SVG}text")
        if part.find(f"{SVG}title") is not None
    )
    title = shown.find(f"{SVG}title")
    assert title is not None
    assert title.text == label
    assert (title.tail or "").endswith("…")


def test_differences_stand_around_nothing() -> None:
    svg = forest([row(-0.12, -0.2, 0.05)], unit="points")
    assert {"−12.0", "−20", "0", "+5"} <= set(texts(svg))


def test_words_are_never_markup() -> None:
    svg = forest([row(label=HOSTILE)])
    assert "<script" not in svg
    assert "alert" in svg


def test_points_of_the_front_are_named_filled_and_joined() -> None:
    points = [
        Point("fast", 1, 0.5, front=True),
        Point("good", 2, 0.9, front=True),
        Point("neither", 2, 0.4),
    ]
    svg = draw_scatter("s", ("seconds", "found"), points, units=("seconds", "0-1"))
    assert {"fast", "good", "neither"} <= set(texts(svg))
    filled = [part for part in parsed(svg).iter(f"{SVG}path") if part.get("fill") == COLOURS[0]]
    assert len(filled) == 2
    assert "stroke-dasharray" in svg


def test_labels_of_points_do_not_cover_each_other() -> None:
    points = [Point(f"configuration {n}", n % 4, n % 3) for n in range(40)]
    shown = [
        part
        for part in parsed(draw_scatter("s", ("x", "y"), points)).iter(f"{SVG}text")
        if (part.text or "").startswith("conf")
    ]
    places = sorted((float(part.get("y", 0)), float(part.get("x", 0))) for part in shown)
    assert 2 <= len(places) < 40
    for (y, x), (other_y, other_x) in pairwise(places):
        assert other_y - y >= 11 or abs(other_x - x) > 80


def test_a_line_has_its_interval_and_its_marks() -> None:
    svg = draw_lines(
        "l",
        ("x", "y"),
        [Series("a", [(0, 1, 0.5, 1.5), (1, 2, 1.5, 2.5)])],
        marks=[(0.5, "threshold")],
    )
    assert "threshold" in texts(svg)
    assert "fill-opacity" in svg


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.7179, "0-1", "72 %"),
        (1.0, "%", "100 %"),
        (0.999, "%", "99.9 %"),
        (0.0004, "%", "0.04 %"),
        (0.0, "%", "0 %"),
        (-0.1987, "points", "−19.9"),
        (0.042, "points", "+4.2"),
        (0.0001, "points", "0.0"),
        (0.4242, "seconds", "0.42 s"),
        (12.34, "seconds", "12.3 s"),
        (240.0, "seconds", "240 s"),
        (1234.0, "tokens", "1,234"),
        (3.14159, "words", "3.14"),
        (0.00123, "US dollars", "$0.0012"),
        (0.0, "US dollars", "$0.00"),
        (None, "%", "–"),
        (nan, "", "–"),
    ],
)
def test_figures_are_written_for_people(value: float | None, unit: str, said: str) -> None:
    assert format_figure(value, unit).replace("\N{NO-BREAK SPACE}", " ") == said
