"""Answers of runs for people to rate: blind to the system and to its scores.

What is to be rated is a list of tasks under opaque ids; which run and case each is stands in a key
that raters do not get. A sheet and a page show the same tasks and take the same ratings back."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.people.criteria import CriteriaSet
from ombud.lab.people.ratings import NOTE, read_ratings, sheet_text, to_number, why_no_rating
from ombud.lab.report.comparing import RecordedRun, direction
from ombud.types import Observation

SHOWN_PASSAGES = 5
"""Of what was found, where an answer cites nothing."""
TEXTS = ("question", "passages", "reference", "answer")
GRADE_COLUMNS = (
    *("item", "rater", "criterion", "value", NOTE, "grade", "judge", "reason", "run", "case"),
    *TEXTS,
)


class AnnotationTask(NamedTuple):
    """An answer to rate, with what the rater sees beside it."""

    item: str
    """Opaque: it tells neither run nor case."""
    run: str
    case: str
    kind: str
    """Type of the case."""
    question: str
    passages: str
    """What the asker was shown as proof; where that is nothing, the best passages found."""
    reference: str
    answer: str


def draw_tasks(
    runs: Sequence[RecordedRun], size: int | None = None, seed: int = 0
) -> tuple[AnnotationTask, ...]:
    """Draw the answers to `size` cases (all without it), the same cases in each of several runs,
    shuffled.

    Raises BadRequest where no case was answered in all runs."""
    answered: list[dict[str, Observation]] = []
    for recorded in runs:
        own = {seen.case.id: seen for seen in recorded.observations if seen.answer}
        answered.append(own)
    shared = set(answered[0]).intersection(*answered[1:]) if answered else set()
    if not shared:
        raise BadRequest(
            "There is nothing to rate: no case was answered in all of these runs.",
            hint="Take a run with a metric of answers, such as outcome_accuracy.",
        )
    cases = sorted(shared, key=lambda case: _lot(seed, case))[:size]
    tasks: list[AnnotationTask] = []
    for recorded, own in zip(runs, answered, strict=True):
        for case in cases:
            tasks.append(_task(recorded.run.id, own[case], seed))
    return tuple(sorted(tasks, key=lambda task: task.item))


def _lot(seed: int, *names: str) -> str:
    return sha256("/".join((str(seed), *names)).encode()).hexdigest()


def _task(run: str, seen: Observation, seed: int) -> AnnotationTask:
    case = seen.case
    before = [f"{turn.role}: {turn.content}" for turn in case.history]
    references = [reference.text for reference in case.references]
    return AnnotationTask(
        item=_lot(seed, run, case.id)[:12],
        run=run,
        case=case.id,
        kind=case.type,
        question="\n".join((*before, case.question)),
        passages=_passages(seen),
        reference="\n\n".join(references),
        answer=seen.answer.text if seen.answer else "",
    )


def _passages(seen: Observation) -> str:
    passages: dict[str, None] = {}
    for citation in seen.answer.citations if seen.answer else ():
        passages[f"{citation.title}: {citation.quote}"] = None
    if not passages:
        for hit in (seen.hits or ())[:SHOWN_PASSAGES]:
            passages[f"{hit.chunk.title}: {hit.chunk.text}"] = None
    parts = [f"[{number}] {text}" for number, text in enumerate(passages, start=1)]
    return "\n\n".join(parts)


# The sheet ----------------------------------------------------------------------------------------


def annotation_sheet(
    tasks: Sequence[AnnotationTask], criteria: CriteriaSet, rater: str = "", seed: int = 0
) -> str:
    """Write a CSV with one line for each answer and one empty column for each criterion. Each rater
    has an order of their own, so that fatigue does not fall on the same answers."""
    order = list(tasks)
    Random(f"{seed}/{rater}").shuffle(order)  # noqa: S311
    rows: list[dict[str, object]] = []
    for task in order:
        texts = {name: getattr(task, name) for name in TEXTS}
        rows.append({"item": task.item, **texts, "rater": rater})
    columns = ("item", *TEXTS, "rater", *criteria.criteria, NOTE)
    return sheet_text(columns, rows)


def annotation_key(tasks: Iterable[AnnotationTask], criteria: CriteriaSet) -> str:
    """Write as JSON which run, case and type each item is."""
    items: dict[str, dict[str, str]] = {}
    for task in sorted(tasks, key=lambda task: (task.run, task.case)):
        items[task.item] = {"run": task.run, "case": task.case, "type": task.kind}
    return json.dumps({"criteria": criteria.name, "items": items}, indent=1) + "\n"


# The lowest grades of a judge ---------------------------------------------------------------------


def lowest_grades(recorded: RecordedRun, metric: str, size: int | None) -> list[dict[str, object]]:
    """List rows for people to confirm or correct, the worst grade first.

    Whoever decides sees the grade and its reason, and only low ones come: what they say tells how
    often a low grade is wrong, and nothing about how far the judge agrees with people. Raises
    BadRequest where no judge gave this metric in this run."""
    graded = {case: score for case, score in recorded.values(metric).items() if score.by}
    if not graded:
        raise BadRequest(
            f"No judge gave `{metric}` in run {recorded.run.id}.",
            hint="Name a metric that a judge gave: `ombud lab show RUN` lists them.",
        )
    sign = direction(metric) or 1
    ranked: list[tuple[float, str, dict[str, object]]] = []
    for task in draw_tasks([recorded]):
        score = graded.get(task.case)
        if score and score.value is not None:
            row: dict[str, object] = {name: getattr(task, name) for name in TEXTS}
            row |= {"item": f"{task.run} {task.case}", "run": task.run, "case": task.case}
            row |= {"criterion": score.metric, "judge": score.by, "grade": f"{score.value:g}"}
            row["reason"] = score.reason
            ranked.append((sign * score.value, task.case, row))
    ranked.sort(key=lambda one: one[:2])
    return [row for _, _, row in ranked[:size]]


def grades_sheet(rows: Sequence[dict[str, object]]) -> str:
    """Write a CSV with an empty column `value`."""
    return sheet_text(GRADE_COLUMNS, rows)


def corrected_grades(paths: Sequence[Path]) -> tuple[int, list[dict[str, object]]]:
    """Count the grades that people checked, and list those that they corrected. Raises BadRequest
    naming the line of a grade that is no number."""
    read = read_ratings(paths, items={}, needed=("item", "value", "grade", "run", "case")).checked()
    corrected: list[dict[str, object]] = []
    for rating in read.ratings:
        cells = read.cells[rating.item]
        if why := why_no_rating(cells["grade"]):
            raise BadRequest(
                f"{read.places[rating.item]}: the judge's grade: {why}.",
                hint="Hand back the column `grade` as it was written.",
            )
        grade = to_number(cells["grade"])
        if rating.value != grade:
            about = {"run": cells["run"], "case": cells["case"], "metric": rating.criterion}
            note = read.notes.get((rating.item, rating.rater), "")
            grades = {"grade": grade, "value": rating.value}
            corrected.append({**about, **grades, "rater": rating.rater, "note": note})
    return len(read.ratings), corrected
