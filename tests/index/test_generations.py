"""Generations of an index: what counts, what is kept, what a killed build leaves."""

from pathlib import Path

import pytest

from index.makers import chunk, row
from ombud.errors import EngineError
from ombud.index import (
    Engine,
    Filter,
    current_generation,
    keep_only_current,
    new_generation,
    open_engine,
    open_generation,
    switch_generation,
)

EVERYONE = Filter(countries=None, reader=None)


def engine(folder: Path, fingerprint: str = "") -> Engine:
    return open_generation(
        "lance", folder, fingerprint=fingerprint, dimension=4 if fingerprint else 0
    )


def build(root: Path, text: str, fingerprint: str = "") -> str:
    name = new_generation(root)
    made = engine(root / name, fingerprint)
    made.upsert(["d"], [row(chunk("d", text=text))])
    return name


def texts(opened: Engine) -> list[str]:
    return [found.text for found in opened.get(opened.chunk_ids()).values()]


def test_an_open_engine_goes_over_to_the_generation_that_counts(tmp_path: Path) -> None:
    serving = open_engine("lance", tmp_path, fingerprint="", dimension=0)
    serving.upsert(["d"], [row(chunk("d", text="old"))])
    name = build(tmp_path, "new")
    assert (current_generation(tmp_path), texts(serving)) == (".", ["old"])
    switch_generation(tmp_path, name)
    assert (current_generation(tmp_path), texts(serving)) == ("g2", ["new"])
    assert serving.search("new", None, EVERYONE, 5, "sparse")[0].hits


def test_a_generation_of_another_embedder_is_left_to_those_who_have_it(tmp_path: Path) -> None:
    serving = open_engine("lance", tmp_path, fingerprint="", dimension=0)
    serving.upsert(["d"], [row(chunk("d", text="old"))])
    switch_generation(tmp_path, build(tmp_path, "new", "another"))
    assert texts(serving) == ["old"]
    with pytest.raises(EngineError, match="another"):
        open_engine("lance", tmp_path, fingerprint="", dimension=0)
    assert open_engine("lance", tmp_path, fingerprint="another", dimension=4).chunk_ids()


def test_two_generations_are_kept_and_one_on_demand(tmp_path: Path) -> None:
    open_engine("lance", tmp_path, fingerprint="", dimension=0)
    for text in ("second", "third", "fourth"):
        switch_generation(tmp_path, build(tmp_path, text))
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"CURRENT", "g3", "g4"}
    keep_only_current(tmp_path)
    assert {entry.name for entry in tmp_path.iterdir()} == {"CURRENT", "g4"}


def test_what_a_killed_build_left_behind_is_not_built_upon(tmp_path: Path) -> None:
    open_engine("lance", tmp_path, fingerprint="", dimension=0)
    half = build(tmp_path, "half")
    again = new_generation(tmp_path)
    assert again == half
    assert texts(engine(tmp_path / again)) == []


def test_rows_fill_another_engine_with_the_same(tmp_path: Path) -> None:
    one, other = engine(tmp_path / "one"), engine(tmp_path / "other")
    one.upsert(
        ["d", "e"], [row(chunk("d", text="leave of absence")), row(chunk("e", text="travel costs"))]
    )
    other.upsert(["d", "e"], one.rows(["d", "e"]))
    assert sorted(texts(other)) == sorted(texts(one))
    hits = [found.search("travel", None, EVERYONE, 5, "sparse")[0].hits for found in (one, other)]
    assert hits[0] == hits[1] != ()
