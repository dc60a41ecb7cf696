"""`ombud sync`."""

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, person, print_json, progress
from ombud.errors import BadRequest, OmbudError

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.ingest import SyncReport


def sync(
    paths: list[Path] = typer.Argument(
        None, metavar="[PATH]...", help="Folders to index; remembered as sources."
    ),
    country: str = typer.Option(
        "", "--country", help="Two-letter code for documents that name no country."
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
        from ombud.app import configured_sources, record_folder
        from ombud.app import run_sync as run
        from ombud.store import RecordedSource

        started = time.monotonic()
        workspace = open_workspace()
        code = person(country, []).country or ""
        if source and len(paths or []) > 1:
            raise BadRequest(
                "--source names one folder.",
                hint="Sync the folders one by one, each with its name.",
            )
        if paths:
            chosen = [
                record_folder(
                    workspace.settings,
                    workspace.store,
                    RecordedSource(name=source, path=str(path), country=code),
                    workspace.home,
                )
                for path in paths
            ]
        else:
            names = [source] if source else []
            chosen = configured_sources(workspace.settings, workspace.home, workspace.store, names)
        if not chosen:
            raise BadRequest(
                "There is nothing to sync.",
                hint="`ombud sync FOLDER`, or add [[source]] to ombud.toml.",
            )
        if workspace.embedder is None and workspace.missing_model:
            missing = workspace.missing_model
            print(
                f"{missing} The index is made for search by words only.\n{missing.hint}",
                file=sys.stderr,
            )
        with progress(not as_json) as tell:
            reports = run(workspace, chosen, allow_deletes=allow_deletes, tell=tell)
        _say(reports, time.monotonic() - started, as_json)
        if every_ or watch:
            _go_on(workspace, every_, watch)
        if not all(report.ok for report in reports):
            raise typer.Exit(1)


def _go_on(workspace: "Workspace", period: str, watching: bool) -> None:
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
        print_json(
            {"sources": [r.model_dump(mode="json") for r in reports], "seconds": round(seconds, 3)}
        )
        return
    for report in reports:
        counts = {
            k: getattr(report, k) for k in ("added", "updated", "moved", "deleted", "unchanged")
        }
        said = ", ".join(f"{n} {what}" for what, n in counts.items() if n) or "no documents"
        print(f"{report.name}: {said} ({seconds:.1f} s)")
        if report.skipped:
            kinds = ", ".join(
                f"{n} {suffix or 'without suffix'}" for suffix, n in sorted(report.skipped.items())
            )
            print(f"  not read: {kinds}")
        for failure in report.failed:
            print(f"  failed: {failure.uri}: {failure.reason}", file=sys.stderr)
        if report.note:
            print(f"  {report.note}", file=sys.stderr)
