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
    found = [
        run for run in runs if run.state == "done" and run.dataset_digest == last.dataset_digest
    ]
    return tuple(
        sorted(
            found,
            key=lambda run: ((run.started is not None and run.started.isoformat()) or "", run.id),
        )
    )


def compute_trend(runs: Sequence[RecordedRun], metric: str) -> tuple[Step, ...]:
    """Runs that have this metric, oldest first, each compared with the one before. Raises LabError
    for none."""
    mine = [one for one in runs if metric in one.metrics]
    if not mine:
        raise LabError(
            f"No run of this dataset has `{metric}`.",
            hint="`ombud lab rescore RUN --metrics …` adds it.",
        )
    steps: list[Step] = []
    for place, one in enumerate(mine):
        (line,) = summarise(one.cases, one.values(metric).values(), by=["overall"])
        (since,) = compare_runs(mine[place - 1], one, ["overall"], [metric]) if place else (None,)
        steps.append(Step(one.run, line, since))
    return tuple(steps)
