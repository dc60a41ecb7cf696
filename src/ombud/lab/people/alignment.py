"""How far a judge, or any metric, agrees with people.

Each rating of a person is a point beside the score of its item; intervals draw whole items, so that
three ratings of one answer do not count as three answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import TYPE_CHECKING

from ombud.lab.people.agreeing import (
    Estimate,
    RatingTable,
    estimate,
    estimate_words,
    pairs_of_raters,
    ratio,
)
from ombud.lab.people.ratings import Rating
from ombud.lab.report.tables import interval, markdown_table, p_value
from ombud.lab.statistics import RESAMPLES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_CLASSES = 10
"""Values up to which ratings and scores count as classes."""


@dataclass(frozen=True, slots=True)
class Correlation:
    pearson: Estimate
    spearman: Estimate
    p: float | None
    """Two-sided, of Spearman's: items exchanged at random (Monte Carlo, (1 + hits) / (1 + n))."""


@dataclass(frozen=True, slots=True)
class Classes:
    """Agreement of a judge with people, where both use the same few values."""

    agreement: Estimate
    """Share of points on which they are equal."""
    precision: float
    recall: float
    f1: float
    """Of each value that people gave, averaged with equal weight (macro)."""
    kappa: Estimate
    kappa_weighted: Estimate


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of people's ratings from few of them and many scores of a judge."""

    value: float
    low: float
    high: float
    """95 %, for many items."""
    power: float
    """Share of the judge that was used: 0 = it does not help."""
    people_low: float
    people_high: float
    """What the people's ratings alone would give."""


@dataclass(frozen=True, slots=True)
class JudgeAlignment:
    criterion: str
    items: int
    points: int
    unscored: int
    """Items that people rated and the judge did not."""
    pearson: Estimate
    spearman: Estimate
    p: float | None
    people: Correlation | None
    """Of each pair of people with each other, averaged: what a judge can reach. None with one."""
    classes: Classes | None
    """None where the two do not use the same few values."""
    by_type: Mapping[str, Estimate]
    """Type -> Spearman's correlation."""
    probes: Mapping[str, Estimate]
    """What the judge might lean to and people do not -> Spearman's correlation of that with how
    much higher the judge ranks an item than people do."""
    powered: PoweredMean | None
    """None with fewer than two items that both, or the judge alone, have scored."""


def align(
    ratings: Iterable[Rating],
    scores: Mapping[str, float | None],
    features: Mapping[str, Mapping[str, float]] | None = None,
    *,
    seed: int = 0,
) -> list[JudgeAlignment]:
    """Measure alignment for each criterion. scores: item -> the judge's score; None = it gave none.
    features: name -> item -> what the judge might favour, such as length, position, or being its
    own answer."""
    by_criterion: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating)
    return [
        _of(criterion, ratings_of_one, scores, features or {}, seed)
        for criterion, ratings_of_one in by_criterion.items()
    ]


def _of(
    criterion: str,
    ratings: Sequence[Rating],
    scores: Mapping[str, float | None],
    features: Mapping[str, Mapping[str, float]],
    seed: int,
) -> JudgeAlignment:
    points: list[tuple[Rating, float]] = []
    for rating in ratings:
        score = scores.get(rating.item)
        if score is not None:
            points.append((rating, score))
    scored = {rating.item for rating, _ in points}
    correlation = _correlation(_Points(points), seed)
    return JudgeAlignment(
        criterion=criterion,
        items=len(scored),
        points=len(points),
        unscored=len({rating.item for rating in ratings} - scored),
        pearson=correlation.pearson,
        spearman=correlation.spearman,
        p=correlation.p,
        people=_people(ratings, seed),
        classes=_classes(points, seed),
        by_type=_by_type(points, seed),
        probes=_probes(points, features, seed),
        powered=_powered(ratings, scores),
    )


class _Points:
    """Pairs of values, each of an item; weights count items."""

    def __init__(self, points: Sequence[tuple[Rating, float]]) -> None:
        import numpy as np

        place: dict[str, int] = {}
        items: list[int] = []
        people: list[float] = []
        judge: list[float] = []
        for rating, score in points:
            items.append(place.setdefault(rating.item, len(place)))
            people.append(rating.value)
            judge.append(score)
        self.items = len(place)
        self._item = np.asarray(items, dtype=int)
        self.people = np.asarray(people, dtype=float)
        self.judge = np.asarray(judge, dtype=float)

    def pearson(self, weights: "Floats") -> "Floats":
        return weighted_correlation(self.people, self.judge, weights[:, self._item])

    def spearman(self, weights: "Floats") -> "Floats":
        own = weights[:, self._item]
        return weighted_correlation(ranks(self.people, own), ranks(self.judge, own), own)

    def p(self, seed: int) -> float | None:
        """Test Spearman's correlation by permuting the scores of whole items."""
        import numpy as np

        people, judge = plain_ranks(self.people), plain_ranks(self.judge)
        people, judge = people - people.mean(), judge - judge.mean()
        if not people.any() or not judge.any():
            return None
        by_item = np.bincount(self._item, weights=people, minlength=self.items)
        of_item = np.zeros(self.items)
        of_item[self._item] = judge
        observed = abs(float(by_item @ of_item)) * (1 - 1e-9)
        random = np.random.default_rng(seed)
        hits = sum(
            abs(float(by_item @ random.permutation(of_item))) >= observed for _ in range(RESAMPLES)
        )
        return (1 + hits) / (1 + RESAMPLES)


def _correlation(points: _Points, seed: int) -> Correlation:
    return Correlation(
        pearson=estimate(points.pearson, points.items, seed),
        spearman=estimate(points.spearman, points.items, seed),
        p=points.p(seed) if points.items > 2 else None,
    )


def weighted_correlation(first: "Floats", second: "Floats", weights: "Floats") -> "Floats":
    """Compute Pearson's correlation of each draw; NaN if one side does not vary. weights: draws x
    points; the sides may differ by draw."""
    import numpy as np

    total = weights.sum(axis=1, keepdims=True)
    own = first - (weights * first).sum(axis=1, keepdims=True) / total
    other = second - (weights * second).sum(axis=1, keepdims=True) / total
    varies = (weights * own**2).sum(axis=1) * (weights * other**2).sum(axis=1)
    shared = (weights * own * other).sum(axis=1)
    correlation = ratio(shared, np.where(varies <= 1e-18, 0.0, varies**0.5))
    return np.asarray(np.clip(correlation, -1.0, 1.0))


def ranks(values: "Floats", weights: "Floats") -> "Floats":
    """Average ranks of equal values in each draw; a value of weight w counts as w values."""
    import numpy as np

    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    heights = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(heights, axis=1) - heights / 2 + 0.5
    return np.asarray(middle[:, place])


def plain_ranks(values: "Floats") -> "Floats":
    import numpy as np

    (ranked,) = ranks(values, np.ones((1, len(values))))
    return np.asarray(ranked)


def _classes(points: Sequence[tuple[Rating, float]], seed: int) -> Classes | None:
    rated: set[float] = set()
    judged: set[float] = set()
    both: dict[str, dict[str, float]] = {}
    for place, (rating, score) in enumerate(points):
        rated.add(rating.value)
        judged.add(score)
        both[f"{place}"] = {"people": rating.value, "judge": score}
    if not points or len(rated | judged) > MOST_CLASSES or not judged <= _range(rated):
        return None
    table = RatingTable(both)
    precision, recall, f1 = _macro(points, rated)
    return Classes(
        agreement=estimate(table.percentage, len(both), seed),
        precision=precision,
        recall=recall,
        f1=f1,
        kappa=estimate(table.cohen, len(both), seed),
        kappa_weighted=estimate(table.cohen_weighted, len(both), seed),
    )


def _range(values: set[float]) -> set[float]:
    """The whole numbers between the least and the most, beside the values themselves."""
    low, high = int(min(values)), int(max(values))
    return values | {float(number) for number in range(low, high + 1)}


def _macro(
    points: Sequence[tuple[Rating, float]], classes: set[float]
) -> tuple[float, float, float]:
    hits: Counter[float] = Counter()
    judged: Counter[float] = Counter()
    rated: Counter[float] = Counter()
    for rating, score in points:
        judged[score] += 1
        rated[rating.value] += 1
        hits[score] += score == rating.value
    precision = recall = f1 = 0.0
    for value in classes:
        precision += hits[value] / judged[value] if judged[value] else 0.0
        recall += hits[value] / rated[value]
        f1 += 2 * hits[value] / (judged[value] + rated[value])
    count = len(classes)
    return precision / count, recall / count, f1 / count


def _people(ratings: Sequence[Rating], seed: int) -> Correlation | None:
    pearsons: list[Estimate] = []
    spearmans: list[Estimate] = []
    p = 0.0
    for first, _, both in pairs_of_raters(ratings):
        points: list[tuple[Rating, float]] = []
        for place, (own, other) in enumerate(both):
            points.append((Rating(f"{place}", own, first), other))
        correlation = _correlation(_Points(points), seed)
        pearsons.append(correlation.pearson)
        spearmans.append(correlation.spearman)
        p = max(p, correlation.p or 0.0)
    if not pearsons:
        return None
    return Correlation(_average(pearsons), _average(spearmans), p or None)


def _average(estimates: Sequence[Estimate]) -> Estimate:
    """Average the estimates; ends that are missing in one are missing in the result."""
    columns = zip(*map(astuple, estimates), strict=True)
    return Estimate(*map(_mean, columns))


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if len(defined) == len(values) else None


def _by_type(points: Sequence[tuple[Rating, float]], seed: int) -> Mapping[str, Estimate]:
    kinds: dict[str, list[tuple[Rating, float]]] = {}
    for rating, score in points:
        if rating.kind:
            kinds.setdefault(rating.kind, []).append((rating, score))
    estimates: dict[str, Estimate] = {}
    for kind, own in kinds.items():
        table = _Points(own)
        estimates[kind] = estimate(table.spearman, table.items, seed)
    return estimates


def _probes(
    points: Sequence[tuple[Rating, float]],
    features: Mapping[str, Mapping[str, float]],
    seed: int,
) -> dict[str, Estimate]:
    estimates: dict[str, Estimate] = {}
    for name, values in features.items():
        measured = [(rating, score) for rating, score in points if rating.item in values]
        if not measured:
            continue
        table = _Points(measured)
        higher = plain_ranks(table.judge) - plain_ranks(table.people)
        differences = [
            (rating._replace(value=float(more)), values[rating.item])
            for (rating, _), more in zip(measured, higher, strict=True)
        ]
        table = _Points(differences)
        estimates[name] = estimate(table.spearman, table.items, seed)
    return estimates


def _powered(ratings: Sequence[Rating], scores: Mapping[str, float | None]) -> PoweredMean | None:
    """From the items that people rated, and those that only the judge did."""
    by_item: dict[str, list[float]] = {}
    for rating in ratings:
        by_item.setdefault(rating.item, []).append(rating.value)
    labels: list[float] = []
    own: list[float] = []
    others: list[float] = []
    for item, score in scores.items():
        if score is not None and item in by_item:
            labels.append(sum(by_item[item]) / len(by_item[item]))
            own.append(score)
        elif score is not None:
            others.append(score)
    return powered_mean(labels, own, others)


def powered_mean(
    labels: Sequence[float], scores: Sequence[float], others: Sequence[float]
) -> PoweredMean | None:
    """The mean by prediction-powered inference with its power tuned to the data (Angelopoulos,
    Duchi, Zrnic 2023, "PPI++", arXiv:2311.01453): the judge may be as wrong as it likes, the
    estimate stays unbiased; how good the judge is decides only how narrow the interval is.

    labels, scores: of the items that people rated, in one order; others: the judge's scores of the
    rest. None with fewer than two of either."""
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels have {len(scores)} scores")
    rated, rest = len(labels), len(others)
    if rated < 2 or rest < 2:
        return None
    spread = variance([*scores, *others])
    power = 0.0
    if spread > 0:
        power = _covariance(labels, scores) / ((1 + rated / rest) * spread)
        power = max(0.0, min(1.0, power))
    errors = [label - power * score for label, score in zip(labels, scores, strict=True)]
    value = power * fmean(others) + fmean(errors)
    z = NormalDist().inv_cdf(0.975)
    half = z * sqrt(power**2 * variance(others) / rest + variance(errors) / rated)
    alone = z * sqrt(variance(labels) / rated)
    mean = fmean(labels)
    return PoweredMean(
        value=value,
        low=value - half,
        high=value + half,
        power=power,
        people_low=mean - alone,
        people_high=mean + alone,
    )


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    own, other = fmean(first), fmean(second)
    products = [(a - own) * (b - other) for a, b in zip(first, second, strict=True)]
    return sum(products) / (len(products) - 1)


def alignment_table(alignment: JudgeAlignment) -> str:
    """Tabulate alignment, one line for each measure."""
    p = f", p {p_value(alignment.p)}" if alignment.p is not None else ""
    rows = [("Pearson", estimate_words(alignment.pearson))]
    rows.append(("Spearman", estimate_words(alignment.spearman) + p))
    if alignment.people:
        rows.append(("people with each other, Pearson", estimate_words(alignment.people.pearson)))
        rows.append(("people with each other, Spearman", estimate_words(alignment.people.spearman)))
    if alignment.classes:
        own = alignment.classes
        macro = f"{own.precision:.3f} / {own.recall:.3f} / {own.f1:.3f}"
        rows.append(("equal", estimate_words(own.agreement)))
        rows.append(("precision / recall / F1, macro", macro))
        rows.append(("kappa", estimate_words(own.kappa)))
        rows.append(("kappa, weighted", estimate_words(own.kappa_weighted)))
    rows += [(f"leans to {name}", estimate_words(own)) for name, own in alignment.probes.items()]
    rows += [
        (f"Spearman of {kind}", estimate_words(own)) for kind, own in alignment.by_type.items()
    ]
    if alignment.powered:
        mean = alignment.powered
        both = f"{mean.value:.3f} ({interval(mean.low, mean.high)})"
        rows.append(("mean of all, by people and judge", both))
        alone = interval(mean.people_low, mean.people_high)
        rows.append(("mean of all, by people alone", alone))
    return markdown_table(("measure", "value"), rows)
