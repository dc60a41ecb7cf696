"""Fusion against sums done by hand from the published formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.errors import UnknownName
from ombud.retrieve.fusion import FUSIONS, fuse

WORDS = [("a", 12.0), ("b", 7.0), ("c", 2.0)]
VECTORS = [("b", 0.9), ("d", 0.5), ("a", 0.4)]


def test_reciprocal_ranks_are_summed() -> None:
    fused = fuse("rrf", [(WORDS, 1.0), (VECTORS, 1.0)])
    assert fused == pytest.approx(
        {"a": 1 / 61 + 1 / 63, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 62}
    )


def test_weights_count() -> None:
    fused = fuse("rrf", [(WORDS, 0.4), (VECTORS, 0.6)])
    assert fused["a"] == pytest.approx(0.4 / 61 + 0.6 / 63)
    assert fused["b"] == pytest.approx(0.4 / 62 + 0.6 / 61)


def test_ranks_alone_decide_however_far_apart_the_scores_are() -> None:
    assert fuse("rrf", [([("a", 1e9), ("b", 1e-9)], 1.0)]) == fuse(
        "rrf", [([("a", 2.0), ("b", 1.0)], 1.0)]
    )


def test_normalised_scores_are_summed() -> None:
    # words: a 1, b (7-2)/10 = .5, c 0; vectors: b 1, d (.5-.4)/.5 = .2, a 0
    fused = fuse("combsum", [(WORDS, 0.4), (VECTORS, 0.6)])
    assert fused == pytest.approx({"a": 0.4, "b": 0.4 * 0.5 + 0.6, "c": 0.0, "d": 0.6 * 0.2})


def test_equal_scores_are_all_full_scores() -> None:
    assert fuse("combsum", [([("a", 3.0), ("b", 3.0)], 0.5)]) == {"a": 0.5, "b": 0.5}
    assert fuse("combsum", [([("only", 0.1)], 1.0)]) == {"only": 1.0}


@pytest.mark.parametrize("name", sorted(FUSIONS))
def test_nothing_fused_is_nothing(name: str) -> None:
    assert fuse(name, []) == {}
    assert fuse(name, [([], 1.0), ([], 0.5)]) == {}


def test_an_unknown_fusion_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="`borda`") as wrong:
        fuse("borda", [(WORDS, 1.0)])
    assert wrong.value.hint == "Known: combsum, rrf, weighted."


ranking = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100)),
    max_size=8,
    unique_by=lambda row: row[0],
).map(lambda rows: sorted(rows, key=lambda row: -row[1]))


@given(st.sampled_from(sorted(FUSIONS)), ranking, ranking)
def test_the_order_of_the_rankings_does_not_matter(
    name: str, one: list[tuple[str, float]], other: list[tuple[str, float]]
) -> None:
    there = fuse(name, [(one, 0.3), (other, 0.7)])
    assert there == pytest.approx(fuse(name, [(other, 0.7), (one, 0.3)]))
    assert set(there) == {identity for identity, _ in (*one, *other)}


@given(st.sampled_from(sorted(FUSIONS)), ranking)
def test_one_ranking_alone_keeps_its_order(name: str, rows: list[tuple[str, float]]) -> None:
    fused = fuse(name, [(rows, 1.0)])
    assert [fused[identity] for identity, _ in rows] == sorted(fused.values(), reverse=True)
