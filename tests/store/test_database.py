"""Opening databases that cannot be opened, and SQLite on a full disk."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ombud.errors import SetupError, StoreError
from ombud.store import (
    Graph,
    RecordedSource,
    Store,
    abbreviations_of,
    add_source,
    count_phrases,
    document_ends,
    document_entries,
    document_ids,
    entity_names,
    find_document,
    graph_digests,
    graph_rows_of,
    list_abbreviations,
    list_answers,
    list_documents,
    list_runs,
    list_sources,
    open_store,
    read_head,
    read_progress,
    read_reasoning,
    read_scores,
    read_setup,
    save_document,
    spent_on,
    text_of,
    tombstones,
    verify_chain,
    written_for,
)
from store.places import document, kept, small_disk


@pytest.mark.parametrize(
    "url",
    [
        "rubbish",
        "://",
        "nodb://host/db",
        "mysql://host/db",
        "postgresql+nope://host/db",
        "postgresql+psycopg://user@host:port/db",
    ],
)
def test_a_url_that_means_nothing_shows_one_that_does(url: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"store\.url cannot be used") as wrong:
        open_store(url, tmp_path)
    assert "postgresql+psycopg://user@host/ombud" in wrong.value.hint


def test_a_database_that_does_not_answer_keeps_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as wrong:
        open_store("postgresql+psycopg://user:secret@127.0.0.1:1/db", tmp_path)
    assert "refused" in wrong.value.detail
    assert "127.0.0.1" not in str(wrong.value) + wrong.value.hint
    assert "secret" not in str(wrong.value) + wrong.value.hint + wrong.value.detail
    assert "running" in wrong.value.hint


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        open_store("", tmp_path / "file")
    with pytest.raises(StoreError) as wrong:
        open_store(f"sqlite:///{tmp_path}/no/such/folder/x.sqlite", tmp_path)
    assert "unable to open database file" in wrong.value.detail


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    file.write_bytes(b"precious notes" * 100)
    with pytest.raises(StoreError) as wrong:
        open_store("", tmp_path)
    assert "not a database" in wrong.value.detail
    assert file.read_bytes() == b"precious notes" * 100


@pytest.mark.parametrize("name", ["what? now", "100%", "a#b", "it's", "ü"])
def test_data_stays_in_the_folder_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    store = open_store("", tmp_path / name)
    add_source(store, RecordedSource("a", "/", ""))
    store.close()
    assert [f.name for f in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / "store.sqlite").is_file()


def test_sqlite_logs_ahead_so_that_readers_need_not_wait(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    with store.read() as db:
        assert db.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert db.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    store.close()


def test_a_url_of_sqlite_is_taken(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/own.sqlite", tmp_path / "unused")
    assert list_sources(store) == []
    store.close()
    assert [f.name for f in tmp_path.iterdir()] == ["own.sqlite"]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Store]:
    """A store whose database another process writes to, and that does not wait for it."""
    open_store("", tmp_path).close()
    store = open_store(f"sqlite:///{tmp_path}/store.sqlite?timeout=0", tmp_path)
    other = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield store
    other.close()
    store.close()


def test_a_database_held_by_another_is_said_to_be(held: Store) -> None:
    with pytest.raises(StoreError) as wrong:
        add_source(held, RecordedSource("a", "/", ""))
    assert "locked" in wrong.value.detail
    assert "Another process" in wrong.value.hint


READERS: dict[str, Callable[[Store], object]] = {
    "abbreviations": list_abbreviations,
    "abbreviations of a document": lambda store: abbreviations_of(store, "d"),
    "answers": lambda store: list(list_answers(store)),
    "digests of the graph": graph_digests,
    "documents": list_documents,
    "documents of a source": lambda store: document_entries(store, "hr"),
    "documents whose end changes": document_ends,
    "entities": entity_names,
    "head of the chain": read_head,
    "ids": document_ids,
    "neighbours in the graph": lambda store: Graph(store).around(["leave"]),
    "phrases": lambda store: count_phrases(store, ["leave"]),
    "progress": lambda store: read_progress(store, "sync"),
    "reasoning": lambda store: read_reasoning(store, "a"),
    "rows of the graph": lambda store: graph_rows_of(store, "d"),
    "runs": list_runs,
    "scores": lambda store: read_scores(store, "r"),
    "set-up": lambda store: read_setup(store, "x"),
    "sources": list_sources,
    "spending": lambda store: spent_on(store, "2026-01-31"),
    "texts": lambda store: text_of(store, "d", "1"),
    "tombstones": tombstones,
    "verification": verify_chain,
    "whom documents are written for": written_for,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
def test_whoever_only_reads_needs_no_lock(held: Store, reader: Callable[[Store], object]) -> None:
    reader(held)


@pytest.mark.slow
def test_on_a_full_disk_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2048) as folder:
        store = open_store("", folder)
        saved = []

        def fill() -> None:
            for number in range(100):
                text = os.urandom(50_000).hex()
                save_document(store, document(f"d{number:03}", text), kept())
                saved.append((f"d{number:03}", text))

        with pytest.raises(StoreError) as wrong:
            fill()
        assert "full" in wrong.value.detail
        assert "space" in wrong.value.hint
        assert saved
        assert [d.uri for d in list_documents(store)] == [uri for uri, _ in saved]
        store.close()
        again = open_store("", folder)
        assert [(uri, find_document(again, uri).text) for uri, _ in saved] == saved
        again.close()
