"""One lease among processes whose clocks differ, that are paused, that live in namespaces of their own.

TEST_LEASE_SCHEDULES: how many schedules; `make kills` runs 20.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from store.places import database

SCHEDULES = int(os.environ.get("TEST_LEASE_SCHEDULES", "2"))
SECONDS = 8.0
"""Of each schedule."""
CONTENDER = """
import sys, time
from pathlib import Path
from sqlalchemy import text
import ombud.store.lease as lease_module
from ombud.errors import Busy, StoreError
from ombud.store import acquire_lease, open_store
url, who, skew = sys.argv[1], sys.argv[2], float(sys.argv[3])
lease_module.SECONDS = 1.5
real = time.time
time.time = lambda: real() + skew
store = open_store(url, Path("unused"))
print("begins", flush=True)
while True:
    try:
        with acquire_lease(store, "sync") as lease:
            for _ in range(5):
                with store.write() as db:
                    lease.guard(db)
                    db.execute(
                        text("INSERT INTO kept (fence, who) VALUES (:f, :w)"), {"f": lease.fence, "w": who}
                    )
                time.sleep(0.05)
    except (Busy, StoreError):
        time.sleep(0.02)
"""


def command(url: str, who: str, skew: float, apart: bool) -> list[str]:
    """apart: in a namespace of process numbers of its own, under the same host name."""
    own = [sys.executable, "-c", CONTENDER, url, who, str(skew)]
    unshare = shutil.which("unshare")
    if apart and unshare and os.geteuid() == 0:
        return [unshare, "--pid", "--fork", "--mount-proc", "--kill-child", *own]
    return own


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_nobody_writes_after_another_has_taken_over(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    with database("postgresql") as url:
        engine = create_engine(url)
        with engine.begin() as db:
            db.execute(text("CREATE TABLE kept (number serial, fence int, who text)"))
        contenders = []
        for number in range(4):
            skew = rng.choice([0, 40, -40, 3600, -3600])
            started = subprocess.Popen(
                command(url, f"c{number}", skew, apart=number % 2 == 1),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=tmp_path,
                start_new_session=True,
            )
            contenders.append(started)
        for started in contenders:
            assert started.stdout
            assert started.stdout.readline()
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            victim = rng.choice(contenders)
            os.killpg(victim.pid, signal.SIGSTOP)
            time.sleep(rng.uniform(0.1, 2.5))
            os.killpg(victim.pid, signal.SIGCONT)
        for started in contenders:
            os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
        with engine.begin() as db:
            rows = db.execute(text("SELECT fence, who FROM kept ORDER BY number")).all()
        engine.dispose()
    fences = [row.fence for row in rows]
    assert fences == sorted(fences)
    owners = {row.fence: row.who for row in rows}
    assert all(owners[row.fence] == row.who for row in rows)
    assert len(set(owners.values())) > 1
