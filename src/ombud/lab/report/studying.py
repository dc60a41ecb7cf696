"""Pictures of a study (a sweep, an ablation, a search): what each set-up reaches, what it changes
against the first, and what it costs in time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import RecordedRun, compare_runs
from ombud.lab.report.figures import format_figure
from ombud.lab.report.plotting import (
    Interval,
    Point,
    Row,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
)
from ombud.lab.report.sides import leading_metric, metrics_of
from ombud.lab.report.tables import markdown_table
from ombud.lab.report.wording import interval_words, is_judged, title_of, unit_of
from ombud.lab.runs.sweeping import Cell, SweepPoint, sweep_points

WHOLE = "whole"
"""How the run begins that an ablation holds the others against."""


class Plot(NamedTuple):
    """A picture and what it shows, a line for each set-up; empty where there is nothing to draw."""

    svg: str = ""
    lines: tuple[str, ...] = ()
    """Such as `k=2: 71 %, 59 to 83 %`, for people who do not see the picture."""


@dataclass(frozen=True, slots=True)
class StudyPlots:
    """Pictures of one study."""

    metric: str
    metrics: tuple[str, ...]
    """All that could be shown."""
    baseline: str
    """Name of the run that the others are held against."""
    reached: Plot
    differences: Plot
    times: Plot
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """A line for each set-up, its label and the metric first."""
    points: tuple[SweepPoint, ...]

    @property
    def drawn(self) -> list[tuple[str, Plot]]:
        """Title and picture of all that there is to draw."""
        named = [
            ("What each set-up reaches", self.reached),
            ("Differences", self.differences),
            ("Quality against time", self.times),
        ]
        return [(title, plot) for title, plot in named if plot.svg]

    def table(self) -> str:
        return markdown_table(self.head, self.rows, left=2)


def draw_study(
    runs: Sequence[RecordedRun], metric: str = "", cells: Mapping[str, Cell] | None = None
) -> StudyPlots:
    """runs: of one study, in its order. metric: see `leading_metric`. cells: label of each run ->
    what was set; without it, the runs' names. Raises LabError for a study without runs, and for a
    metric that none has."""
    if not runs:
        raise LabError("No run of this study has ended.", hint="`ombud lab show` names them all.")
    metrics = metrics_of(runs)
    chosen = leading_metric(metrics, metric) or metrics[0]
    first = _baseline(runs)
    own_cells = list(cells.values()) if cells else [{"run": run.run.name} for run in runs]
    points = sweep_points(own_cells, runs, chosen)
    labels = list(cells or (run.run.name for run in runs))
    head, rows = _table(labels, runs, points, chosen)
    return StudyPlots(
        metric=chosen,
        metrics=tuple(metrics),
        baseline=first.run.name,
        reached=_reached(runs, points, chosen),
        differences=_differences(first, runs, chosen),
        times=_times(points, chosen),
        head=head,
        rows=rows,
        points=points,
    )


def _table(
    labels: Sequence[str], runs: Sequence[RecordedRun], points: Sequence[SweepPoint], metric: str
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    others = [name for name in runs[0].metrics if name not in {metric, "latency", TIMED}]
    judged = is_judged(metric)
    rows: list[tuple[str, ...]] = []
    for label, run, point in zip(labels, runs, points, strict=True):
        mean = point.quality
        rows.append(
            (
                label,
                "*" if point.front else "",
                format_figure(mean.value, unit_of(metric)),
                interval_words(mean, unit_of(metric)),
                f"{mean.valid}/{mean.total}",
                str(point.summary.invalid) if judged else "",
                *(format_figure(run.overall(name).mean.value, unit_of(name)) for name in others),
                "" if point.seconds is None else format_figure(point.seconds, "seconds"),
            )
        )
    head = ("set-up", "front", metric, "95 % interval", "n", "invalid verdicts")
    return (*head, *others, "time"), tuple(rows)


def _baseline(runs: Sequence[RecordedRun]) -> RecordedRun:
    for run in runs:
        if run.run.name.startswith(WHOLE):
            return run
    return runs[0]


def _reached(runs: Sequence[RecordedRun], points: Sequence[SweepPoint], metric: str) -> Plot:
    unit = unit_of(metric)
    rows: list[Interval] = []
    for point in points:
        mean = point.quality
        if mean.value is not None:
            rows.append(Interval(point.run.name, "", mean.value, mean.low, mean.high))
    if not rows:
        return Plot()
    svg = _by_axis(runs, points, metric) or draw_intervals(title_of(metric), rows, unit=unit)
    return Plot(svg, tuple(_in_words(row, unit) for row in rows))


def _in_words(row: Interval, unit: str) -> str:
    interval = interval_words(row, unit)
    figure = f"{row.label}: {format_figure(row.value, unit)}"
    return f"{figure}, {interval}" if interval else figure


def _by_axis(runs: Sequence[RecordedRun], points: Sequence[SweepPoint], metric: str) -> str:
    """Draw the metric along the setting that was varied most finely, a line for each combination
    of the others; empty where no number was varied."""
    cells = list(map(_settings, runs))
    varied = {key: _values_of(cells, key) for key in cells[0]}
    varied = {key: values for key, values in varied.items() if len(values) > 1}
    numeric = [key for key in varied if all(map(_is_number, varied[key]))]
    if not numeric:
        return ""
    axis = max(numeric, key=lambda key: len(varied[key]))
    lines: dict[str, list[Row]] = {}
    for cell, point in zip(cells, points, strict=True):
        mean = point.quality
        if mean.value is not None:
            others = [f"{key}={cell.get(key)}" for key in varied if key != axis]
            row = (float(cell[axis]), mean.value, mean.low, mean.high)
            lines.setdefault(", ".join(others), []).append(row)
    title = title_of(metric)
    series = [Series(name, rows) for name, rows in lines.items()]
    return draw_lines(f"{title} by {axis}", (axis, title), series, units=("", unit_of(metric)))


def _settings(run: RecordedRun) -> dict[str, Any]:
    """Merge what a sweep has set of the plan and changed of the index."""
    config = run.run.config
    return {**config.get("set", {}), **config.get("changed", {})}


def _values_of(cells: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """List each value of a setting once."""
    return list({repr(cell.get(key)): cell.get(key) for cell in cells}.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _differences(first: RecordedRun, runs: Sequence[RecordedRun], metric: str) -> Plot:
    unit = "points" if unit_of(metric) == "0-1" else unit_of(metric)
    rows: list[Interval] = []
    for run in runs:
        if run is first or metric not in run.metrics or metric not in first.metrics:
            continue
        for contrast in compare_runs(first, run, by=["overall"], metrics=[metric]):
            comparison = contrast.comparison
            if comparison.difference is not None:
                row = Interval(
                    run.run.name, "", comparison.difference, comparison.low, comparison.high
                )
                rows.append(row)
    if not rows:
        return Plot()
    svg = draw_intervals(f"Above or below: {first.run.name}", rows, unit=unit)
    return Plot(svg, tuple(_in_words(row, unit) for row in rows))


def _times(points: Sequence[SweepPoint], metric: str) -> Plot:
    """Plot quality against time for the runs that were timed in turn; other times cannot be
    compared."""
    dots: list[Point] = []
    lines: list[str] = []
    for point in points:
        mean = point.quality
        if point.seconds is None or mean.value is None:
            continue
        dots.append(
            Point(
                label=point.run.name,
                x=point.seconds,
                y=mean.value,
                low=mean.low,
                high=mean.high,
                front=point.front,
            )
        )
        figure = format_figure(mean.value, unit_of(metric))
        lines.append(f"{point.run.name}: {figure} in {format_figure(point.seconds, 'seconds')}")
    if not dots:
        return Plot()
    labels = ("median seconds a case, in turn", title_of(metric))
    return Plot(draw_scatter("Quality against time", labels, dots), tuple(lines))
