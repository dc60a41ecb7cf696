"""Files of a workspace that other users of the machine must not read."""

import errno
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingest.shelf import Shelf, long_text
from ombud.app import Workspace, check_all, write_backup
from ombud.store import open_store
from recorded import lay_recorded_store


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def readable_by_others(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if mode(path) & 0o077)


def test_a_new_workspace_is_closed_to_others(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write("a.md", long_text(1, 2))
    shelf.sync()
    data = shelf.workspace.data
    assert mode(data) == 0o700
    for file in data.glob("store.sqlite*"):
        assert mode(file) == 0o600
    assert mode(data / "index") == 0o700
    backup = tmp_path / "copy.tar.gz"
    write_backup(shelf.workspace, backup)
    assert mode(backup) == 0o600


def test_an_old_workspace_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    data = tmp_path / ".ombud"
    lay_recorded_store(data)
    (data / "originals").mkdir()
    (data / "originals" / "a.pdf").write_bytes(b"%PDF")
    (data / "index" / "table.lance").mkdir(parents=True)
    (data / "index" / "table.lance" / "rows").write_bytes(b"")
    (tmp_path / "elsewhere").write_text("")
    (data / "link").symlink_to(tmp_path / "elsewhere")
    assert len(readable_by_others(data)) == 7
    with closing(Workspace(tmp_path)) as workspace:
        assert mode(data) == 0o700
        assert [path for path in readable_by_others(data) if not path.endswith("link")] == []
        assert mode(tmp_path / "elsewhere") == 0o644
        assert workspace.store


def test_a_database_elsewhere_is_closed_too(tmp_path: Path) -> None:
    file = tmp_path / "own.sqlite"
    open_store(f"sqlite:///{file}", tmp_path).close()
    file.chmod(0o644)
    open_store(f"sqlite:///{file}", tmp_path).close()
    assert mode(file) == 0o600


def test_doctor_fails_where_others_can_read(tmp_path: Path) -> None:
    with closing(Workspace(tmp_path)) as workspace:
        assert workspace.store
        checks = {check.name: check for check in check_all(workspace)}
        assert checks["permissions"].ok
        workspace.data.chmod(0o755)
        check = {check.name: check for check in check_all(workspace)}["permissions"]
    assert not check.ok
    assert f"chmod -R go-rwx '{workspace.data}'" in check.hint


def test_a_file_system_that_refuses_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / ".ombud"
    lay_recorded_store(data)

    def refuse(path: Path, _mode: int) -> None:
        raise OSError(errno.EPERM, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)
    with caplog.at_level(logging.WARNING), closing(Workspace(tmp_path)) as workspace:
        assert workspace.store
    assert str(data) in caplog.text
    assert "chmod -R go-rwx" in caplog.text
