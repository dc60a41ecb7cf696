"""What tuning comes to, on cases that it has not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from statistics import fmean

from ombud.errors import LabError
from ombud.lab.cases.splits import select_split
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import Contrast, RecordedRun, compare_runs
from ombud.lab.report.summary import cluster_of
from ombud.lab.statistics import Comparison, Mean, compare, holm, mean
from ombud.lab.tuning.searching import (
    FINALISTS,
    PRESENT,
    TIMES,
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


@dataclass(frozen=True, slots=True)
class FoldOutcome:
    """One part of the cases, answered in the settings that the other parts chose."""

    chosen: Trial
    cases: int
    tuned: float | None
    """Mean on the parts that it was tuned on: too good to be true."""
    held_out: float | None
    """Mean on the part that it has not seen."""
    present: float | None
    """Mean of the present settings on that part."""


@dataclass(frozen=True, slots=True)
class Nested:
    folds: tuple[FoldOutcome, ...]
    figure: float | None
    """Mean of the folds' held-out means."""
    present: Mean
    """The present settings on all the cases."""
    tuned: Mean
    """Each case in the settings that were tuned without it."""
    comparison: Comparison


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
                hint="Give more cases, or --split-by nested.",
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


async def tune_nested(
    tuning: Tuning, cases: Sequence[Case], trials: int, seed: int, folds: int
) -> Nested:
    """Cross-validation around the search: each part of dev and test is answered in the settings
    that were tuned without it (Varma & Simon 2006). Raises LabError for several objectives, and
    where a part is empty."""
    if len(tuning.objectives) > 1 or set(tuning.objectives) & TIMES:
        raise LabError(
            "Nested tuning takes one objective that is no time.", hint="Or --split-by halves."
        )
    tuning = _on_split(tuning, "open")
    open_cases = select_split(cases, "open")
    parts = _parts(open_cases, folds)
    outcomes: list[FoldOutcome] = []
    present: dict[str, float | None] = {}
    after: dict[str, float | None] = {}
    for number, part in enumerate(parts):
        ids = {case.id for case in part}
        rest = [case for case in open_cases if case.id not in ids]
        search = await search_best(tuning, rest, trials, seed + number)
        held_out = HeldOut(part).reveal(search)
        chosen = search.front[0]
        plain = await ask_cell(tuning, PRESENT, held_out, "held out ")
        own = await ask_cell(tuning, chosen.cell, held_out, "held out ")
        own_values = _values(own, tuning.objectives[0])
        plain_values = _values(plain, tuning.objectives[0])
        after |= own_values
        present |= plain_values
        outcome = FoldOutcome(
            chosen=chosen,
            cases=len(held_out),
            tuned=chosen.values[0],
            held_out=_mean(own_values),
            present=_mean(plain_values),
        )
        outcomes.append(outcome)
    return _nested(outcomes, open_cases, present, after)


def _nested(
    outcomes: Sequence[FoldOutcome],
    cases: Sequence[Case],
    present: Mapping[str, float | None],
    after: Mapping[str, float | None],
) -> Nested:
    clusters = list(map(cluster_of, cases))
    first = [present.get(case.id) for case in cases]
    second = [after.get(case.id) for case in cases]
    means = [outcome.held_out for outcome in outcomes if outcome.held_out is not None]
    return Nested(
        folds=tuple(outcomes),
        figure=fmean(means) if means else None,
        present=mean(first, clusters),
        tuned=mean(second, clusters),
        comparison=compare(first, second, clusters),
    )


def _parts(cases: Sequence[Case], folds: int) -> list[list[Case]]:
    """Cases about one document stay together, for they are not independent; which part a document
    is in follows from its digest, so that a new case moves no other one."""
    parts: list[list[Case]] = [[] for _ in range(folds)]
    for case in cases:
        digest = sha256(f"fold {cluster_of(case)}".encode()).digest()
        parts[int.from_bytes(digest[:4], "big") % folds].append(case)
    if folds < 2 or not all(parts):
        raise LabError(
            f"{len(cases)} cases about {len(set(map(cluster_of, cases)))} documents do not fill "
            f"{folds} folds of whole documents.",
            hint="Two folds or more, fewer than there are documents.",
        )
    return parts


def _on_split(tuning: Tuning, split: str) -> Tuning:
    return replace(tuning, options=replace(tuning.options, split=split))


def _looks(tuning: Tuning, chosen: Sequence[Trial]) -> int:
    """Other settings of this study that were asked on the test split before."""
    now = {f"test {trial.label}"[:200] for trial in chosen} | {"test"}
    shown: set[str] = set()
    for run in list_runs(tuning.store, study=tuning.options.study):
        if run.split == "test" and run.name not in now:
            shown.add(run.name)
    return len(shown)


def _corrected(finalists: Sequence[Finalist]) -> tuple[Finalist, ...]:
    """p by Holm over everything that is reported."""
    ps: dict[tuple[int, int], float] = {}
    for number, finalist in enumerate(finalists):
        for place, contrast in enumerate(finalist.contrasts):
            if contrast.comparison.p is not None:
                ps[number, place] = contrast.comparison.p
    adjusted = holm(ps)
    corrected: list[Finalist] = []
    for number, finalist in enumerate(finalists):
        contrasts: list[Contrast] = []
        for place, contrast in enumerate(finalist.contrasts):
            contrasts.append(replace(contrast, adjusted=adjusted.get((number, place))))
        corrected.append(replace(finalist, contrasts=tuple(contrasts)))
    return tuple(corrected)


def _values(recorded: RecordedRun, metric: str) -> dict[str, float | None]:
    return {case_id: score.value for case_id, score in recorded.values(metric).items()}


def _mean(values: Mapping[str, float | None]) -> float | None:
    valid = [value for value in values.values() if value is not None]
    return fmean(valid) if valid else None
