"""Charts of reports: valid, the same each time, and nobody's words are markup."""

from math import inf, nan
from xml.etree import ElementTree

import pytest

from ombud.lab import Interval, Point, Series, draw_intervals, draw_lines, draw_scatter
from ombud.lab.report.plotting import COLOURS

HOSTILE = "<script>alert('x')</script> & \"quoted\" \x00\x0b \ud800 $x^2$ " + "W" * 400
ROWS = [
    Interval("Recall", "A", 0.5, 0.4, 0.6),
    Interval("Recall", "B", 0.75, 0.7, 0.8),
    Interval(HOSTILE, HOSTILE, nan, None, inf),
    Interval(HOSTILE, HOSTILE, 0.1, None, None),
]
POINTS = [Point("fast", 0.1, 0.5, 0.4, 0.6, front=True), Point("good", 0.9, 0.8, front=True)]
LINES = [
    Series(name, [(k, high - k / 100, high - 0.2, high) for k in (3, 5, 8)])
    for name, high in (("dense", 0.9), (HOSTILE, 0.8), ("sparse", 0.7))
]
DRAWN = {
    "intervals": lambda: draw_intervals(HOSTILE, ROWS, unit="0-1", order=["A", "B"]),
    "no intervals": lambda: draw_intervals("Nothing", []),
    "scatter": lambda: draw_scatter("Time", ("s", HOSTILE), POINTS, units=("seconds", "0-1")),
    "no points": lambda: draw_scatter("Nothing", ("x", "y"), [Point("n", nan, 1.0)]),
    "lines": lambda: draw_lines("By k", ("k", "recall"), LINES, marks=[(5, HOSTILE), (nan, "")]),
    "no lines": lambda: draw_lines("Nothing", ("x", "y"), [Series("none", [])]),
}


def words(svg: str) -> list[str]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(part.itertext()).replace("\N{NO-BREAK SPACE}", " ") for part in found]


@pytest.mark.parametrize("name", DRAWN)
def test_whatever_is_drawn_is_valid_and_the_same_again(name: str) -> None:
    svg = DRAWN[name]()
    assert svg == DRAWN[name]()
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [part for part in root.iter() if part.tag.endswith("script")]
    is_empty = "There are no values to draw." in words(svg)
    assert is_empty == name.startswith("no ")


def test_every_row_has_its_value_and_each_series_its_colour_in_every_chart() -> None:
    svg = draw_intervals("Metrics", ROWS[:2], unit="0-1", order=["C", "A", "B"])
    assert {"Recall", "50 %", "75 %", "A", "B"} <= set(words(svg))
    assert COLOURS[0] not in svg  # that of C
    assert COLOURS[1] in svg


def test_lines_with_intervals_have_a_panel_each_and_bare_ones_share_one() -> None:
    panels = draw_lines("By k", ("k", "recall"), LINES)
    assert panels.count('id="axes_') == 3
    bare = [Series(one.name, [(x, y, None, None) for x, y, _, _ in one.points]) for one in LINES]
    together = draw_lines("By k", ("k", "recall"), bare)
    assert together.count('id="axes_') == 1
    assert {"dense", "sparse"} <= set(words(together))
