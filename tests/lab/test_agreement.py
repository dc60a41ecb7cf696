"""How far people agree, against published tables and other implementations."""

import math
import random

import krippendorff
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ombud.lab import Agreement, Rating, agreement
from ombud.lab.people.agreeing import Estimate

FLEISS = """0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7"""
"""Fleiss' own example as it is given everywhere: 10 subjects, 14 raters, 5 categories; .210."""
KRIPPENDORFF: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", data C: four observers, twelve
units; ordinal .815."""


def of(ratings: list[Rating]) -> Agreement:
    (found,) = agreement(ratings)
    return found


def table(rows: list[list[float | None]]) -> list[Rating]:
    """rows: one a rater."""
    return [
        Rating(f"item {item}", float(value), f"rater {rater}")
        for rater, row in enumerate(rows)
        for item, value in enumerate(row)
        if value is not None
    ]


def test_the_example_of_fleiss() -> None:
    ratings: list[Rating] = []
    for item, line in enumerate(FLEISS.splitlines()):
        values = [v for v, count in enumerate(map(int, line.split())) for _ in range(count)]
        ratings += [Rating(f"{item}", float(v), f"{rater}") for rater, v in enumerate(values)]
    found = of(ratings)
    assert found.fleiss.value == pytest.approx(0.20993070442195522)
    assert (found.items, found.raters, found.ratings) == (10, 14, 140)
    assert found.percentage.value == pytest.approx(0.378, abs=0.0005)


def test_the_example_of_krippendorff() -> None:
    found = of(table(KRIPPENDORFF))
    assert found.alpha.value == pytest.approx(0.815, abs=0.0005)
    assert (found.items, found.alone, found.ratings) == (11, 1, 41)


@pytest.mark.parametrize("seed", range(8))
def test_as_other_implementations_say(seed: int) -> None:
    draw = random.Random(seed)
    truth = [draw.randint(1, 5) for _ in range(40)]
    rows: list[list[float | None]] = [
        [min(5, max(1, value + draw.choice([-1, 0, 0, 1]))) for value in truth] for _ in range(3)
    ]
    found = of(table(rows))
    pairs = [(rows[0], rows[1]), (rows[0], rows[2]), (rows[1], rows[2])]
    plain = [cohen_kappa_score(a, b) for a, b in pairs]
    squared = [cohen_kappa_score(a, b, weights="quadratic") for a, b in pairs]
    assert found.cohen.value == pytest.approx(sum(plain) / 3)
    assert found.cohen_weighted.value == pytest.approx(sum(squared) / 3)
    holed = [[value if draw.random() < 0.7 else None for value in row] for row in rows]
    matrix = [[math.nan if value is None else value for value in row] for row in holed]
    ours = of(table(holed)).alpha.value
    theirs = krippendorff.alpha(reliability_data=matrix, level_of_measurement="ordinal")
    assert ours == pytest.approx(theirs)


def test_all_who_say_the_same_agree_wholly() -> None:
    found = of(table([[3, 3, 3], [3, 3, 3]]))
    measures = (found.percentage, found.cohen, found.cohen_weighted, found.fleiss, found.alpha)
    assert [(m.value, m.low, m.high) for m in measures] == [(1.0, 1.0, 1.0)] * 5
    assert found.concerns == ()


def test_where_they_lie_furthest_apart_comes_first() -> None:
    found = of(table([[1, 5, 3], [1, 1, 4]]))
    assert [concern.item for concern in found.concerns] == ["item 1", "item 2"]
    assert dict(found.concerns[0].ratings) == {"rater 0": 5.0, "rater 1": 1.0}


def test_criteria_are_told_apart_and_the_last_word_counts() -> None:
    ratings = [
        Rating("a", 1, "ann", "tact"),
        Rating("a", 2, "ann", "tact"),
        Rating("a", 2, "bob", "tact"),
        Rating("a", 5, "ann", "length"),
    ]
    tact, length = agreement(ratings)
    assert (tact.criterion, tact.percentage.value) == ("tact", 1.0)
    assert (length.criterion, length.items, length.alone) == ("length", 0, 1)
    assert length.percentage == Estimate(None)


def test_an_interval_covers_what_is_true() -> None:
    """Two who agree by chance alone: kappa is 0, and 95 % intervals hold it about that often."""
    held = 0
    for seed in range(30):
        draw = random.Random(seed)
        rows: list[list[float | None]] = [[draw.randint(0, 1) for _ in range(60)] for _ in range(2)]
        low, high = of(table(rows)).cohen.low, of(table(rows)).cohen.high
        assert low is not None
        assert high is not None
        held += low <= 0 <= high
    assert held >= 25


VALUES = st.one_of(st.none(), st.integers(1, 5))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(VALUES, min_size=1, max_size=6), min_size=1, max_size=5))
def test_nothing_is_ever_nan_or_an_error(rows: list[list[float | None]]) -> None:
    for found in agreement(table(rows)):
        for measure in (found.percentage, found.cohen, found.cohen_weighted, found.fleiss):
            assert measure.value is None or -1 - 1e-9 <= measure.value <= 1 + 1e-9
        assert found.alpha.value is None or math.isfinite(found.alpha.value)
        assert found.items + found.alone == len({c for r in rows for c, v in enumerate(r) if v})
