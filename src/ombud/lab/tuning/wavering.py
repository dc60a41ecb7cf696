"""Asking and judging again what did not change, to see how much of a figure is noise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ombud.errors import LabError
from ombud.lab.judges.asking import Judge
from ombud.lab.judges.judging import grade_value
from ombud.lab.metrics.metric import Grade
from ombud.lab.metrics.parsing import TIMED, find_measure
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.tuning.noise import Variance, variance_of
from ombud.lab.tuning.searching import PRESENT, Tuning, ask_cell

LIKERT = "1-5"


@dataclass(frozen=True, slots=True)
class MetricNoise:
    metric: str
    variance: Variance
    means: tuple[float, ...]
    """Of the run, then of each repeat, over the cases that have every value."""
    is_judged: bool
    wavering: tuple[str, ...]
    """Ids of cases whose answers have different values, those that differ most first."""
    histogram: Mapping[int, int]
    """Of a metric on a scale of 1-5: grade -> how often; else empty."""


async def measure_noise(
    tuning: Tuning, first: RecordedRun, repeats: int, judgements: int = 1
) -> tuple[MetricNoise, ...]:
    """Ask a run's cases so many times more, have judged metrics given so many times for each
    answer, and split the variance; over the cases that have every value.

    tuning: with the run's own plan, changes and metrics. Raises LabError for fewer than one repeat
    or judgement, and where the target is no longer what the run was made with."""
    if repeats < 1 or judgements < 1:
        raise LabError("Nothing is repeated.", hint="--repeats 2, for example.")
    cases = first.cases
    check_unchanged(first, tuning.variant_of(tuning.options.changed).describe())
    runs = [first]
    for number in range(repeats):
        tuning.on_progress("noise", number, repeats)
        runs.append(await ask_cell(tuning, PRESENT, cases, f"repeat {number + 1} "))
    tuning.on_progress("noise", repeats, repeats)
    found: list[MetricNoise] = []
    for metric in first.metrics:
        rounds = [await _values(tuning, run, metric, judgements) for run in runs]
        noise = noise_of(metric, rounds)
        if noise:
            found.append(noise)
    return tuple(found)


def check_unchanged(recorded: RecordedRun, described: Mapping[str, Any]) -> None:
    """Raises LabError naming what is no longer as it was when the run was made."""
    config = recorded.run.config
    changed: list[str] = []
    for key, value in described.items():
        if key in config and config[key] != value:
            changed.append(key)
    if changed:
        raise LabError(
            f"The target has changed since run {recorded.run.id}: {', '.join(sorted(changed))}.",
            hint="Make the run anew, then repeat that one: what changed is no noise.",
        )


def noise_of(metric: str, rounds: Sequence[Mapping[str, Sequence[float]]]) -> MetricNoise | None:
    """rounds: of each time that was asked, case -> judgements of its answer. Cases that lack one
    are left out; None where fewer than two are left."""
    repeated = _complete(rounds)
    variance = variance_of(repeated)
    if variance is None:
        return None
    measure = find_measure(metric)
    unit = measure.unit if measure else ""
    return MetricNoise(
        metric=metric,
        variance=variance,
        means=tuple(_mean_of(repeated, number) for number in range(len(rounds))),
        is_judged=measure is not None and measure.grade is not None,
        wavering=_wavering(repeated),
        histogram=_histogram(repeated) if unit == LIKERT else {},
    )


def _complete(
    rounds: Sequence[Mapping[str, Sequence[float]]],
) -> dict[str, list[Sequence[float]]]:
    """Case -> its answers, of the cases that have every answer with as many judgements as any."""
    most = 0
    for values in rounds:
        most = max([most, *map(len, values.values())])
    complete: dict[str, list[Sequence[float]]] = {}
    for case in rounds[0]:
        answers = [values.get(case, ()) for values in rounds]
        if all(len(given) == most for given in answers):
            complete[case] = answers
    return complete


def _wavering(repeated: Mapping[str, Sequence[Sequence[float]]]) -> tuple[str, ...]:
    spans: dict[str, float] = {}
    for case, answers in repeated.items():
        means = list(map(fmean, answers))
        span = max(means) - min(means)
        if span > 0:
            spans[case] = span
    return tuple(sorted(spans, key=lambda case: -spans[case]))


def _mean_of(repeated: Mapping[str, Sequence[Sequence[float]]], number: int) -> float:
    """Of the answers of one time."""
    return fmean([fmean(answers[number]) for answers in repeated.values()])


def _histogram(repeated: Mapping[str, Sequence[Sequence[float]]]) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for answers in repeated.values():
        for values in answers:
            counts.update(round(value) for value in values)
    return {grade: counts[grade] for grade in range(1, 6)}


async def _values(
    tuning: Tuning, run: RecordedRun, metric: str, judgements: int
) -> dict[str, list[float]]:
    """Case -> its values, first as the run has it, then judged again; without the cases that lack
    one. A computed metric has one: computed again it is the same."""
    values: dict[str, list[float]] = {}
    if metric == TIMED:
        return values
    for case_id, score in run.values(metric).items():
        if score.value is not None:
            values[case_id] = [score.value]
    measure = find_measure(metric)
    if measure is None or measure.grade is None or tuning.judge_of is None:
        return values
    for number in range(1, judgements):
        judge = tuning.judge_of(run.run.id).again(number)
        await _judge_again(run, measure.grade, judge, values)
    return {case_id: given for case_id, given in values.items() if len(given) == judgements}


async def _judge_again(
    run: RecordedRun, grade: Grade, judge: Judge, values: Mapping[str, list[float]]
) -> None:
    for seen in run.observations:
        if seen.case.id in values:
            value = await grade_value(grade, seen, judge)
            if value is not None:
                values[seen.case.id].append(value)
