"""Answers of runs for people to rate: blind to the system and to its scores.

What is to be rated is a list of tasks under opaque ids; which run and case each is stands in a key
that raters do not get. A sheet and a page show the same tasks and take the same ratings back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ombud.errors import BadRequest
from ombud.lab.people.criteria import CriteriaSet
from ombud.lab.people.ratings import Rating
from ombud.lab.people.sheets import SheetRow, read_sheet, sheet_text
from ombud.lab.report.comparing import RecordedRun
from ombud.types import Observation

SHOWN_PASSAGES = 5
"""Of what was found, where an answer cites nothing."""
TEXTS = ("question", "passages", "reference", "answer")
COMMENT = "comment"


class AnnotationTask(NamedTuple):
    """One answer to rate, and what a rater sees of it."""

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


class FaultyCell(NamedTuple):
    place: str
    """File and line."""
    item: str
    criterion: str
    why: str


class AnnotationResult(NamedTuple):
    """What came back."""

    ratings: tuple[Rating, ...]
    missing: tuple[FaultyCell, ...]
    """Cells left empty."""
    wrong: tuple[FaultyCell, ...]
    """Cells that are no value of their criterion; they are no ratings."""
    comments: Mapping[tuple[str, str], str] = {}
    """(item, rater) -> what they wrote beside it."""


def draw_tasks(
    runs: Sequence[RecordedRun], size: int | None = None, seed: int = 0
) -> tuple[AnnotationTask, ...]:
    """The answers to `size` cases (all without it), of several runs to the same ones, shuffled.

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
    shown: dict[str, None] = {}
    for citation in seen.answer.citations if seen.answer else ():
        shown[f"{citation.title}: {citation.quote}"] = None
    if not shown:
        for hit in (seen.hits or ())[:SHOWN_PASSAGES]:
            shown[f"{hit.chunk.title}: {hit.chunk.text}"] = None
    parts = [f"[{number}] {text}" for number, text in enumerate(shown, start=1)]
    return "\n\n".join(parts)


# The sheet ----------------------------------------------------------------------------------------


def annotation_sheet(
    tasks: Sequence[AnnotationTask], criteria: CriteriaSet, rater: str = "", seed: int = 0
) -> str:
    """A CSV with one line an answer and an empty column a criterion. Each rater has an order of
    their own, so that whoever tires does not tire at the same answers."""
    order = list(tasks)
    Random(f"{seed}/{rater}").shuffle(order)  # noqa: S311
    rows: list[dict[str, object]] = []
    for task in order:
        texts = {name: getattr(task, name) for name in TEXTS}
        rows.append({"item": task.item, **texts, "rater": rater})
    columns = ("item", *TEXTS, "rater", *criteria.criteria, COMMENT)
    return sheet_text(columns, rows)


def annotation_key(tasks: Iterable[AnnotationTask], criteria: CriteriaSet) -> str:
    """JSON: which run, case and type each item is."""
    items: dict[str, dict[str, str]] = {}
    for task in sorted(tasks, key=lambda task: (task.run, task.case)):
        items[task.item] = {"run": task.run, "case": task.case, "type": task.kind}
    return json.dumps({"criteria": criteria.name, "items": items}, indent=1) + "\n"


def read_key(path: Path) -> dict[str, Any]:
    """Raises BadRequest for a file that is no key."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content["items"], dict) and isinstance(content["criteria"], str):
            return dict(content)
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise BadRequest(
            f"{path} is no key of an annotation: {wrong}.",
            hint="`lab annotate RUN --out FILE.csv` writes it beside the sheet.",
        ) from wrong
    raise BadRequest(f"{path} is no key of an annotation.", hint="It holds `items`.")


def read_annotations(
    paths: Sequence[Path], criteria: CriteriaSet, items: Mapping[str, Mapping[str, str]]
) -> AnnotationResult:
    """What was filled in. items: of the key. A rater's later word on an item counts.

    Raises BadRequest for a sheet that is none, for an item that is not of the key, and for a line
    with ratings and without a rater."""
    ratings: dict[tuple[str, str, str], Rating] = {}
    missing: list[FaultyCell] = []
    wrong: list[FaultyCell] = []
    comments: dict[tuple[str, str], str] = {}
    for path in paths:
        for row in read_sheet(path, ("item", "rater", *criteria.criteria)):
            item, rater = _whose(row, criteria, items)
            for criterion in criteria.criteria:
                text = row.cells[criterion]
                why = criteria.why_not(criterion, text) if text else ""
                if not text or why:
                    cell = FaultyCell(row.place, item, criterion, why or "empty")
                    (wrong if why else missing).append(cell)
                    continue
                value = float(text.replace(",", "."))
                kind = items[item].get("type", "")
                ratings[item, rater, criterion] = Rating(item, value, rater, criterion, kind)
            if row.cells.get(COMMENT):
                comments[item, rater] = row.cells[COMMENT]
    return AnnotationResult(tuple(ratings.values()), tuple(missing), tuple(wrong), comments)


def _whose(
    row: SheetRow, criteria: CriteriaSet, items: Mapping[str, Mapping[str, str]]
) -> tuple[str, str]:
    """Item and rater of a line."""
    item, rater = row.cells["item"], row.cells["rater"]
    if item not in items:
        raise BadRequest(
            f"{row.place}: the item `{item}` is not in the key.",
            hint="Read each sheet with the key that was written with it.",
        )
    rated = any(row.cells[criterion] for criterion in criteria.criteria)
    if rated and not rater:
        raise BadRequest(
            f"{row.place}: no rater is named.", hint="Fill in the column `rater` on each line."
        )
    return item, rater


def ratings_sheet(ratings: Iterable[Rating], items: Mapping[str, Mapping[str, str]]) -> str:
    """What `ombud lab agree` and `align` read, with the run and case that each item was."""
    rows: list[dict[str, object]] = []
    for rating in ratings:
        key = items.get(rating.item, {})
        rows.append(
            {
                "item": rating.item,
                "rater": rating.rater,
                "criterion": rating.criterion,
                "value": f"{rating.value:g}",
                "type": rating.kind,
                "run": key.get("run", ""),
                "case": key.get("case", ""),
            }
        )
    return sheet_text(("item", "rater", "criterion", "value", "type", "run", "case"), rows)
