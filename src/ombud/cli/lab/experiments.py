"""`ombud lab experiment`: a published study on your corpus."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.lab.asking import (
    CONCURRENCY,
    DATASET,
    PLAN,
    SAMPLE,
    SECONDS,
    SEED,
    TARGET,
    chosen_cases,
)
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of
from ombud.cli.lab.tuning import make_tuning, study_options

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import StudyOutcome


def experiment(
    name: str = typer.Argument(help="wombat, natwest, eva, hypa or persona."),
    dataset: Path = DATASET,
    metrics: str = typer.Option("", "--metrics", help="More metrics, such as hypa.good."),
    to: Path | None = typer.Option(None, "--out", help="Where the report goes, as Markdown."),
    split: str = typer.Option("open", "--split", help="dev, test or open."),
    sample: float = SAMPLE,
    seed: int = SEED,
    plan: list[str] = PLAN,
    target: str = TARGET,
    concurrency: int = CONCURRENCY,
    seconds: float = SECONDS,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """The design of a study on your corpus: its table in its layout, its own figures beside, and
    whether its claims hold here. Stopped in the middle, the same command goes on."""
    del home
    with errors_said(as_json):
        from ombud.lab import carry_out, find_study, study_chart, study_markdown

        study = find_study(name)
        workspace = lab_workspace()
        cases, notes = chosen_cases(dataset, split, sample, seed)
        named = [*study.metrics, *filter(None, metrics.split(","))]
        options = study_options(
            dataset, name, named, plan=plan, concurrency=concurrency, seconds=seconds
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            work = carry_out(study, tuning, cases, _available(workspace))
            outcome = complete(work, asked)
        made = _made(workspace, split, notes)
        columns = list(map(str, options.metrics))
        report = study_markdown(outcome, dataset=dataset.name, made=made, metrics=columns)
        chart = study_chart(outcome, columns[0])
        if as_json:
            print_json(_outcome_json(outcome))
            return
        if to is None:
            print(report)
            return
        if chart:
            picture = to.with_suffix(".svg")
            write_file(picture, chart)
            report += f"\n![{columns[0]} by k]({picture.name})\n"
        write_file(to, report)
        print(f"Wrote {to}.")


def _available(workspace: "Workspace") -> set[str]:
    found: set[str] = set()
    if workspace.models.chat("compose"):
        found.add("chat model")
    if workspace.settings.models.reranker:
        found.add("reranker")
    return found


def _made(workspace: "Workspace", split: str, notes: tuple[str, ...]) -> str:
    from importlib.metadata import version

    models = workspace.settings.models
    chat = models.chat or "no chat model"
    said = f"Split {split}, {date.today():%d %B %Y}, ombud {version('ombud')}, "  # noqa: DTZ011
    return " ".join([f"{said}embedder {models.embedder}, {chat}.", *notes])


def _outcome_json(outcome: "StudyOutcome") -> dict[str, Any]:
    from ombud.cli.lab.json_output import contrast_json, run_json

    rows: list[dict[str, Any]] = []
    for row, run in outcome.runs:
        own = {"label": row.label, "cell": row.cell, "needs": row.needs, "paper": row.paper}
        rows.append(own | {"run": run_json(run) if run else None})
    claims: list[dict[str, Any]] = []
    for one in outcome.claims:
        contrast = contrast_json(one.contrast) if one.contrast else None
        claims.append({"said": one.claim.said, "here": one.verdict, "contrast": contrast})
    return {"study": outcome.study.title, "rows": rows, "claims": claims}
