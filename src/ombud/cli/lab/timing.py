"""`ombud lab time`: times of several runs that may be compared."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import target_of

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import Contrast, RecordedRun, Target
    from ombud.types import Run

WORDS = {True: "faster", False: "slower", None: "within noise"}


def time_together(
    runs: list[str] = typer.Argument(help="Two or more: each by its id, name, or `last`."),
    cases: int = typer.Option(30, "--cases", min=1, help="On how many cases."),
    seconds: float = typer.Option(120.0, "--seconds", min=0.001, help="Longest time for one case."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Times that may be compared: the same cases asked with the set-up of each run in turn, warm.
    Kept with the runs as `warm_latency`."""
    del home
    with errors_said(as_json):
        from ombud.lab import read_run, time_runs
        from ombud.store import find_run

        workspace = lab_workspace()
        store = workspace.store
        chosen = [find_run(store, named) for named in runs]
        with progress(not as_json) as on_progress:
            set_up = _set_up_of(workspace, seconds, on_progress)
            work = time_runs(chosen, store, set_up, cases=cases, on_progress=on_progress)
            timed = asyncio.run(work)
        _say([read_run(store, run.id) for run in chosen], timed, as_json)


def _set_up_of(
    workspace: "Workspace", seconds: float, on_progress: Callable[[str, int, int], None]
) -> "Callable[[Run], Target]":
    def set_up(run: "Run") -> "Target":
        target = target_of(workspace, run.target, seconds, on_progress)
        changed = run.config.get("changed", {})
        return target.variant(changed) if changed else target

    return set_up


def _say(recorded: "Sequence[RecordedRun]", timed: int, as_json: bool) -> None:
    """Each run's times, and how it differs from the first."""
    from ombud.cli.lab.json_output import contrast_json
    from ombud.cli.printing.tables import figure, table
    from ombud.lab import TIMED, compare_runs

    rows: list[tuple[str, ...]] = []
    listed: list[dict[str, Any]] = []
    for number, one in enumerate(recorded):
        (line,) = [row for row in one.summary(["overall"]) if row.metric == TIMED]
        row = None
        if number:
            (row,) = compare_runs(recorded[0], one, by=["overall"], metrics=[TIMED])
        mean = line.mean
        shown = (figure(mean.median), figure(mean.value), _against(row))
        rows.append((one.run.id, one.run.name, *shown))
        against = contrast_json(row) if row else {}
        listed.append({"run": one.run.id, "median": mean.median, "against_first": against})
    if as_json:
        print_json({"cases": timed, "runs": listed})
        return
    print(table(("run", "name", "median s", "mean s", "against the first, 95 %"), rows))
    print(f"\n{timed} cases, each asked of every run in turn, warm.")


def _against(row: "Contrast | None") -> str:
    from ombud.cli.printing.tables import between, figure

    if row is None:
        return ""
    found = row.comparison
    return f"{figure(found.difference)} ({between(found.low, found.high)}) {WORDS[row.better]}"
