"""What was deleted leaves the index's files within the hour, by a plain sync or a server."""

import time
from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.app.purging import GRACE, IDLE, LATEST, note_purge, purge_when_due
from ombud.app.syncing import run_sync
from ombud.errors import Busy
from ombud.index import blocking
from ombud.sources import FolderSource
from ombud.store import acquire_lease

SECRET = "The golden spanner belongs to whoever finds it behind the third boiler."


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A document among many has been deleted, by a plain sync."""
    shelf = Shelf(tmp_path)
    shelf.write("spanner.md", f"# Spanner\n\n{SECRET}\n")
    for number in range(30):
        shelf.write(f"{number}.md", f"# Rule {number}\n\nIt holds for everybody.\n")
    sync(shelf)
    shelf.remove("spanner.md")
    sync(shelf)
    return shelf


def sync(shelf: Shelf) -> None:
    run_sync(shelf.workspace, [FolderSource("docs", shelf.folder)], allow_deletes=True)


def in_files(shelf: Shelf) -> int:
    files = [file for file in (shelf.home / ".ombud" / "index").rglob("*") if file.is_file()]
    return sum(SECRET.encode() in file.read_bytes() for file in files)


def held(shelf: Shelf) -> int:
    return blocking(shelf.workspace.engine.holds([SECRET]))


def later(seconds: float) -> float:
    return time.time() + seconds


def test_when_nothing_changes_for_minutes_the_files_are_made_anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ombud.app.purging.GRACE", 0.0)
    assert held(shelf) == 1
    assert not purge_when_due(shelf.workspace)
    assert purge_when_due(shelf.workspace, lambda: later(IDLE + 1))
    assert (held(shelf), in_files(shelf)) == (0, 0)
    assert len(shelf.indexed()) == 30
    assert shelf.found("rule for everybody")
    assert not purge_when_due(shelf.workspace, lambda: later(2 * LATEST))


def test_it_is_done_within_the_hour_though_there_are_more_changes(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ombud.app.purging.GRACE", 0.0)
    note_purge(shelf.workspace.store, lambda: later(LATEST - 10))
    assert not purge_when_due(shelf.workspace, lambda: later(LATEST - 20))
    assert purge_when_due(shelf.workspace, lambda: later(LATEST + 1))
    assert held(shelf) == 0


def test_versions_that_others_may_be_reading_are_left_for_the_next_time(shelf: Shelf) -> None:
    assert GRACE >= 60
    assert purge_when_due(shelf.workspace, lambda: later(IDLE + 1))
    assert held(shelf) == 1


def test_a_sync_is_not_disturbed(shelf: Shelf) -> None:
    with acquire_lease(shelf.workspace.store, "sync"), pytest.raises(Busy):
        purge_when_due(shelf.workspace, lambda: later(IDLE + 1))
    assert held(shelf) == 1
