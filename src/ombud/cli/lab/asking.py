"""The verbs of `ombud lab` that ask a target: run, sweep."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    errors_said,
    plan_values,
    print_json,
    progress,
    write_file,
)
from ombud.cli.lab.json_output import run_json
from ombud.cli.lab.judging import judge_of, lab_workspace
from ombud.cli.lab.target import complete, frozen_target, instruments, target_of

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.charts import Point
    from ombud.lab import RecordedRun, RunOptions, SweepPoint, Target
    from ombud.types import Case

DATASET = typer.Argument(help="Cases: a .jsonl or .csv file, a folder of them, or a BEIR folder.")
TARGET = typer.Option(
    "local", "--target", help="What is asked: `local`, this workspace, or the address of a server."
)
PLAN = typer.Option(
    [], "--plan", metavar="KEY=VALUE", help="Change a knob for every case; may be repeated."
)
METRICS = typer.Option("", "--metrics", help="Such as recall@8,token_f1; empty = the usual ones.")
SPLIT = typer.Option("open", "--split", help="dev, test, sealed, or open: dev and test.")
SAMPLE = typer.Option(
    1.0, "--sample", help="Ask this share of the cases only, the same ones each time."
)
SEED = typer.Option(0, "--seed", help="Which ones.")
TAGS = typer.Option(
    [], "--tag", help="Cases with this tag only; may be repeated: with any of them."
)
CONCURRENCY = typer.Option(4, "--concurrency", min=1, max=256, help="Cases asked at the same time.")
SECONDS = typer.Option(120.0, "--seconds", min=0.001, help="Longest time for one case.")


def run(
    dataset: Path = DATASET,
    target: str = TARGET,
    plan: list[str] = PLAN,
    metrics: str = METRICS,
    name: str = typer.Option("", "--name", help="How the run is called; empty = as the dataset."),
    split: str = SPLIT,
    sample: float = SAMPLE,
    seed: int = SEED,
    tags: list[str] = TAGS,
    evidence: Path | None = typer.Option(
        None, "--evidence", help="Answer from what `lab freeze` has kept, instead of searching."
    ),
    triage: bool = typer.Option(
        True, "--triage/--no-triage", help="With --evidence: look at the message first."
    ),
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Ask every case, score the answers, keep everything. Stopped in the middle, the same command
    goes on."""
    del home
    with errors_said(as_json):
        from ombud.lab import run_cases, usual_metrics

        workspace = lab_workspace()
        cases, notes = chosen_cases(dataset, split, sample, seed, tags)
        with progress(not as_json) as on_progress:
            named = target_of(workspace, target, seconds, on_progress)
            asked: Target = named
            if evidence:
                asked = frozen_target(named, evidence, cases, triage=triage)
                notes = (
                    *notes,
                    f"Answered from the evidence in {evidence.name}, not from a search.",
                )
            options = run_options(
                dataset,
                name=name,
                split=split,
                metrics=metrics or usual_metrics(cases),
                plan=plan,
                notes=notes,
                concurrency=concurrency,
                seconds=seconds,
            )
            tools = instruments(workspace, asked, options.metrics)
            work = run_cases(
                cases,
                asked,
                workspace.store,
                options,
                instruments=tools,
                on_progress=on_progress,
                judge_of=judge_of(workspace, options.metrics),
            )
            made = complete(work, named)
        _say_run(workspace, made.id, as_json)


def sweep(
    dataset: Path = DATASET,
    axes: list[str] = typer.Argument(
        help="Such as plan.k=3,5,7,10 plan.mode=sparse,hybrid index.chunk_tokens=128,256."
    ),
    target: str = TARGET,
    plan: list[str] = PLAN,
    metrics: str = METRICS,
    name: str = typer.Option("", "--name", help="How the study is called; empty = as the dataset."),
    split: str = typer.Option("dev", "--split", help="dev, test, sealed, or open: dev and test."),
    sample: float = SAMPLE,
    seed: int = SEED,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    timed: int = typer.Option(
        10, "--timed", min=0, help="Cases on which the cells are timed, in turn; 0 = no times."
    ),
    plot: Path | None = typer.Option(
        None, "--plot", help="Where the plot goes; empty = .ombud/lab/STUDY.svg."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Every combination of some settings, a run each: one table, one plot of quality against time,
    which is measured in turn."""
    del home
    with errors_said(as_json):
        from ombud.lab import parse_grid, read_run, usual_metrics
        from ombud.lab import run_sweep as run_all

        workspace = lab_workspace()
        cells = parse_grid(axes)
        cases, notes = chosen_cases(dataset, split, sample, seed)
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            options = run_options(
                dataset,
                name=name,
                split=split,
                metrics=metrics or usual_metrics(cases),
                plan=plan,
                notes=notes,
                concurrency=concurrency,
                seconds=seconds,
                study=True,
            )
            work = run_all(
                cells,
                cases,
                asked,
                workspace.store,
                options,
                embed=instruments(workspace, asked, options.metrics).embed,
                on_progress=on_progress,
                timed=timed,
            )
            runs = complete(work, asked)
        recorded = [read_run(workspace.store, made.id) for made in runs]
        where = plot or workspace.data / "lab" / f"{options.study}.svg"
        _say_sweep(cells, recorded, str(options.metrics[0]), where, as_json)


def chosen_cases(
    dataset: Path, split: str, share: float, seed: int, tags: Sequence[str] = ()
) -> tuple[tuple["Case", ...], tuple[str, ...]]:
    from ombud.errors import LabError
    from ombud.lab import (
        contaminated,
        contamination_note,
        draw_sample,
        read_cases,
        select_split,
    )

    whole = _tagged(read_cases(dataset), tags)
    chosen = select_split(whole, split)
    if not chosen:
        raise LabError(
            f"{dataset}: none of its {len(whole)} cases is in the split `{split}`.",
            hint=_where_cases_are(whole),
        )
    note = contamination_note(contaminated(whole), chosen)
    notes = (note,) if note else ()
    if share == 1:
        return chosen, notes
    drawn = draw_sample(chosen, share, seed)
    return drawn, (*notes, f"Exploratory: {len(drawn)} of {len(chosen)} cases (seed {seed}).")


def _where_cases_are(cases: "Sequence[Case]") -> str:
    """Which splits hold the cases, and how one gets a case into another."""
    from ombud.lab import split_of

    if not cases:
        return "There is no case, or none with such a tag."
    counts = Counter(split_of(case.id) for case in cases)
    told = ", ".join(f"{count} in `{name}`" for name, count in sorted(counts.items()))
    return f"There are {told}. The split of a case follows from its id: rename a case to move it."


def _tagged(cases: "Sequence[Case]", tags: Sequence[str]) -> "Sequence[Case]":
    """Those with any of the tags; all without tags."""
    from ombud.errors import LabError

    chosen = [case for case in cases if not tags or set(tags) & set(case.tags)]
    if not chosen:
        known = sorted({tag for case in cases for tag in case.tags})
        raise LabError(
            f"No case is tagged `{'` or `'.join(tags)}`.", hint=f"Tags: {', '.join(known)}."
        )
    return chosen


def run_options(
    dataset: Path,
    *,
    name: str,
    split: str,
    metrics: str,
    plan: Sequence[str],
    notes: tuple[str, ...],
    concurrency: int,
    seconds: float,
    study: bool = False,
) -> "RunOptions":
    from ombud.lab import RunOptions, parse_metrics
    from ombud.settings import merge_plan

    changes = plan_values(list(plan))
    merge_plan(changes, served=False)  # what is misspelt is said before anything is asked
    called = name or dataset.resolve().stem
    return RunOptions(
        metrics=parse_metrics(metrics),
        name=called,
        dataset=str(dataset.resolve()),
        split=split,
        plan=changes,
        study=called if study else "",
        concurrency=concurrency,
        seconds=seconds,
        notes=notes,
    )


def _say_run(workspace: "Workspace", run_id: str, as_json: bool) -> None:
    from ombud.cli.printing.tables import closing, summary_table
    from ombud.lab import read_run

    recorded = read_run(workspace.store, run_id)
    if as_json:
        print_json(run_json(recorded))
        return
    made = recorded.run
    print(f"{len(recorded.cases)} cases of {made.dataset} ({made.split}), target {made.target}")
    for note in (*made.notes, *short_rankings(recorded)):
        print(f"Note: {note}")
    print()
    print(summary_table(recorded.summary(["overall"])))
    print()
    print(closing(recorded))
    verbs = f"`ombud lab show {made.id}`, `ombud lab report {made.id} --html report.html`"
    print(f"\nRun {made.id} ({made.name}): {verbs}.")


def short_rankings(recorded: "RecordedRun") -> list[str]:
    """Metrics that look further down than the target returns."""
    from ombud.lab import parse_metric

    config = recorded.run.config
    plan = {**config.get("plan", {}), **config.get("set", {})}
    k = plan.get("k")
    if not k:
        return []
    cut: list[str] = []
    for name in recorded.metrics:
        metric = parse_metric(name)
        if metric.cutoff and not metric.words and metric.cutoff > k:
            cut.append(str(metric))
    return [f"{', '.join(cut)}: only {k} passages come back (plan.k)."] if cut else []


def _say_sweep(
    cells: Any, recorded: Sequence["RecordedRun"], metric: str, where: Path, as_json: bool
) -> None:
    from ombud.charts import draw_scatter
    from ombud.lab import sweep_points

    placed = sweep_points(cells, recorded, metric)
    title = f"{metric} against time"
    write_file(
        where, draw_scatter(title, ("median seconds a case, in turn", metric), _dots(placed))
    )
    if as_json:
        listed: list[dict[str, Any]] = []
        for point, run in zip(placed, recorded, strict=True):
            listed.append({**run_json(run), "cell": dict(point.cell), "front": point.front})
        print_json({"metric": metric, "plot": str(where), "cells": listed})
        return
    print(_sweep_table(placed, recorded, metric))
    front = f"* on the Pareto front of {metric} and time, measured in turn."
    print(f"\n{front if any(point.seconds for point in placed) else 'No times.'} Plot: {where}")
    ids = ", ".join(run.run.id for run in recorded)
    print(f"To test a difference: `ombud lab compare RUN RUN`, of {ids}.")


def _dots(placed: Sequence["SweepPoint"]) -> list["Point"]:
    """The cells that have both a quality and a latency."""
    from ombud.charts import Point
    from ombud.lab import cell_label

    dots: list[Point] = []
    for point in placed:
        quality = point.quality
        if point.seconds is not None and quality.value is not None:
            dots.append(
                Point(
                    cell_label(point.cell),
                    point.seconds,
                    quality.value,
                    low=quality.low,
                    high=quality.high,
                    front=point.front,
                )
            )
    return dots


def _sweep_table(
    placed: Sequence["SweepPoint"], recorded: Sequence["RecordedRun"], metric: str
) -> str:
    from ombud.cli.printing.tables import between, figure, table
    from ombud.lab import cell_label

    others = [name for name in recorded[0].metrics if name not in {metric, "latency"}]
    rows: list[tuple[str, ...]] = []
    for point, run in zip(placed, recorded, strict=True):
        quality = point.quality
        rows.append(
            (
                cell_label(point.cell),
                "*" if point.front else "",
                figure(quality.value),
                between(quality.low, quality.high),
                f"{quality.valid}/{quality.total}",
                *(figure(_mean(run, name)) for name in others),
                figure(point.seconds),
            )
        )
    return table(("setting", "front", metric, "95 %", "n", *others, "seconds"), rows)


def _mean(recorded: "RecordedRun", metric: str) -> float | None:
    from ombud.lab import mean

    return mean([score.value for score in recorded.values(metric).values()], repeats=1).value
