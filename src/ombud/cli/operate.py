"""`ombud init`, `demo`, `serve`, `work`, `doctor`, `settings`, `backup`, `restore` and `mcp`."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json, progress, state
from ombud.cli.sync import sync_folders
from ombud.errors import OmbudError, SetupError

if TYPE_CHECKING:
    from ombud.app import Workspace


PACKAGE = Path(__file__).parents[1]
SAMPLE = ("handbook", "cases", "drafts", "contacts.toml", "glossary.csv")
"""Parts of the workspace of `ombud demo`, beside its settings."""
NO_ADMIN = (
    "Nobody has the duty admin, so nobody can open /admin. From here: `ombud people add NAME "
    "--duty admin`, or `ombud people roles NAME --duty admin` for somebody who can sign in already."
)


def init(
    folder: Path = typer.Argument(None, help="Where the workspace will be; here, when not given."),
    home: Path | None = HOME,
) -> None:
    """Make a workspace: a commented ombud.toml. Data will live beside it in .ombud/."""
    del home
    with errors_said():
        from ombud.app import create_workspace

        folder = folder or state.home or Path()
        target = create_workspace(folder)
        print(f"Wrote {target}. Next: ombud --home {folder} sync FOLDER")


def demo(
    folder: Path = typer.Argument(
        Path("ombud-demo"), help="Where the sample goes; a new folder, or one of an earlier demo."
    ),
    port: int | None = typer.Option(
        None, "--port", min=0, max=65535, help="Port to listen on.", show_default="8321"
    ),
    home: Path | None = HOME,
) -> None:
    """Copy the sample handbook into a folder, index it, and serve the assistant on it."""
    del home
    with errors_said():
        copied = _copy_sample(folder)
    state.home = folder
    if copied:
        print(f"The sample is in {folder}. Indexing its documents …")
    sync_folders(
        paths=[],
        country="",
        source="",
        every_="",
        watch=False,
        allow_deletes=False,
        as_json=False,
        home=folder,
    )
    serve(host=None, port=port, home=folder)


def _copy_sample(folder: Path) -> bool:
    """Copy the sample into a folder, which is made, unless a workspace is there already. Returns
    whether it was copied; raises SetupError where it cannot be."""
    from ombud.settings import FILE

    if (folder / FILE).exists():
        return False
    sample = _find_sample()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in SAMPLE:
            source = sample / part
            if source.is_dir():
                shutil.copytree(source, folder / part, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, folder / part)
        # Last, as it makes the folder a workspace: a copy that was interrupted starts again.
        shutil.copyfile(sample / FILE, folder / FILE)
    except OSError as failed:
        raise SetupError(
            f"{folder} cannot be written: {failed.strerror or failed}.",
            hint="Choose an empty folder.",
        ) from failed
    return True


def _find_sample() -> Path:
    """Return the sample of the installed package, or of the repository for an editable one."""
    from ombud.settings import FILE

    for place in (PACKAGE / "sample", PACKAGE.parents[1] / "sample"):
        if (place / FILE).is_file():
            return place
    raise SetupError("The sample is not installed.", hint="Install ombud from a wheel again.")


def serve(
    host: str | None = typer.Option(
        None, "--host", help="Address to listen on.", show_default="the one of the settings"
    ),
    port: int | None = typer.Option(
        None,
        "--port",
        min=0,
        max=65535,
        help="Port to listen on; 0 picks a free one.",
        show_default="the one of the settings",
    ),
    home: Path | None = HOME,
) -> None:
    """Serve the assistant and its API until Ctrl-C."""
    del home
    with errors_said():
        from ombud.app import every, run_expiry, run_purges, run_schedule, run_watch
        from ombud.web import line_writer
        from ombud.web import serve as run

        options = {"host": host or None, "port": port}
        flags = {key: value for key, value in options.items() if value is not None}
        workspace = open_workspace({"server": flags} if flags else None)
        every(workspace.settings.sync.every)  # a misspelt period is said now, not by a thread
        stop = threading.Event()
        on_line = line_writer(workspace.settings.server.log)
        workspace.follow(on_line)
        for turn in (run_schedule, run_expiry, run_watch, run_purges):
            threading.Thread(target=turn, args=(workspace, stop, on_line), daemon=True).start()
        server = workspace.settings.server
        try:
            run(
                workspace,
                server.host,
                server.port,
                on_ready=lambda url: tell_ready(workspace, url, on_line),
            )
        except OmbudError as failed:
            if server.log != "json":
                raise
            on_line(f"Error: {failed} {failed.detail} {failed.hint}")
            raise typer.Exit(failed.exit_code) from failed
        finally:
            stop.set()


def work(home: Path | None = HOME) -> None:
    """Parse and embed what syncs hand out (sync.workers = "queue"), until Ctrl-C; on any machine
    that reaches the database."""
    del home
    with errors_said():
        from ombud.app import run_work_process
        from ombud.web import line_writer

        workspace = open_workspace()
        line_writer(workspace.settings.server.log)("Waiting for documents; Ctrl-C ends it.")
        run_work_process(workspace)


def tell_ready(workspace: "Workspace", url: str, on_line: Callable[[str], None]) -> None:
    from ombud.app import people

    workspace.settle()
    ready = f"ombud answers at {url}"
    if workspace.settings.server.log == "json":
        on_line(ready)
    else:
        print(ready, flush=True)
    if workspace.settings.identity.kind == "local" and not people.has_admin(workspace):
        on_line(NO_ADMIN)
    megabytes = workspace.memory()
    if megabytes:
        on_line(f"its index stands in memory, about {megabytes:,.0f} MB (index.hot_passages)")


def mcp(home: Path | None = HOME) -> None:
    """Serve the tools `ask`, `search` and `get_document` to an assistant that starts this command
    (MCP over standard input and output)."""
    del home
    with errors_said():
        from ombud.channels import open_mcp

        open_mcp(open_workspace()).run("stdio")


def doctor(
    ask: bool = typer.Option(
        False,
        "--ask",
        help="Make one real call of every chat model, and of a reranker that is a service.",
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Look whether everything that answers need is there; exit code 1 where it is not."""
    del home
    with errors_said(as_json):
        from ombud.app import check_all

        checks = []
        for check in check_all(open_workspace(), ask):
            checks.append(check)
            if not as_json:
                print(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.said}")
                if check.hint:
                    print(f"     {check.hint}")
        if as_json:
            print_json({"checks": [check._asdict() for check in checks]})
        if not all(check.ok for check in checks):
            raise typer.Exit(1)


def settings(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """List every setting with its value and where it comes from: flag, env, file or default."""
    del home
    with errors_said(as_json):
        from ombud.settings import find_home, open_settings, rows

        loaded = open_settings(find_home(state.home))
        listed = list(rows(loaded))
        if as_json:
            print_json({key: {"value": value, "origin": origin} for key, value, origin in listed})
            return
        width = max(len(key) for key, _, _ in listed)
        for key, value, origin in listed:
            print(f"{key:<{width}}  {json.dumps(value, default=str)}  ({origin})")


def backup(
    to: Path = typer.Argument(help="The .tar.gz file to write."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Keep the workspace in one file, read back and compared; the server need not stop. The index
    is not in it: `restore` makes it anew."""
    del home
    with errors_said(as_json):
        from ombud.app import write_backup

        with progress(not as_json) as on_progress:
            done = write_backup(open_workspace(), to, on_progress)
        if as_json:
            print_json({**done._asdict(), "path": str(done.path)})
            return
        size = f"{done.size / 2**20:,.1f} MB"
        print(f"Wrote {done.files} files and {done.rows:,} rows to {done.path} ({size}).")
        print("It holds everything that was asked, and secrets that stand in ombud.toml.")


def migrate(
    to: str | None = typer.Option(
        None,
        "--to",
        help="postgresql+psycopg://… for the store; s3://…, az://…, gs://… or http://milvus:19530 "
        "for the index.",
        show_default="bring the store where it is to the tables of this version",
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Bring the store to the tables of this version; with --to, copy the store, or the index, to
    another place and compare the two. Killed, it is run again. Stop servers before."""
    del home
    with errors_said(as_json):
        from ombud.app import migrate as move

        workspace = open_workspace()
        if to is None:
            tables = count_tables(workspace)
            if as_json:
                print_json({"what": "tables", "tables": tables})
            else:
                print(f"The store has the {tables} tables of this version.")
            return
        with progress(not as_json) as on_progress:
            done = move(workspace, to, on_progress)
        if as_json:
            print_json(done._asdict())
            return
        kind = "rows" if done.what == "store" else "passages"
        print(f"{done.moved:,} {kind} are there, each compared. To use them, in ombud.toml:")
        print(done.settings)


def count_tables(workspace: "Workspace") -> int:
    """Return the number of the store's tables; opening it migrates them."""
    from ombud.store import count_rows

    return len(count_rows(workspace.store))


def restore(
    file: Path = typer.Argument(help="What `ombud backup` wrote."),
    folder: Path = typer.Argument(help="Where the workspace will be: an empty or a new folder."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Make a workspace of a backup: every file compared, the audit's chain walked, the index made
    anew."""
    del home
    with errors_said(as_json):
        from ombud.app import restore_backup

        with progress(not as_json) as on_progress:
            done = restore_backup(file, folder, on_progress)
        if as_json:
            print_json({**done._asdict(), "home": str(done.home)})
            return
        indexed = f"{done.documents} documents with {done.chunks:,} passages indexed anew"
        print(f"Restored {done.files} files and {done.rows:,} rows to {done.home}; {indexed}.")
