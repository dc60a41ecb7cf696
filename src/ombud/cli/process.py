"""The process of one command: what Python need not do in it.

Measured for `ombud ask` with the sample on 2 cores: .11 s of collecting garbage while modules are
imported, which all stay, and .3 s at the end, where Python walks several times through everything
that the process holds before the system takes it back at once."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.app import Workspace

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
        gc.enable()
        while _opened:
            _opened.pop().close()


def close_at_end(workspace: "Workspace") -> None:
    """SQLite moves what is in its log into the database when its last connection closes."""
    _opened.append(workspace)


def collect_nothing() -> None:
    """For a command that answers one question: it ends before its garbage takes room."""
    gc.disable()
