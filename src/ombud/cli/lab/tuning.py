"""`ombud lab tune` and `ablate`: what to set, and what each part is worth."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, progress, write_file
from ombud.cli.lab.asking import (
    CONCURRENCY,
    DATASET,
    PLAN,
    SECONDS,
    TARGET,
    chosen_cases,
    run_options,
)
from ombud.cli.lab.calibrating import choose_confidence
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of
from ombud.cli.lab.tuned import say_ablation, say_tuned

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import Cell, RunOptions, Target, Tuning

OBJECTIVES = typer.Option(
    ["outcome_accuracy"],
    "--objective",
    help="A metric to make better, or latency; may be repeated: then a front is looked for.",
)
MORE = typer.Option("", "--metrics", help="Others to score and report beside the objectives.")
LEFT_OUT = "quote_recall@5,citation_recall,outcome_accuracy"
NAME = typer.Option("", "--name", help="How the study is called; empty = as verb and dataset.")
TIMED = typer.Option(
    20, "--timed", min=0, help="Test cases on which settings are timed in turn; 0 = no times."
)
HTML = typer.Option(None, "--html", help="Write what each part is worth as one page.")
PLOT = typer.Option(None, "--plot", help="Where the front is drawn; empty = .ombud/lab/STUDY.svg.")
OnProgress = Callable[[str, int, int], None]


def tune(
    dataset: Path = DATASET,
    axes: list[str] | None = typer.Argument(
        None,
        help="Such as plan.k=3,5,8 plan.pool=10..100..10 plan.weights.sparse=0..1 "
        "plan.mode=sparse,hybrid.",
    ),
    confidence: bool = typer.Option(
        False, "--confidence", help="In place of axes: from which confidence on to answer."
    ),
    most: float | None = typer.Option(
        None,
        "--at-most",
        min=0,
        max=1,
        help="Of --confidence: largest share of answers that the documents do not hold.",
    ),
    objectives: list[str] = OBJECTIVES,
    metrics: str = MORE,
    trials: int = typer.Option(60, "--trials", min=1, help="Settings to try."),
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
        from ombud.errors import BadRequest
        from ombud.lab import Halves, parse_axes, tune_halves

        if confidence:
            choose_confidence(
                dataset,
                target,
                most,
                plot,
                concurrency=concurrency,
                seconds=seconds,
                as_json=as_json,
            )
            return
        if not axes:
            raise BadRequest("Tune what?", hint="Axes such as plan.k=3,5,8, or --confidence.")
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
            measured = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(
                workspace, measured, options, parsed, on_progress, objectives=objectives
            )
            halves = Halves(cases)
            tuned = complete(tune_halves(tuning, halves, trials, seed, timed=timed), measured)
        where = plot or workspace.data / "lab" / f"{options.study}.svg"
        say_tuned(tuned, tuning, where, as_json)


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
    html: Path | None = HTML,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Say what each part is worth: everything against everything without it, on the same cases."""
    del home
    with errors_said(as_json):
        from ombud.app import studying
        from ombud.lab import ablate as leave_out
        from ombud.lab import study_html

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
            measured = target_of(workspace, target, seconds, on_progress)
            parts = _parts(over, measured, options.plan)
            tuning = make_tuning(workspace, measured, options, {}, on_progress)
            rows = complete(leave_out(tuning, cases, parts), measured)
        if html:
            leading = str(options.metrics[0])
            study = studying.show_study(workspace, options.study, leading)
            write_file(html, study_html(options.study, study.plots))
        say_ablation(rows, as_json)


def _metrics(objectives: Sequence[str], more: str) -> list[str]:
    """List the metrics of every trial; times are measured separately."""
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
    """Return options shared by the runs of a study, so that an interrupted study finds its own
    runs."""
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


def make_tuning(
    workspace: "Workspace",
    measured: "Target",
    options: "RunOptions",
    axes: Mapping[str, Sequence[Any]],
    on_progress: OnProgress,
    *,
    objectives: Sequence[str] = (),
) -> "Tuning":
    """Set up a search, an ablation or a study. objectives: empty = all metrics."""
    from ombud.app import embed_of, judge_of
    from ombud.lab import Instruments, Tuning

    alike = any(metric.name.startswith("semantic") for metric in options.metrics)
    embed = embed_of(workspace) if alike else None

    def instruments(target: "Target") -> "Instruments":
        return Instruments(embed, target.text_of)

    return Tuning(
        target=measured,
        store=workspace.store,
        options=options,
        objectives=tuple(objectives or map(str, options.metrics)),
        axes=axes,
        instruments=instruments,
        judge_of=judge_of(workspace, options.metrics),
        on_progress=on_progress,
    )


def _parts(over: str, target: "Target", plan: Mapping[str, Any]) -> "Mapping[str, Cell]":
    """List the enabled parts that can be left out."""
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
