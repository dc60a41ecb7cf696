"""Carrying a study out: each row a run that is kept, each claim a paired test."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ombud.errors import LabError, UnknownName
from ombud.lab.experiments import eva, hypa, natwest, persona, wombat
from ombud.lab.experiments.design import Study, StudyClaim, StudyRow
from ombud.lab.report.comparing import LEVEL, Contrast, RecordedRun, compare_runs
from ombud.lab.statistics import holm
from ombud.lab.tuning.searching import Tuning, ask_cell
from ombud.types import Case

STUDIES: dict[str, Study] = {
    "wombat": wombat.STUDY,
    "natwest": natwest.STUDY,
    "eva": eva.STUDY,
    "hypa": hypa.STUDY,
    "persona": persona.STUDY,
}


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """Whether a claim holds on these cases."""

    claim: StudyClaim
    contrast: Contrast | None
    """better minus worse; None where one of the rows was not run."""

    @property
    def verdict(self) -> str:
        if self.contrast is None:
            return "not run here"
        found = self.contrast.comparison
        if found.difference is None or self.contrast.adjusted is None:
            return "no case can tell"
        if self.contrast.adjusted > LEVEL:
            return "cannot be told"
        return "holds" if found.difference > 0 else "does not hold: the opposite"


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    study: Study
    cases: int
    runs: tuple[tuple[StudyRow, RecordedRun | None], ...]
    """None: what the row needs is not set up."""
    claims: tuple[ClaimOutcome, ...]
    again: RecordedRun | None = None
    """The first row once more, where the study asks for it."""


def find_study(name: str) -> Study:
    """Raises UnknownName."""
    if name not in STUDIES:
        raise UnknownName(f"No study is called `{name}`.", hint=f"There are: {', '.join(STUDIES)}.")
    return STUDIES[name]


async def carry_out(
    study: Study, tuning: Tuning, cases: Sequence[Case], available: Collection[str]
) -> StudyOutcome:
    """Run every row that can be; a study that was stopped goes on where it was.

    available: `chat model` and `reranker`, as far as they are set up. Raises LabError where not one
    row can be run.
    """
    runs: list[tuple[StudyRow, RecordedRun | None]] = []
    by_label: dict[str, RecordedRun] = {}
    for number, row in enumerate(study.rows):
        tuning.on_progress("study", number, len(study.rows))
        if row.needs and row.needs not in available:
            runs.append((row, None))
            continue
        recorded = await ask_cell(tuning, row.cell, cases, f"{study.title.partition(':')[0]} ")
        by_label[row.label] = recorded
        runs.append((row, recorded))
    tuning.on_progress("study", len(study.rows), len(study.rows))
    if not by_label:
        raise LabError("No row of this study can be run here.", hint="Set models.chat.")
    again = None
    if study.repeated:
        again = await ask_cell(tuning, study.rows[0].cell, cases, "once more ")
    claims = _judged([_contrast(claim, by_label) for claim in study.claims])
    return StudyOutcome(study, len(cases), tuple(runs), tuple(claims), again)


def _contrast(claim: StudyClaim, runs: dict[str, RecordedRun]) -> ClaimOutcome:
    if claim.better not in runs or claim.worse not in runs:
        return ClaimOutcome(claim, None)
    rows = compare_runs(
        runs[claim.worse], runs[claim.better], by=["overall"], metrics=[claim.metric]
    )
    return ClaimOutcome(claim, rows[0])


def _judged(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """p corrected over the claims of the study."""
    ps: dict[int, float] = {}
    for number, outcome in enumerate(outcomes):
        if outcome.contrast and outcome.contrast.comparison.p is not None:
            ps[number] = outcome.contrast.comparison.p
    corrected = holm(ps)
    judged: list[ClaimOutcome] = []
    for number, outcome in enumerate(outcomes):
        contrast = outcome.contrast
        if contrast:
            contrast = replace(contrast, adjusted=corrected.get(number))
        judged.append(replace(outcome, contrast=contrast))
    return judged
