"""Passages of object storage that are kept on this machine: the same are found, storage is asked
less, and what was deleted goes."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from handoff.replicas import wait_for
from index.makers import EVERYTHING, chunk, ids, row
from index.places import place_for, requests_log
from ombud.index import Engine, Leg, blocking, clear_cache, open_backend
from ombud.index.engines.passage_cache import PassageCache, StoredPassage

X = np.array([1, 0, 0], np.float32)
SECRET = "the golden spanner"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Of an index with 40 passages in a bucket."""
    place = place_for("s3", tmp_path)
    engine = open_one(place)
    rows = [
        row(chunk(f"d{n}", text=f"leave {n}"), [1, n, 0])._replace(tokens=b"t") for n in range(40)
    ]
    rows.append(row(chunk("spanner", text=f"leave {SECRET}"), [1, 0, 1]))
    blocking(engine.upsert([one.chunk.document_id for one in rows], rows))
    return place


def open_one(place: str, cache: Path | None = None) -> Engine:
    return open_backend(place, cache).open(".", fingerprint="three", dimension=3)


def search(engine: Engine) -> tuple[Leg, ...]:
    return blocking(engine.search("leave", X, EVERYTHING, 50, "hybrid"))


def texts_in(folder: Path) -> str:
    found: list[str] = []
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # it may go meanwhile
            found.append(file.read_text("latin-1"))
    return " ".join(found)


def requests() -> int:
    return requests_log().read_bytes().count(b" HTTP/1.1")


def test_the_same_is_found_with_fewer_requests(place: str, tmp_path: Path) -> None:
    plain, keeping = open_one(place), open_one(place, tmp_path / "kept")
    first = search(keeping)
    assert first == search(plain)
    assert [len(ids(leg)) for leg in first] == [41, 41]
    before = requests()
    search(plain)
    between = requests()
    assert search(keeping) == first
    assert requests() - between < between - before


def test_what_changes_is_read_anew(place: str, tmp_path: Path) -> None:
    engine = open_one(place, tmp_path)
    search(engine)
    renamed = chunk("d3", text="leave 3").model_copy(update={"title": "Another"})
    blocking(open_one(place).upsert(["d3"], [row(renamed, [1, 3, 0])]))
    titles = {found.id: found.title for leg in search(engine) for found, _ in leg.hits}
    assert titles["d3-0"] == "Another"


def test_what_is_deleted_elsewhere_leaves_the_folder(place: str, tmp_path: Path) -> None:
    engine = open_one(place, tmp_path)
    search(engine)
    assert SECRET in texts_in(tmp_path)
    blocking(open_one(place).delete(["spanner"]))
    engine.version()  # as a server looks at it, though nobody asks
    wait_for(lambda: SECRET not in texts_in(tmp_path))
    assert "leave 7" in texts_in(tmp_path)
    assert SECRET not in str(search(engine))


def test_passages_of_another_index_go_and_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    old, new = PassageCache(tmp_path, "s3://b/old"), PassageCache(tmp_path, "s3://b/new")
    for cache in (old, new):
        cache.put({7: StoredPassage(b'{"id":"a-1"}', None), 9: StoredPassage(b'{"id":"a-2"}', b"")})
    new.keep({9})
    assert (old.get({7: "a-1"}), new.get({7: "a-1"})) == ({}, {})
    assert new.get({9: "a-2"}) == {9: StoredPassage(b'{"id":"a-2"}', b"")}
    clear_cache(tmp_path)
    assert [file.name for file in tmp_path.rglob("*")] == ["mine.txt"]


def test_a_file_that_is_torn_or_of_another_passage_counts_as_none(tmp_path: Path) -> None:
    cache = PassageCache(tmp_path, "table")
    cache.put({7: StoredPassage(b'{"id":"a-1"}', b"tokens")})
    assert cache.get({7: "a-2"}) == {}
    (file,) = (one for one in tmp_path.rglob("7") if one.is_file())
    whole = file.read_bytes()
    file.write_bytes(whole[:10])
    assert cache.get({7: "a-1"}) == {}
    file.write_bytes(b"")
    assert cache.get({7: "a-1"}) == {}


def test_a_folder_that_cannot_be_written_makes_no_difference(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert search(open_one(place, tmp_path / "file")) == search(open_one(place))
