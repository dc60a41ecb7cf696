"""One owner at a time, also across machines: a row that expires unless its owner keeps renewing
it."""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import select, text, update

from ombud.errors import Busy, StoreError
from ombud.store.database import Store
from ombud.store.tables import lease as table

SECONDS = 30.0
"""How long a killed owner blocks the others; renewed three times within it."""
FREE = text(
    "INSERT INTO lease (name, owner, fence, expires) "
    "VALUES (:name, '', 0, 0) ON CONFLICT DO NOTHING"
)


_held: set[str] = set()
"""Owners in this process: one that is no more may have been unable to say so, on a full disk."""


class Lease:
    def __init__(self, store: Store, name: str, owner: str, fence: int) -> None:
        self._store = store
        self.name = name
        self.owner = owner
        self.fence = fence

    def check(self) -> None:
        """Raise Busy when someone else has taken over meanwhile; call it before every commit."""
        query = select(table.c.owner, table.c.fence).where(table.c.name == self.name)
        with self._store.read() as db:
            row = db.execute(query).first()
        if row is None or (row.owner, row.fence) != (self.owner, self.fence):
            raise Busy(
                f"The lease `{self.name}` was lost to another process.",
                hint="That process goes on with the work.",
            )

    def renew(self) -> None:
        own_row = update(table).where(
            table.c.name == self.name,
            table.c.owner == self.owner,
            table.c.fence == self.fence,
        )
        with self._store.write() as db:
            db.execute(own_row.values(expires=time.time() + SECONDS))


@contextmanager
def acquire_lease(store: Store, name: str) -> Iterator[Lease]:
    """Own `name` for the length of the block; raises Busy, naming the owner, when someone else
    does."""
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"
    _held.add(owner)  # before anybody can read the row
    try:
        lease = _take(store, name, owner)
    except BaseException:
        _held.discard(owner)
        raise
    done = threading.Event()
    heart = threading.Thread(
        target=_beat,
        args=(lease, done),
        name=f"lease-{name}",
        daemon=True,
    )
    heart.start()
    try:
        yield lease
    finally:
        done.set()
        heart.join()
        _held.discard(lease.owner)
        # The row stays, so that the fence never counts from the start again.
        own_row = update(table).where(
            table.c.name == name,
            table.c.owner == lease.owner,
        )
        with store.write() as db:
            db.execute(own_row.values(owner="", expires=0.0))


def _take(store: Store, name: str, owner: str) -> Lease:
    now = time.time()
    with store.write() as db:
        # Also where two take a new name at once, one row is there to lock.
        db.execute(FREE, {"name": name})
        of_name = select(table).where(table.c.name == name)
        row = db.execute(of_name.with_for_update()).one()
        if row.expires > now and not _dead(row.owner):
            host, pid, _ = row.owner.split(":")
            raise Busy(
                f"A {name} is already running (process {pid} on {host}).",
                hint="Wait for it to finish; if it was killed, its claim ends within "
                f"{SECONDS:.0f} seconds.",
            )
        fence = row.fence + 1
        own_row = update(table).where(table.c.name == name)
        db.execute(own_row.values(owner=owner, fence=fence, expires=now + SECONDS))
    return Lease(store, name, owner, fence)


def _dead(owner: str) -> bool:
    """A process of this machine that is no more need not be waited for, nor work of this one that
    has ended."""
    host, pid, _ = owner.split(":")
    if host != socket.gethostname():
        return False
    if int(pid) == os.getpid():
        return owner not in _held
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _beat(lease: Lease, done: threading.Event) -> None:
    while not done.wait(SECONDS / 3):
        try:
            lease.renew()
        except StoreError:  # tried again at the next beat; `check` guards the commits
            continue
