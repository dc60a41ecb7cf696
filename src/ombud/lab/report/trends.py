"""Runs of one dataset in the order of time: did it get better since?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ombud.errors import LabError
from ombud.lab.report.comparing import (
    Contrast,
    RecordedRun,
    compare_runs,
    correct_together,
    other_versions,
    shared_cases,
)
from ombud.lab.report.plotting import Row, Series, draw_lines
from ombud.lab.report.studying import Plot
from ombud.lab.report.summary import MetricSummary, cluster_of
from ombud.lab.report.wording import figure_of, interval_of, title_of, unit_of
from ombud.lab.statistics import compare
from ombud.types import Run, Score

LEAST_RUNS = 3
"""Through two points any line goes."""


@dataclass(frozen=True, slots=True)
class Step:
    """A run in one metric, and what changed since the run before."""

    run: Run
    line: MetricSummary
    since: Contrast | None = None


def same_dataset(runs: Iterable[Run], last: Run) -> tuple[Run, ...]:
    """List finished runs of the same cases, oldest first."""
    finished = []
    for run in runs:
        if run.state == "done" and run.dataset_digest == last.dataset_digest:
            finished.append(run)
    return tuple(sorted(finished, key=_start))


def _start(run: Run) -> tuple[str, str]:
    """When it began, and its id; one that does not say when comes first."""
    began = run.started.isoformat() if run.started else ""
    return began, run.id


def compute_trend(runs: Sequence[RecordedRun], metric: str) -> tuple[Step, ...]:
    """List the runs that have this metric, oldest first, each compared with the one before. Raises
    LabError if there are none."""
    measured = [run for run in runs if metric in run.metrics]
    if not measured:
        raise LabError(
            f"No run of this dataset has `{metric}`.",
            hint="`ombud lab run --rescore RUN --metrics …` adds it.",
        )
    steps: list[Step] = []
    before: RecordedRun | None = None
    for recorded in measured:
        since = None
        if before:
            (since,) = compare_runs(before, recorded, ["overall"], [metric])
        steps.append(Step(recorded.run, recorded.overall(metric), since))
        before = recorded
    return tuple(steps)


def find_drifts(runs: Sequence[RecordedRun], metrics: Sequence[str]) -> list[Contrast]:
    """Find how far each metric has drifted since the first of these runs: each case's values are
    put on a line over time, whose mean slope is tested. p is corrected over the metrics; fewer than
    three runs show no drift."""
    drifts: list[Contrast] = []
    for metric in metrics:
        own = [runs[0], *(one for one in runs[1:] if _compares(runs[0], one, metric))]
        if len(own) >= LEAST_RUNS:
            drifts.append(_drift(own, metric))
    return correct_together(drifts)


def _drift(runs: Sequence[RecordedRun], metric: str) -> Contrast:
    by_run = [one.values(metric) for one in runs]
    shared = set.intersection(*(set(shared_cases(runs[0], one)) for one in runs))
    cases = [case for case in runs[0].cases if case in shared]
    weights = _slope_weights(list(map(_when, runs)))
    changes: list[float | None] = []
    for case in cases:
        changes.append(_weighted([values.get(case.id) for values in by_run], weights))
    flat: list[float | None] = [0.0] * len(cases)
    comparison = compare(flat, changes, list(map(cluster_of, cases)))
    return Contrast(
        metric=metric,
        group="overall",
        name="",
        first=runs[0].overall(metric).mean.value,
        second=runs[-1].overall(metric).mean.value,
        comparison=comparison,
        lost=0,
        won=0,
    )


def _weighted(scores: Sequence[Score | None], weights: Sequence[float]) -> float | None:
    """Return the weighted sum of values; None where one is missing."""
    total = 0.0
    for score, weight in zip(scores, weights, strict=True):
        if score is None or score.value is None:
            return None
        total += weight * score.value
    return total


def _compares(first: RecordedRun, other: RecordedRun, metric: str) -> bool:
    return metric in other.metrics and metric not in other_versions(first, other)


def _when(recorded: RecordedRun) -> float:
    """Return when a run began, in seconds."""
    return recorded.run.started.timestamp() if recorded.run.started else 0.0


def _slope_weights(times: Sequence[float]) -> list[float]:
    """Return what each value counts in the change, over all this time, of a straight line through
    the values (least squares); by their order where the times do not differ."""
    spread = max(times) - min(times)
    at = list(times) if spread else list(map(float, range(len(times))))
    centre = sum(at) / len(at)
    squares = sum((one - centre) ** 2 for one in at)
    return [(one - centre) / squares * (max(at) - min(at)) for one in at]


def draw_over_time(
    title: str, runs: Sequence[RecordedRun], metrics: Sequence[str], marked: str = ""
) -> Plot:
    """Draw metrics along runs, in their order. marked: id of the run that is the baseline."""
    series: list[Series] = []
    lines: list[str] = []
    for metric in metrics:
        rows: list[Row] = []
        for number, recorded in enumerate(runs, start=1):
            mean = recorded.overall(metric).mean
            if mean.value is not None:
                rows.append((float(number), mean.value, mean.low, mean.high))
                line = f"{recorded.run.name} {number}: {figure_of(mean.value, metric)}"
                lines.append(f"{line}, {interval_of(mean, metric)}")
        series.append(Series(title_of(metric), rows))
    marks = [
        (float(number), "baseline")
        for number, one in enumerate(runs, start=1)
        if one.run.id == marked
    ]
    units = ("", unit_of(metrics[0]) if metrics else "")
    return Plot(draw_lines(title, ("run", "mean"), series, marks=marks, units=units), tuple(lines))
