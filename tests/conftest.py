"""What all tests need of their process, and the server that several share."""

import gc
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from ssl import SSLContext
from types import ModuleType
from typing import Any, cast

import httpx
import httpx2
import hypothesis
import pytest
import typer.main
from httpx._config import DEFAULT_TIMEOUT_CONFIG

from copies import migrating_once
from models.llama import missing, serving_llama
from ombud.store import database

LONGEST = (
    "journeys/test_faults.py",
    "contracts/test_engine.py",
    "ingest/test_killed_syncs.py",
    "retrieve/test_llama.py",
    "training/test_triage.py",  # in research/tests
    "journeys/test_handover.py",
    "journeys/test_pictures.py",
    "journeys/test_pages.py",
    "journeys/test_hostile.py",
    "handoff/test_matrix.py",
    "handoff/test_killed.py",
    "app/test_target.py",
    "lab/test_judges.py",
    "store/test_lease_schedules.py",
)
"""Up to three minutes each, as slow tests: one that is begun last keeps one process busy, or
waiting, while the others have nothing left."""
SLOW = re.compile(r"mark\.slow|llama|seeds|PLACES")
"""In the text of each file that has a slow test."""
PATIENCE = 60.0
"""Seconds that a request may take."""
MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3
"""Bytes that must be free there; a container often has 64 MiB in all."""


def pytest_configure(config: pytest.Config) -> None:
    """A shell starts what stands before `&` with Ctrl-C ignored, and so would everything that tests
    start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _keep_files_in_memory()
    # A parser process costs ten times what it parses here; tests of that process, and of its faults, name a number.
    os.environ["OMBUD_DOCUMENTS__PROCESSES"] = "0"
    # A process of ombud makes its tree of commands once; a hundred tests would make it a hundred times.
    kept = pytest.MonkeyPatch()
    kept.setattr(typer.main, "get_command", cache(typer.main.get_command))
    # And every client reads the certificates of all authorities, 25 ms each: one reading is enough.
    for module in (httpx, httpx2):
        kept.setattr(
            f"{module.__name__}._transports.default.create_ssl_context", _reading_once(module)
        )
    # On a busy machine an example may take more than .2 s, and a request more than 5.
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    for phase in ("connect", "read", "write", "pool"):
        kept.setattr(DEFAULT_TIMEOUT_CONFIG, phase, PATIENCE)
    # An empty store takes .12 s of migrations, and .005 as a copy of one that they have made.
    kept.setattr(database, "migrate", migrating_once(database.migrate))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Tests wait for deadlines, browsers and other processes: a fifth of their time, slow ones more
    than half of it."""
    cores = os.cpu_count() or 1
    return 2 * cores if config.option.markexpr == "slow" else cores + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What files without a slow test import takes each process of the slow ones three seconds."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if config.option.markexpr == "slow" and is_test and not _may_be_slow(collection_path):
        return True
    return None


def _may_be_slow(file: Path) -> bool:
    return SLOW.search(file.read_text(encoding="utf-8")) is not None


def pytest_collection() -> None:
    """What importing and collecting make is not looked through for garbage: nearly all of it stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def _keep_files_in_memory() -> None:
    """A commit of SQLite waits 5 ms for a disk, and a test makes dozens. TMPDIR names another
    place."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    place = os.statvfs(MEMORY)
    if place.f_bavail * place.f_frsize >= ROOM and not place.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def _reading_once(module: ModuleType) -> Callable[..., SSLContext]:
    """Its `create_ssl_context`, which reads once what the same arguments and environment name."""
    make = module.create_ssl_context

    @cache
    def made_for(authorities: str, *arguments: Any) -> SSLContext:
        del authorities
        return cast(SSLContext, make(*arguments))

    def ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> SSLContext:
        return made_for(os.environ.get("SSL_CERT_FILE", ""), verify, cert, trust_env)

    return ssl_context


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a real model server is slow. Files that take longest begin first."""
    for item in items:
        if "llama" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    if overlooked := sorted(path.name for path in slow if not _may_be_slow(path)):
        raise pytest.UsageError(f"SLOW in {__file__} does not find {', '.join(overlooked)}.")
    items.sort(key=_place_in_line)


def _place_in_line(item: pytest.Item) -> int:
    file = f"{item.path.parent.name}/{item.path.name}"
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """Address of a real llama.cpp server with a tiny model."""
    if why := missing():
        pytest.skip(why)
    with serving_llama() as url:
        yield url
