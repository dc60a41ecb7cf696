"""Runs of one dataset in the order of time: did it get better since?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ombud.errors import LabError
from ombud.lab.report.comparing import Contrast, RecordedRun, compare_runs
from ombud.lab.report.summary import MetricSummary, summarise
from ombud.types import Run


@dataclass(frozen=True, slots=True)
class Step:
    """A run in one metric, and what changed since the run before."""

    run: Run
    line: MetricSummary
    since: Contrast | None = None


def same_dataset(runs: Iterable[Run], last: Run) -> tuple[Run, ...]:
    """Finished runs of the same cases, oldest first."""
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
    """Runs that have this metric, oldest first, each compared with the one before. Raises LabError
    for none."""
    measured = [run for run in runs if metric in run.metrics]
    if not measured:
        raise LabError(
            f"No run of this dataset has `{metric}`.",
            hint="`ombud lab rescore RUN --metrics …` adds it.",
        )
    steps: list[Step] = []
    before: RecordedRun | None = None
    for recorded in measured:
        scores = recorded.values(metric).values()
        (line,) = summarise(recorded.cases, scores, by=["overall"])
        since = None
        if before:
            (since,) = compare_runs(before, recorded, ["overall"], [metric])
        steps.append(Step(recorded.run, line, since))
        before = recorded
    return tuple(steps)
