"""Who holds a lease, who counts as dead, and what a holder who lost it can still write."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, select, update

from ombud.errors import Busy
from ombud.store import Store, acquire_free, acquire_lease, has_lease, open_store, take_lease
from ombud.store import lease as module
from ombud.store.tables import lease as leases
from ombud.store.tables import source
from store.places import database

HOLD = """
import sys, time
from pathlib import Path
from ombud.store import open_store, take_lease
store = open_store(sys.argv[1], Path(sys.argv[2]))
lease = take_lease(store, "sync")
print(lease.fence, flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as address:
        yield address


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(url, tmp_path)
    yield opened
    opened.close()


def holder(url: str, folder: Path, *before: str) -> subprocess.Popen[str]:
    """A process that has taken the lease `sync`."""
    command = [*before, sys.executable, "-c", HOLD, url, str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    said = process.stdout.readline()
    if not said:
        _, why = process.communicate()
        pytest.skip(f"{before[0] if before else 'a process'} is not allowed here: {why[-200:]}")
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)


def change(store: Store, **values: object) -> None:
    with store.write() as db:
        db.execute(update(leases).values(**values))


def test_a_killed_holder_is_followed_at_once(store: Store, url: str, tmp_path: Path) -> None:
    process = holder(url, tmp_path)
    with pytest.raises(Busy, match=f"process {process.pid} on"):
        take_lease(store, "sync")
    os.kill(process.pid, signal.SIGKILL)
    end(process)
    assert take_lease(store, "sync").fence == 2


def test_a_holder_in_another_namespace_of_numbers_is_waited_for(
    store: Store, url: str, tmp_path: Path
) -> None:
    """Two containers of one host name: the number means another process here, or none."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    process = holder(url, tmp_path, "unshare", "--pid", "--fork", "--mount-proc")
    with pytest.raises(Busy):
        take_lease(store, "sync")
    assert acquire_free(store, ["sync"], 1) == []
    change(store, expires=1.0)
    assert take_lease(store, "sync").fence == 2
    end(process)


def test_a_number_that_was_given_again_is_another_process(store: Store) -> None:
    """A process lives under the number of the one that held the lease."""
    lease = take_lease(store, "sync")
    own = module.process_name()
    earlier = own._replace(pid=os.getppid(), started="1", mark="another")
    change(store, owner=f"{earlier}.1")
    assert take_lease(store, "sync").fence == lease.fence + 1


def test_a_clock_that_is_ahead_steals_nothing(store: Store, url: str, tmp_path: Path) -> None:
    """On another machine, so that only the time decides: it is the database's."""
    elsewhere = module.process_name()._replace(host="elsewhere")
    take_lease(store, "sync")
    change(store, owner=f"{elsewhere}.1")
    code = (
        "import time, sys\nfrom pathlib import Path\n"
        "real = time.time\ntime.time = lambda: real() + 3600\n"
        "from ombud.errors import Busy\nfrom ombud.store import acquire_free, open_store, take_lease\n"
        "store = open_store(sys.argv[1], Path(sys.argv[2]))\n"
        "assert acquire_free(store, ['sync'], 1) == []\n"
        "try:\n    take_lease(store, 'sync')\nexcept Busy:\n    print('waits')\n"
    )
    ahead = subprocess.run(
        [sys.executable, "-c", code, url, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert ahead.stdout == "waits\n", ahead.stderr


def test_what_a_holder_writes_who_has_lost_it_leaves_nothing(store: Store) -> None:
    old = take_lease(store, "sync")
    change(store, expires=1.0, owner="elsewhere:1:abc")
    new = take_lease(store, "sync")

    def write(lease: module.Lease, name: str) -> None:
        with store.write() as db:
            db.execute(source.insert().values(name=name, path="/", country=""))
            lease.guard(db)

    with pytest.raises(Busy, match="`sync` was lost"):
        write(old, "old")
    write(new, "new")
    with store.read() as db:
        assert db.execute(select(source.c.name)).scalars().all() == ["new"]
    assert (has_lease(store, "sync", old.fence), has_lease(store, "sync", new.fence)) == (
        False,
        True,
    )


def test_a_thousand_leases_are_renewed_by_one_statement(store: Store) -> None:
    held = acquire_free(store, [f"line/{number}" for number in range(1000)], 1000)
    assert len(held) == 1000
    change(store, expires=1.0)
    said: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *args: said.append(args[2]))
    assert module.renew_all(store) == 1000
    assert sum("UPDATE" in statement for statement in said) == 1
    assert all(has_lease(store, lease.name, lease.fence) for lease in held[::100])
    for lease in held:
        lease.release(forget=True)
    with store.read() as db:
        assert db.execute(select(leases.c.name)).all() == []


def test_only_what_is_free_is_acquired_and_no_more_than_wanted(store: Store) -> None:
    names = [f"line/{number}" for number in range(10)]
    with acquire_lease(store, "line/3"):
        first = acquire_free(store, names, 4)
        second = acquire_free(store, names, 100)
    taken = [lease.name for lease in (*first, *second)]
    assert len(first) == 4
    assert sorted(taken) == sorted(set(names) - {"line/3"})
    assert acquire_free(store, names, 100)[0].fence == 2  # of line/3, which was held before


def test_a_forgotten_name_lets_no_old_holder_in(store: Store) -> None:
    old = take_lease(store, "line/1")
    change(store, expires=1.0, owner="elsewhere:1:abc")
    take_lease(store, "line/1").release(forget=True)
    new = take_lease(store, "line/1")
    assert new.fence == old.fence  # the numbers begin anew, the owners differ
    with pytest.raises(Busy), store.write() as db:
        old.guard(db)
    old.release()
    assert has_lease(store, "line/1", new.fence)
