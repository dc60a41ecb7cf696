"""Real servers of one workspace, and a PostgreSQL of their own, to be killed and started again."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

BOOT_SECONDS = 180.0
PATIENCE = 240.0
"""Seconds that something may take while servers are being killed."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Replica:
    """One `ombud serve`."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._home = home
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "ombud", "--home", str(self._home), "serve"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            env={**os.environ, **self._environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self.is_up, BOOT_SECONDS)

    def is_up(self) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200
        return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()


class Cluster:
    """A PostgreSQL that only this test uses."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.port = free_port()
        self.url = f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"
        self._folder = folder
        self._binaries = binaries

    def run(self, command: str) -> None:
        whole = f"{self._binaries}/{command}"
        as_postgres = ["su", "postgres", "-s", "/bin/sh", "-c", whole]
        subprocess.run(as_postgres, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self._folder}"
        log = f"{self._folder}/log"
        self.run(f"pg_ctl -D {self._folder}/data -l {log} -o '{options}' -w start")

    def stop(self) -> None:
        """As if the machine went off."""
        self.run(f"pg_ctl -D {self._folder}/data -m immediate -w stop")


@contextmanager
def postgres_cluster(folder: Path) -> Iterator[Cluster]:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if os.geteuid() != 0 or not found or not shutil.which("su"):
        pytest.skip("a PostgreSQL of its own needs root and the server's programs")
    folder.mkdir()
    # Whoever pytest's folders belong to: the server refuses to run as root.
    for parent in (folder, *folder.parents):
        if parent.stat().st_mode & 0o001 == 0:
            parent.chmod(parent.stat().st_mode | 0o011)
    shutil.chown(folder, "postgres")
    cluster = Cluster(folder, found[-1].parent)
    cluster.run(f"initdb -D {folder}/data -A trust")
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it never came to that")
        time.sleep(0.05)


class Persistent:
    """A client that tries one server after the other until one has taken what it sends."""

    def __init__(self, urls: list[str], seed: int, headers: dict[str, str]) -> None:
        self._urls = urls
        self._random = random.Random(seed)
        self._client = httpx.Client(timeout=10, headers=headers)

    def close(self) -> None:
        self._client.close()

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The first answer that is final: no server error."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            url = self._random.choice(self._urls)
            with suppress(httpx.HTTPError):
                response = self._client.request(method, f"{url}{path}", **options)
                if response.status_code < 500 and response.status_code != 429:
                    return response
            time.sleep(0.05)
        raise AssertionError(f"nobody took {method} {path}")


class Killer(threading.Thread):
    """Kills one thing after another and starts it again."""

    def __init__(self, kills: int, seed: int, victims: list[Callable[[], None]]) -> None:
        super().__init__(daemon=True)
        self._random = random.Random(seed)
        self._kills = kills
        self._victims = victims
        self.done = 0
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            for _ in range(self._kills):
                time.sleep(self._random.uniform(0.1, 0.8))
                self._random.choice(self._victims)()
                self.done += 1
        except BaseException as failed:  # told by the test
            self.failed = failed
