"""How long does a sync take when little or nothing has changed, and does one survive being killed?

    unchanged      10,000 documents, none changed; target 15 s
    one changed    from the start of a sync of these 10,000 until a search finds the changed
    sentence; target 2 s killed         --kills N: a sync of the real handbooks, killed N times
    (kill -9) at random moments and begun again;
                   the index is then compared, passage by passage and vector by vector, with that of
                   an undisturbed one

Processes are started outside of the times. Run: python lifecycle.py [--documents N] [--kills N]
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
from record import ROOT, SHARED, keep, print_table, say, verdict

from ombud.app import Workspace, asking, configured_sources, library, sync_all
from ombud.index import blocking
from ombud.ingest import sync_sources
from ombud.sources import folder
from ombud.types import Person

TOML = '[[source]]\nname = "docs"\npath = "{path}"\n'


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=0)
    given = parser.parse_args()
    rows, figures = measure(given.documents)
    if given.kills:
        same = kill(given.kills)
        rows.append(
            (
                "killed",
                f"index {'equal' if same else 'DIFFERS'} after {given.kills} kills",
                "equal",
                "",
            )
        )
        figures |= {"kills": given.kills, "equal": same}
    print_table(("", f"{given.documents:,} documents", "target", ""), rows)
    keep("lifecycle", figures, given.documents)


def measure(count: int) -> tuple[list[tuple[str, str, str, str]], dict[str, object]]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "ombud.toml").write_text(TOML.format(path="docs"), encoding="utf-8")
        for number in range(count):
            place = home / "docs" / f"{number // 100:03}" / f"rule-{number}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(
                f"# Rule {number}\n\nDoor {number} is shut at {number % 24} o'clock.\n",
                encoding="utf-8",
            )
        with closing(Workspace(home)) as workspace:
            started = time.perf_counter()
            sync_all(workspace)
            say(f"first sync of {count} documents: {time.perf_counter() - started:.0f} s")
            time.sleep(folder.SETTLED)
            sync_all(workspace)  # remembers the files' times
            started = time.perf_counter()
            sync_all(workspace)
            unchanged = time.perf_counter() - started
            visible = _until_found(workspace, home)
    rows = [
        ("unchanged", f"{unchanged:.1f} s", "15 s", verdict(unchanged, 15)),
        ("one changed", f"{visible:.2f} s", "2 s", verdict(visible, 2)),
    ]
    return rows, {"unchanged_seconds": round(unchanged, 2), "visible_seconds": round(visible, 2)}


def _until_found(workspace: Workspace, home: Path) -> float:
    """Seconds until a search beside the running sync finds the new sentence; it is asked twenty
    times a second."""
    asyncio.run(
        asking.search(workspace, "Which doors are shut?", Person(), k=3)
    )  # it serves already when the sync begins
    page = home / "docs" / "000" / "rule-7.md"
    page.write_text("# Rule 7\n\nThe quokka sleeps in the archive.\n", encoding="utf-8")
    running = threading.Thread(target=sync_all, args=(workspace,))
    started = time.perf_counter()
    running.start()
    while True:
        evidence, _ = asyncio.run(
            asking.search(workspace, "Where does the quokka sleep?", Person(), k=3)
        )
        if any("quokka" in hit.chunk.text for hit in evidence.hits):
            break
        running.join(0.05)
    found = time.perf_counter() - started
    running.join()
    return found


def kill(times: int) -> bool:
    random.seed(11)
    path = SHARED if SHARED.is_dir() else ROOT / "sample" / "handbook"
    with tempfile.TemporaryDirectory() as name:
        homes = [Path(name) / part for part in ("killed", "quiet")]
        for home in homes:
            home.mkdir()
            (home / "ombud.toml").write_text(TOML.format(path=path), encoding="utf-8")
        command = [sys.executable, "-m", "ombud", "--home", str(homes[0]), "sync"]
        for number in range(times):
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
            )
            time.sleep(random.uniform(1.0, 8.0))
            ended = process.poll() is not None
            process.send_signal(signal.SIGKILL)
            process.wait()
            if number % 10 == 0 or ended:
                say(f"kill {number + 1}" + (" (the sync had ended)" if ended else ""))
            if (
                ended
            ):  # begin again from nothing changed: take some documents away and bring them back
                _shake(homes[0])
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        with closing(Workspace(homes[1])) as quiet:
            sync_sources(quiet.ingest, configured_sources(quiet.settings, homes[1], quiet.store))
            right = _content(quiet)
        with closing(Workspace(homes[0])) as killed:
            return _content(killed) == right


def _shake(home: Path) -> None:
    with closing(Workspace(home)) as workspace:
        for document in random.sample(library.documents(workspace, None), 60):
            library.delete_document(workspace, document.id)


def _content(workspace: Workspace) -> dict[str, tuple[str, bytes]]:
    chunks = list(library.passages(workspace))
    vectors = blocking(workspace.engine.vectors([chunk.id for chunk in chunks]))
    none = np.zeros(0, np.float32)
    return {
        chunk.id: (chunk.model_dump_json(), vectors.get(chunk.id, none).tobytes())
        for chunk in chunks
    }


if __name__ == "__main__":
    main()
