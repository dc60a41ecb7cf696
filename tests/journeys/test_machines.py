"""What `compose.scaling.yaml` starts, as plain processes: its commands and its environment, another PostgreSQL and S3
server, other ports."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from handoff.replicas import PATIENCE, wait_for
from index.places import bucket, free_port
from store.places import database

COMPOSE = Path(__file__).parents[2] / "compose.scaling.yaml"
CONTAINERFILE = COMPOSE.with_name("Containerfile")
GIVEN = {"OBJECTS_KEY": "test", "OBJECTS_SECRET": "test"}
"""What whoever runs compose sets."""
SECONDS = 15.0
"""In which a replica must follow: `fresh_seconds` and ten of its own look, on a machine that does other things too."""


class Machines:
    """Two replicas and three workers of one workspace."""

    def __init__(self, home: Path, store: str) -> None:
        self.home = home
        self.services = yaml.safe_load(COMPOSE.read_text())["services"]
        self.store_url = home.parent / "store_url"
        self.store_url.write_text(store + "\n")
        self.ports: dict[str, int] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.token = ""

    def environment(self, service: str) -> dict[str, str]:
        said = self.services[service]["environment"]
        filled = {
            name: re.sub(r"\$\{(\w+):.(.*?)\}", _filled, value) for name, value in said.items()
        }
        assert filled["OMBUD_STORE__URL_FILE"] == "/run/secrets/store_url"
        filled |= {
            "OMBUD_STORE__URL_FILE": str(self.store_url),
            "AWS_ENDPOINT": os.environ["AWS_ENDPOINT"],
            "OMBUD_HOME": str(self.home),
            "OMBUD_SERVER__LOG": "json",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PATH": os.environ["PATH"],
        }
        return filled

    def start(self) -> None:
        for service in ("one", "two"):
            image = re.findall(r"^CMD (\[.*\])$", CONTAINERFILE.read_text(), re.MULTILINE)
            command = self.services[service].get("command") or json.loads(image[-1])
            self.ports[service] = free_port()
            self._start(service, [*command, "--port", str(self.ports[service])])
        work = self.services["work"]
        for _ in range(work["deploy"]["replicas"]):
            self._start("work", work["command"])

    def run(self, *arguments: str) -> str:
        """As `docker compose run --rm work ombud …`."""
        done = subprocess.run(
            _as_module(["ombud", *arguments]),
            env=self.environment("work"),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def get(self, service: str, path: str, body: Any = None) -> Any:
        """(status, JSON) of a request that the proxy in front would send."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[service]}{path}",
            json.dumps(body).encode() if body else None,
            {
                "host": "localhost:8321",
                "content-type": "application/json",
                "authorization": f"Bearer {self.token}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()
        except OSError:
            return 0, ""

    def finds(self, words: str, where: str) -> Callable[[], bool]:
        return lambda: (
            words in str(self.get(where, "/api/v1/search", {"query": "zeppelin allowance"}))
        )

    def lacks(self, words: str, where: str) -> bool:
        return not self.finds(words, where)()

    def stop(self) -> list[int]:
        """Their exit statuses; in the grace that compose gives."""
        for process in self.processes:
            process.terminate()
        return [process.wait(timeout=30) for process in self.processes]

    def _start(self, service: str, command: list[str]) -> None:
        with (self.home.parent / f"{service}-{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                _as_module(command), env=self.environment(service), stdout=log, stderr=log
            )
        self.processes.append(process)

    def answers(self, service: str, path: str) -> bool:
        for process in self.processes:
            assert process.poll() is None, self.said()
        return bool(self.get(service, path)[0] == 200)

    def said(self) -> str:
        return "\n".join(log.read_text() for log in sorted(self.home.parent.glob("*.log")))


def _filled(match: re.Match[str]) -> str:
    name, otherwise = match.groups()
    return GIVEN.get(name, otherwise)


def _as_module(command: list[str]) -> list[str]:
    assert command[0] == "ombud"
    return [sys.executable, "-m", *command]


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    bucket()
    home = tmp_path / "workspace"
    (home / "docs").mkdir(parents=True)
    (home / "ombud.toml").write_text(
        '[models]\nembedder = "none"\n[[source]]\nname = "docs"\npath = "docs"\n'
    )
    with database("postgresql") as url:
        made = Machines(home, url)
        yield made
        for process in made.processes:
            process.kill()
            process.wait()


def write_rule(home: Path, number: int, days: int) -> None:
    text = (
        f"# Allowance {number}\n\nThe zeppelin allowance of grade {number} is {days} days a year.\n"
    )
    (home / "docs" / f"{number}.md").write_text(text)


@pytest.mark.slow
def test_replicas_and_workers_follow_a_sync_a_rebuild_and_a_certified_deletion(
    machines: Machines,
) -> None:
    machines.start()
    for service in ("one", "two"):
        wait_for(partial(machines.answers, service, "/healthz"), 4 * PATIENCE)
        assert machines.get(service, "/readyz")[0] == 503  # there are no documents yet
        assert machines.get(service, "/api/v1/search", {"query": "x"})[0] == 401
    machines.run("people", "add", "tester", "--no-password")
    made = machines.run("tokens", "add", "tests", "--for", "tester", "--json")
    machines.token = json.loads(made)["secret"]

    for number in range(6):
        write_rule(machines.home, number, 70 + number)
    report = json.loads(machines.run("sync", "--json"))
    assert [source["added"] for source in report["sources"]] == [6]
    for service in ("one", "two"):
        wait_for(machines.finds("73 days", service), SECONDS)
        assert machines.answers(service, "/readyz")

    machines.run("index", "rebuild")
    for service in ("one", "two"):
        wait_for(machines.finds("73 days", service), SECONDS)
        assert machines.answers(service, "/readyz")

    (machines.home / "docs" / "3.md").unlink()
    certificate = json.loads(
        machines.run("documents", "delete", "docs/3.md", "--certify", "--json")
    )
    assert certificate["gone"]
    names = {place["name"] for place in certificate["places"]}
    assert {"index: older generations", "index: passages in index.cache"} <= names
    covers = " ".join(certificate["not_covered"])
    for place in ("Memory of servers", "write-ahead log", "Snapshots", "bucket versioning"):
        assert place in covers
    for service in ("one", "two"):
        wait_for(partial(machines.lacks, "73 days", service), SECONDS)
        assert machines.finds("74 days", service)()
    wait_for(lambda: not _kept(machines.home, "73 days"), SECONDS)
    assert set(machines.stop()[:2]) <= {0, -signal.SIGTERM}


def _kept(home: Path, words: str) -> bool:
    for file in (home / ".ombud").rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # it may go meanwhile
            if words.encode() in file.read_bytes():
                return True
    return False
