"""`ombud lab show`: runs, one of them, one of its cases, its trend; rubrics and variants."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, day, errors_said, print_json, write_file
from ombud.cli.lab.json_output import run_json, step_json
from ombud.cli.lab.judging import lab_workspace, say_rubrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ombud.lab import LiveFigure, RecordedRun, Step, VariantAdvice
    from ombud.types import Run

RUN = typer.Argument(
    help="Its id, the beginning of the id, its name (the newest of that name), or `last`."
)
WORST = 10


def show(
    run: str = typer.Argument("", help="Id, its beginning, name or `last`; empty = list all runs."),
    case: str = typer.Option("", "--case", help="Everything about one case."),
    by: str = typer.Option(
        "type",
        "--by",
        help="Group the figures by type, tag, country, persona or tests (component).",
    ),
    trend: bool = typer.Option(
        False, "--trend", help="All runs of its dataset over time, each against the one before."
    ),
    metrics: str = typer.Option(
        "", "--metrics", help="Of --trend: those to follow; empty = the first of the run."
    ),
    plot: Path | None = typer.Option(None, "--plot", help="Of --trend: the .svg to draw it into."),
    rubrics: bool = typer.Option(
        False, "--rubrics", help="What judges and raters go by; with the name of one, all of it."
    ),
    variants: bool = typer.Option(
        False, "--variants", help="The experiments of ombud.toml, on the people who are in them."
    ),
    since: str = typer.Option("", "--since", help="Of --variants: answers from this day on."),
    country: str = typer.Option("", "--country", help="Of --variants: askers of one country."),
    delete: bool = typer.Option(
        False, "--delete", help="Forget the run; looks at a sealed split stay counted."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Show a run's figures and its worst cases; with --case one case: queries, rankings, answer,
    claims, scores. Without a run: all runs, newest first."""
    del home
    with errors_said(as_json):
        if rubrics:
            say_rubrics(run, as_json)
        elif variants:
            _say_variants(since, country, as_json)
        elif not run:
            _say_runs(as_json)
        elif delete:
            _delete(run, as_json)
        elif trend:
            _say_trends(run, metrics, plot, as_json)
        else:
            _say_one(run, case, by, as_json)


def _say_runs(as_json: bool) -> None:
    from ombud.cli.printing.tables import table
    from ombud.store import list_runs

    runs = list_runs(lab_workspace().store)
    if as_json:
        print_json({"runs": [run.model_dump(mode="json") for run in runs]})
        return
    rows: list[tuple[str, ...]] = []
    for run in runs:
        dataset = f"{run.dataset} ({run.split})"
        rows.append(
            (run.id, run.name, dataset, run.target, str(run.cases), run.state, started(run))
        )
    print(table(("run", "name", "dataset", "target", "cases", "state", "started"), rows, left=4))
    if not runs:
        print("No runs yet. `ombud lab run DATASET` makes one.")


def _delete(run: str, as_json: bool) -> None:
    from ombud.store import delete_run, find_run

    store = lab_workspace().store
    stored = find_run(store, run)
    delete_run(store, stored.id)
    if as_json:
        print_json({"deleted": stored.id})
    else:
        print(f"Deleted run {stored.id} ({stored.name}).")


# One run ------------------------------------------------------------------------------------------


def _say_one(run: str, case: str, by: str, as_json: bool) -> None:
    from ombud.errors import BadRequest
    from ombud.lab import GROUPS, read_run

    if by not in GROUPS:
        raise BadRequest(f"`{by}` is no way to group.", hint=f"Known: {', '.join(GROUPS)}.")
    recorded = read_run(lab_workspace().store, run)
    if case:
        _show_case(recorded, case, as_json)
    elif as_json:
        print_json(run_json(recorded))
    else:
        _say_run(recorded, by)


def _say_run(recorded: "RecordedRun", by: str) -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import GROUPS, closing, figures_table

    run, page = recorded.run, open_page()
    cases = f"{len(recorded.cases)} of {run.cases} cases of {run.dataset}"
    page.line(f"Run {run.id} ({run.name}), {run.state}: {cases}")
    setup = f"target {run.target}, configuration {run.digest}"
    page.line(f"Split {run.split}, {setup}, started {started(run)}")
    for note in run.notes:
        page.line(f"Note: {note}")
    groups = [group for group in GROUPS if group in ("overall", by)]
    page.markdown("\n" + figures_table([("", line) for line in recorded.summary(groups)]))
    page.markdown("\n" + closing(recorded))
    where_found = recorded.where_found()
    if where_found.scores:
        cases = f"the {len(where_found.cases)} cases whose evidence the search brought back"
        page.line(f"\nAnswers to {cases}:\n")
        page.markdown(figures_table([("", line) for line in where_found.summary(["overall"])]))
    _say_worst(recorded)


def _say_worst(recorded: "RecordedRun") -> None:
    """Print some cases that were lost or failed."""
    worst = [seen for seen in recorded.observations if seen.lost or seen.error][:WORST]
    print("\nSuch as:" if worst else "")
    for seen in worst:
        print(f"  {seen.case.id}: {seen.error or seen.lost}: {seen.case.question}")


def _show_case(recorded: "RecordedRun", case: str, as_json: bool) -> None:
    from ombud.cli.lab.case import case_text
    from ombud.errors import NotFound

    observation = next((seen for seen in recorded.observations if seen.case.id == case), None)
    if observation is None:
        some = ", ".join(seen.case.id for seen in recorded.observations[:5])
        raise NotFound(f"Run {recorded.run.id} has no case `{case}`.", hint=f"Such as {some}.")
    scores = [score for score in recorded.scores if score.case_id == case]
    if as_json:
        print_json(
            {
                **observation.model_dump(mode="json"),
                "scores": [score.model_dump(mode="json") for score in scores],
            }
        )
    else:
        print(case_text(observation, scores))


# Its dataset over time ----------------------------------------------------------------------------


def _say_trends(run: str, metrics: str, plot: Path | None, as_json: bool) -> None:
    from ombud.lab import compute_trend, draw_over_time, parse_metrics, read_run, same_dataset
    from ombud.store import list_runs

    store = lab_workspace().store
    last = read_run(store, run)
    runs = [read_run(store, other.id) for other in same_dataset(list_runs(store), last.run)]
    names = list(map(str, parse_metrics(metrics))) if metrics else list(last.metrics[:1])
    followed = {name: compute_trend(runs, name) for name in names}
    if plot:
        title = f"Runs of {last.run.dataset} ({last.run.split})"
        write_file(plot, draw_over_time(title, runs, names).svg)
    if as_json:
        print_json({"trend": _trend_json(followed)})
        return
    for name, steps in followed.items():
        _say_trend(name, steps)


def _trend_json(followed: "Mapping[str, Sequence[Step]]") -> dict[str, Any]:
    trends: dict[str, Any] = {}
    for name, steps in followed.items():
        trends[name] = list(map(step_json, steps))
    return trends


def _say_trend(name: str, steps: "Sequence[Step]") -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import difference_words, figure_of, interval_of, markdown_table

    rows: list[tuple[str, ...]] = []
    for step in steps:
        difference = verdict = ""
        if step.since:
            difference = difference_words(step.since.comparison.difference, name)
            verdict = step.since.verdict
        mean = step.line.mean
        value = "" if mean.value is None else figure_of(mean.value, name)
        about = (step.run.id, step.run.name, started(step.run), step.run.digest)
        rows.append((*about, value, interval_of(mean, name), difference, verdict))
    head = ("run", "name", "started", "configuration", name, "95 % interval", "since", "verdict")
    open_page().markdown(markdown_table(head, rows, left=4))


def started(run: "Run") -> str:
    """Say when a run began; empty where it did not."""
    return run.started.astimezone().strftime("%Y-%m-%d %H:%M") if run.started else ""


# Experiments on people ----------------------------------------------------------------------------


def _say_variants(since: str, country: str, as_json: bool) -> None:
    """Compare the experiments of ombud.toml on the people who are in them, and say what to do."""
    from ombud.lab import advise, compare_variants, experiment_scopes, live_answers

    first = day(since)
    began = first.isoformat() if first else ""
    workspace = lab_workspace()
    answers = list(live_answers(workspace.store, began, country.upper()))
    rows = compare_variants(answers, experiment_scopes(workspace.flagged.experiment, answers))
    advice = advise(rows)
    if as_json:
        print_json(_variants_json(rows, advice))
    else:
        _print_variants(rows, advice)


def _variants_json(
    rows: "Sequence[LiveFigure]", advice: "Sequence[VariantAdvice]"
) -> dict[str, Any]:
    from dataclasses import asdict

    figures: list[dict[str, Any]] = []
    for row in rows:
        own = asdict(row)
        own["mean"] = {"value": row.mean.value, "low": row.mean.low, "high": row.mean.high}
        figures.append(own)
    return {"figures": figures, "advice": list(map(asdict, advice))}


def _print_variants(rows: "Sequence[LiveFigure]", advice: "Sequence[VariantAdvice]") -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import figure, interval, markdown_table

    cells: list[tuple[str, ...]] = []
    for row in rows:
        if row.mean.value is None:
            continue
        against = ""
        if row.difference is not None:
            against = f"{figure(row.difference)} ({interval(row.low, row.high)})"
        values = (str(row.answers), str(row.people), figure(row.mean.value), against)
        tested = (figure(row.adjusted), figure(row.detectable))
        cells.append((row.variant, row.group, row.figure, *values, *tested))
    if not cells:
        print("Nobody has asked anything in an experiment.")
        return
    head = ("experiment", "group", "figure", "answers", "people", "mean", "B minus A, 95 %")
    open_page().markdown(markdown_table((*head, "p (Holm)", "detectable"), cells, left=3))
    for one in advice:
        print(f"\n{one.variant}: {one.advice} ({one.why}).")
        if one.advice == "turn it off":
            print(f"In ombud.toml: [experiment.{one.variant}] off = true.")
    print("\nLooked at again and again, chance is taken for a difference: decide once.")
