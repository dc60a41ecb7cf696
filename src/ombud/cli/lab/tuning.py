"""`ombud lab tune`, `ablate` and `noise`: what to set, what each part is worth, what is noise."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress
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
from ombud.cli.lab.target import complete, embed_of, target_of

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import (
        Ablation,
        Contrast,
        Instruments,
        MetricNoise,
        Nested,
        RunOptions,
        Target,
        Tuned,
        Tuning,
    )

OBJECTIVES = typer.Option(
    ["outcome_accuracy"], "--objective", help="A metric that counts; may be repeated."
)
BARS = 30
"""Characters of the longest bar of a histogram."""
OnProgress = Callable[[str, int, int], None]


def tune(
    dataset: Path = DATASET,
    axes: list[str] = typer.Argument(
        help="Such as plan.k=3,5,8 plan.rrf_k=10..100..10 plan.mode=sparse,hybrid."
    ),
    objectives: list[str] = OBJECTIVES,
    trials: int = typer.Option(60, "--trials", min=1, help="Proposals."),
    folds: int = typer.Option(
        0, "--folds", min=0, max=20, help="Nested cross-validation; 0 = tune on dev, report test."
    ),
    timed: int = typer.Option(
        10, "--timed", min=0, help="Cases on which present and best settings are timed in turn."
    ),
    seed: int = typer.Option(0, "--seed", help="Of what is proposed."),
    plan: list[str] = PLAN,
    target: str = TARGET,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Search for better settings; what is reported is measured on cases that were not tuned on.
    Stopped in the middle, the same command goes on."""
    del home
    with errors_said(as_json):
        from ombud.lab import parse_axes, time_tuned, tune_halves, tune_nested

        parsed = parse_axes(axes)
        workspace = lab_workspace()
        cases, _ = chosen_cases(dataset, "open", 1.0, 0)
        options = study_options(
            dataset, "tune", objectives, plan=plan, concurrency=concurrency, seconds=seconds
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, parsed, on_progress)
            if folds:
                nested = complete(tune_nested(tuning, cases, trials, seed, folds), asked)
                _say_nested(nested, objectives[0], as_json)
                return
            tuned = complete(tune_halves(tuning, cases, trials, seed), asked)
            times = asyncio.run(time_tuned(tuning, tuned, timed)) if timed else None
        _say_tuned(tuned, objectives, times, as_json)


def ablate(
    dataset: Path = DATASET,
    over: str = typer.Option("steps", "--over", help="steps of the pipeline, or components."),
    objectives: list[str] = OBJECTIVES,
    plan: list[str] = PLAN,
    split: str = typer.Option("open", "--split", help="dev, test or open."),
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
        cases, _ = chosen_cases(dataset, split, 1.0, 0)
        options = study_options(
            dataset, "ablate", objectives, plan=plan, concurrency=concurrency, seconds=seconds
        )
        parts = _parts(over, workspace)
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            rows = complete(leave_out(tuning, cases, parts), asked)
        _say_ablation(rows, as_json)


def noise(
    dataset: Path = DATASET,
    repeats: int = typer.Option(3, "--repeats", min=2, help="Times that every case is asked."),
    judgements: int = typer.Option(
        1, "--judgements", min=1, help="Times that a judge grades each answer."
    ),
    metrics: list[str] = OBJECTIVES,
    plan: list[str] = PLAN,
    split: str = typer.Option("open", "--split", help="dev, test or open."),
    target: str = TARGET,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """How much of a figure is noise: the same asked, and judged, again and again."""
    del home
    with errors_said(as_json):
        from ombud.lab import measure_noise

        workspace = lab_workspace()
        cases, _ = chosen_cases(dataset, split, 1.0, 0)
        options = study_options(
            dataset, "noise", metrics, plan=plan, concurrency=concurrency, seconds=seconds
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            found = complete(measure_noise(tuning, cases, repeats, judgements), asked)
        _say_noise(found, as_json)


def study_options(
    dataset: Path,
    verb: str,
    metrics: Sequence[str],
    *,
    plan: Sequence[str],
    concurrency: int,
    seconds: float,
) -> "RunOptions":
    return run_options(
        dataset,
        name=f"{verb} {dataset.resolve().stem}",
        split="open",
        metrics=",".join(metrics),
        plan=plan,
        notes=(),
        concurrency=concurrency,
        seconds=seconds,
        study=True,
    )


def make_tuning(
    workspace: "Workspace",
    asked: "Target",
    options: "RunOptions",
    axes: Mapping[str, Sequence[Any]],
    on_progress: OnProgress,
) -> "Tuning":
    from ombud.lab import Instruments, Tuning

    alike = any(metric.name.startswith("semantic") for metric in options.metrics)
    embed = embed_of(workspace) if alike else None

    def instruments(target: "Target") -> "Instruments":
        return Instruments(embed, target.text_of)

    return Tuning(
        target=asked,
        store=workspace.store,
        options=options,
        objectives=tuple(map(str, options.metrics)),
        axes=axes,
        instruments=instruments,
        judge_of=judge_of(workspace, options.metrics),
        on_progress=on_progress,
    )


def _parts(over: str, workspace: "Workspace") -> Mapping[str, Mapping[str, Any]]:
    """What can be left out of what is on now: without a model a prompt has no part."""
    from ombud.answer import COMPONENTS
    from ombud.errors import BadRequest
    from ombud.lab import STEPS

    if over == "steps":
        return STEPS
    if over != "components":
        raise BadRequest(f"`{over}` cannot be ablated.", hint="Give steps or components.")
    if workspace.models.chat("compose") is None:
        raise BadRequest(
            "Without a chat model no prompt is sent, so none of its components counts.",
            hint="Set models.chat, or ablate --over steps.",
        )
    return {name: {"plan.components": [f"-{name}"]} for name in COMPONENTS}


def _say_tuned(
    tuned: "Tuned", objectives: Sequence[str], times: "Contrast | None", as_json: bool
) -> None:
    from ombud.cli.lab.json_output import contrast_json
    from ombud.cli.printing.tables import figure, table
    from ombud.lab import cell_label

    if as_json:
        print_json(
            {
                "trials": [{"cell": one.cell, "values": one.values} for one in tuned.trials],
                "front": [{"cell": one.cell, "values": one.values} for one in tuned.best],
                "test": [contrast_json(row) for row in tuned.contrasts],
                "time": contrast_json(times) if times else {},
            }
        )
        return
    best = tuned.best[0]
    rows: list[tuple[str, ...]] = []
    for trial in tuned.best:
        rows.append((cell_label(trial.cell), *map(figure, trial.values)))
    asked = len({cell_label(trial.cell) for trial in tuned.trials})
    print(f"{len(tuned.trials)} proposals, {asked} of them different, on the dev split:\n")
    print(table(("settings", *objectives), rows))
    print(f"\nOn the test split, which was not tuned on ({len(tuned.after.cases)} cases):\n")
    print(_contrast_table([*tuned.contrasts, *([times] if times else [])], "present", "best"))
    print("\nThe best of dev as it stands in ombud.toml:\n")
    print(_as_toml(best.cell))


def _say_nested(nested: "Nested", objective: str, as_json: bool) -> None:
    from ombud.cli.printing.tables import between, figure, table
    from ombud.lab import cell_label

    found = nested.comparison
    if as_json:
        folds = [
            {"cell": one.cell, "cases": one.cases, "tuned": one.tuned, "held_out": one.held_out}
            for one in nested.folds
        ]
        print_json(
            {
                "folds": folds,
                "present": nested.before.value,
                "tuned": nested.after.value,
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "p": found.p,
            }
        )
        return
    rows: list[tuple[str, ...]] = []
    for fold in nested.folds:
        shown = (str(fold.cases), figure(fold.tuned), figure(fold.held_out))
        rows.append((cell_label(fold.cell), *shown))
    print(table(("settings of the fold", "cases", "where tuned", "held out"), rows))
    means = f"{figure(nested.before.value)} as it is, {figure(nested.after.value)} tuned without"
    gained = f"{figure(found.difference)} ({between(found.low, found.high)})"
    print(f"\n{objective}: {means} the case: {gained}, p {figure(found.p)}.")


def _say_ablation(rows: "Sequence[Ablation]", as_json: bool) -> None:
    from ombud.cli.lab.json_output import contrast_json
    from ombud.cli.printing.tables import between, figure, table

    if as_json:
        listed: list[dict[str, Any]] = []
        for row in rows:
            own = {"part": row.part, "changed": row.changed}
            listed.append(own | contrast_json(row.contrast))
        print_json({"parts": listed})
        return
    cells: list[tuple[str, ...]] = []
    for row in rows:
        found = row.contrast.comparison
        verdict = {True: "better without", False: "worse without", None: ""}[row.contrast.better]
        cells.append(
            (
                row.part,
                row.contrast.metric,
                figure(row.contrast.first),
                figure(row.contrast.second),
                figure(found.difference),
                between(found.low, found.high),
                figure(row.contrast.adjusted),
                verdict,
            )
        )
    head = ("without", "metric", "whole", "without it", "difference", "95 %", "p (Holm)", "")
    print(table(head, cells))


def _say_noise(found: "Sequence[MetricNoise]", as_json: bool) -> None:
    from dataclasses import asdict

    from ombud.cli.printing.tables import figure, table

    if as_json:
        print_json({"metrics": [asdict(one) for one in found]})
        return
    rows: list[tuple[str, ...]] = []
    for one in found:
        variance = one.variance
        shares = [f"{share:.0%}" for share in variance.shares]
        spread = f"{min(one.means):.3f} to {max(one.means):.3f}"
        wavering = (figure(variance.deviation), str(variance.cases))
        rows.append((one.metric, spread, *shares, *wavering))
    head = ("metric", "mean of each repeat", "case", "answer", "judge", "deviation", "cases")
    print(table(head, rows))
    for one in found:
        if one.histogram:
            print(f"\n{one.metric}")
            print(_histogram(one.histogram))


def _histogram(counts: Mapping[int, int]) -> str:
    most = max(counts.values())
    lines: list[str] = []
    for grade, count in counts.items():
        lines.append(f"{grade} {'█' * max(1, round(BARS * count / most))} {count}")
    return "\n".join(lines)


def _contrast_table(rows: "Sequence[Contrast]", first: str, second: str) -> str:
    from ombud.cli.printing.tables import between, figure, table

    cells: list[tuple[str, ...]] = []
    for row in rows:
        found = row.comparison
        verdict = {True: "better", False: "worse", None: "within noise"}[row.better]
        cells.append(
            (
                row.metric,
                figure(row.first),
                figure(row.second),
                figure(found.difference),
                between(found.low, found.high),
                verdict,
                str(found.pairs),
            )
        )
    return table(("metric", first, second, "difference", "95 %", "", "n"), cells)


def _as_toml(cell: Mapping[str, Any]) -> str:
    import json

    sections: dict[str, list[str]] = {}
    for key, value in cell.items():
        section, _, field = key.partition(".")
        sections.setdefault(section, []).append(f"{field} = {json.dumps(value)}")
    return "\n\n".join(f"[{name}]\n" + "\n".join(lines) for name, lines in sections.items())
