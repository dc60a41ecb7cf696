"""How much of a figure is noise: of answers that differ when asked again, of a judge who differs
when asked again; what is left are the cases themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

Repeated = Mapping[str, Sequence[Sequence[float]]]
"""Case -> its answers -> judgements of each answer."""


@dataclass(frozen=True, slots=True)
class Variance:
    """Components of one metric's variance; an estimate below 0 is 0."""

    case: float
    answer: float
    judge: float | None
    """None where each answer has one judgement: then it is in that of answers."""
    cases: int
    answers: int
    """In all."""
    values: int
    deviation: float
    """Standard deviation of all values."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """(case, answer, judge) of their sum; 0 where nothing varies."""
        judge = self.judge or 0.0
        total = self.case + self.answer + judge
        if not total:
            return 0.0, 0.0, 0.0
        return self.case / total, self.answer / total, judge / total

    @property
    def noise_of_mean(self) -> float:
        """Standard deviation of the mean of one run over these cases, between runs in which
        nothing changed."""
        return sqrt((self.answer + (self.judge or 0.0)) / self.cases)


def variance_of(repeated: Repeated) -> Variance | None:
    """Judgements nested in answers nested in cases, all random: mean squares set equal to what is
    expected of them, also where cases have different numbers of answers or judgements (Searle,
    Casella & McCulloch 1992, 3.6; Sokal & Rohlf 1995, 10.3).

    None without two cases, or where no case has two answers."""
    cases = _given(repeated)
    answers = sum(map(len, cases))
    if len(cases) < 2 or answers == len(cases):
        return None
    sums = _sums_of(cases)
    degrees = sums.total - answers
    judge = sums.within / degrees if degrees else None
    between_answers = sums.between / (answers - len(cases))
    between_cases = sums.of_cases / (len(cases) - 1)
    # How often each component is in the two mean squares above.
    weight = (sums.total - sums.by_case) / (answers - len(cases))
    weight_above = (sums.by_case - sums.by_answer) / (len(cases) - 1)
    weight_cases = (sums.total - sums.squares) / (len(cases) - 1)
    answer = (between_answers - (judge or 0.0)) / weight
    case = (between_cases - (judge or 0.0) - weight_above * answer) / weight_cases
    return Variance(
        case=max(0.0, case),
        answer=max(0.0, answer),
        judge=judge,
        cases=len(cases),
        answers=answers,
        values=sums.total,
        deviation=stdev(_all_values(cases)),
    )


def _given(repeated: Repeated) -> list[list[Sequence[float]]]:
    """Without answers that have no judgement, and cases that have no answer."""
    cases: list[list[Sequence[float]]] = []
    for answers in repeated.values():
        judged = [values for values in answers if values]
        if judged:
            cases.append(judged)
    return cases


def _all_values(cases: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    values: list[float] = []
    for answers in cases:
        for given in answers:
            values += given
    return values


@dataclass(frozen=True, slots=True)
class _Sums:
    within: float
    """Squares of values around their answer's mean."""
    between: float
    """Of answers around their case's mean."""
    of_cases: float
    """Of cases around the mean of all."""
    total: int
    """Values."""
    by_case: float
    """Over answers: values squared by those of their case."""
    by_answer: float
    """Over answers: values squared by all."""
    squares: float
    """Over cases: values squared by all."""


def _sums_of(cases: Sequence[Sequence[Sequence[float]]]) -> _Sums:
    sizes: list[int] = []
    means: list[float] = []
    within = 0.0
    between = 0.0
    by_case = 0.0
    squared = 0
    for answers in cases:
        size = sum(map(len, answers))
        mean = sum(map(sum, answers)) / size
        sizes.append(size)
        means.append(mean)
        for values in answers:
            own = fmean(values)
            within += sum((value - own) ** 2 for value in values)
            between += len(values) * (own - mean) ** 2
            by_case += len(values) ** 2 / size
            squared += len(values) ** 2
    total = sum(sizes)
    whole = sum(size * mean for size, mean in zip(sizes, means, strict=True)) / total
    of_cases = 0.0
    for size, mean in zip(sizes, means, strict=True):
        of_cases += size * (mean - whole) ** 2
    return _Sums(
        within=within,
        between=between,
        of_cases=of_cases,
        total=total,
        by_case=by_case,
        by_answer=squared / total,
        squares=sum(size**2 for size in sizes) / total,
    )
