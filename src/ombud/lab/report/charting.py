"""The charts of a report."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import nan

from ombud.lab.report.plotting import (
    Interval,
    Point,
    Row,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
)
from ombud.lab.report.sides import (
    REPORT_GROUPS,
    Side,
    SideComparison,
    group_names,
    percentile,
    timed_sides,
)
from ombud.lab.report.summary import Group
from ombud.lab.report.wording import group_words, is_share, title_of, unit_of
from ombud.lab.statistics import Mean

MOST_NAMES = 16
"""Names of a group in a plot."""
DrawChart = Callable[..., str]
"""-> SVG."""


def report_charts(
    sides: Sequence[Side],
    metrics: Sequence[str],
    leading: str,
    comparisons: Sequence[SideComparison],
) -> Mapping[str, DrawChart]:
    """Name -> what draws it."""
    shares = list(filter(is_share, metrics))
    charts = {
        "metrics": _metrics_chart(sides, shares),
        "differences": _differences_chart(sides, shares, comparisons),
    }
    for group in REPORT_GROUPS:
        charts[group] = _group_chart(sides, leading, group)
    charts["scatter"] = _quality_chart(sides, leading)
    charts["latency"] = _latency_chart(sides)
    return charts


def _metrics_chart(sides: Sequence[Side], shares: Sequence[str]) -> DrawChart:
    rows: list[Interval] = []
    for metric in shares:
        rows += _rows(title_of(metric), sides, metric)
    title = "Every share, with its 95 % interval"
    return partial(draw_intervals, title, rows, unit="0-1", order=_order(sides))


def _differences_chart(
    sides: Sequence[Side], shares: Sequence[str], comparisons: Sequence[SideComparison]
) -> DrawChart:
    rows = []
    for metric in shares:
        for compared in comparisons:
            for pair in compared.pairs:
                difference = pair.contrast.comparison
                if pair.contrast.metric != metric or difference.difference is None:
                    continue
                rows.append(
                    Interval(
                        label=title_of(metric),
                        series=compared.side.label,
                        value=difference.difference,
                        low=difference.low,
                        high=difference.high,
                    )
                )
    title = f"Points above or below {sides[0].label}"
    return partial(draw_intervals, title, rows, unit="points", order=_order(sides))


def _group_chart(sides: Sequence[Side], leading: str, group: Group) -> DrawChart:
    counts = {}
    for name, _ in group_names(sides, group):
        valid = max(_valid(side, leading, group, name) for side in sides)
        if valid:
            counts[name] = valid
    rows: list[Interval] = []
    for name, valid in list(counts.items())[:MOST_NAMES]:
        label = f"{group_words(name)} ({valid})"
        rows += _rows(label, sides, leading, group, name)
    return partial(
        draw_intervals, title_of(leading), rows, unit=unit_of(leading), order=_order(sides)
    )


def _quality_chart(sides: Sequence[Side], leading: str) -> DrawChart:
    labels = ("median time to answer", title_of(leading))
    points = _points(timed_sides(sides), leading)
    return partial(
        draw_scatter, "Quality against time", labels, points, units=("seconds", unit_of(leading))
    )


def _latency_chart(sides: Sequence[Side]) -> DrawChart:
    timed = timed_sides(sides)
    marks = []
    if len(sides) == 1:
        for hundredths in (50, 95) if timed else ():
            within = percentile(timed[0][1], hundredths / 100)
            marks.append((within, f"{hundredths} of 100"))
    return partial(
        draw_lines,
        "Share of cases answered within a time",
        ("time to answer", "share of cases"),
        [Series(side.label, _steps(seconds)) for side, seconds in timed],
        marks=marks,
        units=("seconds", "0-1"),
    )


def _order(sides: Sequence[Side]) -> list[str]:
    """Names that series have in every chart; a single run needs none."""
    return [side.label for side in sides] if len(sides) > 1 else []


def _valid(side: Side, metric: str, group: Group, name: str) -> int:
    line = side.line(metric, group, name)
    return line.mean.valid if line else 0


def _rows(
    label: str, sides: Sequence[Side], metric: str, group: Group = "overall", name: str = ""
) -> list[Interval]:
    rows = []
    for side in sides:
        line = side.line(metric, group, name)
        if not line:
            continue
        rows.append(
            Interval(
                label=label,
                series=side.label if len(sides) > 1 else "",
                value=nan if line.mean.value is None else line.mean.value,
                low=line.mean.low,
                high=line.mean.high,
            )
        )
    return rows


def _points(timed: Sequence[tuple[Side, Sequence[float]]], metric: str) -> list[Point]:
    """List median seconds and quality of each run that has both."""
    places: list[tuple[float, float]] = []
    means: list[tuple[Side, Mean]] = []
    for side, seconds in timed:
        line = side.line(metric)
        if line and line.mean.value is not None:
            places.append((percentile(seconds, 0.5), line.mean.value))
            means.append((side, line.mean))
    points = []
    for place, (side, mean) in zip(places, means, strict=True):
        points.append(
            Point(
                label=side.label,
                x=place[0],
                y=place[1],
                low=mean.low,
                high=mean.high,
                front=not any(_beats(other, place) for other in places),
            )
        )
    return points


def _beats(other: tuple[float, float], place: tuple[float, float]) -> bool:
    """Tell whether the other run is at least as fast and as good, and better in one of the two."""
    return other != place and other[0] <= place[0] and other[1] >= place[1]


def _steps(seconds: Sequence[float]) -> list[Row]:
    """Return, for each per cent of the answers, the time within which they came."""
    if not seconds:
        return []
    rows: list[Row] = []
    for hundredths in range(101):
        share = hundredths / 100
        rows.append((percentile(seconds, share), share, None, None))
    return rows
