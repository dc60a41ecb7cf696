"""`ombud lab export`: a run in the formats of other tools."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, errors_said, write_file
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.showing import RUN


def export(
    run: str = RUN,
    form: str = typer.Option("jsonl", "--format", help="jsonl, csv, ragas, trec or qrels."),
    out: Path | None = typer.Option(
        None, "--out", help="The file to write; without it, standard output."
    ),
    home: Path | None = HOME,
) -> None:
    """Export a run for other tools: as RAGAS records, a TREC run, a spreadsheet, or everything as
    JSON Lines."""
    del home
    with errors_said():
        from ombud.lab import export as lines_of
        from ombud.lab import read_run

        lines = lines_of(read_run(lab_workspace().store, run), form)
        if out:
            write_file(out, "".join(lines))
            print(f"Wrote {out}.")
        else:
            for line in lines:
                print(line, end="")
