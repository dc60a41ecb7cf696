"""The heart of a lease, and who counts as dead."""

import os
import socket
import threading
from pathlib import Path

import pytest
from sqlalchemy import update

from ombud.errors import Busy, StoreError
from ombud.store import Store, acquire_lease, open_store
from ombud.store import lease as module
from ombud.store.tables import lease as leases


class Stubborn(module.Lease):
    """Fails once, then ends the test."""

    def __init__(self, done: threading.Event) -> None:
        self.done, self.calls = done, 0

    def renew(self) -> None:
        self.calls += 1
        if self.calls == 1:
            raise StoreError("away")
        self.done.set()


def claim(store: Store, owner: str) -> None:
    with store.write() as db:
        db.execute(update(leases).values(owner=owner))


def test_a_missed_beat_is_followed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.003)
    done = threading.Event()
    lease = Stubborn(done)
    module._beat(lease, done)
    assert lease.calls == 2


def test_a_process_of_another_user_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(_pid: int, _signal: int) -> None:
        raise PermissionError

    store = open_store("", tmp_path)
    with acquire_lease(store, "sync"):
        claim(store, f"{socket.gethostname()}:1:abc")
        monkeypatch.setattr(os, "kill", forbid)
        with pytest.raises(Busy, match="process 1 on"), acquire_lease(store, "sync"):
            pass
    store.close()
