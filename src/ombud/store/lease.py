"""One owner at a time, also across machines: a row that expires unless its owner keeps renewing
it.

Time is the database's, so that no machine's clock decides. An owner is a process that is named so
that no other can pass for it; where that process is known to have ended, nobody waits for the
expiry. One thread renews everything that a process holds, in one statement.
"""

import os
import socket
import threading
import uuid
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, select, text, update

from ombud.errors import Busy, StoreError
from ombud.store.database import Store
from ombud.store.queries import batches, seconds_now
from ombud.store.tables import lease as table

SECONDS = 30.0
"""How long a killed owner on another machine blocks the others; renewed three times within it."""
FREE = text(
    "INSERT INTO lease (name, owner, fence, expires) "
    "VALUES (:name, '', 0, 0) ON CONFLICT DO NOTHING"
)
_BATCH = 200
_held: set[str] = set()
"""Owners in this process: one that is no more may have been unable to say so, on a full disk."""
_acquisitions = count(1)


class ProcessName(NamedTuple):
    """A process, told from every other there has been.

    A number of a process is given again, also after a restart of the machine, and two containers
    of one host name have the same numbers. Empty where a system does not tell it: then only the
    expiry counts.
    """

    host: str
    pid: int
    boot: str
    """Id of the start of the machine."""
    namespace: str
    """Of process numbers."""
    started: str
    """When the process began, in clock ticks since the start of the machine."""
    mark: str
    """By chance, for systems that tell none of these."""

    def __str__(self) -> str:
        return ":".join(map(str, self))


class Lease:
    def __init__(self, store: Store, name: str, owner: str, fence: int) -> None:
        self._store = store
        self.name = name
        self.owner = owner
        self.fence = fence

    def check(self) -> None:
        """Raise Busy when someone else has taken over meanwhile; call it before every commit that
        is not the store's own."""
        with self._store.read() as db:
            self._check(db, is_locked=False)

    def guard(self, db: Connection) -> None:
        """The same inside a transaction that writes: nobody can take over before it has ended."""
        self._check(db, is_locked=True)

    def renew(self) -> None:
        with self._store.write() as db:
            self._renew(db)

    def release(self, *, forget: bool = False) -> None:
        """Give it back. forget: the name is never used again, so that its row may go; an old owner
        who wakes up finds another owner, or none."""
        _held.discard(self.owner)
        own_row = (table.c.name == self.name) & (table.c.owner == self.owner)
        with self._store.write() as db:
            if forget:
                db.execute(delete(table).where(own_row))
            else:  # the row stays, so that the fence never counts from the start again
                db.execute(update(table).where(own_row).values(owner="", expires=0.0))

    def _check(self, db: Connection, *, is_locked: bool) -> None:
        query = select(table.c.owner, table.c.fence).where(table.c.name == self.name)
        row = db.execute(query.with_for_update() if is_locked else query).first()
        if row is None or (row.owner, row.fence) != (self.owner, self.fence):
            raise Busy(
                f"The lease `{self.name}` was lost to another process.",
                hint="That process goes on with the work.",
            )

    def _renew(self, db: Connection) -> None:
        own_row = update(table).where(
            table.c.name == self.name,
            table.c.owner == self.owner,
            table.c.fence == self.fence,
        )
        db.execute(own_row.values(expires=seconds_now(db) + SECONDS))


@contextmanager
def acquire_lease(store: Store, name: str) -> Iterator[Lease]:
    """Own `name` for the length of the block; raises Busy, naming the owner, when someone else
    does."""
    lease = take_lease(store, name)
    try:
        yield lease
    finally:
        lease.release()


def take_lease(store: Store, name: str) -> Lease:
    """The same until `release` is called, or this process ends. Raises Busy."""
    owner = _new_owner()
    _held.add(owner)  # before anybody can read the row
    try:
        with store.write() as db:
            fence = _take(db, name, owner)
    except BaseException:
        _held.discard(owner)
        raise
    _heart_of(store).begin()
    return Lease(store, name, owner, fence)


def acquire_free(store: Store, names: Sequence[str], most: int) -> list[Lease]:
    """As many of these names as are free, `most` at most, in few transactions; until `release`."""
    leases: list[Lease] = []
    for some in batches(names, _BATCH):
        if len(leases) >= most:
            break
        owners = {name: _new_owner() for name in some}
        _held.update(owners.values())
        with store.write() as db:
            taken = _take_some(db, owners, most - len(leases))
        _held.difference_update(owner for name, owner in owners.items() if name not in taken)
        leases += [Lease(store, name, owners[name], fence) for name, fence in taken.items()]
    if leases:
        _heart_of(store).begin()
    return leases


def is_held(store: Store, name: str, fence: int) -> bool:
    """Whether whoever had the lease under this fence has it still."""
    query = select(table.c.owner, table.c.fence, table.c.expires).where(table.c.name == name)
    with store.read() as db:
        row = db.execute(query).first()
        now = seconds_now(db)
    if row is None or row.fence != fence:
        return False
    return bool(row.expires > now) and not _has_ended(row.owner)


def _take(db: Connection, name: str, owner: str) -> int:
    """The fence under which it is now owned."""
    # Also where two take a new name at once, one row is there to lock.
    db.execute(FREE, {"name": name})
    row = db.execute(select(table).where(table.c.name == name).with_for_update()).one()
    now = seconds_now(db)
    if row.expires > now and not _has_ended(row.owner):
        host, pid = row.owner.split(":")[:2]
        raise Busy(
            f"A {name} is already running (process {pid} on {host}).",
            hint="Wait for it to finish; if it was killed, its claim ends within "
            f"{SECONDS:.0f} seconds.",
        )
    fence = int(row.fence) + 1
    own_row = update(table).where(table.c.name == name)
    db.execute(own_row.values(owner=owner, fence=fence, expires=now + SECONDS))
    return fence


def _take_some(db: Connection, owners: dict[str, str], most: int) -> dict[str, int]:
    """Name -> fence of those that were free."""
    query = select(table).where(table.c.name.in_(owners)).order_by(table.c.name)
    # Whoever takes some of the same waits for nobody: what another has locked is not free.
    rows = {row.name: row for row in db.execute(query.with_for_update(skip_locked=True))}
    known = set(db.execute(select(table.c.name).where(table.c.name.in_(owners))).scalars())
    now = seconds_now(db)
    taken: dict[str, int] = {}
    for name, owner in owners.items():
        if len(taken) >= most:
            break
        row = rows.get(name)
        if row is None:
            if name not in known and _insert(db, name, owner, now):
                taken[name] = 1
        elif row.expires <= now or _has_ended(row.owner):
            taken[name] = int(row.fence) + 1
            own_row = update(table).where(table.c.name == name)
            db.execute(own_row.values(owner=owner, fence=taken[name], expires=now + SECONDS))
    return taken


def _insert(db: Connection, name: str, owner: str, now: float) -> bool:
    """False where another process was first."""
    done = db.execute(FREE, {"name": name})
    if not done.rowcount:
        return False
    own_row = update(table).where(table.c.name == name)
    db.execute(own_row.values(owner=owner, fence=1, expires=now + SECONDS))
    return True


# Who owns it --------------------------------------------------------------------------------------


def process_name() -> ProcessName:
    """Of this process."""
    return _process_name(os.getpid())


@cache
def _process_name(pid: int) -> ProcessName:
    return ProcessName(
        host=socket.gethostname().replace(":", "-"),
        pid=pid,
        boot=_read("/proc/sys/kernel/random/boot_id").strip(),
        namespace=_namespace(),
        started=_start_of(pid),
        mark=uuid.uuid4().hex[:12],
    )


def _new_owner() -> str:
    return f"{process_name()}.{next(_acquisitions)}"


def _has_ended(owner: str) -> bool:
    """Whether the process that owns it is known to be no more, or its work in this one."""
    own = process_name()
    known = owner.rpartition(".")[0].split(":")
    if len(known) != len(own):
        return False
    host, pid, boot, namespace, started, mark = known
    if (host, pid, mark) == (own.host, str(own.pid), own.mark):
        return owner not in _held
    is_near = (host, boot, namespace) == (own.host, own.boot, own.namespace)
    if not is_near or not boot or not namespace:
        return False
    return _start_of(int(pid)) != started


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """Field 22 of /proc/PID/stat; empty where there is no such process, or no /proc."""
    # The name of the program, field 2, may hold blanks and brackets.
    after_name = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return after_name[19] if len(after_name) > 19 else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# Renewing -----------------------------------------------------------------------------------------


class _Heart:
    """A thread that renews all leases of this process in one store, as long as there are any."""

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        store.before_close(self._stop)

    def begin(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stopped.clear()
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(SECONDS / 3):
            store = self._store()
            if store is None:
                return
            try:
                is_alive = renew_all(store) > 0
            except StoreError:  # tried again at the next beat; `guard` keeps the commits right
                continue
            if not is_alive:
                with self._lock:
                    if not _held:
                        self._thread = None
                        return

    def _stop(self) -> None:
        self._stopped.set()


def renew_all(store: Store) -> int:
    """Put off the expiry of everything that this process holds in the store: one statement.
    Returns how many leases that were."""
    begins = f"{process_name()}."
    is_ours = func.substr(table.c.owner, 1, len(begins)) == begins
    with store.write() as db:
        renewed = update(table).where(is_ours).values(expires=seconds_now(db) + SECONDS)
        return int(db.execute(renewed).rowcount)


def _heart_of(store: Store) -> _Heart:
    with _begin:
        heart = _hearts.get(store) or _Heart(store)
        _hearts[store] = heart
    return heart


_hearts: weakref.WeakKeyDictionary[Store, _Heart] = weakref.WeakKeyDictionary()
_begin = threading.Lock()
