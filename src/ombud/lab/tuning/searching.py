"""A search for the best settings, on cases that the reported figure is not taken from.

Optuna's TPE sampler proposes (Bergstra et al. 2011; Akiba et al. 2019). It is seeded and each trial
is a run that is kept, so a search that is stopped goes on with the same command: it proposes the
same again and takes what is done."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from statistics import median
from typing import Any

from ombud.errors import LabError
from ombud.lab.metrics.metric import Instruments
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import RecordedRun, direction, read_run
from ombud.lab.runs.running import JudgeOf, OnProgress, RunOptions, no_progress, run_cases
from ombud.lab.runs.sweeping import Axes, Cell, cell_label, changed_settings, part
from ombud.lab.runs.target import Target
from ombud.lab.runs.timing import time_runs
from ombud.lab.tuning.proposing import Proposer
from ombud.store import Store
from ombud.types import Case, Run

PRESENT: Cell = {}
"""The settings as they are: nothing is set."""
FINALISTS = 6
"""Most settings of a front that are timed and reported: more would only find more luck."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings of a search: its target, metrics, objectives and axes."""

    target: Target
    store: Store
    options: RunOptions
    """With `metrics` that hold all objectives but times, and `study`."""
    objectives: tuple[str, ...]
    """The first counts most."""
    axes: Axes
    instruments: Callable[[Target], Instruments]
    judge_of: JudgeOf | None = None
    on_progress: OnProgress = no_progress
    variants: dict[str, Target] = field(default_factory=dict)

    def variant_of(self, changed: Mapping[str, Any]) -> Target:
        """Return the target over the index, or with the models, that these settings ask for; each
        is made once."""
        name = json.dumps(changed, sort_keys=True)
        if name not in self.variants:
            self.variants[name] = self.target.variant(changed) if changed else self.target
        return self.variants[name]


@dataclass(frozen=True, slots=True)
class Trial:
    """A proposed cell and its results on the cases used for tuning."""

    cell: Cell
    run: Run
    values: tuple[float | None, ...]
    """Means of the objectives, of a time the median seconds; None where no case had a value."""
    valid: int
    """Cases that have a value of the first objective."""

    @property
    def label(self) -> str:
        return cell_label(self.cell) or "present settings"


@dataclass(frozen=True, slots=True)
class FinishedSearch:
    """Result of a search: its trials and the best among them."""

    trials: tuple[Trial, ...]
    """Each settings once, in the order asked; the first are the present ones."""
    front: tuple[Trial, ...]
    """Those that no other beats, best in the first objective first; of one objective the best
    alone. Their times were taken in turn."""
    asked: frozenset[str]
    """Ids of the cases."""
    cells: int
    """How many settings the axes hold."""

    @property
    def present(self) -> Trial:
        return self.trials[0]


class HeldOut:
    """Cases that no search sees: they come out only against what a finished search chose."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = tuple(cases)

    def __len__(self) -> int:
        return len(self._cases)

    def reveal(self, search: FinishedSearch) -> tuple[Case, ...]:
        """Raises LabError where the search was asked one of them."""
        seen = search.asked.intersection(case.id for case in self._cases)
        if seen:
            raise LabError(
                f"{len(seen)} cases were tuned on, such as {min(seen)}: nothing can be reported.",
                hint="Tune on other cases than those of the report.",
            )
        return self._cases


async def search_best(
    tuning: Tuning, cases: Sequence[Case], trials: int, seed: int
) -> FinishedSearch:
    """Ask these cases in the present settings and in up to so many others.

    The same settings are asked once however often they are proposed, and then count once. Raises
    LabError for an objective of which neither more nor less is better."""
    signs = _signs(tuning.objectives)
    if not set(tuning.objectives) - TIMES:
        raise LabError(
            "A time alone is no objective: what answers nothing is fastest.",
            hint="Name beside it what is to stay good, such as outcome_accuracy.",
        )
    described = await asyncio.to_thread(tuning.target.describe)
    present = await _try(tuning, PRESENT, cases)
    present_plan = {**described.get("plan", {}), **tuning.options.plan}
    proposer = Proposer(tuning.axes, signs, seed)
    proposer.learn(present_plan, present.values)
    tried = [present]
    for number in range(trials):
        tuning.on_progress("tune", number, trials)
        cell = proposer.propose()
        if cell is None:
            break
        trial = await _try(tuning, cell, cases)
        proposer.tell(trial.values)
        tried.append(trial)
    tuning.on_progress("tune", trials, trials)
    front = best_of(tried, tuning.objectives)
    if set(tuning.objectives) & TIMES:
        tried, front = await _timed(tuning, tried, front)
    return FinishedSearch(
        trials=tuple(tried),
        front=tuple(front),
        asked=frozenset(case.id for case in cases),
        cells=prod(map(len, tuning.axes.values())),
    )


async def ask_cell(tuning: Tuning, cell: Cell, cases: Sequence[Case], label: str) -> RecordedRun:
    """Run these cases in one cell's settings, under a name of its own."""
    changed = {**tuning.options.changed, **changed_settings(cell)}
    variant = await asyncio.to_thread(tuning.variant_of, changed)
    options = replace(
        tuning.options,
        name=f"{label}{cell_label(cell)}".strip()[:200],
        plan={**tuning.options.plan, **part(cell, "plan")},
        changed=changed,
    )
    run = await run_cases(
        cases,
        variant,
        tuning.store,
        options,
        instruments=tuning.instruments(variant),
        on_progress=tuning.on_progress,
        reuse=True,
        judge_of=tuning.judge_of,
    )
    return await asyncio.to_thread(read_run, tuning.store, run.id)


async def time_in_turn(
    tuning: Tuning, runs: Sequence[RecordedRun], cases: int
) -> list[RecordedRun]:
    """Add `warm_latency` to the runs by asking their cases again, warm and in turn."""
    await time_runs(
        [recorded.run for recorded in runs],
        tuning.store,
        lambda run: tuning.variant_of(run.config.get("changed", {})),
        cases=cases,
        on_progress=tuning.on_progress,
    )
    timed: list[RecordedRun] = []
    for recorded in runs:
        timed.append(await asyncio.to_thread(read_run, tuning.store, recorded.run.id))
    return timed


def best_of(trials: Sequence[Trial], objectives: Sequence[str]) -> list[Trial]:
    """Select the trials that no other one beats, best in the first objective first; with one
    objective only the best, the first of equally good ones. Raises LabError if none has a value."""
    valued = [trial for trial in trials if None not in trial.values]
    if not valued:
        raise LabError(
            f"No trial has a value of {', '.join(objectives)}.",
            hint="Choose a metric that these cases can have: `ombud lab run` shows which.",
        )
    signs = _signs(objectives)
    front: list[Trial] = []
    for trial in valued:
        if not any(_beats(other, trial, signs) for other in valued):
            front.append(trial)

    def first_objective(trial: Trial) -> float:
        return -signs[0] * (trial.values[0] or 0.0)

    front.sort(key=first_objective)
    return front[:1] if len(objectives) == 1 else front


TIMES = {TIMED, "latency"}
"""Objectives that a trial by itself cannot measure: while searching its own times lead, of the
finalists the times that are taken in turn count."""
_TIMED_CASES = 20


async def _timed(
    tuning: Tuning, tried: Sequence[Trial], front: Sequence[Trial]
) -> tuple[list[Trial], list[Trial]]:
    """Time the finalists and the present settings comparably, and find the front among them."""
    finalists = [tried[0]]
    for trial in spread(front, FINALISTS):
        if trial is not tried[0]:
            finalists.append(trial)
    runs: list[RecordedRun] = []
    for trial in finalists:
        runs.append(await asyncio.to_thread(read_run, tuning.store, trial.run.id))
    retimed: list[Trial] = []
    for trial, recorded in zip(
        finalists, await time_in_turn(tuning, runs, _TIMED_CASES), strict=True
    ):
        values: list[float | None] = []
        for objective, value in zip(tuning.objectives, trial.values, strict=True):
            values.append(_warm_seconds(recorded) if objective in TIMES else value)
        retimed.append(replace(trial, values=tuple(values)))
    by_run = {trial.run.id: trial for trial in retimed}
    all_trials = [by_run.get(trial.run.id, trial) for trial in tried]
    return all_trials, best_of(retimed, tuning.objectives)


def spread(front: Sequence[Trial], most: int) -> list[Trial]:
    """Choose so many of a front, both ends among them, spaced evenly."""
    if len(front) <= most:
        return list(front)
    places = [round(number * (len(front) - 1) / (most - 1)) for number in range(most)]
    return [front[place] for place in dict.fromkeys(places)]


async def _try(tuning: Tuning, cell: Cell, cases: Sequence[Case]) -> Trial:
    recorded = await ask_cell(tuning, cell, cases, "tune ")
    values: list[float | None] = []
    for objective in tuning.objectives:
        is_time = objective in TIMES
        values.append(_seconds(recorded) if is_time else recorded.overall(objective).mean.value)
    first = tuning.objectives[0]
    valid = len(cases) if first in TIMES else recorded.overall(first).mean.valid
    return Trial(cell=cell, run=recorded.run, values=tuple(values), valid=valid)


def _seconds(recorded: RecordedRun) -> float | None:
    """Return the median of the run's own times, under whatever load there was."""
    times: list[float] = []
    for seen in recorded.observations:
        if seen.seconds is not None and not seen.error:
            times.append(seen.seconds)
    return median(times) if times else None


def _warm_seconds(recorded: RecordedRun) -> float | None:
    times: list[float] = []
    for score in recorded.values(TIMED).values():
        if score.value is not None:
            times.append(score.value)
    return median(times) if times else None


def _signs(objectives: Sequence[str]) -> list[int]:
    """Return 1 where more is better, -1 where less is."""
    signs: list[int] = []
    for objective in objectives:
        sign = -1 if objective in TIMES else direction(objective)
        if not sign:
            raise LabError(
                f"`{objective}` is no objective: neither more nor less of it is better.",
                hint="Such as outcome_accuracy, citation_recall, price, latency.",
            )
        signs.append(sign)
    return signs


def _beats(other: Trial, trial: Trial, signs: Sequence[int]) -> bool:
    gains: list[float] = []
    for sign, mine, theirs in zip(signs, trial.values, other.values, strict=True):
        if mine is None or theirs is None:
            return False
        gains.append(sign * (theirs - mine))
    return min(gains) >= 0 and max(gains) > 0
