"""Carrying a study out: each row a run that is kept, each claim a paired test."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ombud.errors import LabError, UnknownName
from ombud.lab.metrics.parsing import TIMED, is_answer_metric
from ombud.lab.report.comparing import (
    LEVEL,
    Contrast,
    RecordedRun,
    compare_runs,
    direction,
    read_run,
)
from ombud.lab.runs.target import Target
from ombud.lab.runs.timing import time_runs
from ombud.lab.statistics import holm, smallest_difference
from ombud.lab.tuning.searching import Tuning, ask_cell
from ombud.types import Case, Run
from research.studies.design import Study, StudyAxes, StudyClaim, StudyRow
from research.studies.eva import eva_study
from research.studies.hypa import hypa_study
from research.studies.natwest import natwest_study
from research.studies.persona import persona_study
from research.studies.wombat import wombat_study

STUDIES: dict[str, Callable[[StudyAxes], Study]] = {
    "wombat": wombat_study,
    "natwest": natwest_study,
    "eva": eva_study,
    "hypa": hypa_study,
    "persona": persona_study,
}
TIMED_CASES = 20
"""Asked of every row of a table that is timed in turn."""
Recorded = tuple[StudyRow, RecordedRun | None]


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """Whether a claim holds on these cases."""

    claim: StudyClaim
    contrast: Contrast | None
    """better minus worse; None where one of the rows was not run."""

    @property
    def verdict(self) -> str:
        """A sentence's end: holds, does not hold, cannot be told with n cases, or why not asked."""
        contrast = self.contrast
        if contrast is None:
            return "not run here"
        found = contrast.comparison
        if found.difference is None:
            return "cannot be told: no case has a value"
        if self.claim.margin:
            return self._within_margin()
        if contrast.adjusted is None or contrast.adjusted > LEVEL:
            least = f": nothing under {found.detectable:.2f}" if found.detectable else ""
            return f"cannot be told with {found.pairs} cases{least}"
        sign = -1 if self.claim.is_less else direction(self.claim.metric) or 1
        return "holds" if found.difference * sign > 0 else "does not hold: the opposite does"

    def _within_margin(self) -> str:
        """By the interval: a test cannot show that two are alike."""
        found = self.contrast.comparison if self.contrast else None
        if found is None or found.low is None or found.high is None:
            return "cannot be told: too few documents for an interval"
        sign = direction(self.claim.metric) or 1
        worst, best = sorted((found.low * sign, found.high * sign))
        if worst >= -self.claim.margin:
            return "holds"
        if best < -self.claim.margin:
            return "does not hold: it loses more"
        return f"cannot be told with {found.pairs} cases"


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    study: Study
    cases: int
    runs: tuple[Recorded, ...]
    """None: what the row needs is not set up."""
    claims: tuple[ClaimOutcome, ...]
    again: RecordedRun | None = None
    """The first row once more, where the study asks for it."""


def find_study(name: str, axes: StudyAxes | None = None, *, searched: bool = False) -> Study:
    """searched: only what a search alone can tell, without answers. Raises UnknownName."""
    if name not in STUDIES:
        raise UnknownName(f"No study is called `{name}`.", hint=f"There are: {', '.join(STUDIES)}.")
    study = STUDIES[name](axes or StudyAxes())
    return _searched(study) if searched else study


def _searched(study: Study) -> Study:
    """The design without what needs an answer: its rows, metrics and claims that a search has."""
    metrics = [metric for metric in study.metrics if not is_answer_metric(metric)]
    claims: list[StudyClaim] = []
    for claim in study.claims:
        if claim.found:
            claims.append(replace(claim, metric=claim.found))
            metrics.append(claim.found)
    rows = tuple(filter(_is_search, study.rows))
    labels = {row.label for row in rows}
    return replace(
        study,
        metrics=tuple(dict.fromkeys(metrics)),
        rows=rows,
        claims=tuple(claim for claim in claims if {claim.better, claim.worse} <= labels),
        grouped=(),
        medians="",
        saved=("words@10",),
        notes=(*study.notes, "Only searched: nothing was answered, so answers are not measured."),
    )


def _is_search(row: StudyRow) -> bool:
    """Whether it changes what is found, and not only what is written."""
    return row.cell.get("plan.k") != 0 and row.table not in ("Readers", "Prompts")


async def carry_out(
    study: Study, tuning: Tuning, cases: Sequence[Case], available: Collection[str]
) -> StudyOutcome:
    """Run every row that can be; a study that was stopped goes on where it was.

    available: `chat model` and `reranker`, as far as they are set up. Raises LabError where not one
    row can be run.
    """
    runs: list[Recorded] = []
    by_label: dict[str, RecordedRun] = {}
    name = study.title.partition(":")[0]
    for number, row in enumerate(study.rows):
        tuning.on_progress("study", number, len(study.rows))
        if not _can_run(row, available):
            runs.append((row, None))
            continue
        recorded = await ask_cell(tuning, row.cell, cases, f"{name} ")
        by_label[row.label] = recorded
        runs.append((row, recorded))
    tuning.on_progress("study", len(study.rows), len(study.rows))
    if not by_label:
        raise LabError("No row of this study can be run here.", hint="Set models.chat.")
    again = None
    if study.repeated and study.rows[0].label in by_label:
        again = await ask_cell(tuning, study.rows[0].cell, cases, "once more ")
    if study.timed:
        runs = await _timed(runs, study.timed, tuning)
    claims = _judged([_contrast(claim, by_label) for claim in study.claims])
    return StudyOutcome(study, len(cases), tuple(runs), tuple(claims), again)


def _can_run(row: StudyRow, available: Collection[str]) -> bool:
    needed = row.needs.split(" and ") if row.needs else []
    return set(needed) <= set(available)


async def _timed(runs: Sequence[Recorded], table: str, tuning: Tuning) -> list[Recorded]:
    """The runs again, those of the table with their times; they are taken once, all together."""
    places: dict[int, RecordedRun] = {}
    variants: dict[str, Target] = {}
    for place, (row, run) in enumerate(runs):
        if run is not None and row.table == table:
            places[place] = run
            variants[run.run.id] = tuning.variant_of(run.run.config.get("changed", {}))
    timed = [run for run in places.values() if TIMED in run.metrics]
    if len(places) > 1 and len(timed) < len(places):

        def variant(run: Run) -> Target:
            return variants[run.id]

        await time_runs(
            [run.run for run in places.values()],
            tuning.store,
            variant,
            cases=TIMED_CASES,
            on_progress=tuning.on_progress,
        )
    read = list(runs)
    for place, run in places.items():
        read[place] = (runs[place][0], read_run(tuning.store, run.run.id))
    return read


def _contrast(claim: StudyClaim, runs: dict[str, RecordedRun]) -> ClaimOutcome:
    if claim.better not in runs or claim.worse not in runs:
        return ClaimOutcome(claim, None)
    rows = compare_runs(
        runs[claim.worse], runs[claim.better], by=["overall"], metrics=[claim.metric]
    )
    return ClaimOutcome(claim, rows[0])


def _judged(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """p, and what so many cases could show, corrected over the claims of the study that are
    tested; those with a margin are not."""
    ps: dict[int, float] = {}
    for number, outcome in enumerate(outcomes):
        contrast = outcome.contrast
        if contrast and contrast.comparison.p is not None and not outcome.claim.margin:
            ps[number] = contrast.comparison.p
    corrected = holm(ps)
    judged: list[ClaimOutcome] = []
    for number, outcome in enumerate(outcomes):
        contrast = outcome.contrast
        if contrast:
            found = contrast.comparison
            least = None
            if found.error is not None:
                least = smallest_difference(
                    found.error, found.clusters, comparisons=max(1, len(ps))
                )
            contrast = replace(
                contrast,
                comparison=replace(found, detectable=least),
                adjusted=corrected.get(number),
            )
        judged.append(replace(outcome, contrast=contrast))
    return judged
