"""Commands of `ombud lab` whose work is in `research/` of the repository now."""

import typer

from ombud.cli.console import errors_said
from ombud.errors import BadRequest

REPLACEMENTS = {
    "experiment": "python -m research.studies",
    "train-router": "python -m research.training.router",
    "train-triage": "python -m research.training.triage",
}
ANY_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}


def add_moved_commands(app: typer.Typer) -> None:
    """Give each old name a hidden command that names its replacement."""
    for name in REPLACEMENTS:
        app.command(name, hidden=True, context_settings=ANY_OPTIONS)(name_replacement)


def name_replacement(context: typer.Context) -> None:
    """Moved to `research/` of the repository; prints the command to run there."""
    name = context.info_name or ""
    replacement = " ".join([REPLACEMENTS[name], *context.args])
    with errors_said():
        raise BadRequest(
            f"`ombud lab {name}` is not part of the installed package any more.",
            hint=f"In a clone of ombud's repository run: {replacement} --home WORKSPACE",
        )
