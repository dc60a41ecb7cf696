"""Waiting for what another process does, without taking the processor from it."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

LOOK = 0.002
"""Seconds between two looks."""


class Process(Protocol):
    """What is used here of a `Popen`."""

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


def wait_until(process: Process, reached: Callable[[], bool]) -> None:
    """Returns when it is so, or the process has ended."""
    while process.poll() is None and not reached():
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)


def wait_for_words(process: Process, log: Path, count: int) -> None:
    """The same, until the file has so many words."""
    wait_until(process, lambda: len(log.read_text().split()) >= count)
