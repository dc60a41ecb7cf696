"""Carrying a study out: each row a run that is kept, each claim checked on them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ombud.errors import LabError, UnknownName
from ombud.lab.metrics.parsing import TIMED, is_answer_metric
from ombud.lab.report.claims import ClaimOutcome, check_claims
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.tuning.searching import Tuning, ask_cell, time_in_turn
from ombud.types import Case
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
"""Asked of every row that is timed."""
Recorded = tuple[StudyRow, RecordedRun | None]


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    study: Study
    cases: int
    runs: tuple[Recorded, ...]
    """None: what the row needs is not set up."""
    claims: tuple[ClaimOutcome, ...]
    again: RecordedRun | None = None
    """The first row once more, where the study asks for it."""


def find_study(
    name: str, axes: StudyAxes | None = None, *, searched: bool = False, judged: bool = False
) -> Study:
    """searched: only what a search alone can tell, without answers. judged: led by the study's own
    scores, which a judge gives. Raises UnknownName."""
    if name not in STUDIES:
        raise UnknownName(f"No study is called `{name}`.", hint=f"There are: {', '.join(STUDIES)}.")
    study = STUDIES[name](axes or StudyAxes())
    if searched:
        return _searched(study)
    return _judged_first(study) if judged else study


def _judged_first(study: Study) -> Study:
    claims = [replace(claim, metric=claim.judged or claim.metric) for claim in study.claims]
    grouped = study.grouped or study.metrics[:1]
    return replace(
        study,
        metrics=(*study.judged, *study.metrics),
        claims=tuple(claims),
        grouped=(*study.judged[:1], *grouped),
    )


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
        by_label = {row.label: run for row, run in runs if run}
    claims = check_claims(study.claims, by_label)
    return StudyOutcome(study, len(cases), tuple(runs), claims, again)


def _can_run(row: StudyRow, available: Collection[str]) -> bool:
    needed = row.needs.split(" and ") if row.needs else []
    return set(needed) <= set(available)


async def _timed(
    runs: Sequence[Recorded], labels: Collection[str], tuning: Tuning
) -> list[Recorded]:
    """The runs again, those of these rows with their times; they are taken once, all together."""
    places: dict[int, RecordedRun] = {}
    for place, (row, run) in enumerate(runs):
        if run is not None and row.label in labels:
            places[place] = run
    if len(places) < 2 or all(TIMED in run.metrics for run in places.values()):
        return list(runs)
    timed = list(runs)
    again = await time_in_turn(tuning, list(places.values()), TIMED_CASES)
    for place, run in zip(places, again, strict=True):
        timed[place] = (runs[place][0], run)
    return timed
