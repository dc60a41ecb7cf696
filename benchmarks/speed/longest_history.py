"""What does the longest accepted history cost, and does the server still answer others meanwhile?

A server of its own answers an ordinary question and then the same one behind the longest history
that it accepts, each several times; the CPU time of its process is read before and after. Eight
such questions then come at once while /healthz is asked every 20 ms.

    times as much CPU as an ordinary question; target 3
    longest wait of /healthz; target 0.2 s

Run: python longest_history.py [--repeat N]"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

from record import ROOT, say

OMBUD = str(Path(sys.executable).parent / "ombud")
TICKS = os.sysconf("SC_CLK_TCK")
QUESTIONS = (
    "How many days of annual leave do I have?",
    "May I work from home when I am abroad?",
    "Who approves a hotel above the limit?",
    "How long is parental leave for partners?",
)
STORY = (
    "My team in Lyon asked about the carry over of leave while I was on a business trip with a "
    "hotel above the cap, and my manager wants receipts for the training of last {number}. "
)
AT_ONCE = 8


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=4)
    repeat = options.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(ROOT / "sample" / "handbook", home / "handbook")
        settings = "[server]\nport = 8399\nrequests_per_minute = 0\n"
        (home / "ombud.toml").write_text(settings + "person_cpu_seconds = 0\n", encoding="utf-8")
        subprocess.run(
            [OMBUD, "sync", home / "handbook"], check=True, capture_output=True, cwd=folder
        )
        server = subprocess.Popen([OMBUD, "serve"], stderr=subprocess.DEVNULL, cwd=folder)
        try:
            measure("http://127.0.0.1:8399", server.pid, repeat)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def measure(address: str, pid: int, repeat: int) -> None:
    wait_until_ready(address)
    for question in QUESTIONS:
        ask(address, question)
    ordinary = median(cpu_of(address, pid, number, []) for number in range(repeat))
    long = median(cpu_of(address, pid, number, longest_history(number)) for number in range(repeat))
    waits = waits_under_load(address)
    say(f"ordinary question {ordinary:.2f} CPU s, with the longest history {long:.2f} CPU s")
    say(f"times as much: {long / ordinary:.1f} (target 3)")
    say(f"longest wait of /healthz: {max(waits):.2f} s of {len(waits)} (target 0.2)")


def longest_history(seed: int) -> list[dict[str, str]]:
    """Forty-eight turns that fill a request, none of which was sent before."""
    turns = []
    for number in range(48):
        text = "".join(STORY.format(number=f"{seed}-{number}-{line}") for line in range(200))
        turns.append({"role": ("user", "assistant")[number % 2], "content": text[:20_000]})
    return turns


def cpu_of(address: str, pid: int, number: int, history: list[dict[str, str]]) -> float:
    before = cpu_seconds(pid)
    ask(address, f"{QUESTIONS[number % len(QUESTIONS)]} And in {2000 + number}?", history)
    return cpu_seconds(pid) - before


def waits_under_load(address: str) -> list[float]:
    askers = []
    for number in range(AT_ONCE):
        history = longest_history(100 + number)
        asker = threading.Thread(target=ask, args=(address, f"And {number}?", history))
        askers.append(asker)
        asker.start()
    waits = []
    while any(asker.is_alive() for asker in askers):
        began = time.perf_counter()
        urllib.request.urlopen(f"{address}/healthz", timeout=60).read()
        waits.append(time.perf_counter() - began)
        time.sleep(0.02)
    return waits


def ask(address: str, question: str, history: list[dict[str, str]] | None = None) -> Any:
    body = {"question": question, "person": {"country": "GB"}, "history": history or []}
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{address}/api/v1/ask", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request, timeout=600))


def wait_until_ready(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/readyz", timeout=5).read()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("The server did not start.")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
