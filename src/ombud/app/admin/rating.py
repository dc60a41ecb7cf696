"""Answers that people rate on a page: blind to the run and to each other, as the sheets of `ombud
lab annotate` are, and kept as such sheets, which its commands read."""

import csv
import json
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from random import Random
from typing import NamedTuple

from ombud.app.admin.jobs import note_action
from ombud.app.workspace import DATA, Workspace
from ombud.errors import BadRequest, NotFound
from ombud.lab import (
    Agreement,
    AnnotationTask,
    CriteriaSet,
    agreement,
    annotation_key,
    criteria_set,
    draw_tasks,
    read_annotations,
    read_key,
    read_run,
)
from ombud.private_files import make_private_folder

FOLDER = "annotations"
MOST_ITEMS = 500
COMMENT = 2_000
_WRITING = threading.Lock()


class RatingSession(NamedTuple):
    """What one rater has before them."""

    identity: str
    criteria: CriteriaSet
    task: AnnotationTask | None
    """None where everything is rated."""
    done: int
    total: int


def begin(workspace: Workspace, runs: Sequence[str], criteria: str, size: int, by: str) -> str:
    """A set of answers to rate; returns its id. Raises BadRequest, NotFound."""
    if not runs:
        raise BadRequest("No run is chosen.", hint="Choose one or more.")
    chosen = criteria_set(criteria)
    recorded = [read_run(workspace.store, name) for name in runs]
    tasks = draw_tasks(recorded, size or None)
    if len(tasks) > MOST_ITEMS:
        raise BadRequest(f"These are {len(tasks)} answers, more than {MOST_ITEMS}.", hint="Fewer.")
    identity = secrets.token_hex(6)
    folder = workspace.home / DATA / FOLDER / identity
    make_private_folder(folder)
    (folder / "key.json").write_text(annotation_key(tasks, chosen), encoding="utf-8")
    told = json.dumps([task._asdict() for task in tasks])
    (folder / "tasks.json").write_text(told, encoding="utf-8")
    note_action(workspace, "annotation begun", by, items=len(tasks))
    return identity


def list_sessions(workspace: Workspace) -> list[tuple[str, str, int, int]]:
    """(id, criteria, answers, raters), the newest first."""
    root = workspace.home / DATA / FOLDER
    folders = sorted(root.glob("*/key.json"), key=lambda one: one.stat().st_mtime, reverse=True)
    found: list[tuple[str, str, int, int]] = []
    for key in folders:
        known = read_key(key)
        raters = len(list(key.parent.glob("sheet.*.csv")))
        found.append((key.parent.name, known["criteria"], len(known["items"]), raters))
    return found


def next_task(workspace: Workspace, identity: str, rater: str) -> RatingSession:
    """The first answer that this rater has not rated, in an order of their own. Raises NotFound."""
    folder = _folder(workspace, identity)
    criteria = criteria_set(read_key(folder / "key.json")["criteria"])
    tasks = _tasks(folder)
    Random(f"0/{rater}").shuffle(tasks)  # noqa: S311 - an order, not a secret
    rated = {row["item"] for row in _rows(_sheet(folder, rater))}
    left = [task for task in tasks if task.item not in rated]
    return RatingSession(
        identity=identity,
        criteria=criteria,
        task=left[0] if left else None,
        done=len(tasks) - len(left),
        total=len(tasks),
    )


def rate(
    workspace: Workspace, identity: str, rater: str, item: str, values: Mapping[str, str]
) -> None:
    """values: criterion -> value, and `comment`. Raises BadRequest for a wrong one, NotFound."""
    folder = _folder(workspace, identity)
    criteria = criteria_set(read_key(folder / "key.json")["criteria"])
    if item not in {task.item for task in _tasks(folder)}:
        raise NotFound("This answer is not in the set.")
    row = {"item": item, "rater": rater, "comment": values.get("comment", "")[:COMMENT]}
    for criterion in criteria.criteria:
        value = values.get(criterion, "")
        why = criteria.why_not(criterion, value)
        if why:
            raise BadRequest(f"{criterion}: {why}.", hint="Give each criterion a value.")
        row[criterion] = value
    columns = ["item", "rater", *criteria.criteria, "comment"]
    with _WRITING:
        _append(_sheet(folder, rater), columns, row)


def agreed(workspace: Workspace, identity: str) -> list[Agreement]:
    """How far those who rated agree, by criterion. Raises NotFound."""
    folder = _folder(workspace, identity)
    key = read_key(folder / "key.json")
    sheets = sorted(folder.glob("sheet.*.csv"))
    found = read_annotations(sheets, criteria_set(key["criteria"]), key["items"])
    return agreement(found.ratings)


def _folder(workspace: Workspace, identity: str) -> Path:
    folder = workspace.home / DATA / FOLDER / identity
    if not identity.isalnum() or not folder.is_dir():
        raise NotFound("There is no such set of answers.", hint="/lab lists them.")
    return folder


def _tasks(folder: Path) -> list[AnnotationTask]:
    told = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    return [AnnotationTask(**fields) for fields in told]


def _sheet(folder: Path, rater: str) -> Path:
    plain = re.sub(r"[^a-z0-9@._-]", "_", rater.lower())[:100] or "rater"
    return folder / f"sheet.{plain}.csv"


def _rows(sheet: Path) -> list[dict[str, str]]:
    if not sheet.is_file():
        return []
    return list(csv.DictReader(StringIO(sheet.read_text(encoding="utf-8"))))


def _append(sheet: Path, columns: Sequence[str], row: Mapping[str, str]) -> None:
    out = StringIO()
    writer = csv.DictWriter(out, columns)
    if not sheet.exists():
        writer.writeheader()
    writer.writerow(row)
    with sheet.open("a", encoding="utf-8", newline="") as file:
        file.write(out.getvalue())
