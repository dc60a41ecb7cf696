"""The process of one command: what Python need not do in it.

Measured for `ombud ask` with the sample on 2 cores: .11 s of collecting garbage while modules are
imported, which all stay, and .3 s at the end, where Python walks several times through everything
that the process holds before the system takes it back at once."""

import atexit
import gc
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ombud.app import Workspace

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
_opened: "list[Workspace]" = []


@contextmanager
def command_process() -> Iterator[None]:
    """Wrap a command: close its workspaces afterwards, and skip garbage collection when the process
    ends."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        while _opened:
            _opened.pop().close()


def replace_unprintable() -> None:
    """Print `?` for a character that the terminal or pipe cannot hold (cp1252, latin-1)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def decode_arguments() -> None:
    """Read the command line as UTF-8, also where the locale says ASCII."""
    sys.argv = [os.fsencode(argument).decode(errors="replace") for argument in sys.argv]


def close_at_end(workspace: "Workspace") -> None:
    """Close at exit, so that SQLite moves its log into the database."""
    _opened.append(workspace)


def end_interrupted() -> NoReturn:
    """End after Ctrl-C once workspaces are closed. Python would wait for its threads, and one that
    embeds could write after the lease of its sync was given back."""
    print("Stopped. Nothing is lost; the next run goes on.", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a pipe whose reader is gone
            stream.flush()
    os._exit(INTERRUPTED)


def collect_nothing() -> None:
    """Disable garbage collection for a command that answers one question: it ends before its
    garbage takes room."""
    gc.disable()
