"""Pictures of a study (a sweep, an ablation, a search): what each set-up reaches, what it changes
against the first, and what it costs in time."""

from collections.abc import Sequence
from dataclasses import dataclass

from ombud.charts import Interval, Point, draw_intervals, draw_scatter
from ombud.errors import LabError
from ombud.lab.report.comparing import RecordedRun, compare_runs
from ombud.lab.report.sides import metrics_of
from ombud.lab.report.wording import title_of, unit_of
from ombud.lab.runs.sweeping import quality, sweep_points

WHOLE = "whole"
"""How the run begins that an ablation holds the others against."""


@dataclass(frozen=True, slots=True)
class StudyPlots:
    """SVGs; empty where there is nothing to draw."""

    metric: str
    metrics: tuple[str, ...]
    """All that could be shown."""
    baseline: str
    """Name of the run that the others are held against."""
    reached: str
    differences: str
    times: str


def draw_study(runs: Sequence[RecordedRun], metric: str = "") -> StudyPlots:
    """runs: of one study, in its order. metric: empty = the first that was measured. Raises
    LabError for a study without runs, and for a metric that none has."""
    if not runs:
        raise LabError("No run of this study has ended.", hint="`ombud lab list` names them all.")
    metrics = metrics_of(runs)
    chosen = metric or metrics[0]
    if chosen not in metrics:
        raise LabError(f"No run of this study has `{chosen}`.", hint=f"It has {metrics[0]}.")
    first = _baseline(runs)
    return StudyPlots(
        metric=chosen,
        metrics=tuple(metrics),
        baseline=first.run.name,
        reached=_reached(runs, chosen),
        differences=_differences(first, runs, chosen),
        times=_times(runs, chosen),
    )


def _baseline(runs: Sequence[RecordedRun]) -> RecordedRun:
    for run in runs:
        if run.run.name.startswith(WHOLE):
            return run
    return runs[0]


def _reached(runs: Sequence[RecordedRun], metric: str) -> str:
    rows: list[Interval] = []
    for run in runs:
        mean = quality(run, metric)
        if mean.value is not None:
            rows.append(
                Interval(
                    label=run.run.name, series="", value=mean.value, low=mean.low, high=mean.high
                )
            )
    return draw_intervals(title_of(metric), rows, unit=unit_of(metric)) if rows else ""


def _differences(first: RecordedRun, runs: Sequence[RecordedRun], metric: str) -> str:
    rows: list[Interval] = []
    for run in runs:
        if run is first or metric not in run.metrics or metric not in first.metrics:
            continue
        for contrast in compare_runs(first, run, by=["overall"], metrics=[metric]):
            found = contrast.comparison
            if found.difference is not None:
                rows.append(
                    Interval(
                        label=run.run.name,
                        series="",
                        value=found.difference,
                        low=found.low,
                        high=found.high,
                    )
                )
    unit = "points" if unit_of(metric) == "0-1" else unit_of(metric)
    title = f"Above or below: {first.run.name}"
    return draw_intervals(title, rows, unit=unit) if rows else ""


def _times(runs: Sequence[RecordedRun], metric: str) -> str:
    """Where times were measured in turn; others cannot be compared."""
    cells = [{"run": run.run.name} for run in runs]
    dots: list[Point] = []
    for point in sweep_points(cells, runs, metric):
        if point.seconds is None or point.quality.value is None:
            continue
        dots.append(
            Point(
                label=point.run.name,
                x=point.seconds,
                y=point.quality.value,
                low=point.quality.low,
                high=point.quality.high,
                front=point.front,
            )
        )
    labels = ("median seconds a case, in turn", title_of(metric))
    return draw_scatter("Quality against time", labels, dots) if dots else ""
