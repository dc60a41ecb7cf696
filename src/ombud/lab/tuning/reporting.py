"""What tuning comes to, on cases it has not seen."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from ombud.errors import LabError
from ombud.lab.cases.splits import select_split
from ombud.lab.metrics.parsing import TIMED, parse_metric
from ombud.lab.report.comparing import Contrast, RecordedRun, compare_runs, read_run
from ombud.lab.report.summary import cluster_of
from ombud.lab.runs.sweeping import Cell
from ombud.lab.runs.target import Target
from ombud.lab.runs.timing import time_runs
from ombud.lab.statistics import Comparison, Mean, compare, mean
from ombud.lab.tuning.searching import Trial, Tuning, ask_cell, best_of, search_best
from ombud.types import Case, Run


@dataclass(frozen=True, slots=True)
class Tuned:
    """A search on the dev split; its best settings beside the present ones on the test split."""

    trials: tuple[Trial, ...]
    best: tuple[Trial, ...]
    """The front, by the first objective, best first."""
    before: RecordedRun
    """The present settings on the test split."""
    after: RecordedRun
    """The best ones on the test split."""
    contrasts: tuple[Contrast, ...]
    """Of the objectives, test split, after minus before."""


@dataclass(frozen=True, slots=True)
class FoldOutcome:
    """One part of the cases, answered in the settings that the other parts chose."""

    cell: Cell
    cases: int
    tuned: float | None
    """Mean on the parts that it was tuned on: too good to be true."""
    held_out: float | None
    """Mean on the part that it has not seen."""


@dataclass(frozen=True, slots=True)
class Nested:
    folds: tuple[FoldOutcome, ...]
    before: Mean
    """The present settings on all the cases."""
    after: Mean
    """Each case in the settings that were tuned without it."""
    comparison: Comparison


async def tune_halves(tuning: Tuning, cases: Sequence[Case], trials: int, seed: int) -> Tuned:
    """Tune on the dev split; the figure is the test split's. Raises LabError where one is empty."""
    dev = select_split(cases, "dev")
    test = select_split(cases, "test")
    if not dev or not test:
        raise LabError(
            f"{len(dev)} cases are in the split dev and {len(test)} in test; both are needed.",
            hint="Give more cases, or --folds 5.",
        )
    tried = await search_best(tuning, dev, trials, seed)
    front = best_of(tried, tuning.objectives)
    before = await ask_cell(tuning, {}, test, "before ")
    after = await ask_cell(tuning, front[0].cell, test, "after ")
    contrasts = compare_runs(before, after, by=["overall"], metrics=tuning.objectives)
    return Tuned(tried, tuple(front), before, after, contrasts)


async def time_tuned(tuning: Tuning, tuned: Tuned, cases: int) -> Contrast:
    """The best settings against the present ones, timed in turn."""

    def set_up(run: Run) -> Target:
        return tuning.variant_of(run.config.get("changed", {}))

    runs = [tuned.before.run, tuned.after.run]
    await time_runs(runs, tuning.store, set_up, cases=cases, on_progress=tuning.on_progress)
    before, after = [await asyncio.to_thread(read_run, tuning.store, run.id) for run in runs]
    (contrast,) = compare_runs(before, after, by=["overall"], metrics=[TIMED])
    return contrast


async def tune_nested(
    tuning: Tuning, cases: Sequence[Case], trials: int, seed: int, folds: int
) -> Nested:
    """Cross-validation around the search: each part of dev and test is answered in the settings
    that were tuned without it. One objective, the first. Raises LabError where a part is empty."""
    open_cases = select_split(cases, "open")
    objective = tuning.objectives[0]
    parts = _parts(open_cases, folds)
    if not all(parts):
        raise LabError(
            f"{len(open_cases)} cases do not fill {folds} folds.", hint="Give fewer --folds."
        )
    outcomes: list[FoldOutcome] = []
    before: dict[str, float | None] = {}
    after: dict[str, float | None] = {}
    for number, held_out in enumerate(parts):
        ids = {case.id for case in held_out}
        rest = [case for case in open_cases if case.id not in ids]
        tried = await search_best(tuning, rest, trials, seed + number)
        chosen = best_of(tried, [objective])[0]
        seen = await ask_cell(tuning, chosen.cell, held_out, f"fold {number + 1} ")
        plain = await ask_cell(tuning, {}, held_out, f"fold {number + 1} before ")
        after |= _values(seen, objective)
        before |= _values(plain, objective)
        own = mean(list(_values(seen, objective).values()))
        outcomes.append(FoldOutcome(chosen.cell, len(held_out), chosen.values[0], own.value))
    return _nested(outcomes, open_cases, before, after)


def _nested(
    outcomes: Sequence[FoldOutcome],
    cases: Sequence[Case],
    before: dict[str, float | None],
    after: dict[str, float | None],
) -> Nested:
    clusters = [cluster_of(case) for case in cases]
    first = [before.get(case.id) for case in cases]
    second = [after.get(case.id) for case in cases]
    return Nested(
        folds=tuple(outcomes),
        before=mean(first, clusters),
        after=mean(second, clusters),
        comparison=compare(first, second, clusters),
    )


def _parts(cases: Sequence[Case], folds: int) -> list[list[Case]]:
    """By the ids' digests, so that a new case moves no other one."""
    parts: list[list[Case]] = [[] for _ in range(folds)]
    for case in cases:
        digest = sha256(f"fold {case.id}".encode()).digest()
        parts[int.from_bytes(digest[:4], "big") % folds].append(case)
    return parts


def _values(recorded: RecordedRun, metric: str) -> dict[str, float | None]:
    scores = recorded.values(str(parse_metric(metric)))
    return {case_id: score.value for case_id, score in scores.items()}
