"""`ombud personas`: for whom answers can be written."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json
from ombud.cli.printing.help import WholeHelp

app = typer.Typer(cls=WholeHelp, help="For whom answers can be written.", no_args_is_help=True)


@app.callback()
def list_personas() -> None:
    """For whom answers can be written."""


@app.command("list")
def list_(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """The personas that ship and those of the workspace's folder `personas`, which win."""
    del home
    with errors_said(as_json):
        workspace = open_workspace()
        found = workspace.personas.values()
        if as_json:
            print_json({"personas": [persona.model_dump(mode="json") for persona in found]})
            return
        wide = max(len(persona.name) for persona in found)
        for persona in found:
            model = f"; {persona.model}" if persona.model else ""
            print(
                f"{persona.name:<{wide}}  {persona.audience}; about {persona.length} words{model}"
            )
