"""What tuning comes to, on cases that it has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ombud.errors import LabError
from ombud.lab.cases.splits import select_split
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import (
    Contrast,
    RecordedRun,
    compare_runs,
    correct_together,
)
from ombud.lab.tuning.searching import (
    FINALISTS,
    PRESENT,
    FinishedSearch,
    HeldOut,
    Trial,
    Tuning,
    ask_cell,
    search_best,
    spread,
    time_in_turn,
)
from ombud.store import list_runs
from ombud.types import Case


@dataclass(frozen=True, slots=True)
class Finalist:
    """Settings of the front beside the present ones, on held-out cases."""

    trial: Trial
    recorded: RecordedRun
    contrasts: tuple[Contrast, ...]
    """Of all metrics, these settings minus the present ones; `adjusted` is over all metrics of all
    finalists."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """A search on the dev split, and what it chose beside the present settings on the test
    split."""

    search: FinishedSearch
    present: RecordedRun
    """The present settings on the test split."""
    finalists: tuple[Finalist, ...]
    """Empty where nothing was better than the present settings."""
    looks: int
    """How many other settings this study has already shown on the test split."""


class Halves:
    """A dataset in two: what may be tuned on, and what comes out only at the end.

    Raises LabError where one is empty. The sealed split is in neither."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.dev = select_split(cases, "dev")
        self.test = HeldOut(select_split(cases, "test"))
        if not self.dev or not len(self.test):
            raise LabError(
                f"{len(self.dev)} cases are in the split dev and {len(self.test)} in test; both "
                "are needed.",
                hint="Give more cases.",
            )


async def tune_halves(
    tuning: Tuning, halves: Halves, trials: int, seed: int, *, timed: int = 0
) -> Tuned:
    """Tune on the dev split; the figures are the test split's. timed: test cases on which finalists
    and present settings are timed in turn; an objective that is a time needs some."""
    search = await search_best(_on_split(tuning, "dev"), halves.dev, trials, seed)
    cases = halves.test.reveal(search)
    tuning = _on_split(tuning, "test")
    chosen = [trial for trial in spread(search.front, FINALISTS) if trial.cell]
    looks = _looks(tuning, chosen)
    runs = [await ask_cell(tuning, PRESENT, cases, "test ")]
    for trial in chosen:
        runs.append(await ask_cell(tuning, trial.cell, cases, "test "))
    if timed and len(runs) > 1:
        runs = await time_in_turn(tuning, runs, timed)
    metrics = list(map(str, tuning.options.metrics))
    if timed:
        metrics.append(TIMED)
    finalists: list[Finalist] = []
    for trial, recorded in zip(chosen, runs[1:], strict=True):
        contrasts = compare_runs(runs[0], recorded, by=["overall"], metrics=metrics)
        finalists.append(Finalist(trial, recorded, contrasts))
    return Tuned(search, runs[0], _corrected(finalists), looks)


def _on_split(tuning: Tuning, split: str) -> Tuning:
    return replace(tuning, options=replace(tuning.options, split=split))


def _looks(tuning: Tuning, chosen: Sequence[Trial]) -> int:
    """Count the other settings of this study that were measured on the test split before."""
    now = {f"test {trial.label}"[:200] for trial in chosen} | {"test"}
    names: set[str] = set()
    for run in list_runs(tuning.store, study=tuning.options.study):
        if run.split == "test" and run.name not in now:
            names.add(run.name)
    return len(names)


def _corrected(finalists: Sequence[Finalist]) -> tuple[Finalist, ...]:
    """Correct p by Holm over everything that is reported."""
    rows = iter(correct_together([row for finalist in finalists for row in finalist.contrasts]))
    corrected: list[Finalist] = []
    for finalist in finalists:
        own = tuple(islice(rows, len(finalist.contrasts)))
        corrected.append(replace(finalist, contrasts=own))
    return tuple(corrected)
