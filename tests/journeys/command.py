"""`ombud` as people and scripts run it, and handbooks for it.

`ombud` runs a command in this process, as `python -m ombud` does; `ombud_process` and `start` run it
as a process of its own, for what only a process has: its start, signals, pipes and its death.
"""

import fcntl
import gc
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from copies import lay_store
from ombud.cli import console, main

COMMAND = (sys.executable, "-W", "error::ResourceWarning", "-m", "ombud")
HANDBOOK = {
    "gb/leave.md": "---\ncountry: GB\n---\n# Annual leave\n\n"
    "Employees in Great Britain have 26 days of annual leave.\n",
    "fr/leave.md": "---\ncountry: FR\n---\n# Annual leave\n\nEmployees in France have 31 days of annual leave.\n",
    "travel.md": "# Travel\n\nHotel costs on business trips are reimbursed up to 220 euros a night.\n",
    "pay.md": "---\naudience: {roles: [manager]}\n---\n# Pay\n\nThe pay band of grade G5 ends at 61,000 pounds.\n",
    "parking.md": "---\neffective_to: 2020-12-31\n---\n# Parking\n\nParking costs 3 pounds a day in the garage.\n",
}


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout; fails when anything else stands there."""
        line, end = self.out.split("\n", 1)
        assert end == "", f"more than one line on stdout: {self.out!r}"
        return json.loads(line)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's, without any OMBUD_* but the given ones; words only unless an embedder is
    named."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("OMBUD_")}
    return own | {"OMBUD_MODELS__EMBEDDER": "none"} | dict(variables or {})


def start(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """The command, running, in a process group of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ombud_process(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Result:
    """Runs a command to its end. Whatever happens, nobody is shown a Python traceback."""
    with start(*arguments, cwd=cwd, env=env) as process:
        out, err = process.communicate(timeout=300)
    assert "Traceback" not in err, err
    return Result(process.returncode, out, err)


def on_terminal(*arguments: object, cwd: Path, columns: int = 70) -> tuple[int, str]:
    """Exit code and everything that a person's terminal of so many columns is sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = environment({"TERM": "xterm-256color"})
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        variables.pop(name, None)
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=cwd, env=variables, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        sent = b"".join(_pieces(ours))
        code = process.wait(60)
    os.close(ours)
    return code, sent.decode().replace("\r\n", "\n")


def _pieces(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux says that nobody writes to it any more
            return
        if not piece:
            return
        yield piece


def ombud(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Result:
    """The same in this process, where starting costs nothing and documents are parsed without a
    process of their own. An error that the command does not turn into words is raised."""
    variables = {"OMBUD_DOCUMENTS__PROCESSES": "0"} | environment(env)
    with _as_a_process(["ombud", *map(str, arguments)], cwd, variables) as (out, err):
        try:
            main()
            code: str | int | None = 0
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
        told = [stream.getvalue().decode() for stream in (out, err)]
    assert isinstance(code, int)
    return Result(code, *told)


@contextmanager
def _as_a_process(
    words: list[str], cwd: Path, variables: Mapping[str, str]
) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Arguments, folder, variables and streams are those of a process that has just started; gives
    what it writes to stdout and stderr."""
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name in os.environ.keys() - variables.keys():
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", words)
        patch.setattr(sys, "stdin", io.StringIO())
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8"))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="utf-8"))
        patch.setattr(console.state, "home", None)
        try:
            yield out, err
        finally:
            gc.enable()  # a command that stopped it ends with its process


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def workspace(home: Path, toml: str = "", files: Mapping[str, str] = HANDBOOK) -> Path:
    """A workspace with a folder `docs` and an empty store, nothing indexed yet."""
    lay_store(home)
    return bare_workspace(home, toml, files)


def bare_workspace(home: Path, toml: str = "", files: Mapping[str, str] = HANDBOOK) -> Path:
    """The same without a store, which the first command makes."""
    home.mkdir(parents=True, exist_ok=True)
    write(home / "docs", files)
    (home / "ombud.toml").write_text(toml or "[plan]\nabstain = 0.05\n", encoding="utf-8")
    return home
