"""`ombud lab tune`, `ablate` and `noise`: what to set, what each part is worth, what is noise."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, progress
from ombud.cli.lab.asking import (
    CONCURRENCY,
    DATASET,
    PLAN,
    SECONDS,
    TARGET,
    chosen_cases,
    run_options,
)
from ombud.cli.lab.judging import judge_of, lab_workspace
from ombud.cli.lab.reading import RUN
from ombud.cli.lab.target import complete, embed_of, target_of
from ombud.cli.printing import tuning as say

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import Cell, RecordedRun, RunOptions, Target, Tuning

OBJECTIVES = typer.Option(
    ["outcome_accuracy"],
    "--objective",
    help="A metric to make better, or latency; may be repeated: then a front is looked for.",
)
MORE = typer.Option("", "--metrics", help="Others to score and report beside the objectives.")
LEFT_OUT = "quote_recall@5,citation_recall,outcome_accuracy"
NAME = typer.Option("", "--name", help="How the study is called; empty = as verb and dataset.")
SPLIT_BY = typer.Option(
    "halves",
    "--split-by",
    help="halves: tune on dev, report test. nested: cross-validation over both.",
)
TIMED = typer.Option(
    20, "--timed", min=0, help="Test cases on which settings are timed in turn; 0 = no times."
)
PLOT = typer.Option(None, "--plot", help="Where the front is drawn; empty = .ombud/lab/STUDY.svg.")
OnProgress = Callable[[str, int, int], None]


def tune(
    dataset: Path = DATASET,
    axes: list[str] = typer.Argument(
        help="Such as plan.k=3,5,8 plan.rrf_k=10..100..10 plan.weights.sparse=0..1 "
        "plan.mode=sparse,hybrid."
    ),
    objectives: list[str] = OBJECTIVES,
    metrics: str = MORE,
    trials: int = typer.Option(60, "--trials", min=1, help="Settings to try."),
    split_by: str = SPLIT_BY,
    folds: int = typer.Option(5, "--folds", min=2, max=20, help="Of --split-by nested."),
    timed: int = TIMED,
    name: str = NAME,
    seed: int = typer.Option(0, "--seed", help="Of what is proposed."),
    plan: list[str] = PLAN,
    target: str = TARGET,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    plot: Path | None = PLOT,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Search for better settings; what is reported is measured on cases that were not tuned on.
    Stopped in the middle, the same command goes on."""
    del home
    with errors_said(as_json):
        from ombud.errors import UnknownName
        from ombud.lab import Halves, parse_axes, tune_halves, tune_nested

        if split_by not in {"halves", "nested"}:
            raise UnknownName(f"Cases cannot be split by `{split_by}`.", hint="halves, or nested.")
        parsed = parse_axes(axes)
        workspace = lab_workspace()
        cases, notes = chosen_cases(dataset, "open", 1.0, 0)
        options = study_options(
            dataset,
            "tune",
            _metrics(objectives, metrics),
            name=name,
            plan=plan,
            notes=notes,
            concurrency=concurrency,
            seconds=seconds,
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(
                workspace, asked, options, parsed, on_progress, objectives=objectives
            )
            if split_by == "nested":
                work = tune_nested(tuning, cases, trials, seed, folds)
                say.nested(complete(work, asked), objectives[0], as_json)
                return
            halves = Halves(cases)
            tuned = complete(tune_halves(tuning, halves, trials, seed, timed=timed), asked)
        where = plot or workspace.data / "lab" / f"{options.study}.svg"
        say.tuned(tuned, tuning, where, as_json)


def ablate(
    dataset: Path = DATASET,
    over: str = typer.Option(
        "steps",
        "--over",
        help="steps of the pipeline, fields of the plan that are on, or components of the prompt.",
    ),
    metrics: str = typer.Option(LEFT_OUT, "--metrics", help="Those that are compared."),
    split: str = typer.Option("dev", "--split", help="dev, test or open."),
    sample: float = typer.Option(1.0, "--sample", help="Ask this share of the cases only."),
    name: str = NAME,
    plan: list[str] = PLAN,
    target: str = TARGET,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """What each part is worth: everything against everything without it, on the same cases."""
    del home
    with errors_said(as_json):
        from ombud.lab import ablate as leave_out

        workspace = lab_workspace()
        cases, notes = chosen_cases(dataset, split, sample, 0)
        options = study_options(
            dataset,
            "ablate",
            [metrics],
            name=name,
            plan=plan,
            notes=notes,
            concurrency=concurrency,
            seconds=seconds,
            split=split,
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            parts = _parts(over, asked, options.plan)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            rows = complete(leave_out(tuning, cases, parts), asked)
        say.ablation(rows, as_json)


def noise(
    run: str = RUN,
    repeats: int = typer.Option(2, "--repeats", min=1, help="Times that its cases are asked more."),
    judgements: int = typer.Option(
        1, "--judgements", min=1, help="Times that a judge grades each answer."
    ),
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """How much of a run's figures is noise: its cases asked, and judged, again and again with
    nothing changed. Stopped in the middle, the same command goes on."""
    del home
    with errors_said(as_json):
        from ombud.lab import measure_noise, read_run

        workspace = lab_workspace()
        recorded = read_run(workspace.store, run)
        options = _same_options(recorded, concurrency, seconds)
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, recorded.run.target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            found = complete(measure_noise(tuning, recorded, repeats, judgements), asked)
        say.noise(recorded, found, repeats + 1, as_json)


def _metrics(objectives: Sequence[str], more: str) -> list[str]:
    """What every trial is scored in; times are taken apart."""
    from ombud.lab import TIMES

    named = [objective for objective in objectives if objective not in TIMES]
    return [*named, more] if more else named


def study_options(
    dataset: Path,
    verb: str,
    metrics: Sequence[str],
    *,
    plan: Sequence[str],
    concurrency: int,
    seconds: float,
    name: str = "",
    notes: tuple[str, ...] = (),
    split: str = "open",
) -> "RunOptions":
    """Of runs that belong together, so that a study that was stopped finds its own."""
    return run_options(
        dataset,
        name=name or f"{verb} {dataset.resolve().stem}",
        split=split,
        metrics=",".join(metrics),
        plan=plan,
        notes=notes,
        concurrency=concurrency,
        seconds=seconds,
        study=True,
    )


def _same_options(recorded: "RecordedRun", concurrency: int, seconds: float) -> "RunOptions":
    """Those that a run was made with."""
    from ombud.lab import TIMED, RunOptions, parse_metrics

    run = recorded.run
    metrics = parse_metrics(",".join(recorded.metrics))
    return RunOptions(
        metrics=tuple(metric for metric in metrics if metric.name != TIMED),
        name=run.name,
        dataset=run.dataset_path or run.dataset,
        split=run.split,
        plan=run.config.get("set", {}),
        changed=run.config.get("changed", {}),
        study=f"noise of {run.id}",
        concurrency=concurrency,
        seconds=seconds,
        notes=(f"The same as run {run.id}, to see what is noise.",),
    )


def make_tuning(
    workspace: "Workspace",
    asked: "Target",
    options: "RunOptions",
    axes: Mapping[str, Sequence[Any]],
    on_progress: OnProgress,
    *,
    objectives: Sequence[str] = (),
) -> "Tuning":
    """What a search, an ablation or a study asks with. objectives: empty = all metrics."""
    from ombud.lab import Instruments, Tuning

    alike = any(metric.name.startswith("semantic") for metric in options.metrics)
    embed = embed_of(workspace) if alike else None

    def instruments(target: "Target") -> "Instruments":
        return Instruments(embed, target.text_of)

    return Tuning(
        target=asked,
        store=workspace.store,
        options=options,
        objectives=tuple(objectives or map(str, options.metrics)),
        axes=axes,
        instruments=instruments,
        judge_of=judge_of(workspace, options.metrics),
        on_progress=on_progress,
    )


def _parts(over: str, target: "Target", plan: Mapping[str, Any]) -> "Mapping[str, Cell]":
    """What can be left out of what is on now."""
    from ombud.answer import switched
    from ombud.errors import UnknownName
    from ombud.lab import component_parts, plan_parts, step_parts

    described = target.describe()
    if over == "steps":
        return step_parts(described, plan, has_index=target.name == "local")
    if over == "plan":
        return plan_parts(described, plan)
    if over == "components":
        now = {**described.get("plan", {}), **plan}
        on = switched(tuple(now.get("components") or ()))
        return component_parts(on, described, plan)
    raise UnknownName(f"`{over}` cannot be left out.", hint="steps, plan or components.")
