"""`ombud lab sweep` and `study`: a run for each set-up, beside each other, and claims tested."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.lab.asking import (
    CONCURRENCY,
    DATASET,
    LEAD,
    METRICS,
    PLAN,
    SAMPLE,
    SECONDS,
    SEED,
    TAGS,
    TARGET,
    chosen_cases,
    run_options,
)
from ombud.cli.lab.json_output import contrast_json, run_json
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of
from ombud.cli.lab.tuning import make_tuning

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import ClaimOutcome, Design, DesignOutcome, RunOptions
    from ombud.types import Case

SPLIT = typer.Option("dev", "--split", help="dev, test, sealed, or open: dev and test.")
HTML = typer.Option(None, "--html", help="Write the table, its charts and claims as one page.")
PLOT = typer.Option(None, "--plot", help="Where the plot goes; empty = .ombud/lab/STUDY.svg.")


def sweep(
    dataset: Path = DATASET,
    axes: list[str] = typer.Argument(
        help="Such as plan.k=3,5,7,10 plan.mode=sparse,hybrid index.chunk_tokens=128,256."
    ),
    target: str = TARGET,
    plan: list[str] = PLAN,
    metrics: str = METRICS,
    name: str = typer.Option("", "--name", help="How the study is called; empty = as the dataset."),
    split: str = SPLIT,
    sample: float = SAMPLE,
    seed: int = SEED,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    timed: int = typer.Option(
        10, "--timed", min=0, help="Cases on which the cells are timed, in turn; 0 = no times."
    ),
    lead: str = LEAD,
    plot: Path | None = PLOT,
    html: Path | None = HTML,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Run every combination of some settings: one table, one plot of quality against time,
    which is measured in turn."""
    del home
    with errors_said(as_json):
        from ombud.lab import leading_metric, parse_grid, sweep_design, usual_metrics

        workspace = lab_workspace()
        cells = parse_grid(axes)
        cases, notes = chosen_cases(dataset, split, sample, seed)
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
        names = list(map(str, options.metrics))
        leading = leading_metric(names)
        names.sort(key=lambda name: name != leading)
        design = sweep_design(options.study, names, cells)
        with progress(not as_json) as on_progress:
            outcome = _carry_out(
                workspace,
                design,
                cases,
                options,
                target=target,
                timed=timed,
                on_progress=on_progress,
            )
        where = plot or _usual_plot(workspace, design)
        _say(design, outcome, lead=lead, files=(where, html), rows="cells", as_json=as_json)


def study(
    design: Path = typer.Argument(help="The rows, metrics and claims, as TOML."),
    dataset: Path = DATASET,
    target: str = TARGET,
    split: str = SPLIT,
    sample: float = SAMPLE,
    seed: int = SEED,
    tags: list[str] = TAGS,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    timed: int = typer.Option(
        0, "--timed", min=0, help="Cases on which the rows are timed, in turn; 0 = no times."
    ),
    lead: str = LEAD,
    plot: Path | None = PLOT,
    html: Path | None = HTML,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Carry out a design written in TOML: a run for each of its rows, and a test of each claim. If
    it is stopped, the same command continues it."""
    del home
    with errors_said(as_json):
        from ombud.lab import read_design

        workspace = lab_workspace()
        read = read_design(design)
        cases, notes = chosen_cases(dataset, split, sample, seed, tags)
        options = run_options(
            dataset,
            name=read.name,
            split=split,
            metrics=",".join(read.metrics),
            plan=(),
            notes=notes,
            concurrency=concurrency,
            seconds=seconds,
            study=True,
        )
        with progress(not as_json) as on_progress:
            outcome = _carry_out(
                workspace, read, cases, options, target=target, timed=timed, on_progress=on_progress
            )
        where = plot or _usual_plot(workspace, read)
        _say(read, outcome, lead=lead, files=(where, html), rows="rows", as_json=as_json)


def _usual_plot(workspace: "Workspace", design: "Design") -> Path:
    return workspace.data / "lab" / f"{design.name}.svg"


def _carry_out(
    workspace: "Workspace",
    design: "Design",
    cases: "tuple[Case, ...]",
    options: "RunOptions",
    *,
    target: str,
    timed: int,
    on_progress: Callable[[str, int, int], None],
) -> "DesignOutcome":
    from ombud.lab import carry_out_design

    measured = target_of(workspace, target, options.seconds, on_progress)
    tuning = make_tuning(workspace, measured, options, {}, on_progress)
    return complete(carry_out_design(tuning, design, cases, timed=timed), measured)


def _say(
    design: "Design",
    outcome: "DesignOutcome",
    *,
    lead: str,
    files: tuple[Path, Path | None],
    rows: str,
    as_json: bool,
) -> None:
    """files: of the plot, and of the page."""
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import draw_study, leading_metric, study_html

    recorded = list(outcome.rows.values())
    metric = leading_metric(design.metrics, lead) if lead else design.metrics[0]
    plots = draw_study(recorded, metric, design.rows)
    plot, html = files
    write_file(plot, plots.reached.svg)
    if html:
        claims = [claim.as_text() for claim in outcome.claims]
        write_file(html, study_html(design.name, plots, claims))
    if plots.times.svg:
        write_file(plot.with_stem(f"{plot.stem}-time"), plots.times.svg)
    if as_json:
        listed: list[dict[str, Any]] = []
        for (label, run), point in zip(outcome.rows.items(), plots.points, strict=True):
            own = {"label": label, "cell": dict(point.cell), "front": point.front}
            listed.append(own | run_json(run))
        about = {"study": design.name, "metric": metric, "plot": str(plot)}
        print_json({**about, rows: listed, "claims": list(map(_claim_json, outcome.claims))})
        return
    page = open_page()
    page.markdown(plots.table())
    if any(point.front for point in plots.points):
        page.line(f"\n* on the front of {metric} and time, measured in turn.")
    for one in outcome.claims:
        page.line(f"\n{one.as_text()}")
    ids = " ".join(run.run.id for run in recorded)
    page.line(f"\nPlot: {plot}\nFor the report: `ombud lab report {ids} --html report.html`.")


def _claim_json(outcome: "ClaimOutcome") -> dict[str, Any]:
    contrast = contrast_json(outcome.contrast) if outcome.contrast else None
    claim = outcome.claim
    about = {"said": claim.said, "stated": claim.stated, "here": outcome.verdict}
    return about | {"contrast": contrast}
