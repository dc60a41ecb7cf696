"""`python -m research.PART` as a person runs it, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from journeys.command import Result, environment
from research import ROOT


def research(part: str, *arguments: object, cwd: Path) -> Result:
    """Run a command to its end; it must never show a Python traceback."""
    places = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-m", f"research.{part}", *map(str, arguments)],
        cwd=cwd,
        env=environment({"PYTHONPATH": places}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)
