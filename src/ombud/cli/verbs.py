"""`ombud VERB`: the list of verbs and the options they share."""

import sys
import traceback
from pathlib import Path
from typing import Any

import typer

from ombud.cli import (
    ask,
    audit,
    documents,
    graph,
    index,
    operate,
    report,
    route,
    search,
    sync,
)
from ombud.cli.console import HOME
from ombud.cli.lab import verbs as lab
from ombud.cli.people import accounts, advisors
from ombud.cli.printing.help import WholeHelp
from ombud.cli.process import INTERRUPTED, command_process, end_interrupted
from ombud.cli.publishing import publish

REMOVED_COMMANDS: dict[str, str] = {}
"""Command -> one sentence on what replaces it, such as `lab pool`; the name of a group holds for
all its commands."""


class Verbs(WholeHelp):
    """The commands, and what replaces those that were removed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        for length in range(1, len(args) + 1):
            name = " ".join(args[:length])
            if sentence := REMOVED_COMMANDS.get(name):
                ctx.fail(f"`ombud {name}` was removed: {sentence}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Verbs,
    help="Answers from your own policies, each sentence proven.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"ombud {version('ombud')}")
        raise typer.Exit


VERSION = typer.Option(
    False, "--version", help="Print the version.", callback=_print_version, is_eager=True
)


@app.callback()
def options(home: Path | None = HOME, version: bool = VERSION) -> None:
    del home, version  # kept, and printed, by their callbacks


app.command("init")(operate.init)
app.command("sync")(sync.sync_folders)
app.command("search")(search.search_passages)
app.command("ask")(ask.ask_question)
app.command("route")(route.route_question)
app.command("publish")(publish.put_in_force)
app.command("serve")(operate.serve)
app.command("work")(operate.work)
app.command("mcp")(operate.mcp)
app.command("doctor")(operate.doctor)
app.command("settings")(operate.settings)
app.command("backup")(operate.backup)
app.command("migrate")(operate.migrate)
app.command("restore")(operate.restore)
app.add_typer(documents.app, name="documents")
app.add_typer(sync.sources, name="sources")
app.add_typer(advisors.personas, name="personas")
app.add_typer(index.app, name="index")
app.add_typer(graph.app, name="graph")
app.add_typer(advisors.handoff, name="handoff")
app.add_typer(accounts.people, name="people")
app.add_typer(accounts.tokens, name="tokens")
app.add_typer(audit.app, name="audit")
app.add_typer(report.app, name="report")
app.add_typer(lab.app, name="lab")


def main() -> None:
    sys.excepthook = _say_unforeseen
    try:
        with command_process():
            app()
    except SystemExit as ended:
        # Also where Typer caught it, before a command had begun.
        if ended.code == INTERRUPTED:
            end_interrupted()
        raise


def _say_unforeseen(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """What Python would print of an error that nobody foresaw, without the passwords in it."""
    from ombud.masking import mask_secrets

    del kind, trace
    print(mask_secrets("".join(traceback.format_exception(error))), end="", file=sys.stderr)
