"""What every speed measurement shares: progress, medians, the printed table, and a line kept in
benchmarks/results.

A line says what was measured, when, on which machine, at which commit and from exactly which source
(a digest, for the tree may differ from the commit). Other programs run beside a measurement: `load`
is how many, at its end."""

import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results"
SHARED = ROOT.parent / "shared/data/handbooks"
"""Real handbooks, where they lie beside the repository; the measurements run without them, on less
text."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Median and range."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of them do not exceed."""
    ranked = sorted(values)
    return ranked[max(0, -(-int(len(ranked) * share * 1000) // 1000) - 1)]


def verdict(value: float, target: float, most: bool = True) -> str:
    return "ok" if (value <= target if most else value >= target) else "MISSED"


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for number, line in enumerate(lines):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
        if number == 0:
            print("  ".join("-" * width for width in widths))
    sys.stdout.flush()


def keep(name: str, values: Mapping[str, Any], n: int) -> None:
    """Append a line to benchmarks/results/NAME.jsonl. n: repetitions or questions behind each
    number."""
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "source": source(),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 2),
        "n": n,
        **values,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def machine() -> dict[str, Any]:
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text(encoding="utf-8", errors="replace").splitlines() if cpu.is_file() else []
    model = next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gb": round(memory),
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit that HEAD names, read from the repository's files; empty outside of one."""
    folder = ROOT / ".git"
    if folder.is_file():  # a linked work tree
        folder = Path(folder.read_text(encoding="utf-8").split(":", 1)[1].strip())
    shared = folder / "commondir"
    home = folder / shared.read_text(encoding="utf-8").strip() if shared.is_file() else folder
    try:
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head[:12]
        name = head.removeprefix("ref: ")
        if (home / name).is_file():
            return (home / name).read_text(encoding="utf-8").strip()[:12]
        packed = (home / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0][:12] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return ""


def source() -> str:
    """Digest of the code that is measured, wherever it is imported from."""
    digest = sha256()
    found = find_spec("ombud")
    package = Path(found.origin).parent if found and found.origin else ROOT / "src/ombud"
    for file in sorted(package.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
