"""Syncs and workers killed at any moment: what the next sync leaves is what an undisturbed one leaves.

`make kills` kills 200 times; here a few. TEST_KILLS: kills of each kind of place.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from index.places import bucket, milvus
from ingest.shelf import Shelf, long_text
from ombud.index import blocking
from ombud.store import document_ids
from store.places import database

KILLS = int(os.environ.get("TEST_KILLS", "4"))
EACH = 4
"""Kills before the index is looked at."""
SYNC = """
import sys
from pathlib import Path
from ombud.app import Workspace
from ombud.ingest import sync_sources
from ombud.sources import FolderSource
workspace = Workspace(Path(sys.argv[1]))
workspace.ingest
print("begins", flush=True)
sync_sources(workspace.ingest, [FolderSource("docs", Path(sys.argv[1]) / "docs")], allow_deletes=True)
workspace.close()
"""
WORK = """
import sys
from pathlib import Path
from ombud.app import Workspace, run_work_process
print("begins", flush=True)
run_work_process(Workspace(Path(sys.argv[1])))
"""


@contextmanager
def settings_for(kind: str, name: str) -> Iterator[str]:
    """ombud.toml of a workspace at such a place."""
    head = '[models]\nembedder = "none"\n[documents]\nprocesses = 0\n'
    if kind == "local":
        yield head
        return
    engine = '[index]\nengine = "lance"\nurl = "s3://{}/{}"\nfresh_seconds = 0\n'
    with database("postgresql") as url:
        head += f'[store]\nurl = "{url}"\n'
        if kind == "milvus":
            yield (
                head + f'[index]\nengine = "milvus"\nurl = "{milvus()}/{name}"\nfresh_seconds = 0\n'
            )
        elif kind == "queue":
            yield head + '[sync]\nworkers = "queue"\n' + engine.format(bucket(), name)
        else:
            yield head + engine.format(bucket(), name)


def edit(shelf: Shelf, rng: random.Random, edition: int) -> None:
    """Some documents change, some go, some come."""
    for _ in range(6):
        number = rng.randrange(30)
        file = shelf.folder / f"{number}.md"
        if file.exists() and rng.random() < 0.4:
            file.unlink()
        else:
            text = long_text(number, rng.randint(1, 4)).replace("everyone", f"everyone {edition}")
            file.write_text(text + f"\n\nOnly edition {edition} of {number} says so.\n")


def start(code: str, home: Path) -> "subprocess.Popen[str]":
    with (home.parent / "said.log").open("a") as said:
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(home)],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    assert child.stdout
    child.stdout.readline()
    return child


def kill(child: "subprocess.Popen[str]") -> bool:
    """Whether it was still at work."""
    was_running = child.poll() is None
    child.kill()
    child.communicate()
    return was_running


def undisturbed(home: Path, folder: Path) -> dict[str, tuple[str, int]]:
    other = Shelf(home)
    other.folder = folder
    other.sync(allow_deletes=True)
    wanted = other.snapshot()
    other.workspace.close()
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "s3", "queue", "milvus"])
def test_after_kills_the_index_is_as_if_undisturbed(kind: str, tmp_path: Path) -> None:
    rng = random.Random(os.environ.get("TEST_SEED", "7") + kind)
    name = f"k{rng.getrandbits(32)}{os.getpid()}"
    with settings_for(kind, name) as settings, ExitStack() as closed:
        home = tmp_path / "home"
        (home / "docs").mkdir(parents=True)
        (home / "ombud.toml").write_text(settings)
        shelf = Shelf.at(home)
        closed.callback(shelf.workspace.close)
        hit = 0
        for number in range(KILLS):
            edit(shelf, rng, number)
            worker = start(WORK, home) if kind == "queue" else None
            sync = start(SYNC, home)
            time.sleep(rng.uniform(0, 1.5))
            victims = [sync, worker] if worker else [sync]
            rng.shuffle(victims)
            hit += kill(victims[0])
            for other in victims[1:]:
                if other is worker:
                    kill(other)
                else:
                    assert other.wait(timeout=120) == 0, (tmp_path / "said.log").read_text()
                    other.communicate()
            if number % EACH == EACH - 1:
                shelf.sync(allow_deletes=True)
                assert shelf.snapshot() == undisturbed(tmp_path / f"other{number}", shelf.folder)
                counted = blocking(shelf.workspace.newest_engine.documents())
                assert counted == document_ids(shelf.workspace.store)
        print(f"{kind}: {hit} of {KILLS} kills hit a process at work")
