"""`[lab] every`: repeats the same cases after each sync and each change of flags or prompts, and
every week, in one process of all; compares with the baseline that a person pinned, and notifies the
owner of a deviation."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ombud.app.target import LocalTarget
from ombud.app.watching.judges import asker_for, embed_of, judge_of
from ombud.app.watching.live import judge_live
from ombud.app.watching.notifying import notify_owner
from ombud.app.workspace import Workspace
from ombud.errors import Busy, HandoffError, OmbudError
from ombud.lab import (
    FallLimits,
    Instruments,
    RunOptions,
    Verdict,
    add_rubrics,
    find_deviations,
    parse_metrics,
    read_cases,
    read_run,
    run_cases,
    select_split,
    usual_metrics,
)
from ombud.store import acquire_lease, list_runs, read_progress, save_progress, save_run
from ombud.types import Run

logger = logging.getLogger(__name__)

NAME = "watch"
FELL = "Fell beyond noise"
"""Prefix of the note of a run that deviates."""
PINNED = "lab baseline"
DEVIATIONS = "lab deviations"
PAUSE = 30.0
"""Seconds between two checks for changes."""
FOLLOWED = 20
"""Newest runs in which a slow drift is looked for."""


class Watched(NamedTuple):
    """A repeated run and its comparison."""

    run: Run
    baseline: Run | None
    """None for the first run."""
    verdict: Verdict | None


def run_watch(workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None]) -> None:
    """Check every half minute until `stop` is set; a failure is reported once, and the next check
    comes."""
    lab = workspace.settings.lab
    turns: dict[str, Callable[[], str]] = {}
    if lab.every:
        turns["watch"] = lambda: watch_line(watch_once(workspace))
    if lab.judge_share:
        turns["judged share"] = lambda: judge_live(workspace)
    last_lines: dict[str, str] = {}
    while turns:
        for name, turn in turns.items():
            try:
                line = turn()
            except Busy:
                line = ""
            except OmbudError as failed:
                line = f"{name} failed: {failed} {failed.hint}".strip()
            if line and line != last_lines.get(name):
                on_line(line)
                last_lines[name] = line
        if stop.wait(PAUSE):
            return


def watch_once(workspace: Workspace) -> Watched | None:
    """Repeat the cases if what answers has changed, or a week has passed; None if not. Raises Busy
    if another process does it, LabError for unreadable cases."""
    lab = workspace.settings.lab
    path = Path(workspace.home, lab.every)
    cases = select_split(read_cases(path), "open")
    add_rubrics(workspace.home / "rubrics")
    metrics = parse_metrics(lab.metrics or usual_metrics(cases))
    target = LocalTarget(workspace)
    options = RunOptions(metrics, name=NAME, dataset=str(path.resolve()), split="open")
    alike = any(metric.name.startswith("semantic") for metric in metrics)
    with acquire_lease(workspace.store, "lab watch"):
        done = {run.id for run in list_runs(workspace.store) if run.state == "done"}
        tools = Instruments(embed_of(workspace) if alike else None, target.text_of)
        work = run_cases(
            cases,
            target,
            workspace.store,
            options,
            instruments=tools,
            reuse=not _is_due(workspace),
            judge_of=judge_of(workspace, metrics),
            asker=asker_for(workspace, cases),
        )
        run = asyncio.run(work)
        if run.id in done:
            return None
        return compare_with_baseline(workspace, run)


def _is_due(workspace: Workspace) -> bool:
    """Tell whether the last run is so old that the same cases are asked again."""
    age = timedelta(days=workspace.settings.lab.every_days)
    newest = next(iter(repeated_runs(workspace)), None)
    return bool(newest and newest.started and newest.started < datetime.now(UTC) - age)


def compare_with_baseline(workspace: Workspace, run: Run) -> Watched:
    """Compare with the baseline, and notify the owner of a deviation."""
    watched = find_changes(workspace, run)
    if watched.verdict is None or watched.baseline is None or watched.verdict.passed:
        return watched
    note = f"{FELL} against run {watched.baseline.id}."
    fallen = run.model_copy(update={"notes": (*run.notes, note)})
    save_run(workspace.store, fallen)
    try:
        notify_owner(workspace.settings, fallen, watched.baseline, watched.verdict)
    except HandoffError as failed:
        logger.warning("The owner could not be notified about run %s: %s", run.id, failed)
    return watched._replace(run=fallen)


def find_changes(workspace: Workspace, run: Run) -> Watched:
    """Compare a run, and those before it, with the baseline; what is found is kept for the page and
    for monitoring."""
    baseline = find_baseline(workspace, run)
    if baseline is None:
        return Watched(run, None, None)
    runs = [read_run(workspace.store, baseline.id)]
    for between in _between(repeated_runs(workspace), baseline, run):
        runs.append(read_run(workspace.store, between.id))
    runs.append(read_run(workspace.store, run.id))
    lab = workspace.settings.lab
    wrong = None if lab.wrong_figures < 0 else lab.wrong_figures
    verdict = find_deviations(runs, FallLimits(lab.thresholds, wrong))
    means: dict[str, Any] = {}
    for metric in verdict.checked:
        first, last = (runs[at].overall(metric).mean.value for at in (0, -1))
        means[metric] = {"baseline": first, "now": last}
    falls = [{"metric": fall.concerns, "said": fall.said} for fall in verdict.falls]
    state = {"run": run.id, "baseline": baseline.id, "falls": falls, "means": means}
    save_progress(workspace.store, DEVIATIONS, state)
    return Watched(run, baseline, verdict)


def repeated_runs(workspace: Workspace) -> list[Run]:
    """Return the finished runs of the repeated cases, newest first."""
    runs = list_runs(workspace.store)
    return [run for run in runs if run.name == NAME and run.state == "done"]


def _between(runs: Iterable[Run], baseline: Run, run: Run) -> list[Run]:
    """Return the newest runs of the same cases after the baseline and before this one, oldest
    first."""
    between: list[Run] = []
    for other in runs:
        is_same = other.dataset_digest == run.dataset_digest
        is_between = _start(baseline) < _start(other) < _start(run)
        if is_same and is_between and len(between) < FOLLOWED:
            between.insert(0, other)
    return between


def find_baseline(workspace: Workspace, run: Run) -> Run | None:
    """Return the run that a person pinned; until somebody does, the first of the same cases."""
    pinned = read_progress(workspace.store, PINNED).get("run")
    first: Run | None = None
    for other in list_runs(workspace.store):
        if other.id == run.id or other.state != "done":
            continue
        if other.id == pinned:
            return other
        if (other.name, other.dataset_digest) == (NAME, run.dataset_digest):
            first = other
    return None if run.id == pinned else first


def _start(run: Run) -> str:
    return run.started.isoformat() if run.started else ""


def watch_line(watched: Watched | None) -> str:
    if watched is None:
        return ""
    if watched.verdict is None or watched.baseline is None:
        return f"watch: {watched.run.cases} cases asked, run {watched.run.id} is the first"
    if watched.verdict.passed:
        return f"watch: run {watched.run.id} has not fallen against {watched.baseline.id}"
    falls = "; ".join(fall.said for fall in watched.verdict.falls[:3])
    return f"watch: run {watched.run.id} fell against {watched.baseline.id}: {falls}"
