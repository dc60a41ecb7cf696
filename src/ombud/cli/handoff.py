"""`ombud handoff`: what waits at the desks."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.tables import table

app = typer.Typer(
    cls=WholeHelp,
    help="What waits at the desks where advisors work.",
    no_args_is_help=True,
)
HEAD = ("desk", "open", "waiting", "parked", "sent", "last error")


@app.command()
def status(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """What waits, what could not be delivered yet, and why."""
    del home
    with errors_said(as_json):
        from ombud.app import advising

        found = advising.desk_report(open_workspace())
        if as_json:
            print_json(found)
            return
        rows = [[str(value) for value in row.values()] for row in found["desks"]]
        print(table(HEAD, rows) if rows else "Nothing was handed over yet.")


@app.command()
def retry(
    desk: str = typer.Argument("", help="Only this desk; all, when not given."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Try everything that waits at once."""
    del home
    with errors_said(as_json):
        from ombud.app import advising

        count = advising.retry(open_workspace(), desk)
        if as_json:
            print_json({"retried": count})
            return
        print(f"{count} message{'' if count == 1 else 's'} will be tried now.")


@app.command()
def desks(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """The desks that `handoff.desk` can name."""
    del home
    with errors_said(as_json):
        from ombud.app import advising

        workspace = open_workspace()
        chosen = workspace.settings.handoff.desk
        names = advising.desk_list()
        if as_json:
            print_json({"desk": chosen, "desks": names})
            return
        for name in names:
            print(f"{name}{'  (this one)' if name == chosen else ''}")
