"""How soon does ombud answer, and how much memory does it take?

Every number is of fresh processes: this script imports nothing of ombud. In a temporary workspace
with the sample handbook it times

    --help               ombud --help; target 0.15 s
    llm --help           the same of another command line, from an environment of its own
    import lancedb       python -c "import lancedb": what a process with this index takes at least
    sync                 the whole sample handbook, from an empty workspace (once)
    sync, no change      the same again
    search, ask          one question in a cold process; targets 1.0 and 1.2 s
    serve, ready         ombud serve until GET /readyz says 200
    serve, first answer  until the first POST /api/v1/search after that is answered
    demo again           sync without change, then serve until ready: what a second `make demo` does
    at most; target 5 s

Peak memory is the largest resident set of the process, or of its parser process where that one is
larger. The files are in the page cache after the first run, as on a machine that is in use, and
modules are compiled once. Run: python startup.py [--repeat N] [--llm PATH/bin/llm]"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from record import ROOT, keep, print_table, say, spread, verdict

OMBUD = str(Path(sys.executable).parent / "ombud")
QUESTION = "How many days of annual leave do I have?"
TARGETS = {"--help": 0.15, "search": 1.0, "ask": 1.2, "demo again": 5.0}
PATIENCE = 60


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="processes of each kind")
    parser.add_argument("--llm", default="", help="the llm command, to be timed beside")
    chosen = parser.parse_args(arguments)
    repeat = chosen.repeat
    home = Path(tempfile.mkdtemp(prefix="ombud-bench-"))
    seconds: dict[str, list[float]] = defaultdict(list)
    memory: dict[str, list[float]] = defaultdict(list)
    try:
        _run([OMBUD, "init", str(home)])
        for name, command in _commands(home, repeat, chosen.llm):
            taken, peak = _run(command)
            seconds[name].append(taken)
            memory[name].append(peak)
            say(f"{name}: {taken:.2f} s, {peak:.0f} MB")
        for number in range(repeat):
            ready, answered, peak = _serve(home)
            seconds["serve, ready"].append(ready)
            seconds["serve, first answer"].append(answered)
            seconds["demo again"].append(seconds["sync, no change"][number] + ready)
            memory["serve, first answer"].append(peak)
            say(f"serve: ready {ready:.2f} s, first answer {answered:.2f} s, {peak:.0f} MB")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    _report(seconds, memory)


def _report(seconds: dict[str, list[float]], memory: dict[str, list[float]]) -> None:
    rows = []
    for name, values in seconds.items():
        target = TARGETS.get(name)
        said = f"<= {target:.1f} {verdict(median(values), target)}" if target else ""
        peak = f"{median(memory[name]):.0f}" if memory[name] else ""
        rows.append([name, len(values), spread(values, 2), peak, said])
        keep("startup", {"what": name, "seconds": [round(v, 3) for v in values],
                         "peak_mb": [round(v) for v in memory[name]], "target": target}, len(values))  # fmt: skip
    print_table(["what", "n", "seconds", "peak MB", "target"], rows)


def _commands(home: Path, repeat: int, llm: str) -> list[tuple[str, list[str]]]:
    ombud = [OMBUD, "--home", str(home)]
    asker = ["--country", "GB", "--json"]
    again = [
        ("--help", [OMBUD, "--help"]),
        ("import lancedb", [sys.executable, "-c", "import lancedb"]),
        ("sync, no change", [*ombud, "sync"]),
        ("search", [*ombud, "search", QUESTION, *asker]),
        ("ask", [*ombud, "ask", QUESTION, *asker]),
    ]
    if llm:
        again.append(("llm --help", [llm, "--help"]))
    else:
        say("llm is not timed: name it with --llm")
    first = [("sync", [*ombud, "sync", str(ROOT / "sample/handbook")])]
    return [*first, *(again * repeat)]


def _run(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of one process."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        code, peak = _end(process)
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}.")
    return time.perf_counter() - started, peak


def _serve(home: Path) -> tuple[float, float, float]:
    """Seconds until ready, seconds from there to the first answer, peak megabytes."""
    started = time.perf_counter()
    command = [OMBUD, "--home", str(home), "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline().split()
            if not said:
                raise SystemExit("ombud serve ended before it answered.")
            while not _ask(f"{said[-1]}/readyz"):
                if time.perf_counter() - started > PATIENCE:
                    raise SystemExit(f"/readyz did not say 200 in {PATIENCE} s.")
                time.sleep(0.01)
            ready = time.perf_counter() - started
            if not _ask(
                f"{said[-1]}/api/v1/search", {"query": QUESTION, "person": {"country": "GB"}}
            ):
                raise SystemExit("/api/v1/search did not say 200.")
            answered = time.perf_counter() - started - ready
        finally:
            process.send_signal(signal.SIGINT)
            _, peak = _end(process)
    return ready, answered, peak


def _ask(url: str, body: dict[str, object] | None = None) -> bool:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            answer.read()
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> tuple[int, float]:
    """Exit code and peak megabytes; waits itself, for subprocess keeps no usage."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return process.returncode, usage.ru_maxrss / unit


if __name__ == "__main__":
    main(sys.argv[1:])
