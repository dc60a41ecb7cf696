"""The process of one command: what Python need not do in it.

Measured for `ombud ask` with the sample on 2 cores: .11 s of collecting garbage while modules are
imported, which all stay, and .3 s at the end, where Python walks several times through everything
that the process holds before the system takes it back at once."""

import atexit
import gc
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
    """Around a command. After it its workspaces are closed, and when the process ends no garbage is
    looked for."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        while _opened:
            _opened.pop().close()


def close_at_end(workspace: "Workspace") -> None:
    """SQLite moves what is in its log into the database when its last connection closes."""
    _opened.append(workspace)


def end_interrupted() -> NoReturn:
    """The end after Ctrl-C, once workspaces are closed. Python would wait for its threads: one that
    embeds a batch took up to 18 s, and then wrote it, though the lease of its sync was given
    back."""
    print("Stopped. Nothing is lost; the next run goes on.", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a pipe whose reader is gone
            stream.flush()
    os._exit(INTERRUPTED)


def collect_nothing() -> None:
    """For a command that answers one question: it ends before its garbage takes room. None is
    collected until the process is over: the first look would be through everything (.08 s)."""
    gc.disable()
