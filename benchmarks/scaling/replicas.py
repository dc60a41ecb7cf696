"""Do two replicas and three workers on one PostgreSQL and one bucket answer as one, though one is killed?

Two `ombud serve`, three `ombud work`, moto's S3 server, a PostgreSQL (TEST_POSTGRES_URL), no embedder, no chat model.
A sync adds a rule: how long until each replica finds it? Then questions to both by turns, one replica killed every
minute; a rule is changed, the index rebuilt, a document deleted with certificate on the way. Every answer is compared
with the rule that was in force: `python benchmarks/scaling/replicas.py MINUTES`.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from index.places import bucket, free_port
from store.places import database

OMBUD = [sys.executable, "-c", "from ombud.cli import main; main()"]
RULES = 40
FRESH = 5.0


def ask(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return dict(json.load(reply))


def serve(home: Path, port: int) -> "subprocess.Popen[bytes]":
    command = [*OMBUD, "--home", str(home), "serve", "--port", str(port)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_ready(port: int) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(port)


def run(home: Path, *arguments: str) -> None:
    command = [*OMBUD, "--home", str(home), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def write_rule(home: Path, number: int, days: int) -> None:
    text = f"# Allowance {number}\n\nThe zeppelin{number} allowance is {days} days a year.\n"
    (home / "docs" / f"{number}.md").write_text(text)


def seen_after(ports: list[int], query: str, words: str) -> list[float]:
    """Seconds until each finds the words."""
    begun = time.monotonic()
    seen: dict[int, float] = {}
    while len(seen) < len(ports) and time.monotonic() - begun < 60:
        for port in ports:
            found = json.dumps(ask(port, "search", {"query": query, "k": 3}))
            if port not in seen and words in found:
                seen[port] = time.monotonic() - begun
    return [round(seen.get(port, float("inf")), 2) for port in ports]


class Asking:
    """Questions by turns, with what each answer must say."""

    def __init__(self, ports: list[int], days: dict[int, int]) -> None:
        self.ports = ports
        self.days = days
        self.asked = self.wrong = self.refused = self.retried = 0
        self.examples: list[str] = []
        self.reasons = Counter[str]()

    def one(self, rng: random.Random) -> None:
        number = rng.choice(sorted(self.days))
        question = f"How many days is the zeppelin{number} allowance?"
        ports = rng.sample(self.ports, len(self.ports))
        for port in ports:  # as a load balancer does it
            try:
                answer = ask(port, "ask", {"question": question})
            except urllib.error.HTTPError as refusal:
                self.retried += 1
                self.reasons[refusal.read().decode()[:200]] += 1
                continue
            except (urllib.error.URLError, OSError) as failed:
                self.retried += 1
                self.reasons[type(failed).__name__] += 1
                continue
            self.asked += 1
            self._judge(number, answer)
            return
        self.refused += 1

    def _judge(self, number: int, answer: dict[str, Any]) -> None:
        text = answer["text"]
        if f"{self.days[number]} days" not in text:
            self.wrong += 1
            self.examples.append(f"{number}: wanted {self.days[number]}: {text[:120]}")


def main(minutes: float) -> None:
    rng = random.Random(7)
    name = f"replicas{os.getpid()}"
    with database("postgresql") as url, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "docs").mkdir()
        (home / "ombud.toml").write_text(
            '[models]\nembedder = "none"\n[sync]\nworkers = "queue"\n'
            f'[store]\nurl = "{url}"\n[index]\nurl = "s3://{bucket()}/{name}"\n'
            f"fresh_seconds = {FRESH}\n"
            "[server]\nrequests_per_minute = 0\nperson_requests_per_minute = 0\n"
            '[[source]]\nname = "docs"\npath = "docs"\n'
        )
        days = {number: 10 + number for number in range(RULES)}
        for number, count in days.items():
            write_rule(home, number, count)
        workers = [
            subprocess.Popen([*OMBUD, "--home", str(home), "work"], stderr=subprocess.DEVNULL)
            for _ in range(3)
        ]
        run(home, "sync")
        ports = [free_port(), free_port()]
        servers = {port: serve(home, port) for port in ports}
        for port in ports:
            wait_ready(port)
        days[RULES] = 77
        write_rule(home, RULES, 77)
        run(home, "sync")
        result: dict[str, Any] = {
            "sync_seen_seconds": seen_after(ports, f"zeppelin{RULES} allowance", "77 days")
        }
        asking = Asking(ports, days)
        kills = 0
        ends = time.monotonic() + 60 * minutes
        next_kill = time.monotonic() + 30
        changes = iter(["rebuild", "delete"])
        while time.monotonic() < ends:
            if time.monotonic() > next_kill:
                victim = rng.choice(ports)
                servers[victim].kill()
                servers[victim].wait()
                servers[victim] = serve(home, victim)
                kills += 1
                next_kill += 60
                change = next(changes, "")
                if change == "rebuild":
                    run(home, "index", "rebuild")
                elif change == "delete":
                    del days[0]
                    (home / "docs" / "0.md").unlink()
                    run(home, "documents", "delete", "docs/0.md", "--certify")
                    time.sleep(FRESH)
                    for port in ports:
                        wait_ready(port)
                        found = json.dumps(
                            ask(port, "search", {"query": "zeppelin0 allowance", "k": 5})
                        )
                        result[f"deleted_found_{port}"] = "The zeppelin0 allowance is" in found
            asking.one(rng)
        result |= {"asked": asking.asked, "wrong": asking.wrong, "nobody_answered": asking.refused}
        result |= {
            "asked_again_elsewhere": asking.retried,
            "kills": kills,
            "examples": asking.examples[:3],
            "reasons": asking.reasons,
        }
        print(json.dumps(result, indent=1))
        for process in [*workers, *servers.values()]:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3)
