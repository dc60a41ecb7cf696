"""Generations of an index: what counts, what is kept, what a killed build leaves."""

from pathlib import Path

import pytest

from index.makers import chunk, row
from ombud.errors import EngineError
from ombud.index import (
    Engine,
    Filter,
    blocking,
    current_generation,
    keep_only_current,
    new_generation,
    open_engine,
    open_generation,
    switch_generation,
)

EVERYONE = Filter(countries=None, reader=None)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"lance://{tmp_path}"


def opened(url: str, fingerprint: str = "") -> Engine:
    return open_engine(url, fingerprint=fingerprint, dimension=4 if fingerprint else 0)


def generation(url: str, name: str, fingerprint: str = "") -> Engine:
    return open_generation(url, name, fingerprint=fingerprint, dimension=4 if fingerprint else 0)


def build(url: str, text: str, fingerprint: str = "") -> str:
    name = new_generation(url)
    made = generation(url, name, fingerprint)
    blocking(made.upsert(["d"], [row(chunk("d", text=text))]))
    return name


def texts(engine: Engine) -> list[str]:
    return [found.text for found in blocking(engine.get(blocking(engine.chunk_ids()))).values()]


def test_an_open_engine_goes_over_to_the_generation_that_counts(url: str) -> None:
    serving = opened(url)
    blocking(serving.upsert(["d"], [row(chunk("d", text="old"))]))
    name = build(url, "new")
    assert (current_generation(url), texts(serving)) == (".", ["old"])
    switch_generation(url, name)
    assert (current_generation(url), texts(serving)) == ("g2", ["new"])
    assert blocking(serving.search("new", None, EVERYONE, 5, "sparse"))[0].hits


def test_a_generation_of_another_embedder_is_left_to_those_who_have_it(url: str) -> None:
    serving = opened(url)
    blocking(serving.upsert(["d"], [row(chunk("d", text="old"))]))
    switch_generation(url, build(url, "new", "another"))
    assert texts(serving) == ["old"]
    with pytest.raises(EngineError, match="another"):
        opened(url)
    assert blocking(opened(url, "another").chunk_ids())


def test_two_generations_are_kept_and_one_on_demand(url: str, tmp_path: Path) -> None:
    opened(url)
    for text in ("second", "third", "fourth"):
        switch_generation(url, build(url, text))
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"CURRENT", "g3", "g4"}
    keep_only_current(url)
    assert {entry.name for entry in tmp_path.iterdir()} == {"CURRENT", "g4"}


def test_what_a_killed_build_left_behind_is_not_built_upon(url: str) -> None:
    opened(url)
    half = build(url, "half")
    again = new_generation(url)
    assert again == half
    assert texts(generation(url, again)) == []


def test_rows_fill_another_engine_with_the_same(tmp_path: Path) -> None:
    one, other = opened(f"lance://{tmp_path / 'one'}"), opened(f"lance://{tmp_path / 'other'}")
    rows = [row(chunk("d", text="leave of absence")), row(chunk("e", text="travel costs"))]
    blocking(one.upsert(["d", "e"], rows))
    blocking(other.upsert(["d", "e"], blocking(one.rows(["d", "e"]))))
    assert sorted(texts(other)) == sorted(texts(one))
    legs = [
        blocking(engine.search("travel", None, EVERYONE, 5, "sparse"))[0] for engine in (one, other)
    ]
    assert legs[0].hits == legs[1].hits != ()
