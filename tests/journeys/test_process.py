"""What a command leaves behind in its process."""

import gc
from pathlib import Path

from journeys.command import ombud, workspace

LEAVE = "How many days of annual leave do employees have?"


def test_a_question_that_stops_its_collector_leaves_it_running(tmp_path: Path) -> None:
    home = workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    assert ombud("ask", LEAVE, cwd=home).code == 0
    assert gc.isenabled()
