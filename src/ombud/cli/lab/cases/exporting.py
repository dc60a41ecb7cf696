"""`ombud lab export`: runs and preferences in the formats of other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, write_file
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.reading import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.app import Workspace
    from ombud.lab import Preference


def export(
    run: str = RUN,
    form: str = typer.Option("jsonl", "--format", help="jsonl, csv, ragas, trec or qrels."),
    to: Path | None = typer.Option(
        None, "--to", help="The file to write; without it, standard output."
    ),
    preferences: Path | None = typer.Option(
        None,
        "--preferences",
        help="In place of all that: pairs of a better and a worse answer, for fine-tuning.",
    ),
    against: str = typer.Option("", "--against", help="The other run of these pairs."),
    by: str = typer.Option(
        "", "--by", help="What says which is better: a metric, or a CSV of `lab annotate --read`."
    ),
    margin: float = typer.Option(0.0, "--margin", min=0, help="Differences up to this are none."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """A run in the formats of other tools: RAGAS records, a TREC run, a spreadsheet, everything as
    JSON Lines. With --preferences: pairs of the run and --against; `feedback` in place of a run
    takes them from the thumbs that people gave."""
    del home
    with errors_said(as_json):
        from ombud.lab import export as lines_of
        from ombud.lab import preference_lines, read_run

        workspace = lab_workspace()
        if preferences:
            pairs = _pairs(workspace, run, against, by, margin)
            write_file(preferences, preference_lines(pairs))
            if as_json:
                print_json({"pairs": len(pairs), "file": str(preferences)})
            else:
                print(f"Wrote {len(pairs)} pairs to {preferences}.")
            return
        lines = lines_of(read_run(workspace.store, run), form)
        if to:
            write_file(to, "".join(lines))
            print(f"Wrote {to}.")
        else:
            for line in lines:
                print(line, end="")


def _pairs(
    workspace: "Workspace", run: str, against: str, by: str, margin: float
) -> "Sequence[Preference]":
    from ombud.errors import BadRequest
    from ombud.lab import (
        check_consent,
        preferences_of_runs,
        preferences_of_thumbs,
        rated_answers,
        read_ratings,
        read_run,
        values_of_metric,
        values_of_ratings,
    )

    if run == "feedback" and not against:
        check_consent(workspace.settings.lab.harvest)
        return preferences_of_thumbs(list(rated_answers(workspace.store)))
    if not (against and by):
        raise BadRequest(
            "Two answers are compared: which other run, and by what?",
            hint="--against RUN --by METRIC, or `ombud lab export feedback --preferences FILE`.",
        )
    first, second = read_run(workspace.store, run), read_run(workspace.store, against)
    if Path(by).is_file():
        read = read_ratings(Path(by))
        values = values_of_ratings(read.ratings, read.origins)
    else:
        values = values_of_metric((first, second), by)
    return preferences_of_runs(first, second, values, margin)
