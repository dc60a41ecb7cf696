"""How far people agree: each measure with an interval, and defined when all say the same.

Every measure is a function of weights, one an item: as it stands with ones, and a bootstrap sample
of items with how often each was drawn (Efron & Tibshirani 1993). Nothing here returns NaN."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ombud.lab.people.ratings import Rating

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REPEATS = 1000
CONCERNS = 20
"""Items on which people differ most that are listed."""
NO_RATER = "?"

Weighted = Callable[["Floats"], "float | None"]


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float | None
    """None where too little is there to say it."""
    low: float | None = None
    high: float | None = None
    """None with fewer than two items."""


class Concern(NamedTuple):
    item: str
    ratings: Mapping[str, float]
    """Rater -> value."""


class Agreement(NamedTuple):
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
    """By criterion, in the order of their first rating. The last of several ratings of one item by
    one person counts."""
    by_criterion: dict[str, dict[str, dict[str, float]]] = {}
    for place, rating in enumerate(ratings):
        items = by_criterion.setdefault(rating.criterion, {})
        rater = rating.rater or f"{NO_RATER}{place}"
        items.setdefault(rating.item, {})[rater] = rating.value
    return [_of(criterion, items, seed) for criterion, items in by_criterion.items()]


def _of(criterion: str, items: Mapping[str, Mapping[str, float]], seed: int) -> Agreement:
    shared = {item: given for item, given in items.items() if len(given) > 1}
    table = _Table(shared)
    measured = {
        "percentage": table.percentage,
        "cohen": table.cohen,
        "cohen_weighted": table.cohen_weighted,
        "fleiss": table.fleiss,
        "alpha": table.alpha,
    }
    apart = sorted(shared.items(), key=lambda found: _spread(found[1]), reverse=True)
    concerns = [Concern(item, given) for item, given in apart if _spread(given) > 0]
    raters = {rater for given in items.values() for rater in given}
    return Agreement(
        criterion=criterion,
        items=len(shared),
        alone=len(items) - len(shared),
        raters=len(raters),
        ratings=sum(map(len, items.values())),
        concerns=tuple(concerns[:CONCERNS]),
        **{name: estimate(measure, len(shared), seed) for name, measure in measured.items()},
    )


def _spread(given: Mapping[str, float]) -> float:
    return max(given.values()) - min(given.values())


def estimate(measure: Weighted, items: int, seed: int = 0) -> Estimate:
    """The measure of all items, and its percentile bootstrap interval over items."""
    import numpy as np

    if not items:
        return Estimate(None)
    value = measure(np.ones(items))
    if value is None or items < 2:
        return Estimate(value)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(items, np.full(items, 1 / items), size=REPEATS)
    values = [measure(weights.astype(float)) for weights in drawn]
    known = [found for found in values if found is not None]
    if not known:
        return Estimate(value)
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


class _Table:
    """Ratings of items by people, as counts; every item has two or more."""

    def __init__(self, items: Mapping[str, Mapping[str, float]]) -> None:
        import numpy as np

        values = sorted({value for given in items.values() for value in given.values()})
        raters = sorted({rater for given in items.values() for rater in given})
        place = {value: number for number, value in enumerate(values)}
        self._values = np.asarray(values, dtype=float)
        self._given = np.full((len(items), len(raters)), -1, dtype=int)
        for row, given in enumerate(items.values()):
            for column, rater in enumerate(raters):
                if rater in given:
                    self._given[row, column] = place[given[rater]]
        self._counts = np.zeros((len(items), len(values)))
        for column in range(len(raters)):
            rows = np.flatnonzero(self._given[:, column] >= 0)
            np.add.at(self._counts, (rows, self._given[rows, column]), 1.0)
        self._sizes = self._counts.sum(axis=1)
        self._pairs = list(combinations(range(len(raters)), 2))

    def percentage(self, weights: "Floats") -> float | None:
        equal = (self._counts * (self._counts - 1)).sum(axis=1)
        pairs = self._sizes * (self._sizes - 1)
        return _ratio(float(weights @ equal), float(weights @ pairs))

    def fleiss(self, weights: "Floats") -> float | None:
        """P of each item, and chance from all ratings; with as many ratings everywhere it is
        Fleiss' own."""
        equal = (self._counts * (self._counts - 1)).sum(axis=1) / (self._sizes * (self._sizes - 1))
        observed = _ratio(float(weights @ equal), float(weights.sum()))
        shares = weights @ self._counts / float(weights @ self._sizes)
        return _beyond_chance(observed, float((shares**2).sum()))

    def alpha(self, weights: "Floats") -> float | None:
        """1 - observed / expected disagreement, of the coincidences of values within items."""
        import numpy as np

        scaled = weights / (self._sizes - 1)
        coincidences = self._counts.T @ (scaled[:, None] * self._counts)
        coincidences -= np.diag(scaled @ self._counts)
        totals = coincidences.sum(axis=1)
        total = float(totals.sum())
        distances = _ordinal(totals)
        expected = float((np.outer(totals, totals) * distances).sum()) / max(total - 1, 1e-12)
        observed = float((coincidences * distances).sum())
        if expected <= 0:  # everybody has always given the same value
            return 1.0
        return 1 - observed / expected

    def cohen(self, weights: "Floats") -> float | None:
        import numpy as np

        return self._kappa(weights, 1 - np.eye(len(self._values)))

    def cohen_weighted(self, weights: "Floats") -> float | None:
        apart = self._values[:, None] - self._values[None, :]
        return self._kappa(weights, apart**2)

    def _kappa(self, weights: "Floats", distances: "Floats") -> float | None:
        found = [self._kappa_of(pair, weights, distances) for pair in self._pairs]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known else None

    def _kappa_of(
        self, pair: tuple[int, int], weights: "Floats", distances: "Floats"
    ) -> float | None:
        """None where the two have rated no item both."""
        import numpy as np

        first, second = self._given[:, pair[0]], self._given[:, pair[1]]
        rows = np.flatnonzero((first >= 0) & (second >= 0))
        joint = np.zeros_like(distances)
        np.add.at(joint, (first[rows], second[rows]), weights[rows])
        total = float(joint.sum())
        if total <= 0:
            return None
        joint /= total
        expected = float((np.outer(joint.sum(axis=1), joint.sum(axis=0)) * distances).sum())
        observed = float((joint * distances).sum())
        return 1.0 if expected <= 0 else 1 - observed / expected


def _ordinal(totals: "Floats") -> "Floats":
    """Squared ordinal distances: the ratings between two values, half of the ends' own."""
    import numpy as np

    upto = np.cumsum(totals)
    between = np.abs(upto[None, :] - upto[:, None])
    lower = np.where(upto[:, None] <= upto[None, :], totals[:, None], totals[None, :])
    higher = np.where(upto[:, None] <= upto[None, :], totals[None, :], totals[:, None])
    squared: Floats = (between + lower - (lower + higher) / 2) ** 2
    np.fill_diagonal(squared, 0.0)
    return squared


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _beyond_chance(observed: float | None, chance: float) -> float | None:
    """(observed - chance) / (1 - chance); 1 where only one value was ever given."""
    if observed is None:
        return None
    return 1.0 if chance >= 1 - 1e-12 else (observed - chance) / (1 - chance)


def pairs_of_raters(
    ratings: Sequence[Rating],
) -> list[tuple[str, str, list[tuple[float, float]]]]:
    """(rater, rater, what both said of the same items)."""
    by_rater: dict[str, dict[str, float]] = {}
    for rating in ratings:
        if rating.rater:
            by_rater.setdefault(rating.rater, {})[rating.item] = rating.value
    found: list[tuple[str, str, list[tuple[float, float]]]] = []
    for first, second in combinations(sorted(by_rater), 2):
        own, other = by_rater[first], by_rater[second]
        both = [(own[item], other[item]) for item in own if item in other]
        if both:
            found.append((first, second, both))
    return found
