"""Leases: one owner at a time, also across machines, by a row that expires unless it is renewed.

Time is the database's, so that no machine's clock decides. An owner's name identifies one process
for ever; if that process is known to have ended, nobody waits for the expiry. One thread renews all
leases of a process in one statement.
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
"""How long a killed owner on another machine blocks the others; a lease is renewed three times
within it."""
FREE = text(
    "INSERT INTO lease (name, owner, fence, expires) "
    "VALUES (:name, '', 0, 0) ON CONFLICT DO NOTHING"
)
_BATCH = 200
OWNERS_HERE: set[str] = set()
"""Owners in this process. A lease missing here is free even if its release could not be stored,
such as on a full disk."""
ACQUISITIONS = count(1)


class ProcessName(NamedTuple):
    """A name that identifies one process for ever.

    Process ids are reused, also after a reboot, and two containers of one host name use the same
    ids. Fields are empty if the system does not provide them; then only the expiry counts.
    """

    host: str
    pid: int
    boot: str
    """Id of the machine's boot."""
    namespace: str
    """Namespace of the process id."""
    started: str
    """Start of the process, in clock ticks since the boot."""
    mark: str
    """Random, for systems that provide none of these."""

    def __str__(self) -> str:
        return ":".join(map(str, self))


class Lease:
    """A lease that this process owns."""

    def __init__(self, store: Store, name: str, owner: str, fence: int) -> None:
        self._store = store
        self.name = name
        self.owner = owner
        self.fence = fence

    def check(self) -> None:
        """Raise Busy if another owner has taken over; call it before every commit outside the
        store."""
        with self._store.read() as db:
            self._check(db, is_locked=False)

    def guard(self, db: Connection) -> None:
        """Raise Busy if another owner has taken over; within a writing transaction nobody can do so
        before its end."""
        self._check(db, is_locked=True)

    def release(self, *, forget: bool = False) -> None:
        """Release the lease. forget: delete its row, because the name is never used again."""
        OWNERS_HERE.discard(self.owner)
        own_row = (table.c.name == self.name) & (table.c.owner == self.owner)
        with self._store.write() as db:
            if forget:
                db.execute(delete(table).where(own_row))
            else:  # the row stays, so that fencing tokens never restart
                db.execute(update(table).where(own_row).values(owner="", expires=0.0))

    def _check(self, db: Connection, *, is_locked: bool) -> None:
        query = select(table.c.owner, table.c.fence).where(table.c.name == self.name)
        row = db.execute(query.with_for_update() if is_locked else query).first()
        if row is None or (row.owner, row.fence) != (self.owner, self.fence):
            raise Busy(
                f"The lease `{self.name}` was lost to another process.",
                hint="That process continues the work.",
            )


@contextmanager
def acquire_lease(store: Store, name: str) -> Iterator[Lease]:
    """Own `name` for the length of the block. Raises Busy, naming the owner, if another has it."""
    lease = take_lease(store, name)
    try:
        yield lease
    finally:
        lease.release()


def take_lease(store: Store, name: str) -> Lease:
    """Own `name` until `release` is called or this process ends. Raises Busy."""
    owner = new_owner()
    OWNERS_HERE.add(owner)  # before anybody can read the row
    try:
        with store.write() as db:
            fence = take_one(db, name, owner)
    except BaseException:
        OWNERS_HERE.discard(owner)
        raise
    renewal_of(store).begin()
    return Lease(store, name, owner, fence)


def acquire_free(store: Store, names: Sequence[str], most: int) -> list[Lease]:
    """Acquire as many free names as possible, `most` at most, in few transactions; until
    `release`."""
    leases: list[Lease] = []
    for some in batches(names, _BATCH):
        if len(leases) >= most:
            break
        owners = {name: new_owner() for name in some}
        OWNERS_HERE.update(owners.values())
        with store.write() as db:
            taken = take_free(db, owners, most - len(leases))
        OWNERS_HERE.difference_update(owner for name, owner in owners.items() if name not in taken)
        leases += [Lease(store, name, owners[name], fence) for name, fence in taken.items()]
    if leases:
        renewal_of(store).begin()
    return leases


def has_lease(store: Store, name: str, fence: int) -> bool:
    """Tell whether the owner with this fencing token still has the lease."""
    query = select(table.c.owner, table.c.fence, table.c.expires).where(table.c.name == name)
    with store.read() as db:
        row = db.execute(query).first()
        now = seconds_now(db)
    if row is None or row.fence != fence:
        return False
    return bool(row.expires > now) and not has_ended(row.owner)


def take_one(db: Connection, name: str, owner: str) -> int:
    """Take a lease and return its new fencing token."""
    # The row must exist before it can be locked.
    db.execute(FREE, {"name": name})
    row = db.execute(select(table).where(table.c.name == name).with_for_update()).one()
    now = seconds_now(db)
    if row.expires > now and not has_ended(row.owner):
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


def take_free(db: Connection, owners: dict[str, str], most: int) -> dict[str, int]:
    """Take the free ones of these leases; returns name -> fencing token."""
    query = select(table).where(table.c.name.in_(owners)).order_by(table.c.name)
    # Rows that another process has locked are not free, so nobody waits for them.
    rows = {row.name: row for row in db.execute(query.with_for_update(skip_locked=True))}
    existing = set(db.execute(select(table.c.name).where(table.c.name.in_(owners))).scalars())
    now = seconds_now(db)
    taken: dict[str, int] = {}
    for name, owner in owners.items():
        if len(taken) >= most:
            break
        row = rows.get(name)
        if row is None:
            if name not in existing and insert_lease(db, name, owner, now):
                taken[name] = 1
        elif row.expires <= now or has_ended(row.owner):
            taken[name] = int(row.fence) + 1
            own_row = update(table).where(table.c.name == name)
            db.execute(own_row.values(owner=owner, fence=taken[name], expires=now + SECONDS))
    return taken


def insert_lease(db: Connection, name: str, owner: str, now: float) -> bool:
    """Create the row of a lease; False if another process was first."""
    done = db.execute(FREE, {"name": name})
    if not done.rowcount:
        return False
    own_row = update(table).where(table.c.name == name)
    db.execute(own_row.values(owner=owner, fence=1, expires=now + SECONDS))
    return True


# Who owns it --------------------------------------------------------------------------------------


def process_name() -> ProcessName:
    """Return the name of this process."""
    return cached_process_name(os.getpid())


@cache
def cached_process_name(pid: int) -> ProcessName:
    return ProcessName(
        host=socket.gethostname().replace(":", "-"),
        pid=pid,
        boot=read_proc("/proc/sys/kernel/random/boot_id").strip(),
        namespace=process_namespace(),
        started=process_start(pid),
        mark=uuid.uuid4().hex[:12],
    )


def new_owner() -> str:
    return f"{process_name()}.{next(ACQUISITIONS)}"


def has_ended(owner: str) -> bool:
    """Tell whether the owner is known to have ended: its process, or its lease in this process."""
    own = process_name()
    fields = owner.rpartition(".")[0].split(":")
    if len(fields) != len(own):
        return False
    host, pid, boot, namespace, started, mark = fields
    if (host, pid, mark) == (own.host, str(own.pid), own.mark):
        return owner not in OWNERS_HERE
    is_near = (host, boot, namespace) == (own.host, own.boot, own.namespace)
    if not is_near or not boot or not namespace:
        return False
    return process_start(int(pid)) != started


def process_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return ""


def process_start(pid: int) -> str:
    """Return field 22 of /proc/PID/stat; empty without such a process or without /proc."""
    # The name of the program, field 2, may contain spaces and brackets.
    after_name = read_proc(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return after_name[19] if len(after_name) > 19 else ""


def read_proc(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# Renewing -----------------------------------------------------------------------------------------


class LeaseRenewal:
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
                self._thread = threading.Thread(
                    target=self._renew_until_stopped, name="leases", daemon=True
                )
                self._thread.start()

    def _renew_until_stopped(self) -> None:
        while not self._stopped.wait(SECONDS / 3):
            store = self._store()
            if store is None:
                return
            try:
                is_alive = renew_all(store) > 0
            except StoreError:  # retried at the next renewal; `guard` protects the commits
                continue
            if not is_alive:
                with self._lock:
                    if not OWNERS_HERE:
                        self._thread = None
                        return

    def _stop(self) -> None:
        self._stopped.set()


def renew_all(store: Store) -> int:
    """Renew all leases of this process in the store with one statement, and return their number."""
    begins = f"{process_name()}."
    is_ours = func.substr(table.c.owner, 1, len(begins)) == begins
    with store.write() as db:
        renewed = update(table).where(is_ours).values(expires=seconds_now(db) + SECONDS)
        return int(db.execute(renewed).rowcount)


def renewal_of(store: Store) -> LeaseRenewal:
    with RENEWALS_LOCK:
        heart = RENEWALS.get(store) or LeaseRenewal(store)
        RENEWALS[store] = heart
    return heart


RENEWALS: weakref.WeakKeyDictionary[Store, LeaseRenewal] = weakref.WeakKeyDictionary()
RENEWALS_LOCK = threading.Lock()
