"""What a command leaves behind when its process ends."""

import gc
from pathlib import Path

from journeys.command import ombud, ombud_process, workspace

LEAVE = "How many days of annual leave do employees have?"


def test_after_a_command_everything_kept_is_in_the_database_itself(tmp_path: Path) -> None:
    home = workspace(tmp_path)
    for arguments in (("sync", "docs"), ("ask", LEAVE), ("search", LEAVE)):
        assert ombud_process(*arguments, cwd=home).code == 0
        left = sorted(file.name for file in (home / ".ombud").glob("store*"))
        assert left == ["store.sqlite"], arguments


def test_a_question_that_stops_its_collector_leaves_it_running(tmp_path: Path) -> None:
    home = workspace(tmp_path)
    assert ombud("sync", "docs", cwd=home).code == 0
    assert ombud("ask", LEAVE, cwd=home).code == 0
    assert gc.isenabled()
