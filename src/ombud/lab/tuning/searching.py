"""A search for the best settings, on cases that the reported figure is not taken from.

Optuna's TPE sampler proposes (Bergstra et al. 2011; Akiba et al. 2019). It is seeded and each trial
is a run that is kept, so a search that is stopped goes on with the same command: it proposes the
same again and takes what is done."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import RecordedRun, direction, read_run
from ombud.lab.runs.running import JudgeOf, OnProgress, RunOptions, no_progress, run_cases
from ombud.lab.runs.sweeping import Axes, Cell, cell_label, changed_settings, part, quality
from ombud.lab.runs.target import Target
from ombud.store import Store
from ombud.types import Case, Run

if TYPE_CHECKING:
    import optuna

    from ombud.lab.metrics.metric import Instruments

STARTUP = 10
"""Trials at random before the sampler learns: Optuna's own default."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One proposal and what came of it, on the cases that are tuned on."""

    cell: Cell
    run: Run
    values: tuple[float | None, ...]
    """Means of the objectives; None where no case had a value."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a search needs beside its cases."""

    target: Target
    store: Store
    options: RunOptions
    """With `metrics` that hold all objectives, and `study`."""
    objectives: tuple[str, ...]
    axes: Axes
    instruments: "Callable[[Target], Instruments]"
    judge_of: JudgeOf | None = None
    on_progress: OnProgress = no_progress
    variants: dict[str, Target] = field(default_factory=dict)

    def variant_of(self, cell: Mapping[str, Any]) -> Target:
        """The target with the index, or the models, that a cell asks for; each is made once."""
        changed = changed_settings(cell)
        name = json.dumps(changed, sort_keys=True)
        if name not in self.variants:
            self.variants[name] = self.target.variant(changed) if changed else self.target
        return self.variants[name]


async def search_best(
    tuning: Tuning, cases: Sequence[Case], trials: int, seed: int
) -> tuple[Trial, ...]:
    """Ask these cases in up to so many settings; every trial, in the order proposed.

    The same settings are asked once however often they are proposed. Raises LabError for an
    objective that is neither better nor worse, or that was not taken in turn.
    """
    import optuna

    _check(tuning.objectives)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    either = optuna.study.StudyDirection
    directions = [
        either.MAXIMIZE if direction(objective) > 0 else either.MINIMIZE
        for objective in tuning.objectives
    ]
    sampler = optuna.samplers.TPESampler(
        seed=seed, multivariate=True, n_startup_trials=min(STARTUP, trials)
    )
    study = optuna.create_study(sampler=sampler, directions=directions)
    done: dict[str, Trial] = {}
    ordered: list[Trial] = []
    for number in range(trials):
        tuning.on_progress("tune", number, trials)
        asked = study.ask()
        cell = _proposed(asked, tuning.axes)
        key = cell_label(cell)
        if key not in done:
            done[key] = await _try(tuning, cell, cases)
        trial = done[key]
        ordered.append(trial)
        values = [value for value in trial.values if value is not None]
        if len(values) < len(trial.values):
            study.tell(asked, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(asked, values)
    tuning.on_progress("tune", trials, trials)
    return tuple(ordered)


async def ask_cell(tuning: Tuning, cell: Cell, cases: Sequence[Case], label: str) -> RecordedRun:
    """A run of these cases in one cell's settings, under a name of its own."""
    variant = await asyncio.to_thread(tuning.variant_of, cell)
    options = replace(
        tuning.options,
        name=f"{label}{cell_label(cell)}"[:200],
        plan={**tuning.options.plan, **part(cell, "plan")},
        changed=changed_settings(cell),
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


def best_of(trials: Sequence[Trial], objectives: Sequence[str]) -> list[Trial]:
    """The trials that no other one beats, each setting once; of one objective the best alone, the
    first of several as good. Raises LabError where none has a value."""
    valued: dict[str, Trial] = {}
    for trial in trials:
        if None not in trial.values:
            valued.setdefault(cell_label(trial.cell), trial)
    if not valued:
        raise LabError(
            f"No trial has a value of {', '.join(objectives)}.",
            hint="Choose a metric that these cases can have: `ombud lab run` shows which.",
        )
    signs = [direction(objective) for objective in objectives]
    front: list[Trial] = []
    for trial in valued.values():
        if not any(_beats(other, trial, signs) for other in valued.values()):
            front.append(trial)
    return front[:1] if len(objectives) == 1 else front


async def _try(tuning: Tuning, cell: Cell, cases: Sequence[Case]) -> Trial:
    recorded = await ask_cell(tuning, cell, cases, "tune ")
    means = [quality(recorded, objective).value for objective in tuning.objectives]
    return Trial(cell, recorded.run, tuple(means))


def _proposed(asked: "optuna.trial.Trial", axes: Axes) -> Cell:
    """By place in the axis, for Optuna's choices hold no lists."""
    cell: dict[str, Any] = {}
    for key, values in axes.items():
        place = asked.suggest_categorical(key, list(range(len(values))))
        cell[key] = values[place]
    return cell


def _check(objectives: Sequence[str]) -> None:
    for objective in objectives:
        if objective == TIMED:
            raise LabError(
                f"`{TIMED}` is no objective: it compares only what was timed together.",
                hint="The finalists are timed in turn, with --timed.",
            )
        if not direction(objective):
            raise LabError(
                f"`{objective}` is no objective: neither more nor less of it is better.",
                hint="Such as outcome_accuracy, citation_recall, price.",
            )


def _beats(other: Trial, trial: Trial, signs: Sequence[int]) -> bool:
    gains: list[float] = []
    for sign, mine, theirs in zip(signs, trial.values, other.values, strict=True):
        if mine is None or theirs is None:
            return False
        gains.append(sign * (theirs - mine))
    return min(gains) >= 0 and max(gains) > 0
