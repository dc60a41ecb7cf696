"""`ombud sync`."""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, person, print_json, progress
from ombud.cli.printing.help import WholeHelp
from ombud.errors import BadRequest, OmbudError

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.ingest import SyncReport
    from ombud.sources import Source
    from ombud.store import RecordedSource

KINDS = ("added", "updated", "moved", "deleted", "unchanged")
"""Counts of a report, as they are said."""
NAMED = 20
"""Files that are not read, of one source; --json names all."""


sources = typer.Typer(cls=WholeHelp, help="Where documents come from.", no_args_is_help=True)


@sources.command()
def remove(
    name: str = typer.Argument(help="Name of the source."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Remove a source and all its documents from the index, and its entry in ombud.toml. Its files
    stay, and what old answers cite can still be opened."""
    del home
    with errors_said(as_json):
        from ombud.app import jobs, people

        gone = jobs.remove_source(open_workspace(), name, by=people.HERE, in_settings=True)
        if as_json:
            print_json({"removed": name, "documents": gone.documents})
            return
        print(f"Removed {name} with {gone.documents} documents.")
        if gone.was_configured:
            print("It is out of ombud.toml, too: restart running servers.")


def sync_folders(
    paths: list[Path] = typer.Argument(
        None, metavar="PATH", help="Folders to index; remembered as sources."
    ),
    country: str = typer.Option(
        "", "--country", help="Country, by name or code, of documents that name none."
    ),
    source: str = typer.Option(
        "", "--source", help="Name of the source; with no PATH, the only one to sync."
    ),
    every_: str = typer.Option(
        "", "--every", help="Again each 30m, 12h, 7d or by a cron line, until Ctrl-C."
    ),
    watch: bool = typer.Option(
        False, "--watch", help="Again after every change in a folder, until Ctrl-C."
    ),
    allow_deletes: bool = typer.Option(
        False, "--allow-deletes", help="Delete even when most documents are gone."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Bring the index to what the folders hold now: adds, updates and deletes."""
    del home
    with errors_said(as_json):
        from ombud.app import run_sync

        started = time.monotonic()
        workspace = open_workspace()
        folders = _folders(paths or [], source, country)
        chosen = _sources(workspace, folders, source)
        say_missing_model(workspace)
        with progress(not as_json) as on_progress:
            reports = run_sync(
                workspace, chosen, allow_deletes=allow_deletes, on_progress=on_progress
            )
        _say(reports, time.monotonic() - started, as_json)
        say_former(workspace)
        if every_ or watch:
            go_on(workspace, every_, watch)
        if not all(report.ok for report in reports):
            raise typer.Exit(1)


def _folders(paths: Sequence[Path], name: str, country: str) -> list["RecordedSource"]:
    """Return the folders as sources. Raises BadRequest for one name of several folders."""
    from ombud.store import RecordedSource

    code = person(country, []).country or ""
    if name and len(paths) > 1:
        raise BadRequest(
            "--source names one folder.",
            hint="Sync the folders one by one, each with its name.",
        )
    return [RecordedSource(name=name, path=str(path), country=code) for path in paths]


def _sources(
    workspace: "Workspace", folders: Sequence["RecordedSource"], name: str
) -> list["Source"]:
    """Return these folders as recorded sources; else the configured and recorded sources, or the
    one of that name."""
    from ombud.app import configured_sources, record_folder

    settings, store, home = workspace.settings, workspace.store, workspace.home
    if folders:
        return [record_folder(settings, store, folder, home) for folder in folders]
    sources = configured_sources(settings, home, store, [name] if name else [])
    if not sources:
        raise BadRequest(
            "There is nothing to sync.",
            hint="`ombud sync FOLDER`, or add [[source]] to ombud.toml.",
        )
    return sources


def say_missing_model(workspace: "Workspace") -> None:
    missing = workspace.missing_model if workspace.embedder is None else None
    if missing:
        print(f"{missing} The index is made for search by words only.", file=sys.stderr)
        print(missing.hint, file=sys.stderr)


def say_former(workspace: "Workspace") -> None:
    """Name sources that are none any more, but whose documents still answer."""
    from ombud.app import former_sources

    for name, count in former_sources(workspace).items():
        print(
            f"`{name}` is gone, but {count} documents of it still answer; "
            f"`ombud sources remove {name}` removes them.",
            file=sys.stderr,
        )


def go_on(workspace: "Workspace", period: str, watching: bool) -> None:
    """Sync again and again; a failure is told and the next turn comes."""
    from ombud.app import every, report_line, run_every, sync_all
    from ombud.app import watch as changes

    stop = threading.Event()
    schedule = every(period)
    if schedule and not watching:
        run_every(workspace, schedule, stop, _tell, at_once=False)
        return
    print("Watching for changes; Ctrl-C ends it.", file=sys.stderr)
    turns = changes(workspace, stop)
    next(turns)  # the first turn was the sync that is just over
    for _ in turns:
        try:
            for report in sync_all(workspace):
                _tell(report_line(report))
        except OmbudError as failed:
            _tell(f"sync failed: {failed} {failed.hint}".strip())


def _tell(line: str) -> None:
    print(line, flush=True)


def _say(reports: list["SyncReport"], seconds: float, as_json: bool) -> None:
    if as_json:
        sources = [report.model_dump(mode="json") for report in reports]
        print_json({"sources": sources, "seconds": round(seconds, 3)})
        return
    from ombud.ingest import REREAD, called

    for report in reports:
        counts = [f"{getattr(report, kind)} {kind}" for kind in KINDS if getattr(report, kind)]
        print(f"{report.name}: {', '.join(counts) or 'no documents'} ({seconds:.1f} s)")
        if report.reread:
            print(f"  {report.reread} {REREAD}")
        for name in report.replaced:
            print(f"  this was {name} before, which is no source any more")
        say_losses(report)
        for failure in report.failed:
            print(f"  failed: {called(failure)}: {failure.reason}", file=sys.stderr)
        if report.note:
            print(f"  {report.note}", file=sys.stderr)


def say_losses(report: "SyncReport") -> None:
    """Print a line for each document that was partly read and each file that was not read."""
    from ombud.ingest import called

    for lost in report.lost:
        print(f"  left out of {called(lost)}: {lost.summary}")
    for file in report.left_out[:NAMED]:
        print(f"  not read: {called(file)}: {file.why}")
    unnamed = len(report.left_out) - NAMED
    if unnamed > 0:
        print(f"  not read: {unnamed:,} more; `ombud sync --json` names all")
    if report.incomplete:
        are = "document is" if report.incomplete == 1 else "documents are"
        print(f"  {report.incomplete:,} {are} indexed, but not whole")
