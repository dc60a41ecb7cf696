"""Whether a server says that it can answer, and how little it says of where things are."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ombud.app.checks import check_all
from ombud.errors import EngineError
from ombud.index.engines.object_generations import unusable
from web.running import make_workspace, running

SECRETS = ("hr-secrets", "policies/index", "10.1.2.3", "9000")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a disk of its own needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_not_ready_until_there_is_room(small_disk: Path) -> None:
    workspace = make_workspace(small_disk / "workspace")
    filler = small_disk / "filler"
    with running(workspace) as url:
        assert httpx.get(f"{url}/readyz", timeout=30).status_code == 200
        free = shutil.disk_usage(small_disk).free
        filler.write_bytes(bytes(free))
        response = httpx.get(f"{url}/readyz", timeout=30)
        assert response.status_code == 503
        assert str(small_disk) not in response.text
        filler.unlink()
        assert httpx.get(f"{url}/readyz", timeout=30).status_code == 200
    workspace.close()


def test_storage_that_is_away_is_named_to_the_operator_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    workspace = make_workspace(tmp_path)
    away = OSError("error sending request for url (http://10.1.2.3:9000/hr-secrets)")

    def unreachable() -> None:
        raise unusable("s3://hr-secrets/policies/index", away)

    with running(workspace) as url:
        monkeypatch.setattr(workspace.engine, "stats", unreachable)
        response = httpx.get(f"{url}/readyz", timeout=30)
    assert response.status_code == 503
    problem = response.json()
    assert not any(secret in response.text for secret in SECRETS)
    assert "delete" not in response.text
    assert "again" in problem["hint"]
    assert "hr-secrets" in caplog.text
    workspace.close()


def test_doctor_says_where_the_storage_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path)

    def unreachable() -> None:
        raise EngineError("The storage cannot be reached.", detail="s3://hr-secrets: refused.")

    monkeypatch.setattr(workspace.engine, "documents", unreachable)
    checks = {check.name: check for check in check_all(workspace)}
    assert not checks["index"].ok
    assert "s3://hr-secrets" in checks["index"].said
    workspace.close()
