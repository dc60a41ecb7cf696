"""The queue of documents: processes of `ombud work` parse and embed, the sync commits."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.makers import chunk, row
from ingest.shelf import Shelf, counts, long_text
from ombud.app import run_work_process
from ombud.documents import DocumentContents
from ombud.errors import Busy
from ombud.ingest import handing_out
from ombud.ingest.handing_out import pack_rows, unpack_rows
from ombud.store import (
    Store,
    acquire_lease,
    begin_work,
    claim_work,
    finish_work,
    open_store,
    put_work,
    take_results,
)
from ombud.types import Document
from store.places import database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as made:
        yield made


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(url, tmp_path)
    yield opened
    opened.close()


def filled(home: Path, **settings: Any) -> Shelf:
    shelf = Shelf(home, **settings)
    for number in range(8):
        shelf.write(f"{number}.md", long_text(number, 2), effective_to="2031-01-31")
    shelf.write("broken.pdf", b"%PDF-1.7 nothing more")
    return shelf


@contextmanager
def working(shelf: Shelf, threads: int) -> Iterator[None]:
    """The processes of `ombud work`, as threads."""
    stop = threading.Event()
    workers = [
        threading.Thread(target=run_work_process, args=(shelf.workspace, stop))
        for _ in range(threads)
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def test_through_the_queue_the_index_is_the_same(url: str, tmp_path: Path) -> None:
    local = filled(tmp_path / "local")
    wanted = local.sync()
    shelf = filled(tmp_path / "queue", sync={"workers": "queue"}, store={"url": url})
    with working(shelf, 2):
        report = shelf.sync()
    assert counts(report) == counts(wanted) == {"added": 8, "failed": 1}
    assert [failure.reason for failure in report.failed] == [f.reason for f in wanted.failed]
    assert shelf.snapshot() == local.snapshot()
    assert shelf.document("3.md") == local.document("3.md")
    assert counts(shelf.sync()) == {"unchanged": 8, "failed": 1}
    local.workspace.close()
    shelf.workspace.close()


def test_where_nobody_works_the_sync_does_it_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_out, "PATIENCE_SECONDS", 0.0)
    shelf = filled(tmp_path, sync={"workers": "queue"})
    assert counts(shelf.sync()) == {"added": 8, "failed": 1}
    shelf.workspace.close()


def test_each_item_goes_to_one_and_a_lost_claim_counts_no_more(store: Store) -> None:
    with acquire_lease(store, "sync") as lease:
        begin_work(store, lease)
        numbers = [put_work(store, lease, "r", f"{n}", b"bytes") for n in range(2)]
        first, second = claim_work(store, "r"), claim_work(store, "r")
        assert first
        assert second
        assert [first.number, second.number] == numbers
        assert claim_work(store, "r") is None
        with store.write() as db:
            db.exec_driver_sql("UPDATE work SET expires = 0 WHERE facts = '0'")
        assert claim_work(store, "other settings") is None
        again = claim_work(store, "r")
        assert again
        assert (again.number, again.claim) == (first.number, 2)
        assert not finish_work(store, first, b"of the one that was slow")
        assert finish_work(store, again, b"right")
        assert finish_work(store, second, None, "cannot be read")
        results = take_results(store, numbers, lease)
        assert [(r.result, r.reason) for r in results] == [(b"right", ""), (None, "cannot be read")]
        assert take_results(store, numbers, lease) == []


def test_a_document_that_kills_three_processes_is_given_up(store: Store) -> None:
    with acquire_lease(store, "sync") as lease:
        number = put_work(store, lease, "r", "0", b"bytes")
        for _ in range(3):
            assert claim_work(store, "r")
            with store.write() as db:
                db.exec_driver_sql("UPDATE work SET expires = 0")
        assert claim_work(store, "r") is None
        (result,) = take_results(store, [number], lease)
        assert (result.result, "was killed" in result.reason) == (None, True)


def test_a_sync_without_its_lease_neither_puts_in_nor_takes_out(store: Store) -> None:
    with acquire_lease(store, "sync") as lease:
        number = put_work(store, lease, "r", "0", b"bytes")
        with store.write() as db:
            db.exec_driver_sql("UPDATE lease SET owner = 'other:1:x', fence = fence + 1")
        with pytest.raises(Busy):
            put_work(store, lease, "r", "1", b"bytes")
        with pytest.raises(Busy):
            take_results(store, [number], lease)


def test_rows_come_back_as_they_were() -> None:
    told = row(chunk("d", 0, "Überstunden"), [1, 0, 0], [0, 1, 0])._replace(tokens=b"\x00\xff")
    plain = row(chunk("d", 1, "pay"))
    document = Document(id="d", source="s", uri="s/d", title="t", text="Überstunden\n\npay")
    contents = DocumentContents(document, [told.chunk, plain.chunk], [("OT", "overtime")])
    unpacked, rows = unpack_rows(pack_rows(contents, [told, plain]))
    assert unpacked == contents
    assert [r._replace(vectors=None) for r in rows] == [told._replace(vectors=None), plain]
    assert np.array_equal(rows[0].vectors, told.vectors)  # type: ignore[arg-type]


WORKER = "from ombud.cli import main; main()"


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_no_document(tmp_path: Path) -> None:
    with database("postgresql") as url:
        local = filled(tmp_path / "local")
        local.sync()
        shelf = filled(tmp_path / "queue", sync={"workers": "queue"}, store={"url": url})
        settings = 'models = {embedder = "none"}\n[sync]\nworkers = "queue"\n[store]\n'
        (shelf.home / "ombud.toml").write_text(settings + f'url = "{url}"\n')
        command = [sys.executable, "-c", WORKER, "--home", str(shelf.home), "work"]
        reports = []
        sync = threading.Thread(target=lambda: reports.append(shelf.sync()))
        workers = [subprocess.Popen(command) for _ in range(2)]
        sync.start()
        time.sleep(4)
        os.kill(workers[0].pid, signal.SIGKILL)
        sync.join(timeout=120)
        for worker in workers:
            worker.kill()
            worker.wait()
        assert counts(reports[0]) == {"added": 8, "failed": 1}
        assert shelf.snapshot() == local.snapshot()
        local.workspace.close()
        shelf.workspace.close()
