"""Asking and judging again what did not change, to see how much of a figure is noise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

from ombud.errors import LabError
from ombud.lab.judges.asking import Judge
from ombud.lab.judges.judging import grade_value
from ombud.lab.metrics.metric import Grade
from ombud.lab.metrics.parsing import find_measure
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.tuning.noise import Variance, variance_of
from ombud.lab.tuning.searching import Tuning, ask_cell
from ombud.types import Case, Observation

LIKERT = "1-5"


@dataclass(frozen=True, slots=True)
class MetricNoise:
    metric: str
    variance: Variance
    means: tuple[float, ...]
    """Of each repeat."""
    histogram: Mapping[int, int]
    """Of a metric on a scale of 1-5: grade -> how often; else empty."""


async def measure_noise(
    tuning: Tuning, cases: Sequence[Case], repeats: int, judgements: int = 1
) -> tuple[MetricNoise, ...]:
    """Ask the cases anew so many times, have judged metrics given so many times for each answer,
    and split the variance; over the cases that have every value. Raises LabError for fewer than
    two repeats."""
    if repeats < 2:
        raise LabError("One repeat shows no noise.", hint="--repeats 3, for example.")
    runs: list[RecordedRun] = []
    for number in range(repeats):
        tuning.on_progress("noise", number, repeats)
        runs.append(await ask_cell(tuning, {}, cases, f"repeat {number + 1} "))
    tuning.on_progress("noise", repeats, repeats)
    found: list[MetricNoise] = []
    for metric in runs[0].metrics:
        rounds = [await _judged_values(tuning, run, metric, judgements) for run in runs]
        noise = _noise_of(metric, rounds)
        if noise:
            found.append(noise)
    return tuple(found)


async def _judged_values(
    tuning: Tuning, run: RecordedRun, metric: str, judgements: int
) -> dict[str, list[float]]:
    """Case -> its values by one judge, first as the run has it, then asked again; without the cases
    that lack one."""
    values = _first_values(run, metric)
    measure = find_measure(metric)
    if measure is None or measure.grade is None or tuning.judge_of is None:
        return values
    seen = {one.case.id: one for one in run.observations if one.case.id in values}
    for number in range(1, judgements):
        judge = tuning.judge_of(run.run.id).again(number)
        for case_id, observation in seen.items():
            values[case_id] += await _again(measure.grade, observation, judge)
    return {case_id: given for case_id, given in values.items() if len(given) == judgements}


async def _again(grade: Grade, observation: Observation, judge: Judge) -> list[float]:
    """One value, or none."""
    value = await grade_value(grade, observation, judge)
    return [] if value is None else [value]


def _first_values(run: RecordedRun, metric: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for case_id, score in run.values(metric).items():
        if score.value is not None:
            values[case_id] = [score.value]
    return values


def _noise_of(metric: str, rounds: Sequence[Mapping[str, Sequence[float]]]) -> MetricNoise | None:
    """None where nothing can be said."""
    whole = sorted(set(rounds[0]).intersection(*rounds[1:]))
    repeated: dict[str, list[Sequence[float]]] = {}
    for case in whole:
        repeated[case] = [values[case] for values in rounds]
    variance = variance_of(repeated)
    if variance is None:
        return None
    measure = find_measure(metric)
    is_likert = measure is not None and measure.unit == LIKERT
    return MetricNoise(
        metric=metric,
        variance=variance,
        means=tuple(_mean(values, whole) for values in rounds),
        histogram=_histogram(repeated) if is_likert else {},
    )


def _mean(values: Mapping[str, Sequence[float]], cases: Sequence[str]) -> float:
    return fmean(chain.from_iterable(values[case] for case in cases))


def _histogram(repeated: Mapping[str, Sequence[Sequence[float]]]) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for answers in repeated.values():
        counts.update(round(value) for value in chain.from_iterable(answers))
    return dict(sorted(counts.items()))
