import math
import random
from itertools import product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.lab import compare, holm, mean
from ombud.lab.statistics import (
    bootstrap_interval,
    effect_size,
    mcnemar,
    permutation_test,
    smallest_difference,
    standard_error,
)

# Darwin's maize, eighths of an inch, crossed minus self-fertilised; Fisher, The Design of
# Experiments.
MAIZE = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
# Student's sleep data (R: datasets::sleep); t = 4.0621 on 9 degrees of freedom.
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
SOME = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=40)


def zeros(values: list[float]) -> list[float]:
    return [0.0] * len(values)


def test_permutation_of_fishers_maize() -> None:
    # Fisher: 863 of the 32768 arrangements on either side are at least as extreme.
    assert permutation_test(zeros(MAIZE), MAIZE, repeats=2**15) == 2 * 863 / 32768
    assert permutation_test(zeros(MAIZE), MAIZE) == pytest.approx(2 * 863 / 32768, abs=0.02)


def test_permutation_by_hand() -> None:
    # Sums of ±1 ±2 ±3: only 6 and -6 are as extreme as 6.
    assert permutation_test([0, 0, 0], [1, 2, 3]) == 2 / 8
    assert permutation_test([1, 2, 3], [1, 2, 3]) == 1
    # .3 - .2 and .1 - .0 differ in the last bit; all four arrangements of equal differences count
    # as they should.
    assert permutation_test([0.2, 0.0], [0.3, 0.1]) == 0.5
    assert permutation_test([None, 1.0], [1.0, None]) is None
    assert permutation_test([], []) is None


def test_clusters_are_exchanged_whole() -> None:
    first, second = [0.0] * 4, [1.0, 1.0, 1.0, 1.0]
    assert permutation_test(first, second) == 2 / 16
    assert permutation_test(first, second, ["a", "a", "b", "b"]) == 2 / 4
    assert permutation_test(first, second, ["a"] * 4) == 1


def test_monte_carlo_agrees_with_the_exact_value() -> None:
    # 24 ones: |sum| >= 14 needs at least 19 of one sign.
    differences = [1.0] * 19 + [-1.0] * 5
    exact = 2 * sum(math.comb(24, n) for n in range(19, 25)) / 2**24
    found = permutation_test(zeros(differences), differences, seed=3, repeats=200_000)
    assert found == pytest.approx(exact, abs=5e-4)
    assert found == permutation_test(zeros(differences), differences, seed=3, repeats=200_000)


def test_a_monte_carlo_p_is_never_0() -> None:
    assert permutation_test([0.0] * 60, [1.0] * 60, repeats=999) == 1 / 1000


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [
        (0, 0, 1.0),
        (1, 9, 22 / 1024),
        (9, 1, 22 / 1024),
        (5, 5, 1.0),
        (0, 5, 1 / 16),
        (6, 16, 2 * 110056 / 2**22),
    ],
)
def test_mcnemar(one: int, other: int, p: float) -> None:
    # 110056 = 1 + 22 + 231 + 1540 + 7315 + 26334 + 74613, the ways to choose at most 6 of 22.
    assert mcnemar(one, other) == pytest.approx(p, rel=1e-8)


def test_mcnemar_of_many() -> None:
    # Normal approximation with continuity correction: z = (200 - 1) / sqrt(10000) = 1.99.
    assert mcnemar(4900, 5100) == pytest.approx(0.0466, abs=2e-4)


def test_holm() -> None:
    # R: p.adjust(c(.01, .02, .03, .005), "holm").
    assert holm({"a": 0.01, "b": 0.02, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.04, "c": 0.04, "d": 0.02}
    )
    assert holm({"a": 0.6, "b": 0.5}) == {"a": 1.0, "b": 1.0}
    assert list(holm({"z": 0.2, "a": 0.1})) == ["z", "a"]
    assert holm({}) == {}


def test_effect_sizes_of_student() -> None:
    assert effect_size(DRUG_1, DRUG_2) == pytest.approx(4.0621277 / math.sqrt(10))
    assert effect_size([1, 2], [2, 3]) is None
    assert effect_size([0.2, 0.1], [0.3, 0.2]) is None
    assert effect_size([1], [2]) is None


def test_smallest_difference() -> None:
    # One hundred differences of standard deviation 1: .1 x (t(.975) + t(.8)) of 99 degrees.
    values = [1.0, -1.0] * 50
    error, clusters = standard_error(values) or (0.0, 0)
    assert error == pytest.approx(0.1, rel=0.01)
    assert clusters == 100
    least = smallest_difference(error, clusters)
    assert least == pytest.approx(error * (1.98422 + 0.84527), rel=1e-3)
    # Ten questions of one document that all go the same way say no more than one.
    same = [1.0] * 50 + [-1.0] * 50
    heavy, _ = standard_error(same, [place // 10 for place in range(100)]) or (0.0, 0)
    assert heavy == pytest.approx(0.1 * math.sqrt(10), rel=0.06)
    # 2 / 2^5 is above .05, and 2 / 2^6 above .05 / 3.
    assert smallest_difference(0.1, 5) is None
    assert smallest_difference(0.1, 6) is not None
    assert smallest_difference(0.1, 6, comparisons=3) is None
    assert standard_error([0.2, 0.2, None]) is None
    assert standard_error([0.2]) is None


@pytest.mark.parametrize(("size", "comparisons"), [(1, 1), (8, 1), (8, 3)])
def test_at_that_difference_the_test_finds_it_four_times_of_five(
    size: int, comparisons: int
) -> None:
    """By simulation: documents that vary, with as many questions each; the same test, corrected as
    it is in a comparison."""
    draw = random.Random(size * 10 + comparisons)
    documents = 30
    clusters = [place for place in range(documents) for _ in range(size)]

    def differences(shift: float) -> list[float | None]:
        own = [draw.gauss(0, 0.3) for _ in range(documents)]
        return [own[place] + draw.gauss(0, 0.3) + shift for place in clusters]

    error = math.sqrt((0.3**2 + 0.3**2 / size) / documents)
    least = smallest_difference(error, documents, comparisons=comparisons)
    assert least is not None
    nothing: list[float | None] = [0.0] * len(clusters)
    found = 0
    for trial in range(150):
        values = differences(least)
        p = permutation_test(nothing, values, clusters, seed=trial, repeats=800) or 1.0
        found += p <= 0.05 / comparisons
    assert 0.7 <= found / 150 <= 0.9


def test_mean_with_coverage() -> None:
    found = mean([1.0, None, 0.0, 1.0, None])
    assert found.value == pytest.approx(2 / 3)
    assert (found.median, found.valid, found.total) == (1.0, 3, 5)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 2 / 3 <= found.high
    nothing = mean([None, None])
    assert (nothing.value, nothing.median, nothing.valid, nothing.total, nothing.low) == (
        None,
        None,
        0,
        2,
        None,
    )
    assert (mean([0.5]).value, mean([0.5]).low) == (0.5, None)


def test_interval_of_every_resample() -> None:
    values = [0.0, 1.0, 4.0, 9.0]
    every = [fmean(drawn) for drawn in product(values, repeat=4)]
    low, high = np.quantile(every, [0.025, 0.975])
    assert bootstrap_interval(values, repeats=100_000) == pytest.approx((low, high), abs=0.25)
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)


def test_interval_is_that_of_the_normal_for_many() -> None:
    values = [float(n % 2) for n in range(1000)]
    low, high = bootstrap_interval(values, repeats=20_000) or (0, 0)
    assert (low, high) == pytest.approx(
        (0.5 - 1.96 * 0.5 / 1000**0.5, 0.5 + 1.96 * 0.5 / 1000**0.5), abs=0.002
    )


def test_clusters_widen_the_interval() -> None:
    # Ten copies of every value say no more than one: the interval is that of the 20 documents.
    values = [float(n % 2) for n in range(20)]
    copied, documents = (
        [v for v in values for _ in range(10)],
        [n for n in range(20) for _ in range(10)],
    )
    assert bootstrap_interval(copied, documents) == bootstrap_interval(values)
    narrow, wide = bootstrap_interval(copied), bootstrap_interval(copied, documents)
    assert narrow is not None
    assert wide is not None
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
    assert bootstrap_interval(copied, ["one"] * 200) is None


def test_clusters_of_unequal_size_keep_their_weight() -> None:
    # Means of a resample of {a: 0, 0, 0} and {b: 1} are 0, 1/4 or 1.
    low, high = bootstrap_interval([0.0, 0, 0, 1.0], ["a", "a", "a", "b"]) or (9, 9)
    assert (low, high) == (0, 1)
    assert mean([0.0, 0, 0, 1.0], ["a", "a", "a", "b"]).value == 0.25


def test_blocks_do_not_change_what_is_drawn_from() -> None:
    values = [float(n % 4 == 0) for n in range(10_000)]
    low, high = bootstrap_interval(values) or (0, 0)
    assert (low, high) == pytest.approx((0.25 - 0.0085, 0.25 + 0.0085), abs=0.001)


def test_compare() -> None:
    found = compare([*DRUG_1, None, 1.0], [*DRUG_2, 1.0, None])
    assert found.difference == pytest.approx(1.58)
    assert found.pairs == 10
    # One difference is 0 and nine are positive: only all signs alike are as extreme.
    assert found.p == 2 / 2**9
    assert found.effect == pytest.approx(1.2845, abs=1e-4)
    # t(.975) = 2.26216 and t(.8) = .88340 on 9 degrees.
    assert found.detectable == pytest.approx(3.14556 * 1.229995 / math.sqrt(10), rel=1e-3)
    assert found.low is not None
    assert found.low > 0
    empty = compare([None], [1.0])
    assert (empty.difference, empty.pairs, empty.p) == (None, 0, None)
    assert compare([1.0], [2.0]).detectable is None


@given(SOME, SOME, st.integers(1, 5))
def test_never_nan_never_an_exception(
    first: list[float | None], second: list[float | None], clusters: int
) -> None:
    size = min(len(first), len(second))
    first, second = first[:size], second[:size]
    keys = [n % clusters for n in range(size)]
    found, single = compare(first, second, keys), mean(first, keys)
    figures = [
        found.difference,
        found.low,
        found.high,
        found.p,
        found.effect,
        found.detectable,
    ]
    assert all(
        f is None or math.isfinite(f)
        for f in [*figures, single.value, single.low, single.high, single.median]
    )
    assert found.p is None or 0 < found.p <= 1
    if single.low is not None and single.high is not None:
        valid = [value for value in first if value is not None]
        assert min(valid) - 1e-6 <= single.low <= single.high <= max(valid) + 1e-6
