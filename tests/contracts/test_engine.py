"""What every engine must do."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.makers import EVERYTHING, bm25, chunk, ids, row
from index.places import PLACES, place_for
from ombud.errors import EngineError
from ombud.index import Engine, Filter, Leg, Row, Vector, blocking, is_visible, open_engine
from ombud.types import Chunk, Document, Person
from store.places import small_disk

X = np.array([1, 0, 0], np.float32)
Open = Callable[..., Engine]


@pytest.fixture(params=PLACES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


QUICKLY_LOCAL = pytest.mark.parametrize(
    "name",
    ["lance", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("s3", "milvus"))],
    indirect=True,
)
"""Hundreds of examples take a server half a minute."""


@pytest.fixture
def place(name: str, tmp_path: Path) -> str:
    """Of the index of one test."""
    return place_for(name, tmp_path)


@pytest.fixture
def engine(place: str) -> Engine:
    return open_engine(place, fingerprint="three", dimension=3)


def search(
    engine: Engine,
    text: str = "",
    vector: Vector | None = None,
    k: int = 10,
    where: Filter = EVERYTHING,
) -> Leg:
    """The one leg of a search by words or by vector."""
    legs = blocking(engine.search(text, vector, where, k, "sparse" if text else "dense"))
    return legs[0] if legs else Leg("none", ())


def seen(engine: Engine, where: Filter) -> set[str]:
    """Chunks found by words and by vector, which must be the same."""
    by_words, by_vector = (
        search(engine, "leave", k=100, where=where),
        search(engine, "", X, 100, where),
    )
    assert sorted(ids(by_words)) == sorted(ids(by_vector))
    assert len(set(ids(by_words))) == len(by_words.hits)
    return set(ids(by_words))


# Writing ------------------------------------------------------------------------------------------


def test_an_empty_index_answers_everything_with_nothing(engine: Engine) -> None:
    legs = blocking(engine.search("leave", X, EVERYTHING, 5, "hybrid"))
    assert [leg.hits for leg in legs if leg.hits] == []
    assert blocking(engine.get(["x"])) == {}
    assert blocking(engine.vectors(["x"])) == {}
    assert blocking(engine.chunk_ids()) == []
    assert blocking(engine.documents()) == {}
    assert (engine.languages(), blocking(engine.stats(["leave"]))) == (
        frozenset(),
        (0, {"leave": 0}),
    )
    blocking(engine.maintain())
    blocking(engine.delete(["x"]))
    blocking(engine.delete([]))
    blocking(engine.upsert([], []))
    blocking(engine.upsert(["x"], []))
    blocking(engine.revise(Document(id="x", source="s", uri="u", title="t")))
    assert blocking(engine.documents()) == {}


def test_a_chunk_comes_back_as_it_was(engine: Engine) -> None:
    whole = chunk(
        "d",
        text="Urlaub 🏖 'x'",
        trail=("A", "B"),
        header="| h |",
        page_from=1,
        page_to=2,
        countries=("GB", "IE"),
        audience={"roles": ("manager",)},
        effective_from=date(2024, 2, 29),
        mandatory=True,
        language="de",
    )
    blocking(engine.upsert(["d"], [row(whole, [1, 0, 0])]))
    assert blocking(engine.get([whole.id, "other"])) == {whole.id: whole}
    assert search(engine, "Urlaub").hits[0][0] == whole
    assert engine.languages() == {"de"}


def test_an_upsert_replaces_exactly_the_chunks_of_its_documents(engine: Engine) -> None:
    blocking(
        engine.upsert(
            ["a", "b"], [row(chunk(d, n), [1, 0, 0], [0, 1, 0]) for d in "ab" for n in range(3)]
        )
    )
    blocking(
        engine.upsert(
            ["a"], [row(chunk("a", 2, text="new leave"), [0, 0, 1]), row(chunk("a", 7), [0, 1, 0])]
        )
    )
    assert blocking(engine.chunk_ids()) == ["a-2", "a-7", "b-0", "b-1", "b-2"]
    assert blocking(engine.documents()) == {"a": 2, "b": 3}
    assert blocking(engine.get(["a-2"]))["a-2"].text == "new leave"
    assert blocking(engine.vectors(["a-2"]))["a-2"].tolist() == [[0, 0, 1]]
    assert ids(search(engine, "new")) == ["a-2"]
    blocking(engine.upsert(["b"], []))
    assert blocking(engine.documents()) == {"a": 2}


def test_a_batch_may_hold_chunks_without_vectors(engine: Engine) -> None:
    blocking(
        engine.upsert(
            ["a"],
            [row(chunk("a", 0), [1, 0, 0]), row(chunk("a", 1)), row(chunk("a", 2), [0.6, 0.8, 0])],
        )
    )
    assert sorted(ids(search(engine, "leave"))) == ["a-0", "a-1", "a-2"]
    assert ids(search(engine, "", X)) == ["a-0", "a-2"]
    assert set(blocking(engine.vectors(["a-0", "a-1", "a-2"]))) == {"a-0", "a-2"}
    blocking(engine.revise(Document(id="a", source="s", uri="s/a", title="new")))
    assert ids(search(engine, "", X)) == ["a-0", "a-2"]
    assert blocking(engine.documents()) == {"a": 3}


def test_an_index_without_vectors_finds_words(place: str) -> None:
    engine = open_engine(place, fingerprint="", dimension=0)
    blocking(engine.upsert(["a"], [row(chunk("a"))]))
    legs = blocking(engine.search("leave", X, EVERYTHING, 5, "hybrid"))
    assert [(leg.name, ids(leg)) for leg in legs] == [("sparse", ["a-0"])]
    assert blocking(engine.vectors(["a-0"])) == {}


def test_both_legs_of_a_hybrid_search(engine: Engine) -> None:
    blocking(
        engine.upsert(
            ["a"], [row(chunk("a", 0, "leave"), [0, 1, 0]), row(chunk("a", 1, "pay"), [1, 0, 0])]
        )
    )
    legs = {
        leg.name: ids(leg) for leg in blocking(engine.search("leave", X, EVERYTHING, 1, "hybrid"))
    }
    assert legs == {"sparse": ["a-0"], "dense": ["a-1"]}
    assert blocking(engine.search("", None, EVERYTHING, 1, "hybrid")) == ()


def test_revised_facts_count_at_once_and_vectors_stay(engine: Engine) -> None:
    old = [
        chunk("a", n, trail=("a", f"part {n}"), countries=("FR",), language="fr") for n in range(2)
    ]
    blocking(
        engine.upsert(
            ["a", "b"],
            [row(c, [1, 0, 0], [0, n, 1]) for n, c in enumerate(old)]
            + [row(chunk("b"), [0, 1, 0])],
        )
    )
    before = blocking(engine.vectors(["a-0", "a-1", "b-0"]))
    # The document's language is not the chunks' own: their facts must count all the same.
    facts = Document(
        id="a",
        source="moved",
        uri="s/a",
        title="New",
        countries=("GB",),
        audience={"grades": ("7",)},
        effective_to=date(2025, 1, 1),
        mandatory=True,
        topic="pay",
    )
    blocking(engine.revise(facts))
    reader = Person(grade="7")
    assert seen(engine, Filter(countries=("GB",), reader=reader, sources=("moved",))) == {
        "a-0",
        "a-1",
    }
    assert seen(engine, Filter(countries=("FR",), reader=reader)) == {"b-0"}
    assert seen(engine, Filter(countries=("GB",), reader=Person(grade="6"))) == {"b-0"}
    assert seen(engine, Filter(countries=("GB",), reader=reader, as_of=date(2025, 1, 2))) == {"b-0"}
    new = blocking(engine.get(["a-1"]))["a-1"]
    assert (new.title, new.trail, new.mandatory, new.topic) == (
        "New",
        ("New", "part 1"),
        True,
        "pay",
    )
    assert (new.text, new.language) == (old[1].text, "fr")
    after = blocking(engine.vectors(["a-0", "a-1", "b-0"]))
    assert {i: v.tolist() for i, v in after.items()} == {i: v.tolist() for i, v in before.items()}


def test_deleted_documents_are_gone_from_everywhere(engine: Engine) -> None:
    blocking(engine.upsert(["a", "b"], [row(chunk(d), [1, 0, 0]) for d in "ab"]))
    before = engine.version()
    blocking(engine.delete(["a", "never there"]))
    assert (
        seen(engine, EVERYTHING),
        blocking(engine.documents()),
        blocking(engine.chunk_ids()),
    ) == (
        {"b-0"},
        {"b": 1},
        ["b-0"],
    )
    assert (blocking(engine.get(["a-0"])), blocking(engine.vectors(["a-0"]))) == ({}, {})
    assert blocking(engine.stats(["leave"])) == (1, {"leave": 1})
    assert engine.version() != before


def test_quotes_in_ids_and_sources_are_only_letters(engine: Engine) -> None:
    odd = "it's' OR '1'='1"
    blocking(
        engine.upsert(
            [odd, "b"], [row(chunk(odd), [1, 0, 0], source="o'x"), row(chunk("b"), [1, 0, 0])]
        )
    )
    assert (
        set(blocking(engine.get([f"{odd}-0"])))
        == set(blocking(engine.vectors([f"{odd}-0"])))
        == {f"{odd}-0"}
    )
    assert seen(engine, EVERYTHING.model_copy(update={"sources": ("o'x",)})) == {f"{odd}-0"}
    blocking(engine.revise(Document(id=odd, source="o'x", uri="u", title="t")))
    blocking(engine.delete([odd]))
    assert blocking(engine.documents()) == {"b": 1}


def test_maintenance_loses_nothing_and_brings_words_into_the_order_of_the_book(
    engine: Engine,
) -> None:
    texts = {f"d{n}-0": "leave " * (n + 1) + "pay " * (9 - n) for n in range(5)}
    for number, text in enumerate(texts.values()):
        blocking(
            engine.upsert([f"d{number}"], [row(chunk(f"d{number}", text=text), [number, 1, 0])])
        )
    blocking(engine.delete(["d2"]))
    texts.pop("d2-0")
    before = [search(engine, "leave"), search(engine, "", X)]
    blocking(engine.maintain())
    after = [search(engine, "leave"), search(engine, "", X)]
    assert [set(ids(leg)) for leg in before] == [set(texts), set(texts)]
    wanted = bm25(texts, "leave")
    assert ids(after[0]) == sorted(wanted, key=lambda identity: -wanted[identity])
    assert ids(after[1]) == ids(before[1]) == ["d4-0", "d3-0", "d1-0", "d0-0"]
    assert blocking(engine.documents()) == {"d0": 1, "d1": 1, "d3": 1, "d4": 1}


# Vectors ------------------------------------------------------------------------------------------


def test_the_best_window_of_a_chunk_counts_and_it_is_found_once(engine: Engine) -> None:
    windows: dict[str, list[list[float]]] = {
        "a": [[0, 1, 0], [0.8, 0.6, 0]],
        "b": [[0.6, 0.8, 0]],
        "c": [[0, 0, 1], [0, 1, 0]],
    }
    blocking(engine.upsert(list(windows), [row(chunk(d), *w) for d, w in windows.items()]))
    found = search(engine, "", X)
    assert ids(found) == ["a-0", "b-0", "c-0"]
    assert [score for _, score in found.hits] == pytest.approx([0.8, 0.6, 0.0], abs=1e-6)
    assert blocking(engine.stats()).chunks == 3


@pytest.mark.parametrize("k", [1, 2, 3])
def test_windows_of_a_long_chunk_take_no_other_chunks_place(engine: Engine, k: int) -> None:
    blocking(engine.upsert(["long"], [row(chunk("long"), *([[1, 0, 0]] * 40))]))
    blocking(
        engine.upsert(["b", "c"], [row(chunk("b"), [0.8, 0.6, 0]), row(chunk("c"), [0.6, 0.8, 0])])
    )
    assert ids(search(engine, "", X, k)) == ["long-0", "b-0", "c-0"][:k]


def test_windows_keep_their_order(engine: Engine) -> None:
    windows = [[n, 1, 0] for n in range(50)]
    blocking(engine.upsert(["a"], [row(chunk("a"), *windows)]))
    blocking(engine.revise(Document(id="a", source="s", uri="u", title="t")))
    blocking(engine.maintain())
    assert blocking(engine.vectors(["a-0"]))["a-0"].tolist() == windows


def test_tokens_come_back_with_what_is_found(engine: Engine, name: str, tmp_path: Path) -> None:
    told = row(chunk("a"), [1, 0, 0], [0, 1, 0])._replace(tokens=b"\x00packed\xff")
    blocking(engine.upsert(["a", "b"], [told, row(chunk("b"), [0, 1, 0])]))
    blocking(engine.revise(Document(id="a", source="s", uri="u", title="t")))
    for legs in (
        search(engine, "leave"),
        search(engine, "", X),
        search(engine, "", np.array([0, 1, 0], np.float32)),
    ):
        assert dict(legs.tokens) == {"a-0": b"\x00packed\xff"}
    other = open_engine(place_for(name, tmp_path), fingerprint="three", dimension=3)
    blocking(other.upsert(["a", "b"], blocking(engine.rows(["a", "b"]))))
    assert dict(search(other, "leave").tokens) == {"a-0": b"\x00packed\xff"}


@QUICKLY_LOCAL
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=4), min_size=1, max_size=8),
    st.integers(1, 9),
)
def test_the_dense_leg_is_the_order_of_the_best_cosines(
    engine: Engine, angles: list[list[int]], k: int
) -> None:
    """Against numpy: angles in steps of a twentieth of a right angle, ties by id."""
    blocking(engine.delete(list(blocking(engine.documents()))))
    rows = []
    for number, listed in enumerate(angles):
        radians = np.array(listed) * np.pi / 40
        vectors = np.stack([np.cos(radians), np.sin(radians), np.zeros(len(listed))], axis=1)
        rows.append(Row(chunk(f"d{number}"), "s", "x", vectors.astype(np.float32)))
    blocking(engine.upsert([r.chunk.document_id for r in rows], rows))
    found = search(engine, "", X, k)
    best = {f"d{n}-0": np.cos(min(listed) * np.pi / 40) for n, listed in enumerate(angles)}
    assert [s for _, s in found.hits] == pytest.approx(
        sorted(best.values(), reverse=True)[:k], abs=1e-6
    )
    assert [best[i] for i in ids(found)] == pytest.approx([s for _, s in found.hits], abs=1e-6)


# Words --------------------------------------------------------------------------------------------

WORDS = ["leave", "pay", "sick", "home", "travel"]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=8
)


@QUICKLY_LOCAL
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TEXTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(" ".join))
def test_words_are_ranked_and_counted_by_the_book(
    name: str, tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str
) -> None:
    if name == "milvus":
        pytest.skip("milvus-lite counts deleted rows in BM25's document frequencies")
    place = place_for(name, tmp_path_factory.mktemp("index"))
    engine = open_engine(place, fingerprint="", dimension=0)
    by_id = {f"d{n}-0": text for n, text in enumerate(texts)}
    for number, written in enumerate(texts):
        blocking(engine.upsert([f"d{number}"], [row(chunk(f"d{number}", text=written))]))
    blocking(engine.upsert(["gone"], [row(chunk("gone", text="leave leave pay"))]))
    blocking(engine.delete(["gone"]))
    blocking(engine.maintain())
    wanted = bm25(by_id, query)
    found = search(engine, query, k=100)
    assert {c.id: score for c, score in found.hits} == pytest.approx(wanted, rel=1e-4)
    ranked = [score for _, score in found.hits]
    assert ranked == sorted(ranked, reverse=True)
    holding = {word: sum(word in text.split() for text in texts) for word in WORDS}
    assert blocking(engine.stats(WORDS)) == (len(texts), holding)


def test_words_added_later_are_found_and_counted_before_any_maintenance(engine: Engine) -> None:
    blocking(engine.upsert(["a"], [row(chunk("a", text="leave pay"), [1, 0, 0])]))
    assert blocking(engine.stats(["leave", "sick"])) == (1, {"leave": 1, "sick": 0})
    blocking(engine.upsert(["b"], [row(chunk("b", text="leave sick"), [1, 0, 0], [0, 1, 0])]))
    assert sorted(ids(search(engine, "leave"))) == ["a-0", "b-0"]
    assert ids(search(engine, "sick")) == ["b-0"]
    assert blocking(engine.stats(["leave", "sick", "leave"])) == (2, {"leave": 2, "sick": 1})
    assert ids(search(engine, "leave", k=1)) in (["a-0"], ["b-0"])


@pytest.mark.parametrize("text", [" ", '"', "leave AND", "+(", "never"])
def test_odd_words_find_what_they_can_and_never_fail(engine: Engine, text: str) -> None:
    blocking(engine.upsert(["a"], [row(chunk("a"), [1, 0, 0])]))
    assert ids(search(engine, text)) == (["a-0"] if "leave" in text else [])


# Who sees what ------------------------------------------------------------------------------------


def test_an_unknown_audience_is_nobody_and_an_empty_list_too(engine: Engine) -> None:
    chunks = [
        chunk("a", audience={"departments": ("hr",)}),
        chunk("b", audience={"roles": ()}),
        chunk("c"),
    ]
    blocking(engine.upsert(["a", "b", "c"], [row(c, [1, 0, 0]) for c in chunks]))
    insider = Person(roles=("hr",), groups=("hr",), grade="hr", contract="hr")
    assert seen(engine, Filter(reader=insider)) == {"c-0"}
    assert seen(engine, Filter(reader=None)) == {"a-0", "b-0", "c-0"}
    assert seen(engine, Filter(reader=insider, countries=("GB",), sources=("none such",))) == set()


def test_both_ends_of_a_rule_belong_to_it(engine: Engine) -> None:
    first, last = date(2024, 1, 1), date(2024, 12, 31)
    blocking(
        engine.upsert(["a"], [row(chunk("a", effective_from=first, effective_to=last), [1, 0, 0])])
    )
    blocking(
        engine.upsert(
            ["b"], [row(chunk("b", effective_from=date.min, effective_to=date.max), [1, 0, 0])]
        )
    )
    days = [date(2023, 12, 31), first, last, date(2025, 1, 1), date.min, date.max]
    found = [seen(engine, Filter(as_of=day)) for day in days]
    assert found == [{"b-0"}, {"a-0", "b-0"}, {"a-0", "b-0"}, {"b-0"}, {"b-0"}, {"b-0"}]
    assert seen(engine, Filter()) == {"a-0", "b-0"}


def test_sources_are_a_filter(engine: Engine) -> None:
    blocking(
        engine.upsert(
            ["a", "b"],
            [row(chunk("a"), [1, 0, 0], source="one"), row(chunk("b"), [1, 0, 0], source="two")],
        )
    )
    assert seen(engine, Filter(sources=("one",))) == {"a-0"}
    assert seen(engine, Filter(sources=("one", "two"))) == {"a-0", "b-0"}
    assert seen(engine, Filter(sources=("three",))) == set()


def test_nothing_is_seen_of_no_status(engine: Engine) -> None:
    blocking(engine.upsert(["a"], [row(chunk("a"), [1, 0, 0])]))
    assert seen(engine, Filter(status=())) == set()


DAYS = st.none() | st.dates(date(2024, 1, 1), date(2024, 1, 4))
COUNTRIES = st.lists(st.sampled_from(["GB", "FR", "DE"]), max_size=2, unique=True).map(tuple)
VALUES = st.lists(st.sampled_from(["x", "y", "it's"]), max_size=2, unique=True).map(tuple)
AUDIENCE = st.dictionaries(
    st.sampled_from(["roles", "grades", "groups", "contracts", "odd"]), VALUES, max_size=2
)
CHUNKS = st.fixed_dictionaries(
    {
        "countries": COUNTRIES,
        "audience": AUDIENCE,
        "effective_from": DAYS,
        "effective_to": DAYS,
        "status": st.sampled_from(["published", "published", "draft", "withdrawn"]),
        "language": st.sampled_from(["en", "fr"]),
    }
)
PEOPLE = st.builds(
    Person,
    roles=VALUES,
    groups=VALUES,
    grade=st.sampled_from([None, "x", "y", ""]),
    contract=st.sampled_from([None, "x"]),
)
FILTERS = st.builds(
    Filter,
    countries=st.none() | COUNTRIES,
    reader=st.none() | PEOPLE,
    as_of=DAYS,
    status=st.lists(st.sampled_from(["draft", "published", "withdrawn"]), unique=True).map(tuple),
)


@QUICKLY_LOCAL
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(CHUNKS, min_size=1, max_size=10), st.lists(FILTERS, min_size=1, max_size=6))
def test_a_search_returns_exactly_what_is_visible(
    engine: Engine, facts: list[dict[str, Any]], filters: list[Filter]
) -> None:
    blocking(engine.delete(list(blocking(engine.documents()))))
    chunks: list[Chunk] = [chunk(f"d{n}", **fields) for n, fields in enumerate(facts)]
    blocking(
        engine.upsert(
            [c.document_id for c in chunks], [row(c, [1, 0, 0], [0, 1, 0]) for c in chunks]
        )
    )
    for where in filters:
        assert seen(engine, where) == {c.id for c in chunks if is_visible(c, where)}


@QUICKLY_LOCAL
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(CHUNKS, CHUNKS, st.lists(FILTERS, min_size=1, max_size=6))
def test_a_revision_hides_and_shows_like_a_new_chunk(
    engine: Engine, old: dict[str, Any], new: dict[str, Any], filters: list[Filter]
) -> None:
    blocking(engine.delete(list(blocking(engine.documents()))))
    blocking(engine.upsert(["a"], [row(chunk("a", **old), [1, 0, 0])]))
    facts = Document.model_validate({"id": "a", "source": "s", "uri": "u", "title": "t"} | new)
    blocking(engine.revise(facts))
    for where in filters:
        assert bool(seen(engine, where)) == is_visible(facts, where)


# Opening, other processes, full disks -------------------------------------------------------------


def test_what_was_deleted_is_in_no_version_after_a_purge(engine: Engine) -> None:
    rows = [row(chunk(f"d{n}", text=f"leave rule {n}"), [1, 0, 0]) for n in range(30)]
    blocking(engine.upsert([r.chunk.document_id for r in rows], rows))
    blocking(engine.delete(["d7"]))
    assert blocking(engine.holds(["leave rule 8"])) == 1
    blocking(engine.purge())
    assert blocking(engine.holds(["leave rule 7"])) == 0
    assert blocking(engine.holds(["leave rule 8"])) == 1
    assert len(seen(engine, EVERYTHING)) == 29


def test_an_index_of_another_embedder_is_refused(place: str) -> None:
    open_engine(place, fingerprint="old", dimension=3)
    with pytest.raises(EngineError, match="built with the embedder `old`, not `new`") as wrong:
        open_engine(place, fingerprint="new", dimension=4)
    assert "ombud index rebuild" in wrong.value.hint
    with pytest.raises(EngineError, match="not `none`"):
        open_engine(place, fingerprint="", dimension=0)
    assert open_engine(place, fingerprint="old", dimension=3).fingerprint == "old"


def test_a_folder_that_is_a_file_is_said(name: str, tmp_path: Path) -> None:
    if name != "lance":
        pytest.skip("it is no folder")
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot be written"):
        open_engine(f"{name}://{tmp_path / 'file'}", fingerprint="", dimension=0)


def test_a_reader_sees_what_another_wrote(place: str, engine: Engine) -> None:
    reader = open_engine(place, fingerprint="three", dimension=3)
    assert seen(reader, EVERYTHING) == set()
    blocking(engine.upsert(["a"], [row(chunk("a", countries=("GB",), language="fr"), [1, 0, 0])]))
    assert (seen(reader, EVERYTHING), reader.languages()) == ({"a-0"}, frozenset({"fr"}))
    assert blocking(reader.stats(["leave"])).documents_with == {"leave": 1}
    blocking(engine.delete(["a"]))
    assert seen(reader, EVERYTHING) == set()
    assert blocking(reader.stats(["leave"])).documents_with == {"leave": 0}


WRITER = """
import sys
import numpy as np
from ombud.index import Row, blocking, open_engine
from ombud.types import Chunk
place, me = sys.argv[1:]
engine = open_engine(place, fingerprint="three", dimension=3)
for n in range(6):
    d = f"{me}{n}"
    place = {"start": 0, "end": 5, "countries": (me.upper() * 2,)}
    c = Chunk(id=f"{d}-0", document_id=d, title="t", uri=d, text="leave", **place)
    blocking(engine.upsert([d], [Row(c, "s", "leave", np.array([[1, 0, 0]], np.float32))]))
blocking(engine.delete([f"{me}0"]))
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(name: str, place: str) -> None:
    if name == "milvus":
        pytest.skip("milvus-lite serves one writer; a cluster serves many")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, place, me], stderr=subprocess.PIPE, text=True
        )
        for me in "abc"
    ]
    for writer in writers:
        _, failed = writer.communicate(timeout=300)
        assert writer.returncode == 0, failed
    engine = open_engine(place, fingerprint="three", dimension=3)
    wanted = {f"{me}{n}-0" for me in "abc" for n in range(1, 6)}
    assert seen(engine, EVERYTHING) == set(blocking(engine.chunk_ids())) == wanted
    assert seen(engine, Filter(countries=("AA",))) == {f"a{n}-0" for n in range(1, 6)}


@pytest.mark.slow
def test_on_a_full_disk_nothing_acknowledged_is_lost(name: str, tmp_path: Path) -> None:
    if name != "lance":
        pytest.skip("it has no disk of ours")
    with small_disk(tmp_path / "disk", 4096) as folder:
        engine = open_engine(f"{name}://{folder}", fingerprint="three", dimension=3)
        saved: dict[str, str] = {}
        rng = np.random.default_rng(0)

        def fill() -> None:
            for number in range(200):
                text = json.dumps(rng.integers(0, 10**9, 10_000).tolist())
                blocking(
                    engine.upsert(
                        [f"d{number}"],
                        [row(chunk(f"d{number}", text=text), [1, 0, 0], terms=f"t{number}")],
                    )
                )
                saved[f"d{number}-0"] = text

        with pytest.raises(EngineError, match="cannot be written") as wrong:
            fill()
        assert "space" in wrong.value.hint
        assert saved
        again = open_engine(f"{name}://{folder}", fingerprint="three", dimension=3)
        assert {i: c.text for i, c in blocking(again.get(list(saved))).items()} == saved
        assert [ids(search(again, f"t{n}")) for n in range(len(saved))] == [
            [f"d{n}-0"] for n in range(len(saved))
        ]
