"""Studies on the lab's page: sweeps, ablations and searches, each many runs under one name."""

from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.lab import StudyPlots, draw_study, read_run
from ombud.store import list_runs
from ombud.types import Run

MOST = 60
"""Runs of a study that are drawn, the first ones."""


class StudyLine(NamedTuple):
    name: str
    dataset: str
    runs: int


def list_studies(workspace: Workspace) -> list[StudyLine]:
    """The newest first."""
    found: dict[str, StudyLine] = {}
    for run in sorted(list_runs(workspace.store), key=_began, reverse=True):
        if run.study and run.state == "done":
            before = found.get(run.study, StudyLine(run.study, run.dataset, 0))
            found[run.study] = before._replace(runs=before.runs + 1)
    return list(found.values())


class ShownStudy(NamedTuple):
    runs: tuple[Run, ...]
    left_out: int
    plots: StudyPlots


def show_study(workspace: Workspace, name: str, metric: str = "") -> ShownStudy:
    """Its runs in the order in which they began, of the cases that the newest has asked. Raises
    NotFound, LabError for a metric that it does not have."""
    runs = [run for run in list_runs(workspace.store, study=name) if run.state == "done"]
    if not name or not runs:
        raise NotFound("There is no such study.", hint="The lab's page names them all.")
    runs.sort(key=_began)
    same = [run for run in runs if run.dataset_digest == runs[-1].dataset_digest]
    recorded = [read_run(workspace.store, run.id) for run in same[:MOST]]
    plots = draw_study(recorded, metric)
    return ShownStudy(tuple(one.run for one in recorded), len(runs) - len(recorded), plots)


def _began(run: Run) -> str:
    return run.started.isoformat() if run.started else ""
