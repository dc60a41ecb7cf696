"""How much of a figure is noise: of answers that differ when asked again, of a judge who differs
when asked again, and what is left, the cases themselves.

Components of variance by the method of moments for nested random effects (Searle, Casella,
McCulloch 1992, chapter 3): judgements within answers within cases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

Repeated = Mapping[str, Sequence[Sequence[float]]]
"""Case -> answers -> judgements of that answer; as many of both for every case."""


@dataclass(frozen=True, slots=True)
class Variance:
    """Components of one metric's variance; never below 0."""

    case: float
    answer: float
    judge: float
    cases: int
    answers: int
    """Of each case."""
    judgements: int
    """Of each answer."""
    deviation: float
    """Standard deviation of one judged answer around its case's mean: what a single run wavers."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """(case, answer, judge) of all; 0 where nothing varies."""
        total = self.case + self.answer + self.judge
        if not total:
            return 0.0, 0.0, 0.0
        return self.case / total, self.answer / total, self.judge / total


def variance_of(repeated: Repeated) -> Variance | None:
    """None without two cases, or without two answers of each.

    Raises ValueError where cases have different numbers of answers or judgements.
    """
    shapes = {(len(answers), *map(len, answers)) for answers in repeated.values()}
    if len(shapes) > 1 or any(len(set(shape[1:])) > 1 for shape in shapes):
        raise ValueError("every case needs as many answers and judgements as any other")
    if len(repeated) < 2:
        return None
    shape = shapes.pop()
    answers = shape[0]
    if answers < 2:
        return None
    judgements = shape[1]
    within, between, of_cases = _mean_squares(repeated, answers, judgements)
    judge = within if judgements > 1 else 0.0
    answer = max(0.0, (between - judge) / judgements)
    case = max(0.0, (of_cases - between) / (answers * judgements))
    return Variance(
        case=case,
        answer=answer,
        judge=judge,
        cases=len(repeated),
        answers=answers,
        judgements=judgements,
        deviation=(answer + judge) ** 0.5,
    )


def _mean_squares(repeated: Repeated, answers: int, judgements: int) -> tuple[float, float, float]:
    """Within answers, between answers of a case, between cases."""
    within = 0.0
    between = 0.0
    means: list[float] = []
    for case in repeated.values():
        of_answers = [fmean(values) for values in case]
        mean = fmean(of_answers)
        means.append(mean)
        for values, own in zip(case, of_answers, strict=True):
            within += sum((value - own) ** 2 for value in values)
            between += judgements * (own - mean) ** 2
    whole = fmean(means)
    of_cases = answers * judgements * sum((mean - whole) ** 2 for mean in means)
    count = len(repeated)
    within_degrees = count * answers * (judgements - 1)
    return (
        within / within_degrees if within_degrees else 0.0,
        between / (count * (answers - 1)),
        of_cases / (count - 1),
    )
