"""Generations of an index: what counts, what is kept, what a killed build leaves, who may switch."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from copies import open_copy
from index.makers import chunk, row
from index.places import PLACES, place_for
from ombud.errors import Busy, EngineError
from ombud.index import (
    Engine,
    Filter,
    GenerationPointer,
    blocking,
    open_backend,
    open_engine,
)
from ombud.store import Store, acquire_lease

EVERYONE = Filter(countries=None, reader=None)


class Library:
    """An index at one place with its store."""

    def __init__(self, url: str, store: Store) -> None:
        self.url = url
        self.store = store
        self.pointer = self.look()

    def look(self) -> GenerationPointer:
        """As another process has it."""
        return GenerationPointer(self.store, open_backend(self.url))

    def opened(self, fingerprint: str = "") -> Engine:
        dimension = 4 if fingerprint else 0
        return open_engine(
            self.url, fingerprint=fingerprint, dimension=dimension, pointer=self.pointer
        )

    def generation(self, name: str, fingerprint: str = "") -> Engine:
        dimension = 4 if fingerprint else 0
        return self.pointer.backend.open(name, fingerprint=fingerprint, dimension=dimension)

    def build(self, text: str, fingerprint: str = "", *, switch: bool = True) -> str:
        with acquire_lease(self.store, "sync") as lease:
            name = self.pointer.begin(lease)
            made = self.generation(name, fingerprint)
            blocking(made.upsert(["d"], [row(chunk("d", text=text))]))
            if switch:
                self.pointer.switch(name, lease)
        return name


@pytest.fixture(params=PLACES)
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    store = open_copy(tmp_path / "store")
    yield Library(place_for(request.param, tmp_path), store)
    store.close()


def texts(engine: Engine) -> list[str]:
    return [found.text for found in blocking(engine.get(blocking(engine.chunk_ids()))).values()]


def test_an_open_engine_goes_over_to_the_generation_that_counts(library: Library) -> None:
    serving = library.opened()
    blocking(serving.upsert(["d"], [row(chunk("d", text="old"))]))
    library.build("half", switch=False)
    assert (library.pointer.current(), texts(serving)) == (".", ["old"])
    name = library.build("new")
    assert (library.pointer.current(), texts(serving)) == (name, ["new"])
    assert blocking(serving.search("new", None, EVERYONE, 5, "sparse"))[0].hits
    assert library.look().current() == name


def test_a_generation_of_another_embedder_is_left_to_those_who_have_it(library: Library) -> None:
    serving = library.opened()
    blocking(serving.upsert(["d"], [row(chunk("d", text="old"))]))
    library.build("new", "another")
    assert texts(serving) == ["old"]
    with pytest.raises(EngineError, match="another"):
        library.opened()
    assert blocking(library.opened("another").chunk_ids())


def test_two_generations_are_kept_and_one_on_demand(library: Library) -> None:
    library.opened()
    built = [library.build(text) for text in ("second", "third", "fourth")]
    backend = library.pointer.backend
    assert [backend.holds(name) for name in (".", *built)] == [False, False, True, True]
    library.pointer.keep_only_current()
    assert [backend.holds(name) for name in built] == [False, False, True]


def test_what_a_killed_build_left_behind_is_not_built_upon(library: Library) -> None:
    library.opened()
    half = library.build("half", switch=False)
    with acquire_lease(library.store, "sync") as lease:
        again = library.pointer.begin(lease)
    assert again != half
    assert texts(library.generation(again)) == []
    assert not library.pointer.backend.holds(half)


def test_a_reader_of_a_generation_that_is_removed_goes_over(library: Library) -> None:
    library.build("old")
    other = GenerationPointer(
        library.store, library.pointer.backend, fresh_seconds=3600, clock=lambda: 0.0
    )
    serving = open_engine(library.url, fingerprint="", dimension=0, pointer=other)
    assert texts(serving) == ["old"]
    library.build("new")
    library.pointer.keep_only_current()
    assert texts(serving) == ["new"]


def test_whoever_has_lost_the_lease_switches_nothing(library: Library) -> None:
    first = library.build("first")
    with acquire_lease(library.store, "sync") as lease:
        name = library.pointer.begin(lease)
        with library.store.write() as db:
            db.exec_driver_sql("UPDATE lease SET owner = 'elsewhere:1:x', fence = fence + 1")
        with pytest.raises(Busy, match="lost to another process"):
            library.pointer.switch(name, lease)
    assert library.look().current() == first


def test_an_index_that_an_older_ombud_has_switched_is_gone_on_with(tmp_path: Path) -> None:
    open_engine(f"lance://{tmp_path}/index/g7", fingerprint="", dimension=0)
    (tmp_path / "index" / "CURRENT").write_text("g7\n")
    store = open_copy(tmp_path)
    library = Library(f"lance://{tmp_path / 'index'}", store)
    assert library.pointer.current() == "g7"
    assert library.build("new") == "g8"
    assert library.pointer.current() == "g8"
    store.close()


def test_rows_fill_another_engine_with_the_same(tmp_path: Path) -> None:
    one, other = [
        open_engine(f"lance://{tmp_path / name}", fingerprint="", dimension=0)
        for name in ("one", "other")
    ]
    rows = [row(chunk("d", text="leave of absence")), row(chunk("e", text="travel costs"))]
    blocking(one.upsert(["d", "e"], rows))
    blocking(other.upsert(["d", "e"], blocking(one.rows(["d", "e"]))))
    assert sorted(texts(other)) == sorted(texts(one))
    legs = [
        blocking(engine.search("travel", None, EVERYONE, 5, "sparse"))[0] for engine in (one, other)
    ]
    assert legs[0].hits == legs[1].hits != ()
