"""Studies on the lab's page: sweeps, ablations and searches, each several runs under one name."""

from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.lab import StudyPlots, draw_study, read_run
from ombud.messages import message
from ombud.store import list_runs
from ombud.types import Run

MOST = 60
"""Largest number of runs drawn, from the first on."""


class StudyLine(NamedTuple):
    """A study in the list of a page."""

    name: str
    dataset: str
    runs: int


def list_studies(workspace: Workspace) -> list[StudyLine]:
    """Return the studies, newest first."""
    studies: dict[str, StudyLine] = {}
    for run in sorted(list_runs(workspace.store), key=started_at, reverse=True):
        if run.study and run.state == "done":
            before = studies.get(run.study, StudyLine(run.study, run.dataset, 0))
            studies[run.study] = before._replace(runs=before.runs + 1)
    return list(studies.values())


class ShownStudy(NamedTuple):
    """A study with the values of its runs."""

    runs: tuple[Run, ...]
    left_out: int
    plots: StudyPlots


def show_study(workspace: Workspace, name: str, metric: str = "") -> ShownStudy:
    """Return a study's runs by start, on the cases of the newest. Raises NotFound, or LabError for
    a metric that it lacks."""
    runs = [run for run in list_runs(workspace.store, study=name) if run.state == "done"]
    if not name or not runs:
        raise NotFound(
            message("evaluation.error_study_unknown"),
            hint=message("evaluation.error_study_unknown_hint"),
        )
    runs.sort(key=started_at)
    same = [run for run in runs if run.dataset_digest == runs[-1].dataset_digest]
    recorded = [read_run(workspace.store, run.id) for run in same[:MOST]]
    plots = draw_study(recorded, metric)
    return ShownStudy(tuple(one.run for one in recorded), len(runs) - len(recorded), plots)


def started_at(run: Run) -> str:
    return run.started.isoformat() if run.started else ""
