"""Honest figures: coverage, intervals, paired tests, effect sizes.

Nothing here returns NaN: what too few values cannot give is None. Values that are None (a metric
without a value) are left out, of a pair both or none. Every random draw is seeded, so that a report
can be made again."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, TypeVar

from ombud.lab.extra import lab_library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 2000
"""Of every interval and test that draws."""
_BLOCK = 4_000_000
"""Array cells of one block of resamples: 32 MB, however many cases there are."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean never stands without its coverage."""

    value: float | None
    """None when no value is valid."""
    median: float | None
    valid: int
    total: int
    low: float | None = None
    """95 % interval; None with fewer than two clusters."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same cases; differences are second minus first."""

    difference: float | None
    pairs: int
    low: float | None
    high: float | None
    p: float | None
    """Two-sided, paired permutation test."""
    effect: float | None
    """dz, see `effect_size`."""
    detectable: float | None
    """Smallest difference that these cases can show, see `smallest_difference`."""
    error: float | None = None
    """Standard error of the difference."""
    clusters: int = 0


_NOTHING_TO_COMPARE = Comparison(
    difference=None,
    pairs=0,
    low=None,
    high=None,
    p=None,
    effect=None,
    detectable=None,
)


def mean(
    values: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
) -> Mean:
    """Mean and median of the valid values, with coverage and `bootstrap_interval`."""
    valid = _measured(values)
    if not valid:
        return Mean(
            value=None,
            median=None,
            valid=0,
            total=len(values),
        )
    low, high = bootstrap_interval(values, clusters, seed=seed) or (None, None)
    return Mean(
        value=fmean(valid),
        median=median(valid),
        valid=len(valid),
        total=len(values),
        low=low,
        high=high,
    )


def bootstrap_interval(
    values: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
    repeats: int = RESAMPLES,
) -> tuple[float, float] | None:
    """Bootstrap confidence interval (percentile) of the mean; None with fewer than two clusters.

    Whole clusters are drawn with replacement (Efron & Tibshirani 1993, ch. 13; Davison & Hinkley
    1997, 3.8): questions about one document are not independent. clusters: one key a value; without
    it each value is its own."""
    sums, sizes = _by_cluster(values, clusters)
    if len(sums) < 2:
        return None
    bootstrapped = (
        _stats()
        .bootstrap(
            (sums, sizes),
            _weighted_mean,
            paired=True,
            vectorized=True,
            n_resamples=repeats,
            batch=_batch(len(sums)),
            confidence_level=0.95,
            method="percentile",
            rng=seed,
        )
        .confidence_interval
    )
    return float(bootstrapped.low), float(bootstrapped.high)


def permutation_test(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
    repeats: int = RESAMPLES,
) -> float | None:
    """Two-sided p of the paired difference of means under random exchange of the two systems
    (Fisher 1935).

    Exact where all signs are no more than `repeats`, else Monte Carlo with (1 + hits) / (1 +
    repeats) (Phipson & Smyth 2010). With clusters, all pairs of a cluster are exchanged together.
    None without pairs."""
    import numpy as np

    differences = _differences(first, second)
    if all(value is None for value in differences):
        return None
    sums, _ = _by_cluster(differences, clusters)
    sums = sums[sums != 0]
    if len(sums) < 2:
        return 1.0
    # scipy takes sums for equal that differ in the last bits of numbers around 1.
    sums = sums / np.abs(sums).max()
    drawn = {
        "statistic": _distance,
        "alternative": "greater",
        "vectorized": True,
        "n_resamples": repeats,
        "batch": _batch(len(sums)),
    }
    if 2 ** len(sums) <= repeats:
        test = _stats().permutation_test((sums,), permutation_type="samples", **drawn)
        return float(test.pvalue)
    random = np.random.default_rng(seed)

    # permutation_test does this too, in ten times the time and memory.
    def draw_exchanged(size: tuple[int, ...]) -> "NDArray[np.float64]":
        signs = random.integers(0, 2, size=size, dtype=np.int8) * 2 - 1
        return np.asarray(signs * sums)

    return float(_stats().monte_carlo_test(sums, draw_exchanged, **drawn).pvalue)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p for pass/fail pairs (McNemar 1947, binomial form): the pairs that only one
    side passed."""
    pairs = only_first + only_second
    return float(_stats().binomtest(only_first, pairs).pvalue) if pairs else 1.0


Name = TypeVar("Name", bound=Hashable)


def holm(ps: Mapping[Name, float]) -> dict[Name, float]:
    """p values adjusted for testing them together (Holm 1979), in the order given."""
    adjusted: dict[Name, float] = {}
    greatest = 0.0
    for rank, name in enumerate(sorted(ps, key=lambda key: ps[key])):
        tests_left = len(ps) - rank
        greatest = max(greatest, min(1.0, ps[name] * tests_left))
        adjusted[name] = greatest
    return {name: adjusted[name] for name in ps}


def most_that_differ(units: int) -> float:
    """Return the upper end of the 95 % interval of the share of units that differ, where none of so
    many did (Clopper & Pearson 1934)."""
    return float(_stats().binomtest(0, units).proportion_ci(0.95, method="exact").high)


def effect_size(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Cohen's dz: mean of the paired differences / their standard deviation (Lakens 2013).

    None with fewer than two pairs or when all differences are equal.
    """
    differences = _measured(_differences(first, second))
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return _ratio(fmean(differences), spread) if differences else None


def standard_error(
    differences: Sequence[float | None], clusters: Sequence[Hashable] | None = None
) -> tuple[float, int] | None:
    """(standard error of the mean difference, number of clusters): whole clusters vary, their
    cases do not each for itself (Liang & Zeger 1986, with G / (G - 1)). None with fewer than two
    clusters, or without variation."""
    if not _measured(differences):
        return None
    sums, sizes = _by_cluster(differences, clusters)
    count = len(sums)
    total = float(sizes.sum())
    if count < 2:
        return None
    apart = sums - sizes * (float(sums.sum()) / total)
    squares = float((apart**2).sum())
    if squares <= 1e-18 * total:  # that do not vary say nothing of how much they could
        return None
    return sqrt(count / (count - 1) * squares) / total, count


def smallest_difference(
    error: float,
    clusters: int,
    *,
    comparisons: int = 1,
) -> float | None:
    """Smallest mean paired difference that `permutation_test` finds at level .05, power .8:
    (t(1 - level/2) + t(power)) x error, with a t of clusters - 1 degrees (Cohen 1988, ch. 2).

    error, clusters: of `standard_error`. comparisons: as many are corrected together, of which
    Holm's first step asks for level / comparisons. None where so few clusters cannot reach the
    level at all: their smallest p is 2 / 2^clusters."""
    own_level = 0.05 / comparisons
    if clusters < 2 or 2.0 ** (1 - clusters) > own_level:
        return None
    student = _stats().t(clusters - 1)
    return float(student.ppf(1 - own_level / 2) + student.ppf(0.8)) * error


def compare(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same cases; position i of both is case i."""
    differences = _differences(first, second)
    valid = _measured(differences)
    if not valid:
        return _NOTHING_TO_COMPARE
    low, high = bootstrap_interval(differences, clusters, seed=seed) or (None, None)
    error, _ = standard_error(differences, clusters) or (None, 0)
    count = len(_by_cluster(differences, clusters)[0])
    return Comparison(
        difference=fmean(valid),
        pairs=len(valid),
        low=low,
        high=high,
        p=permutation_test(first, second, clusters, seed=seed),
        effect=effect_size(first, second),
        detectable=None if error is None else smallest_difference(error, count),
        error=error,
        clusters=count,
    )


def _measured(values: Iterable[float | None]) -> list[float]:
    """Drop the places without a value."""
    return [value for value in values if value is not None]


def _differences(
    first: Sequence[float | None], second: Sequence[float | None]
) -> list[float | None]:
    differences: list[float | None] = []
    for before, after in zip(first, second, strict=True):
        if before is None or after is None:
            differences.append(None)
        else:
            differences.append(after - before)
    return differences


def _ratio(difference: float, spread: float) -> float | None:
    # Equal differences such as .3 - .2 and .2 - .1 differ in the last bits; their spread is no
    # spread.
    least = 1e-12 * max(abs(difference), 1e-12)
    return difference / spread if spread > least else None


def _by_cluster(
    values: Sequence[float | None], clusters: Sequence[Hashable] | None
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """(sum, number) of the valid values of each cluster, in order of appearance."""
    import numpy as np

    keys = range(len(values)) if clusters is None else clusters
    numbers: dict[Hashable, int] = {}
    places = []
    valid = []
    for key, value in zip(keys, values, strict=True):
        if value is not None:
            places.append(numbers.setdefault(key, len(numbers)))
            valid.append(value)
    of_cluster = np.array(places, dtype=np.int64)
    sums = np.bincount(of_cluster, weights=np.array(valid, dtype=np.float64))
    sizes = np.bincount(of_cluster)
    return sums.astype(np.float64), sizes.astype(np.float64)


def _batch(width: int) -> int:
    """Return how many resamples are drawn at once: as many as fit into memory."""
    return max(1, _BLOCK // width)


def _stats() -> Any:
    return lab_library("scipy.stats")


def _weighted_mean(sums: Any, sizes: Any, axis: int) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)


def _distance(differences: Any, axis: int) -> Any:
    return abs(differences.sum(axis=axis))
