"""`python -m research.studies NAME`: a published study on your corpus."""

from collections.abc import Sequence
from dataclasses import replace
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
    TAGS,
    TARGET,
    chosen_cases,
)
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of
from ombud.cli.lab.tuning import make_tuning, study_options
from ombud.cli.process import command_process

if TYPE_CHECKING:
    from ombud.app import Workspace
    from research.studies.carrying import StudyOutcome
    from research.studies.design import Study
    from research.training.router.comparing import RouterScores

ONE_STRATEGY_OF_CHUNKS = ("own_words=false", "evidence=chunk")
"""A study compares strategies, each alone, and counts chunks as they were cut."""
SEARCH = typer.Option(
    False, "--search", help="Search only, answer nothing: what retrieval alone can tell."
)
JUDGE = typer.Option(
    True, "--judge/--no-judge", help="Lead with the study's own scores where a judge is set up."
)
SOURCES = typer.Option(
    [],
    "--source",
    help="A source of the workspace, in the order in which the corpus grew (wombat); repeated.",
)
EMBEDDERS = typer.Option(
    [], "--embedder", help="One more embedder to compare (natwest, persona); may be repeated."
)
GENERATORS = typer.Option(
    [],
    "--generator",
    help="One more chat model to compare (persona; hypa asks it alone); may be repeated.",
)
HELD = typer.Option(
    [],
    "--held-out",
    help="Questions labelled with their complexity, to judge the router by (hypa).",
)


def carry_out_study(
    name: str = typer.Argument(help="One of those listed below."),
    dataset: Path = DATASET,
    metrics: str = typer.Option("", "--metrics", help="More metrics, such as hypa.good."),
    to: Path | None = typer.Option(None, "--out", help="Where the report goes, as Markdown."),
    split: str = typer.Option("open", "--split", help="dev, test or open."),
    sample: float = SAMPLE,
    seed: int = SEED,
    tags: list[str] = TAGS,
    search: bool = SEARCH,
    judge: bool = JUDGE,
    sources: list[str] = SOURCES,
    embedders: list[str] = EMBEDDERS,
    generators: list[str] = GENERATORS,
    held: list[Path] = HELD,
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
        from research.studies.carrying import carry_out, find_study
        from research.studies.design import StudyAxes

        workspace = lab_workspace()
        axes = StudyAxes(tuple(sources), tuple(embedders), tuple(generators))
        can_judge = judge and workspace.models.chat("judge") is not None
        study = find_study(name, axes, searched=search, judged=can_judge)
        study = _with_router(study, workspace, held)
        cases, notes = chosen_cases(dataset, split, sample, seed, tags)
        named = [*study.metrics, *filter(None, metrics.split(","))]
        given = [*ONE_STRATEGY_OF_CHUNKS, *plan]
        options = study_options(
            dataset, name, named, plan=given, concurrency=concurrency, seconds=seconds
        )
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, seconds, on_progress)
            tuning = make_tuning(workspace, asked, options, {}, on_progress)
            work = carry_out(study, tuning, cases, _available(workspace, generators))
            outcome = complete(work, asked)
        made = _made(workspace, split, notes)
        columns = list(map(str, options.metrics))
        report = _written(outcome, _name_of(dataset, tags), made, columns, to)
        if as_json:
            print_json(_outcome_json(outcome))
        else:
            print(f"Wrote {to}." if to else report)


def _written(
    outcome: "StudyOutcome", dataset: str, made: str, metrics: list[str], to: Path | None
) -> str:
    """The report; in a file, with its charts beside it, where one is named."""
    from research.studies.writing import study_charts, study_markdown

    report = study_markdown(outcome, dataset=dataset, made=made, metrics=metrics)
    if to is None:
        return report
    for table, chart in study_charts(outcome, metrics[0]).items():
        picture = to.with_name(f"{to.stem}-{table.lower().replace(' ', '-')}.svg")
        write_file(picture, chart)
        report += f"\n![{table}: {metrics[0]}]({picture.name})\n"
    write_file(to, report)
    return report


def _name_of(dataset: Path, tags: Sequence[str]) -> str:
    tagged = f", tagged {' or '.join(tags)}" if tags else ""
    return f"{dataset.resolve().name}{tagged}"


def _with_router(study: "Study", workspace: "Workspace", held: Sequence[Path]) -> "Study":
    """HyPA-RAG's table of routers, ours judged by questions that it never saw."""
    from research.studies.hypa import router_table

    if not study.title.startswith("HyPA"):
        return study
    results = _judged(workspace, held) if held else []
    rows: list[tuple[str, int, str, int]] = []
    for result in results:
        found = result.figures
        shown = f"{found.f1:.3f} [{found.low:.3f}, {found.high:.3f}]"
        rows.append((result.held, result.classes, shown, found.questions))
    return replace(study, own_tables=(router_table(rows),))


def _judged(workspace: "Workspace", held: Sequence[Path]) -> "list[RouterScores]":
    from ombud.retrieve import open_router
    from research.training.router.comparing import judge_by_router
    from research.training.router.labelled import read_labelled_questions

    named = workspace.settings.models.router
    weights = workspace.home / named if named else None
    router = open_router(weights, workspace.embedder)
    sets = {path.stem: read_labelled_questions(path) for path in held}
    return judge_by_router(router, sets, "own")


def _available(workspace: "Workspace", generators: Sequence[str]) -> set[str]:
    found: set[str] = set()
    if generators:
        found.add("second chat model (--generator)")
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
        said = {"said": one.claim.said, "stated": one.claim.stated, "here": one.verdict}
        claims.append(said | {"contrast": contrast})
    again = run_json(outcome.again) if outcome.again else None
    return {"study": outcome.study.title, "rows": rows, "claims": claims, "first_again": again}


def _listed() -> str:
    """The studies that there are, each on a line of its own."""
    from research.studies.carrying import STUDIES, find_study

    lines = [f"  {name:<8} {find_study(name).title}" for name in STUDIES]
    return "\n".join(["\b", "Studies:", *lines])


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command(no_args_is_help=True, epilog=_listed())(carry_out_study)

if __name__ == "__main__":
    with command_process():
        app()
