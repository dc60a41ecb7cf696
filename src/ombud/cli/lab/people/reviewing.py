"""`ombud lab review`: proposed pairs beside their passage, accepted, put right or rejected."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, write_file
from ombud.cli.lab.people.annotating import cells_json, say_faulty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ombud.lab import Reviewed, ReviewTask
    from ombud.types import Case

SHOWN = 10


def review(
    dataset: Path = typer.Argument(help="Proposed cases: a .jsonl or .csv file."),
    out: Path | None = typer.Option(
        None,
        "--out",
        help="The sheet to fill in, a .csv; with --read, where the accepted cases go.",
    ),
    read: list[Path] = typer.Option([], "--read", help="A filled-in sheet; may be repeated."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have people look at proposed cases before they count: a sheet with six questions about each
    pair, and a decision."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import read_cases, read_reviews, review_sheet

        cases = read_cases(dataset)
        if out is None:
            raise BadRequest("Where should it go?", hint="--out review.csv")
        if read:
            _keep(read_reviews(read, cases), cases, out, as_json)
            return
        tasks = _tasks(cases)
        write_file(out, review_sheet(tasks))
        if as_json:
            print_json({"pairs": len(tasks), "file": str(out)})
            return
        print(f"Wrote {len(tasks)} pairs to {out}. Fill in `decision`: accept, edit or reject.")
        print("Question and answer may be changed; the six questions are answered with 1 or 0.")


def _tasks(cases: "Sequence[Case]") -> "Sequence[ReviewTask]":
    from ombud.app import LocalTarget
    from ombud.errors import SetupError
    from ombud.lab import review_tasks

    try:
        workspace = open_workspace()
    except SetupError:  # the quotes are there also without the documents
        return review_tasks(cases)
    return review_tasks(cases, LocalTarget(workspace).passages())


def _keep(reviewed: "Reviewed", cases: "Sequence[Case]", out: Path, as_json: bool) -> None:
    from ombud.lab import cases_text

    write_file(out, cases_text(reviewed.accepted))
    if as_json:
        print_json(
            {
                "cases": len(cases),
                "accepted": [case.id for case in reviewed.accepted],
                "edited": [case.id for case in reviewed.accepted if "edited" in case.tags],
                "rejected": list(reviewed.rejected),
                "disputed": list(reviewed.disputed),
                "open": list(reviewed.open),
                "shares": {
                    criterion: {"yes": yes, "n": count}
                    for criterion, (yes, count) in reviewed.shares().items()
                },
                "wrong": cells_json(reviewed.wrong),
                "file": str(out),
            }
        )
        return
    _say(reviewed, len(cases))
    print(f"Wrote {len(reviewed.accepted)} cases, tagged `accepted`, to {out}.")


def _say(reviewed: "Reviewed", total: int) -> None:
    edited = sum("edited" in case.tags for case in reviewed.accepted)
    counts = {
        f"accepted ({edited} of them edited)": len(reviewed.accepted),
        "rejected": len(reviewed.rejected),
        "disputed": len(reviewed.disputed),
        "not decided": len(reviewed.open),
    }
    for what, count in counts.items():
        print(f"{what}: {count} of {total} ({count / total:.0%})")
    for case in reviewed.disputed[:SHOWN]:
        print(f"  they differ on {case}")
    for criterion, (yes, count) in reviewed.shares().items():
        print(f"{criterion}: yes in {yes} of {count} ({yes / count:.0%})")
    say_faulty(reviewed.wrong, "wrong")
