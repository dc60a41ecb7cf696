"""People rate answers on a page, blind to the run and to each other. Ratings are stored as the
sheets of `ombud lab annotate`, which its commands read."""

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
    read_key,
    read_ratings,
    read_run,
    why_no_rating,
)
from ombud.messages import message
from ombud.private_files import make_private_folder

FOLDER = "annotations"
MOST_ITEMS = 500
COMMENT = 2_000
_WRITING = threading.Lock()


class RatingSession(NamedTuple):
    """The next task of a rater, and how many are left."""

    identity: str
    criteria: CriteriaSet
    task: AnnotationTask | None
    """None if everything is rated."""
    done: int
    total: int


def begin(workspace: Workspace, runs: Sequence[str], criteria: str, size: int, by: str) -> str:
    """Create a set of answers to rate, and return its id. Raises BadRequest, NotFound."""
    if not runs:
        raise BadRequest(
            message("evaluation.error_no_run"), hint=message("evaluation.error_no_run_hint")
        )
    chosen = criteria_set(criteria)
    recorded = [read_run(workspace.store, name) for name in runs]
    tasks = draw_tasks(recorded, size or None)
    if len(tasks) > MOST_ITEMS:
        raise BadRequest(
            message("evaluation.error_too_many", count=len(tasks), most=MOST_ITEMS),
            hint=message("evaluation.error_too_many_hint"),
        )
    identity = secrets.token_hex(6)
    folder = workspace.home / DATA / FOLDER / identity
    make_private_folder(folder)
    (folder / "key.json").write_text(annotation_key(tasks, chosen), encoding="utf-8")
    content = json.dumps([task._asdict() for task in tasks])
    (folder / "tasks.json").write_text(content, encoding="utf-8")
    note_action(workspace, "annotation begun", by, items=len(tasks))
    return identity


def list_sessions(workspace: Workspace) -> list[tuple[str, str, int, int]]:
    """Return (id, criteria, answers, raters) of all sets, newest first."""
    root = workspace.home / DATA / FOLDER
    folders = sorted(root.glob("*/key.json"), key=lambda one: one.stat().st_mtime, reverse=True)
    sessions: list[tuple[str, str, int, int]] = []
    for key in folders:
        criteria, items = read_key(key)
        raters = len(list(key.parent.glob("sheet.*.csv")))
        sessions.append((key.parent.name, criteria, len(items), raters))
    return sessions


def next_task(workspace: Workspace, identity: str, rater: str) -> RatingSession:
    """Return the first answer that this rater has not rated; each rater has their own order. Raises
    NotFound."""
    folder = set_folder(workspace, identity)
    criteria = criteria_set(read_key(folder / "key.json")[0])
    tasks = read_tasks(folder)
    Random(f"0/{rater}").shuffle(tasks)  # noqa: S311 - an order, not a secret
    rated = {row["item"] for row in read_rows(sheet_file(folder, rater))}
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
    """Store a rating. values: criterion -> value, and `comment`. Raises BadRequest for a wrong
    value, NotFound."""
    folder = set_folder(workspace, identity)
    criteria = criteria_set(read_key(folder / "key.json")[0])
    if item not in {task.item for task in read_tasks(folder)}:
        raise NotFound(message("evaluation.error_item_unknown"))
    row = {"item": item, "rater": rater, "note": values.get("comment", "")[:COMMENT]}
    for criterion in criteria.criteria:
        value = values.get(criterion, "")
        why = why_no_rating(value, criteria.levels[criterion])
        if why:
            raise BadRequest(f"{criterion}: {why}.", hint="Give each criterion a value.")
        row[criterion] = value
    columns = ["item", "rater", *criteria.criteria, "note"]
    with _WRITING:
        append_row(sheet_file(folder, rater), columns, row)


def agreed(workspace: Workspace, identity: str) -> list[Agreement]:
    """Return the raters' agreement on each criterion. Raises NotFound."""
    folder = set_folder(workspace, identity)
    criteria, items = read_key(folder / "key.json")
    sheets = sorted(folder.glob("sheet.*.csv"))
    return agreement(read_ratings(sheets, criteria_set(criteria).levels, items).ratings)


def set_folder(workspace: Workspace, identity: str) -> Path:
    folder = workspace.home / DATA / FOLDER / identity
    if not identity.isalnum() or not folder.is_dir():
        raise NotFound(
            message("evaluation.error_session_unknown"),
            hint=message("evaluation.error_session_unknown_hint"),
        )
    return folder


def read_tasks(folder: Path) -> list[AnnotationTask]:
    text = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    return [AnnotationTask(**fields) for fields in text]


def sheet_file(folder: Path, rater: str) -> Path:
    plain = re.sub(r"[^a-z0-9@._-]", "_", rater.lower())[:100] or "rater"
    return folder / f"sheet.{plain}.csv"


def read_rows(sheet: Path) -> list[dict[str, str]]:
    if not sheet.is_file():
        return []
    return list(csv.DictReader(StringIO(sheet.read_text(encoding="utf-8"))))


def append_row(sheet: Path, columns: Sequence[str], row: Mapping[str, str]) -> None:
    out = StringIO()
    writer = csv.DictWriter(out, columns)
    if not sheet.exists():
        writer.writeheader()
    writer.writerow(row)
    with sheet.open("a", encoding="utf-8", newline="") as file:
        file.write(out.getvalue())
