"""`ombud VERB`: the list of verbs and the options they share."""

import sys
import traceback
from pathlib import Path
from typing import Any

import typer

from ombud.cli import (
    ask,
    audit,
    chats,
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
from ombud.cli.process import (
    INTERRUPTED,
    command_process,
    decode_arguments,
    end_interrupted,
    replace_unprintable,
)
from ombud.cli.publishing import publish

REMOVED_COMMANDS = {
    "lab calibrate": "use `ombud lab tune DATASET --confidence`.",
    "lab check": "use `ombud publish DRAFT --check`.",
    "lab delete": "use `ombud lab show RUN --delete`.",
    "lab experiment": "run `python -m research.studies` in a clone of ombud's repository.",
    "lab grade": "use `ombud lab annotate --passages`.",
    "lab harvest": "use `ombud lab import --past-questions`.",
    "lab list": "use `ombud lab show`.",
    "lab noise": "`ombud lab compare` tests the difference of two runs.",
    "lab overturn": "use `ombud lab annotate --lowest METRIC`.",
    "lab rescore": "use `ombud lab run --rescore RUN`.",
    "lab rubrics": "use `ombud lab show --rubrics`.",
    "lab score": "use `ombud lab run QRELS --rankings FILE`.",
    "lab time": "use `ombud lab compare RUN RUN --timed 30`.",
    "lab train-router": "run `python -m research.training.router` in a clone of the repository.",
    "lab train-triage": "run `python -m research.training.triage` in a clone of the repository.",
    "lab trend": "use `ombud lab show RUN --trend`.",
    "lab variants": "use `ombud lab show --variants`.",
}
"""Command, or group of commands -> one sentence on what replaces it."""


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


def print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"ombud {version('ombud')}")
        raise typer.Exit


VERSION = typer.Option(
    False, "--version", help="Print the version.", callback=print_version, is_eager=True
)


@app.callback()
def options(home: Path | None = HOME, version: bool = VERSION) -> None:
    del home, version  # kept, and printed, by their callbacks


app.command("init")(operate.init)
app.command("demo")(operate.demo)
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
app.add_typer(chats.slack, name="slack")
app.add_typer(chats.teams, name="teams")
app.add_typer(audit.app, name="audit")
app.add_typer(report.app, name="report")
app.add_typer(lab.app, name="lab")


def main() -> None:
    sys.excepthook = say_unforeseen
    decode_arguments()
    replace_unprintable()
    try:
        with command_process():
            app()
    except SystemExit as ended:
        # Also where Typer caught it, before a command had begun.
        if ended.code == INTERRUPTED:
            end_interrupted()
        raise


def say_unforeseen(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """Print an unforeseen error's traceback without the passwords in it."""
    from ombud.masking import mask_secrets

    del kind, trace
    print(mask_secrets("".join(traceback.format_exception(error))), end="", file=sys.stderr)
