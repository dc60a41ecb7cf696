"""The lab's page on what people get: deviations from the pinned baseline, a judged share of live
answers, and experiments."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ombud.app.admin.jobs import note_action
from ombud.app.watching.asking import (
    DEVIATIONS,
    FOLLOWED,
    PINNED,
    find_baseline,
    find_changes,
    repeated_runs,
)
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotFound
from ombud.lab import (
    LIVE,
    LiveFigure,
    MetricSummary,
    Plot,
    RecordedRun,
    VariantAdvice,
    advise,
    compare_variants,
    draw_over_time,
    experiment_scopes,
    live_answers,
    read_run,
    title_of,
)
from ombud.messages import message
from ombud.store import judge_costs, list_runs, read_progress, save_progress
from ombud.types import Run


class ShownExperiment(NamedTuple):
    """An experiment, its figures by group, and what they advise."""

    name: str
    rows: tuple[tuple[LiveFigure, LiveFigure], ...]
    """A and B of each figure."""
    advice: VariantAdvice


class ShownProduction(NamedTuple):
    """Everything on the page."""

    runs: tuple[Run, ...]
    """Of the repeated cases, newest first."""
    baseline: Run | None
    is_pinned: bool
    state: Mapping[str, Any]
    """The last comparison with the baseline: its falls, and means by metric."""
    charts: tuple[tuple[str, Plot], ...]
    live: "ShownLive | None"
    experiments: tuple[ShownExperiment, ...]


class ShownLive(NamedTuple):
    """Judged live answers of the last day that has some, and of the days before."""

    day: str
    figures: tuple[MetricSummary, ...]
    price: float | None
    charts: tuple[tuple[str, Plot], ...]


def show_production(workspace: Workspace) -> ShownProduction:
    runs = repeated_runs(workspace)[:FOLLOWED]
    baseline = (find_baseline(workspace, runs[0]) or runs[0]) if runs else None
    state = read_progress(workspace.store, DEVIATIONS)
    shown = list(reversed(runs))
    if baseline and baseline.id not in {run.id for run in shown}:
        shown.insert(0, baseline)
    pinned = read_progress(workspace.store, PINNED).get("run")
    return ShownProduction(
        runs=tuple(runs),
        baseline=baseline,
        is_pinned=bool(baseline and baseline.id == pinned),
        state=state,
        charts=_charts(workspace, shown, list(state.get("means", ())), baseline),
        live=_live(workspace),
        experiments=_experiments(workspace),
    )


def _live(workspace: Workspace) -> ShownLive | None:
    days = [run for run in list_runs(workspace.store) if run.name.startswith(LIVE) and run.cases]
    if not days:
        return None
    figures = read_run(workspace.store, days[0].id).summary(["overall"])
    return ShownLive(
        day=days[0].name.removeprefix(LIVE),
        figures=figures,
        price=judge_costs(workspace.store, days[0].id).price,
        charts=_charts(workspace, days[:FOLLOWED][::-1], [line.metric for line in figures]),
    )


def _charts(
    workspace: Workspace, runs: Sequence[Run], metrics: Sequence[str], baseline: Run | None = None
) -> tuple[tuple[str, Plot], ...]:
    marked = baseline.id if baseline else ""
    recorded: list[RecordedRun] = []
    if metrics:
        recorded = [read_run(workspace.store, run.id) for run in runs]
    return tuple(
        (metric, draw_over_time(title_of(metric), recorded, [metric], marked)) for metric in metrics
    )


def _experiments(workspace: Workspace) -> tuple[ShownExperiment, ...]:
    answers = list(live_answers(workspace.store))
    rows = compare_variants(answers, experiment_scopes(workspace.flagged.experiment, answers))
    advice = {one.variant: one for one in advise(rows)}
    shown: list[ShownExperiment] = []
    for name, own in advice.items():
        sides = [row for row in rows if row.variant == name]
        pairs = tuple(zip(sides[::2], sides[1::2], strict=True))
        shown.append(ShownExperiment(name, pairs, own))
    return tuple(shown)


def pin_baseline(workspace: Workspace, run_id: str, by: str) -> None:
    """Hold later runs of the repeated cases against this one; the audit chain records it. Raises
    NotFound for an unknown run, BadRequest for one that is not finished."""
    runs = {run.id: run for run in list_runs(workspace.store)}
    run = runs.get(run_id)
    if run is None:
        raise NotFound(
            message("evaluation.error_run_unknown"),
            hint=message("evaluation.error_run_unknown_hint"),
        )
    if run.state != "done":
        raise BadRequest(message("evaluation.error_run_unfinished", id=run.id))
    note_action(workspace, "lab baseline", by, run=run.id, dataset=run.dataset_digest)
    save_progress(workspace.store, PINNED, {"run": run.id})
    save_progress(workspace.store, DEVIATIONS, {})
    newest = next(iter(repeated_runs(workspace)), None)
    if newest and newest.id != run.id:
        find_changes(workspace, newest)
