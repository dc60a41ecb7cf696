"""What every command shares: where the workspace is, how results, progress and errors are
printed."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.process import INTERRUPTED, close_at_end
from ombud.errors import BadRequest, OmbudError, SetupError

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.types import Message, Person


class State:
    """Options that stand before or after the verb."""

    home: Path | None = None


state = State()


def home_option(value: Path | None) -> Path | None:
    if value is not None:
        state.home = value
    return value


HOME = typer.Option(
    None, "--home", help="The workspace folder.", callback=home_option, show_default=False
)
JSON = typer.Option(False, "--json", help="Print one JSON object and nothing else.")
COUNTRY = typer.Option("", "--country", help="Two-letter code of the asker's country.")
ROLE = typer.Option([], "--role", help="A role of the asker; may be repeated.")
AS_OF = typer.Option("", "--as-of", help="Rules in force on this day, such as 2025-06-30.")


def open_workspace(flags: Mapping[str, Any] | None = None) -> "Workspace":
    """Open the workspace of --home, OMBUD_HOME or the current folder; raises SetupError."""
    from ombud.app import Workspace
    from ombud.settings import FILE, find_home

    home = find_home(state.home)
    if home is None:
        raise SetupError(
            "There is no workspace here.",
            hint="Make one with `ombud init .`, or name one with --home DIR.",
        )
    if not (home / FILE).is_file():
        raise SetupError(f"{home} has no {FILE}.", hint=f"Make one with `ombud init {home}`.")
    workspace = Workspace(home, flags)
    close_at_end(workspace)
    return workspace


@contextmanager
def errors_said(as_json: bool = False) -> Iterator[None]:
    """Turn errors into messages and exit codes."""
    try:
        yield
    except OmbudError as error:
        say_error(error, as_json)
        raise typer.Exit(error.exit_code) from error
    except KeyboardInterrupt as stopped:
        # A call of the index that had not begun yet is no news to whoever stopped it.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        raise typer.Exit(INTERRUPTED) from stopped
    except BrokenPipeError as closed:
        sys.stderr.close()
        raise typer.Exit(0) from closed


def say_error(error: OmbudError, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "error": {
                    "type": type(error).__name__,
                    "message": f"{error} {error.detail}".strip(),
                    "hint": error.hint,
                }
            }
        )
    else:
        lines = [f"Error: {error} {error.detail}".strip(), error.hint]
        print("\n".join(line for line in lines if line), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one line of JSON; escaped where stdout cannot hold all of Unicode."""
    whole = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(value, ensure_ascii=not whole), flush=True)


def person(country: str, roles: list[str], **more: Any) -> "Person":
    from pydantic import ValidationError

    from ombud.text import read_country
    from ombud.types import Person

    code = read_country(country)
    try:
        return Person.model_validate({"country": code or None, "roles": roles} | more)
    except ValidationError as wrong:
        raise _bad(wrong) from wrong


def day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except (ValueError, TypeError) as wrong:
        raise BadRequest(f"`{text}` is not a day.", hint="Write days as 2026-01-31.") from wrong


def plan_values(pairs: list[str]) -> dict[str, Any]:
    """Parse KEY=VALUE pairs; values may be JSON, lists also a,b."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, mark, text = pair.partition("=")
        if not mark:
            raise BadRequest(f"`{pair}` is not KEY=VALUE.", hint="Such as --plan k=5.")
        try:
            values[key.strip()] = json.loads(text)
        except json.JSONDecodeError:
            listed = key.strip() in ("strategies", "sources", "components")
            values[key.strip()] = text.split(",") if listed else text
    return values


def messages(rows: Any) -> tuple["Message", ...]:
    from pydantic import TypeAdapter, ValidationError

    from ombud.types import Message

    try:
        return TypeAdapter(tuple[Message, ...]).validate_python(rows or ())
    except ValidationError as wrong:
        raise _bad(wrong) from wrong


def _bad(wrong: Any) -> BadRequest:
    first = wrong.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return BadRequest(
        f"{where or 'input'}: {first['msg'].lower()}.",
        hint="docs/guides/asking.md shows the form of a line.",
    )


def write_file(path: Path, text: str) -> None:
    """Write a text as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all; its folder is made. Raises BadRequest where that cannot
    be."""
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as failed:
        draft.unlink(missing_ok=True)
        raise BadRequest(
            f"{path} cannot be written: {failed.strerror}.", hint="Choose another place."
        ) from failed


@contextmanager
def progress(visible: bool = True) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on stderr, one line per step; silent if stderr is no terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(
        *columns, console=console, disable=not (visible and console.is_terminal), transient=True
    ) as bar:

        def on_progress(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield on_progress
