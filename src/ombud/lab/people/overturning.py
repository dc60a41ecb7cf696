"""The lowest grades of a judge, for people to confirm or overturn.

Whoever decides sees the grade and its reason, and only low ones come: what they say tells how often
a low grade is wrong, and nothing about how far the judge agrees with people (`align` needs answers
drawn at random, rated blind)."""

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.people.annotating import TEXTS, AnnotationTask, draw_tasks
from ombud.lab.people.sheets import SheetRow, read_sheet, sheet_text
from ombud.lab.report.comparing import RecordedRun, direction
from ombud.types import Score

COLUMNS = (
    *("run", "case", "metric", "judge", "grade", "reason"),
    *TEXTS,
    *("decision", "value", "rater", "comment"),
)
DECISIONS = ("confirm", "overturn")
_Z = 1.96


class GradedAnswer(NamedTuple):
    task: AnnotationTask
    score: Score


class OverturnedGrade(NamedTuple):
    """What somebody decided about one grade."""

    run: str
    case: str
    metric: str
    grade: float
    value: float
    """What it should be; the grade itself where it was confirmed."""
    rater: str
    comment: str

    @property
    def is_overturned(self) -> bool:
        return self.value != self.grade


class OverturnedShare(NamedTuple):
    """low, high: Wilson's 95 % interval (Wilson 1927)."""

    overturned: int
    decided: int
    low: float
    high: float


def lowest_grades(recorded: RecordedRun, metric: str, size: int) -> tuple[GradedAnswer, ...]:
    """The worst first. Raises BadRequest where no judge gave this metric in this run."""
    graded = {case: score for case, score in recorded.values(metric).items() if score.by}
    if not graded:
        raise BadRequest(
            f"No judge gave `{metric}` in run {recorded.run.id}.",
            hint="Name a metric that a judge gave: `ombud lab show RUN` lists them.",
        )
    found: list[GradedAnswer] = []
    for task in draw_tasks([recorded]):
        score = graded.get(task.case)
        if score and score.value is not None:
            found.append(GradedAnswer(task, score))
    sign = direction(metric) or 1
    found.sort(key=lambda one: (sign * (one.score.value or 0.0), one.task.case))
    return tuple(found[:size])


def grades_sheet(graded: Sequence[GradedAnswer]) -> str:
    rows: list[dict[str, object]] = []
    for task, score in graded:
        texts = {name: getattr(task, name) for name in TEXTS}
        given = {"metric": score.metric, "judge": score.by, "grade": f"{score.value:g}"}
        rows.append({"run": task.run, "case": task.case, **given, "reason": score.reason, **texts})
    return sheet_text(COLUMNS, rows)


def read_decisions(paths: Sequence[Path]) -> tuple[OverturnedGrade, ...]:
    """Lines without a decision are left out. Raises BadRequest naming the line that cannot be
    read."""
    found: list[OverturnedGrade] = []
    for path in paths:
        for row in read_sheet(path, ("run", "case", "metric", "grade", "decision", "value")):
            if row.cells["decision"]:
                found.append(_decided(row))
    return tuple(found)


def overturned_share(decisions: Sequence[OverturnedGrade]) -> OverturnedShare:
    total = len(decisions)
    count = sum(one.is_overturned for one in decisions)
    if not total:
        return OverturnedShare(0, 0, 0.0, 1.0)
    share = count / total
    middle = share + _Z**2 / (2 * total)
    reach = _Z * sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    scale = 1 + _Z**2 / total
    return OverturnedShare(count, total, (middle - reach) / scale, (middle + reach) / scale)


def _decided(row: SheetRow) -> OverturnedGrade:
    cells = row.cells
    decision = cells["decision"].casefold()
    if decision not in DECISIONS:
        raise BadRequest(
            f"{row.place}: `{cells['decision']}` is no decision.", hint="confirm, or overturn."
        )
    grade = _figure(row, "grade")
    value = _figure(row, "value") if decision == "overturn" else grade
    if decision == "overturn" and value == grade:
        raise BadRequest(
            f"{row.place}: overturned, and the value is the same.", hint="Write the right value."
        )
    return OverturnedGrade(
        run=cells["run"],
        case=cells["case"],
        metric=cells["metric"],
        grade=grade,
        value=value,
        rater=_cell(cells, "rater"),
        comment=_cell(cells, "comment"),
    )


def _cell(cells: Mapping[str, str], name: str) -> str:
    return cells.get(name, "")


def _figure(row: SheetRow, name: str) -> float:
    try:
        return float(row.cells[name].replace(",", "."))
    except ValueError as wrong:
        raise BadRequest(
            f"{row.place}: `{row.cells[name]}` is no {name}.", hint="A number, such as 4."
        ) from wrong
