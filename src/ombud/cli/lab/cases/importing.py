"""`ombud lab import`: cases from files of other tools and from past questions, and answers that
were given elsewhere as runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    day,
    errors_said,
    open_workspace,
    print_json,
    progress,
    write_file,
)
from ombud.cli.lab.asking import COLUMNS, DATASET_HELP, SEED, say_run
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.scoring import judge_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.lab import Harvest
    from ombud.types import Observation


def import_cases(
    source: Path | None = typer.Argument(
        None, help=f"{DATASET_HELP} For --run: traces, or what `lab export` wrote."
    ),
    out: Path | None = typer.Option(None, "--out", help="The .jsonl of cases to write."),
    columns: str = COLUMNS,
    run: str = typer.Option(
        "",
        "--run",
        help="In place of --out: make a run of this name from the answers that are there.",
    ),
    cases: Path | None = typer.Option(
        None, "--cases", help="Of --run: these cases only, with their references and evidence."
    ),
    metrics: str = typer.Option("", "--metrics", help="Of --run: such as token_f1,recall@5."),
    past_questions: bool = typer.Option(
        False,
        "--past-questions",
        help="In place of a file: conversations of those who agreed ([lab] harvest).",
    ),
    sample: int = typer.Option(
        50, "--sample", min=1, help="Of --past-questions: how many at most."
    ),
    since: str = typer.Option(
        "", "--since", help="Of --past-questions: asked from this day on, such as 2026-01-31."
    ),
    topic: str = typer.Option(
        "", "--topic", help="Of --past-questions: answered from documents of this topic only."
    ),
    seed: int = SEED,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Bring cases of other tools into one file; or past questions without who asked them, as cases
    that people still have to accept (`lab review`). With --run the answers become a run: OTel GenAI
    spans, Langfuse traces, RAGAS records, exported runs, live conversations."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import (
            cases_text,
            check_consent,
            harvest_questions,
            parse_columns,
            read_answers,
            read_cases,
            sample_answers,
        )

        if past_questions == (source is not None) or bool(out) == bool(run):
            raise BadRequest(
                "Import what, and as what?",
                hint="A file or --past-questions; --out CASES.jsonl or --run NAME.",
            )
        if source and out:
            made = read_cases(source, parse_columns(columns))
            write_file(out, cases_text(made))
            if as_json:
                print_json({"cases": len(made), "file": str(out)})
            else:
                print(f"Wrote {len(made)} cases to {out}.")
            return
        if source:
            wanted = read_cases(cases, parse_columns(columns)) if cases else ()
            _keep(run, str(source.resolve()), read_answers(source, wanted), metrics, as_json)
            return
        first = day(since)
        began = first.isoformat() if first else ""
        workspace = open_workspace()
        check_consent(workspace.settings.lab.harvest)
        harvest = harvest_questions(workspace.store, sample, seed=seed, since=began, topic=topic)
        if out:
            _write_harvest(harvest, out, as_json)
            return
        _keep(run, "conversations", sample_answers(harvest), metrics, as_json)


def _keep(
    name: str, dataset: str, seen: "Sequence[Observation]", metrics: str, as_json: bool
) -> None:
    from ombud.lab import import_run, parse_metrics, usual_metrics

    workspace = lab_workspace()
    of_ombud = not any(one.lacks for one in seen)
    usual = usual_metrics([one.case for one in seen], of_ombud=of_ombud)
    chosen = parse_metrics(metrics or usual)
    made = import_run(workspace.store, name, dataset, seen, chosen)
    with progress(not as_json) as on_progress:
        judge_again(workspace, made, chosen, on_progress)
    say_run(workspace, made.id, as_json)


def _write_harvest(harvest: "Harvest", out: Path, as_json: bool) -> None:
    from ombud.lab import cases_text

    write_file(out, cases_text(harvest.cases))
    if as_json:
        counts = {"cases": len(harvest.cases), "seen": harvest.seen, "left_out": harvest.left_out}
        print_json({**counts, "file": str(out)})
        return
    print(f"Wrote {len(harvest.cases)} questions of {harvest.seen} answers to {out}.")
    for why, count in harvest.left_out.items():
        print(f"  left out, {why}: {count}")
    print("Names are blanked by patterns: read each before you pass it on (`lab review`).")
