"""Agreement between raters, each measure with an interval. Measures stay defined if all ratings are
equal.

Every measure is a function of weights, one an item: as it stands with ones, and a bootstrap sample
of items with how often each was drawn (Efron & Tibshirani 1993). It takes all samples at once, for
one after the other took ten times as long. No Estimate holds NaN. The `krippendorff` package, under
the GPL, is an oracle of the tests only."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from ombud.lab.people.ratings import Rating
from ombud.lab.report.tables import figure, interval, markdown_table
from ombud.lab.statistics import RESAMPLES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONCERNS = 20
"""Items on which people differ most that are listed."""
NO_RATER = "?"

_BLOCK = 4_000_000
"""Cells of the largest array that is made at once: 32 MB."""

Weighted = Callable[["Floats"], "Floats"]
"""Weights, draws x items -> a value a draw, NaN where too little is there to say it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float | None
    """None where too little is there to say it."""
    low: float | None = None
    high: float | None = None
    """None with fewer than two items."""


@dataclass(frozen=True, slots=True)
class Concern:
    item: str
    ratings: Mapping[str, float]
    """Rater -> value."""


@dataclass(frozen=True, slots=True)
class Agreement:
    criterion: str
    items: int
    """That two people or more have rated; of the others nothing can be said."""
    alone: int
    """Items with one rating."""
    raters: int
    ratings: int
    percentage: Estimate
    """Share of pairs of ratings of one item that are equal."""
    cohen: Estimate
    """Kappa of two people (Cohen 1960); of more, the mean of all pairs (Light 1971)."""
    cohen_weighted: Estimate
    """The same with squared distances (Cohen 1968)."""
    fleiss: Estimate
    """Kappa of any number of people (Fleiss 1971), with as many as each item has."""
    alpha: Estimate
    """Krippendorff's alpha, ordinal (Krippendorff 2011)."""
    concerns: tuple[Concern, ...]
    """Where ratings lie furthest apart."""


def agreement(ratings: Iterable[Rating], *, seed: int = 0) -> list[Agreement]:
    """Measure agreement for each criterion, in the order of their first ratings. If a person rated
    an item more than once, the last rating counts."""
    by_criterion: dict[str, dict[str, dict[str, float]]] = {}
    for place, rating in enumerate(ratings):
        items = by_criterion.setdefault(rating.criterion, {})
        rater = rating.rater or f"{NO_RATER}{place}"
        items.setdefault(rating.item, {})[rater] = rating.value
    return [_of(criterion, items, seed) for criterion, items in by_criterion.items()]


def agreement_table(agreements: Iterable[Agreement]) -> str:
    """Tabulate agreement, one line for each criterion."""
    rows: list[list[str]] = []
    for one in agreements:
        measures = (one.percentage, one.cohen, one.cohen_weighted, one.fleiss, one.alpha)
        row = [one.criterion or "-", str(one.items), str(one.raters)]
        rows.append([*row, *map(estimate_words, measures)])
    measured = ("equal", "Cohen", "weighted", "Fleiss", "Krippendorff's alpha")
    return markdown_table(("criterion", "items", "raters", *measured), rows)


def estimate_words(estimated: Estimate) -> str:
    """Format a value and its interval."""
    between = interval(estimated.low, estimated.high)
    return figure(estimated.value) + (f" ({between})" if between else "")


def _of(criterion: str, items: Mapping[str, Mapping[str, float]], seed: int) -> Agreement:
    shared = {item: ratings for item, ratings in items.items() if len(ratings) > 1}
    table = RatingTable(shared)
    measured = {
        "percentage": table.percentage,
        "cohen": table.cohen,
        "cohen_weighted": table.cohen_weighted,
        "fleiss": table.fleiss,
        "alpha": table.alpha,
    }
    apart = sorted(shared.items(), key=lambda entry: _spread(entry[1]), reverse=True)
    concerns = [Concern(item, ratings) for item, ratings in apart if _spread(ratings) > 0]
    raters = {rater for ratings in items.values() for rater in ratings}
    return Agreement(
        criterion=criterion,
        items=len(shared),
        alone=len(items) - len(shared),
        raters=len(raters),
        ratings=sum(map(len, items.values())),
        concerns=tuple(concerns[:CONCERNS]),
        **{name: estimate(measure, len(shared), seed) for name, measure in measured.items()},
    )


def _spread(ratings: Mapping[str, float]) -> float:
    return max(ratings.values()) - min(ratings.values())


def estimate(measure: Weighted, items: int, seed: int = 0) -> Estimate:
    """Compute the measure over all items, with its percentile bootstrap interval over items."""
    import numpy as np

    if not items:
        return Estimate(None)
    value = float(measure(np.ones((1, items)))[0])
    if np.isnan(value):
        return Estimate(None)
    if items < 2:
        return Estimate(value)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(items, np.full(items, 1 / items), size=RESAMPLES)
    values = _by_blocks(measure, drawn.astype(float), items)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Estimate(value)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def _by_blocks(measure: Weighted, weights: "Floats", width: int) -> "Floats":
    """The measure of some draws after the other; it makes arrays of `width` cells a draw."""
    import numpy as np

    size = max(1, _BLOCK // width)
    starts = range(0, len(weights), size)
    return np.concatenate([measure(weights[start : start + size]) for start in starts])


class RatingTable:
    """Ratings of items by people, as counts; every item has two or more."""

    def __init__(self, items: Mapping[str, Mapping[str, float]]) -> None:
        import numpy as np

        values = sorted({value for ratings in items.values() for value in ratings.values()})
        raters = sorted({rater for ratings in items.values() for rater in ratings})
        place = {value: number for number, value in enumerate(values)}
        self._values = np.asarray(values, dtype=float)
        self._given = np.full((len(items), len(raters)), -1, dtype=int)
        for row, ratings in enumerate(items.values()):
            for column, rater in enumerate(raters):
                if rater in ratings:
                    self._given[row, column] = place[ratings[rater]]
        self._counts = np.zeros((len(items), len(values)))
        for column in range(len(raters)):
            rows = np.flatnonzero(self._given[:, column] >= 0)
            np.add.at(self._counts, (rows, self._given[rows, column]), 1.0)
        self._sizes = self._counts.sum(axis=1)
        self._pairs = list(combinations(range(len(raters)), 2))

    def percentage(self, weights: "Floats") -> "Floats":
        equal = (self._counts * (self._counts - 1)).sum(axis=1)
        pairs = self._sizes * (self._sizes - 1)
        return ratio(weights @ equal, weights @ pairs)

    def fleiss(self, weights: "Floats") -> "Floats":
        """P of each item, and chance from all ratings; with as many ratings everywhere it is
        Fleiss' own."""
        equal = (self._counts * (self._counts - 1)).sum(axis=1) / (self._sizes * (self._sizes - 1))
        observed = ratio(weights @ equal, weights.sum(axis=1))
        shares = weights @ self._counts / (weights @ self._sizes)[:, None]
        return _beyond_chance(observed, (shares**2).sum(axis=1))

    def alpha(self, weights: "Floats") -> "Floats":
        """1 - observed / expected disagreement, of the coincidences of values within items."""
        items, values = self._counts.shape
        return _by_blocks(self._alpha_of, weights, values * max(items, values))

    def _alpha_of(self, weights: "Floats") -> "Floats":
        import numpy as np

        scaled = weights / (self._sizes - 1)
        coincidences = (self._counts.T * scaled[:, None, :]) @ self._counts
        diagonal = np.arange(len(self._values))
        coincidences[:, diagonal, diagonal] -= scaled @ self._counts
        totals = coincidences.sum(axis=2)
        distances = _ordinal(totals)
        by_chance = totals[:, :, None] * totals[:, None, :] * distances
        expected = by_chance.sum(axis=(1, 2)) / np.maximum(totals.sum(axis=1) - 1, 1e-12)
        return _less_apart((coincidences * distances).sum(axis=(1, 2)), expected)

    def cohen(self, weights: "Floats") -> "Floats":
        import numpy as np

        return self._kappa(weights, 1 - np.eye(len(self._values)))

    def cohen_weighted(self, weights: "Floats") -> "Floats":
        apart = self._values[:, None] - self._values[None, :]
        return self._kappa(weights, apart**2)

    def _kappa(self, weights: "Floats", distances: "Floats") -> "Floats":
        import numpy as np

        kappas = np.stack([self._kappa_of(pair, weights, distances) for pair in self._pairs])
        is_defined = ~np.isnan(kappas)
        return ratio(np.where(is_defined, kappas, 0.0).sum(axis=0), is_defined.sum(axis=0))

    def _kappa_of(self, pair: tuple[int, int], weights: "Floats", distances: "Floats") -> "Floats":
        """Compute kappa; NaN if the two raters have no item in common."""
        import numpy as np

        first, second = self._given[:, pair[0]], self._given[:, pair[1]]
        rows = np.flatnonzero((first >= 0) & (second >= 0))
        own, other, weights = first[rows], second[rows], weights[:, rows]
        total = weights.sum(axis=1)
        classes = np.eye(len(distances))
        shares = (weights @ classes[own], weights @ classes[other])
        expected = ratio(((shares[0] @ distances) * shares[1]).sum(axis=1), total**2)
        return _less_apart(ratio(weights @ distances[own, other], total), expected)


def _ordinal(totals: "Floats") -> "Floats":
    """Squared ordinal distances of each draw: the ratings between two values, half of the ends'
    own."""
    import numpy as np

    upto = np.cumsum(totals, axis=1)
    own, other = upto[:, :, None], upto[:, None, :]
    # The difference of the sums has all of the higher value and nothing of the lower one.
    half_apart = (totals[:, None, :] - totals[:, :, None]) / 2
    return np.asarray((other - own - half_apart) ** 2)


def ratio(part: "Floats", whole: "Floats") -> "Floats":
    """Divide; NaN if the denominator is 0."""
    import numpy as np

    nothing = np.full(len(part), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=whole > 0))


def _less_apart(observed: "Floats", expected: "Floats") -> "Floats":
    """1 - observed / expected; 1 where everybody has always given the same value."""
    import numpy as np

    return np.where(expected <= 0, 1.0, 1 - ratio(observed, expected))


def _beyond_chance(observed: "Floats", chance: "Floats") -> "Floats":
    """(observed - chance) / (1 - chance); 1 where only one value was ever given."""
    import numpy as np

    return np.where(chance >= 1 - 1e-12, 1.0, ratio(observed - chance, 1 - chance))


def pairs_of_raters(
    ratings: Sequence[Rating],
) -> list[tuple[str, str, list[tuple[float, float]]]]:
    """List (rater, rater, ratings that both gave to the same items)."""
    by_rater: dict[str, dict[str, float]] = {}
    for rating in ratings:
        if rating.rater:
            by_rater.setdefault(rating.rater, {})[rating.item] = rating.value
    pairs: list[tuple[str, str, list[tuple[float, float]]]] = []
    for first, second in combinations(sorted(by_rater), 2):
        own, other = by_rater[first], by_rater[second]
        both = [(own[item], other[item]) for item in own if item in other]
        if both:
            pairs.append((first, second, both))
    return pairs
