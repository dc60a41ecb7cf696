"""`ombud lab overturn`: a judge's lowest grades, confirmed or overturned by people."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, write_file

if TYPE_CHECKING:
    from collections.abc import Sequence


def overturn(
    run: str = typer.Argument("last", help="Whose grades; its id, its name or `last`."),
    metric: str = typer.Option("", "--metric", help="What the judge graded."),
    size: int = typer.Option(20, "--n", min=1, help="How many, the lowest first."),
    out: Path | None = typer.Option(None, "--out", help="The sheet to write, a .csv."),
    read: list[Path] = typer.Option([], "--read", help="A filled-in sheet; may be repeated."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have people confirm or overturn the lowest grades of a judge: a sheet with answer, grade and
    reason; with --read, how many were wrong."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import grades_sheet, lowest_grades, read_run

        if read:
            _say_decisions(read, as_json)
            return
        if out is None or not metric:
            raise BadRequest("Which grades, and where to?", hint="--metric NAME --out FILE.csv")
        graded = lowest_grades(read_run(open_workspace().store, run), metric, size)
        write_file(out, grades_sheet(graded))
        if as_json:
            print_json({"grades": len(graded), "file": str(out)})
            return
        print(f"Wrote the {len(graded)} lowest grades to {out}.")
        print(
            "Write `confirm` or `overturn` into `decision`, and the right `value` beside the last."
        )


def _say_decisions(sheets: "Sequence[Path]", as_json: bool) -> None:
    from ombud.lab import overturned_share, read_decisions

    decisions = read_decisions(sheets)
    share = overturned_share(decisions)
    wrong = [one for one in decisions if one.is_overturned]
    if as_json:
        print_json({**share._asdict(), "grades": [one._asdict() for one in wrong]})
        return
    interval = f"{share.low:.0%} to {share.high:.0%} of such low grades"
    print(f"{share.overturned} of {share.decided} grades were overturned ({interval}).")
    for one in wrong:
        said = f": {one.comment}" if one.comment else ""
        print(f"  {one.run} {one.case}, {one.metric}: {one.grade:g} should be {one.value:g}{said}")
