"""What does the lab itself cost, and does a run that is killed end as an undisturbed one?

10,000 made cases in ten metrics, asked of a target that answers from memory, so that nearly all of
the time is the lab's. Prints

    run        asking, scoring and keeping all of it; target 60 s
    read       reading the run back, with every mean and interval
    compare    two such runs: overall, by tag, type and country
    memory     peak of the process; target 1 GB
    killed     the same run, killed ten times (kill -9) and gone on with each time: scores equal,
    nothing asked again

Run: python runs.py
"""

import asyncio
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from record import ROOT, keep, print_table, say, verdict

from ombud.lab import RunOptions, compare_runs, parse_metrics, read_run, run_cases
from ombud.store import Store, done_places, list_runs, open_store

sys.path.append(str(ROOT / "tests"))
from lab.scripted import ScriptedTarget, cases

CASES, KILLS = 10_000, 10
METRICS = (
    "recall@5,page_recall@5,quote_recall@5,quote_recall@1000w,mrr,"
    "ndcg@5,token_f1,rouge_l,citation_recall,outcome_accuracy"
)
KILLED_METRICS = "recall@1,mrr,token_f1,citation_recall,outcome_accuracy"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, closing(open_store("", Path(folder))) as store:
        ran, read, compared = measure(store)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder, closing(open_store("", Path(folder))) as store:
        same, again = kill(store, Path(folder))
    rows = [
        ("run", f"{ran:.1f} s", "60 s", verdict(ran, 60)),
        ("read", f"{read:.1f} s", "", ""),
        ("compare", f"{compared:.1f} s", "", ""),
        ("memory", f"{memory:.0f} MB", "1024 MB", verdict(memory, 1024)),
        (
            "killed",
            f"scores {'equal' if same else 'DIFFER'}, {again} asked again",
            "0",
            verdict(again + (not same), 0),
        ),
    ]
    print_table(("", f"{CASES:,} cases", "target", ""), rows)
    figures = {
        "run_seconds": ran,
        "read_seconds": read,
        "compare_seconds": compared,
        "peak_mb": memory,
    }
    kept = {name: round(value, 2) for name, value in figures.items()}
    keep("runs", {**kept, "kills": KILLS, "same_scores": same, "asked_again": again}, CASES)


def measure(store: Store) -> tuple[float, float, float]:
    """Seconds to run, to read back, to compare."""
    asked, options = cases(CASES), RunOptions(parse_metrics(METRICS), "scoring", "made")
    runs, seconds = [], 0.0
    for number in (1, 2):
        started = time.perf_counter()
        runs.append(asyncio.run(run_cases(asked, ScriptedTarget(), store, options)))
        seconds = time.perf_counter() - started
        say(f"run {number}: {seconds:.1f} s")
    started = time.perf_counter()
    one = read_run(store, runs[0].id)
    one.summary(["overall"])
    read = time.perf_counter() - started
    two = read_run(store, runs[1].id)
    started = time.perf_counter()
    compare_runs(one, two)
    return seconds, read, time.perf_counter() - started


def kill(store: Store, folder: Path) -> tuple[bool, int]:
    """(scores are those of an undisturbed run, cases that were asked although their answer was
    stored)."""
    random.seed(3)
    command = [sys.executable, "-m", "lab.scripted", str(folder), str(CASES)]
    own = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    log, again = folder / "asked.txt", 0
    log.touch()
    for number in range(KILLS):
        begun = log.stat().st_size
        stored = {at for run in list_runs(store) for at in done_places(store, run.id)}
        process = subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL)
        wanted = begun + random.randint(500, 4500)
        while process.poll() is None and log.stat().st_size < wanted:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        again += sum(int(n) in stored for n in log.read_text()[begun:].split())
        say(f"kill {number + 1}: {len(stored)} cases had been kept before")
    subprocess.run(command, env=own, check=True, stdout=subprocess.DEVNULL)
    (made,) = list_runs(store)
    options = RunOptions(parse_metrics(KILLED_METRICS), "undisturbed", "scripted")
    quiet = asyncio.run(run_cases(cases(CASES), ScriptedTarget(), store, options))
    left, right = (read_run(store, run.id).scores for run in (made, quiet))
    return [s.model_dump() for s in left] == [s.model_dump() for s in right], again


if __name__ == "__main__":
    main()
