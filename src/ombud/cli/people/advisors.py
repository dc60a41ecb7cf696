"""`ombud personas` and `ombud handoff`: for whom answers are written, and who takes over."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.tables import table

personas = typer.Typer(cls=WholeHelp, help="For whom answers can be written.", no_args_is_help=True)


@personas.callback()
def list_personas() -> None:
    """Manage the personas that answers can be written for."""


@personas.command("list")
def list_(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """List the personas that ship and those of the workspace's folder `personas`, which win."""
    del home
    with errors_said(as_json):
        workspace = open_workspace()
        personas_by_name = workspace.personas.values()
        if as_json:
            print_json(
                {"personas": [persona.model_dump(mode="json") for persona in personas_by_name]}
            )
            return
        wide = max(len(persona.name) for persona in personas_by_name)
        for persona in personas_by_name:
            model = f"; {persona.model}" if persona.model else ""
            print(
                f"{persona.name:<{wide}}  {persona.audience}; about {persona.length} words{model}"
            )


handoff = typer.Typer(
    cls=WholeHelp,
    help="What waits at the desks where advisors work.",
    no_args_is_help=True,
)
HEAD = ("desk", "open", "waiting", "parked", "sent", "dropped", "last error")


@handoff.command()
def status(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Show what is pending, what could not be delivered yet, and why."""
    del home
    with errors_said(as_json):
        from ombud.app import advising

        report = advising.desk_report(open_workspace())
        if as_json:
            print_json(report)
            return
        rows: list[list[str]] = []
        for row in report["desks"]:
            rows.append(list(map(str, row.values())))
        print(table(HEAD, rows) if rows else "Nothing was handed over yet.")


@handoff.command()
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


@handoff.command()
def desks(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """List the desks that `handoff.desk` can name."""
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
