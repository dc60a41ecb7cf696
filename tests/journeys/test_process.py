"""What a command does in its process beside its work."""

import subprocess
import sys
from pathlib import Path

from journeys.command import environment, ombud, workspace

LEAVE = "How many days of annual leave do employees have?"
COUNTED = """
import atexit, gc, sys
looks = []
gc.callbacks.append(lambda phase, about: looks.append("ombud.app" in sys.modules))
atexit.register(lambda: print(sum(looks), "looks", file=sys.stderr))
from ombud.cli import main
main()
"""


def test_a_question_looks_for_no_garbage_until_its_process_is_over(tmp_path: Path) -> None:
    home = workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    process = subprocess.run(
        [sys.executable, "-c", COUNTED, "ask", LEAVE],
        cwd=home,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout
    assert process.stderr == "0 looks\n"
