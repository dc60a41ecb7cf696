"""The index in memory ranks as the engine does, and never shows what the engine would hide."""

import threading
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.makers import EVERYTHING, bm25, chunk, ids, row
from ombud.index import (
    Engine,
    Filter,
    HotEngine,
    Leg,
    Row,
    Vector,
    blocking,
    is_visible,
    open_engine,
)
from ombud.index.hot.vectors import EXACT_BELOW, RoughTable, VectorTable, reached_by
from ombud.types import Chunk, Document, Mode, Person

WAIT = 60.0


def opened(folder: Path, dimension: int = 4) -> tuple[Engine, HotEngine]:
    engine = open_engine(f"lance://{folder}", fingerprint="four", dimension=dimension)
    return engine, HotEngine(engine, 1000)


def searched(
    engine: Engine,
    text: str = "",
    vector: Vector | None = None,
    where: Filter = EVERYTHING,
    k: int = 10,
) -> Sequence[Leg]:
    mode: Mode = "hybrid" if text and vector is not None else "sparse" if text else "dense"
    return blocking(engine.search(text, vector, where, k, mode))


WORDS = ["leave", "pay", "travel", "sick", "hotel"]
vectors = st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any)
rows = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
        st.lists(vectors, max_size=3),
        st.sampled_from([(), ("GB",), ("DE", "GB")]),
        st.sampled_from([{}, {"roles": ("manager",)}]),
        st.sampled_from([None, date(2025, 1, 1), date(2026, 1, 1)]),
        st.sampled_from(["published", "draft"]),
        st.sampled_from(["s", "t"]),
    ),
    min_size=1,
    max_size=25,
)
filters = st.builds(
    Filter,
    countries=st.sampled_from([None, (), ("GB",), ("DE",)]),
    reader=st.sampled_from([None, Person(), Person(roles=("manager",))]),
    as_of=st.sampled_from([None, date(2025, 6, 1)]),
    status=st.sampled_from([("published",), ("published", "draft"), ()]),
    sources=st.sampled_from([(), ("s",), ("unknown",)]),
)


def made(drawn: Sequence[tuple[Any, ...]]) -> list[Row]:
    listed: list[Row] = []
    for number, (words, windows, countries, audience, begins, status, source) in enumerate(drawn):
        one = chunk(
            f"d{number:02}",
            text=" ".join(words),
            countries=countries,
            audience=audience,
            effective_from=begins,
            status=status,
        )
        unit = [np.array(window) / np.linalg.norm(window) for window in windows]
        listed.append(row(one, *unit, source=source))
    return listed


def by_the_book(
    listed: Sequence[Row], text: str, vector: Vector, where: Filter
) -> dict[str, dict[str, float]]:
    """Scores of everything that may be seen."""
    shown = []
    for one in listed:
        if is_visible(one.chunk, where) and (not where.sources or one.source in where.sources):
            shown.append(one)
    names = {one.chunk.id for one in shown}
    words = bm25({one.chunk.id: one.terms for one in listed}, text)
    near = {
        one.chunk.id: float((one.vectors @ vector).max())
        for one in shown
        if one.vectors is not None
    }
    return {
        "sparse": {name: score for name, score in words.items() if name in names},
        "dense": near,
    }


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=rows, asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
       window=vectors, where=filters, k=st.integers(1, 12))  # fmt: skip
def test_it_ranks_as_an_exact_search_up_to_ties(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: Sequence[tuple[Any, ...]],
    asked: Sequence[str],
    window: Sequence[int],
    where: Filter,
    k: int,
) -> None:
    engine, hot = opened(tmp_path_factory.mktemp("hot"))
    listed = made(drawn)
    blocking(engine.upsert([one.chunk.document_id for one in listed], listed))
    assert hot.warm(WAIT)
    vector = (np.array(window) / np.linalg.norm(window)).astype(np.float32)
    text = " ".join(asked)
    expected = by_the_book(listed, text, vector, where)
    found = {leg.name: leg.hits for leg in searched(hot, text, vector, where, k)}
    slow = {leg.name: leg.hits for leg in searched(engine, text, vector, where, k)}
    for name, scores in expected.items():
        best = sorted(scores.values(), reverse=True)[:k]
        hits = found.get(name, ())
        assert [score for _, score in hits] == pytest.approx(best, abs=1e-5)
        assert [scores[one.id] for one, _ in hits] == pytest.approx(best, abs=1e-5)
        assert len({one.id for one, _ in hits}) == len(hits)
        assert [score for _, score in slow.get(name, ())] == pytest.approx(best, abs=1e-4)
    hot.close()


def test_a_change_counts_at_once_whether_or_not_it_is_in_memory(tmp_path: Path) -> None:
    engine, hot = opened(tmp_path / "index")
    secret = chunk("secret", text="leave")
    blocking(hot.upsert(["secret", "open"], [row(secret, [1, 0, 0, 0]), row(chunk("open"))]))
    assert hot.warm(WAIT)
    assert hot.bytes > 0
    everyone = Filter(countries=None)
    assert ids(searched(hot, "leave", where=everyone)[0]) == ["open-0", "secret-0"]
    narrowed = Document(
        id="secret", source="s", uri="s/secret", title="secret", audience={"roles": ("manager",)}
    )
    blocking(engine.revise(narrowed))
    assert ids(searched(hot, "leave", where=everyone)[0]) == ["open-0"]
    blocking(engine.delete(["secret"]))
    assert ids(searched(hot, "leave", where=EVERYTHING)[0]) == ["open-0"]
    assert blocking(hot.get(["secret-0"])) == {}
    assert hot.warm(WAIT) or hot.bytes == 0
    hot.close()
    assert hot.bytes == 0
    assert ids(searched(hot, "leave")[0]) == ["open-0"]


def test_an_index_above_the_limit_stays_with_its_engine(tmp_path: Path) -> None:
    engine, _ = opened(tmp_path / "index")
    blocking(engine.upsert(["a", "b"], [row(chunk("a")), row(chunk("b"))]))
    hot = HotEngine(engine, 1)
    assert not hot.warm(WAIT)
    assert ids(searched(hot, "leave")[0]) == ["a-0", "b-0"]
    hot.close()


def test_what_it_is_asked_beside_searches(tmp_path: Path) -> None:
    engine, hot = opened(tmp_path / "index")
    listed = [row(chunk("a", text="leave pay"), [1, 0, 0, 0], [0, 1, 0, 0]), row(chunk("b"))]
    blocking(engine.upsert(["a", "b"], listed))
    assert hot.warm(WAIT)
    for one in (engine, hot):
        assert blocking(one.chunk_ids()) == ["a-0", "b-0"]
        assert blocking(one.get(["b-0", "x"])) == {"b-0": listed[1].chunk}
        windows = blocking(one.vectors(["a-0", "b-0", "x"]))
        assert {name: found.tolist() for name, found in windows.items()} == {
            "a-0": [[1, 0, 0, 0], [0, 1, 0, 0]]
        }
        assert blocking(one.stats(["pay", "leave", "x"])) == (2, {"pay": 1, "leave": 2, "x": 0})
    hot.close()


@pytest.mark.parametrize("windows_of_each", [1, 3])
def test_eight_bits_first_find_the_same_as_all_bits(windows_of_each: int) -> None:
    chance = np.random.default_rng(7)
    table = chance.standard_normal((EXACT_BELOW + 500, 96)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    owners = [place // windows_of_each for place in range(len(table))]
    visible = chance.random(owners[-1] + 1) < 0.5
    vector_table = VectorTable(table, owners)
    for _ in range(20):
        asked = chance.standard_normal(96).astype(np.float32)
        asked /= np.linalg.norm(asked)
        cosines = table @ asked
        nearest = {
            owner: float(cosines[np.array(owners) == owner].max())
            for owner in np.unique(np.array(owners)[np.argsort(-cosines)[:200]])
            if visible[owner]
        }
        expected = sorted(nearest.values(), reverse=True)[:30]
        places, found = vector_table.best(asked, visible, 30)
        assert visible[places].all()
        assert len(places) < len(visible) / 2
        assert sorted(found.tolist(), reverse=True)[:30] == pytest.approx(expected, abs=1e-6)


def test_the_rough_cosines_keep_to_their_error() -> None:
    chance = np.random.default_rng(11)
    table = chance.standard_normal((1000, 64)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    rough = RoughTable(table)
    for asked in (table[3], table[5] * 4, np.zeros(64, np.float32)):
        cosines, error = rough.cosines(asked)
        assert np.abs(cosines - table @ asked).max() <= error


def test_the_passages_of_each_version_are_prepared(tmp_path: Path) -> None:
    engine = open_engine(f"lance://{tmp_path}", fingerprint="four", dimension=4)
    told: list[list[str]] = []
    prepared = threading.Event()

    def prepare(known: Sequence[str], passages: Iterator[Chunk]) -> None:
        read: list[str] = []
        for one in passages:
            read.append(one.text)
        if len(read) == len(known):  # else another version has come meanwhile
            told.append(read)
            prepared.set()

    hot = HotEngine(engine, 1000, prepare)
    first = chunk("d", text="Leave is 25 days.")
    blocking(hot.upsert(["d"], [row(first)]))
    hot.warm()
    assert prepared.wait(WAIT)
    prepared.clear()
    blocking(hot.upsert(["e"], [row(chunk("e", text="Leave is 30 days."))]))
    hot.warm(WAIT)
    assert prepared.wait(WAIT)
    assert told[0] == ["Leave is 25 days."]
    assert sorted(told[1]) == ["Leave is 25 days.", "Leave is 30 days."]
    blocking(hot.delete(["d"]))
    hot.close()


@pytest.mark.parametrize("count", [0, 5, 300, 5000])
def test_enough_scores_reach_what_the_best_are_told_apart_by(count: int) -> None:
    scores = np.random.default_rng(count).standard_normal(count).astype(np.float32)
    least = reached_by(scores, 30)
    best = np.sort(scores)[::-1]
    if count < 30:
        assert least == -np.inf
    else:
        assert (scores >= least).sum() >= 30
        assert least <= best[29]
        assert (scores >= least).sum() <= 0.1 * count + 30
