"""`[lab] every`: the same cases after each sync and each change of flags or prompts, by one process
of all; the owner hears of a fall beyond noise."""

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ombud.app.target import LocalTarget
from ombud.app.watching.telling import tell_owner
from ombud.app.workspace import Workspace
from ombud.errors import Busy, HandoffError, OmbudError
from ombud.lab import (
    Instruments,
    RunOptions,
    Verdict,
    check_gate,
    parse_metrics,
    read_cases,
    read_run,
    run_cases,
    select_split,
    usual_metrics,
)
from ombud.store import acquire_lease, list_runs, save_run
from ombud.types import Run

logger = logging.getLogger(__name__)

NAME = "watch"
FELL = "Fell beyond noise"
"""How the note of such a run begins: it is no baseline for the next."""
PAUSE = 30.0
"""Seconds between two looks whether anything has changed."""


class Watched(NamedTuple):
    run: Run
    baseline: Run | None
    """The last run that had not fallen; None for the first."""
    verdict: Verdict | None


def run_watch(workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None]) -> None:
    """Look every half a minute until `stop` is set; a failure is told once, and the next look
    comes."""
    if not workspace.settings.lab.every:
        return
    said = ""
    while True:
        try:
            found = watch_once(workspace)
            line = _line(found) if found else ""
        except Busy:
            line = ""
        except OmbudError as failed:
            line = f"watch failed: {failed} {failed.hint}".strip()
        if line and line != said:
            on_line(line)
            said = line
        if stop.wait(PAUSE):
            return


def watch_once(workspace: Workspace) -> Watched | None:
    """Ask the cases if what answers has changed since they were asked last; None where it has not.

    Raises Busy where another process is at it, LabError for cases that cannot be read."""
    path = Path(workspace.home, workspace.settings.lab.every)
    cases = select_split(read_cases(path), "open")
    target = LocalTarget(workspace)
    options = RunOptions(
        metrics=parse_metrics(usual_metrics(cases)),
        name=NAME,
        dataset=str(path.resolve()),
        split="open",
    )
    with acquire_lease(workspace.store, "lab watch"):
        done = {run.id for run in list_runs(workspace.store) if run.state == "done"}
        tools = Instruments(text_of=target.text_of)
        work = run_cases(cases, target, workspace.store, options, instruments=tools, reuse=True)
        run = asyncio.run(work)
        if run.id in done:
            return None
        return _compared(workspace, run)


def _compared(workspace: Workspace, run: Run) -> Watched:
    """Against the last one of the same cases that had not fallen; the owner hears of a fall."""
    baseline = _baseline(workspace, run)
    if baseline is None:
        return Watched(run, None, None)
    first = read_run(workspace.store, baseline.id)
    second = read_run(workspace.store, run.id)
    # It only tells: whoever chose these cases for that need not have accepted each.
    bar = workspace.settings.lab.judge_bar
    verdict = check_gate(first, second, allow_unreviewed=True, judge_bar=bar)
    if verdict.passed:
        return Watched(run, baseline, verdict)
    fallen = run.model_copy(update={"notes": (*run.notes, f"{FELL} against run {baseline.id}.")})
    save_run(workspace.store, fallen)
    try:
        tell_owner(workspace.settings, fallen, baseline, verdict)
    except HandoffError as failed:
        logger.warning("The owner could not be told of run %s: %s", run.id, failed)
    return Watched(fallen, baseline, verdict)


def _baseline(workspace: Workspace, run: Run) -> Run | None:
    for other in list_runs(workspace.store):
        if other.id == run.id or other.state != "done":
            continue
        is_same = (other.name, other.dataset_digest) == (NAME, run.dataset_digest)
        has_fallen = any(note.startswith(FELL) for note in other.notes)
        if is_same and not has_fallen:
            return other
    return None


def _line(found: Watched) -> str:
    if found.verdict is None or found.baseline is None:
        return f"watch: {found.run.cases} cases asked, run {found.run.id} is the first"
    if found.verdict.passed:
        return f"watch: run {found.run.id} has not fallen against {found.baseline.id}"
    falls = "; ".join(fall.said for fall in found.verdict.falls[:3])
    return f"watch: run {found.run.id} fell against {found.baseline.id}: {falls}"
