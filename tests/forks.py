"""Processes that begin with everything imported: forks of one that does nothing else. For tests that
kill the same program again and again."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAM = """
import importlib, os, sys
module = importlib.import_module(sys.argv.pop(1))
for _ in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        module.main()
        sys.exit()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Fork:
    """One that runs; the next begins when it has ended."""

    def __init__(self, origin: subprocess.Popen[bytes]) -> None:
        assert origin.stdin
        assert origin.stdout
        origin.stdin.write(b"\n")
        self._told = origin.stdout
        self._pid = int(self._told.readline())
        self._code: int | None = None

    def poll(self) -> int | None:
        """The code it ended with, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The code it ended with. Raises TimeoutExpired."""
        if self._code is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            self._code = int(self._told.readline())
        return self._code

    def kill(self) -> bool:
        """Whether it was still running."""
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)
        return self.wait() == -signal.SIGKILL


@contextmanager
def forking(
    module: str, *arguments: object, variables: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """What forks of `module`, whose `main` reads the arguments, are made of."""
    command = [sys.executable, "-c", PROGRAM, module, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **(variables or {})}
    with subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as origin:
        yield origin
        assert origin.stdin
        origin.stdin.close()
