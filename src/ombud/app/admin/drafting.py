"""Drafts uploaded on a page: checked in the background and published."""

import secrets
from pathlib import Path
from shutil import rmtree
from typing import Any

from ombud.app.admin.jobs import keep_named, note_action, run_beside
from ombud.app.publishing.checking import check_drafts
from ombud.app.publishing.drafts import DraftChoices
from ombud.app.publishing.publications import publish_drafts, undo_publication
from ombud.app.publishing.questions import QuestionChoices
from ombud.app.publishing.report import check_html, check_json
from ombud.app.workspace import DATA, Workspace
from ombud.errors import BadRequest, Busy, LabError, NotFound, OmbudError
from ombud.messages import message
from ombud.store import read_progress, save_progress

FOLDER = "drafts"
JOB = "check"
MADE = 20
"""Number of questions made from the drafts, as on the command line."""
REPORT = "check.html"


def keep_drafts(workspace: Workspace, files: list[tuple[str, bytes]], by: str) -> str:
    """Store a set of drafts in a folder of its own, and return its id. Raises BadRequest."""
    identity = secrets.token_hex(6)
    set_id = keep_named(workspace, workspace.home / DATA / FOLDER / identity, files)
    note_action(workspace, "drafts handed in", by, files=len(set_id))
    return identity


def list_sets(workspace: Workspace) -> list[tuple[str, list[str]]]:
    """Return (id, file names) of all sets, newest first."""
    root = workspace.home / DATA / FOLDER
    if not root.is_dir():
        return []
    folders = [one for one in root.iterdir() if one.is_dir()]
    sets: list[tuple[str, list[str]]] = []
    for folder in sorted(folders, key=lambda one: one.stat().st_mtime, reverse=True):
        names = [path.name for path in files_in(folder)]
        sets.append((folder.name, names))
    return sets


def start_check(workspace: Workspace, identity: str, choices: DraftChoices, by: str) -> None:
    """Check a set in a thread; `check_state` reports its progress. Raises Busy, NotFound."""
    paths = paths_of(workspace, identity)
    if check_state(workspace)["state"] == "running":
        raise Busy(message("admin.error_check_running"), hint=message("admin.error_see_progress"))
    note_action(workspace, "drafts checked", by)
    note_state(workspace, identity, "running", step="begins")

    def check() -> None:
        try:
            result = check_drafts(
                workspace,
                paths,
                choices,
                QuestionChoices(made=MADE),
                on_progress=lambda step, done, total: note_state(
                    workspace, identity, "running", step=step, done=done, total=total
                ),
            )
        except OmbudError as failed:
            note_state(workspace, identity, "failed", said=f"{failed} {failed.hint}".strip())
            return
        html = check_html(result, workspace.settings.general.name)
        (folder_of(workspace, identity) / REPORT).write_text(html, encoding="utf-8")
        report = check_json(result)
        counts = {name: count for name, count in report["counts"].items() if count}
        note_state(
            workspace,
            identity,
            "done",
            go=report["go"],
            reasons=list(report["reasons"]),
            questions=report["questions"],
            counts=counts,
        )

    run_beside(check)


def publish(
    workspace: Workspace, identity: str, choices: DraftChoices, force: str, by: str
) -> None:
    """Publish a set. Raises LabError if no check says go and no reason is given."""
    paths = paths_of(workspace, identity)
    try:
        publish_drafts(workspace, paths, choices, force=force.strip())
    except LabError as refused:
        raise LabError(str(refused), hint=message("admin.error_publish_hint")) from refused
    remove_set(workspace, identity)  # the published files are in their sources
    note_action(workspace, "drafts published", by, forced=bool(force.strip()))


def remove_set(workspace: Workspace, identity: str) -> None:
    """Remove a set. Raises NotFound."""
    rmtree(folder_of(workspace, identity), ignore_errors=True)


def undo(workspace: Workspace, publication: str, by: str) -> None:
    undo_publication(workspace, publication)
    note_action(workspace, "publication taken back", by)


def check_state(workspace: Workspace) -> dict[str, Any]:
    """Return the state of the latest check (idle, running, done or failed) and its set."""
    return read_progress(workspace.store, JOB) or {"state": "idle"}


def report_of(workspace: Workspace, identity: str) -> str:
    """Return the report of the latest check as HTML. Raises NotFound."""
    file = folder_of(workspace, identity) / REPORT
    if not file.is_file():
        raise NotFound(message("admin.error_not_checked"))
    return file.read_text(encoding="utf-8")


def folder_of(workspace: Workspace, identity: str) -> Path:
    """Return the folder of a set. Raises NotFound."""
    folder = workspace.home / DATA / FOLDER / identity
    if not identity.isalnum() or not folder.is_dir():
        raise NotFound(message("admin.error_drafts_gone"))
    return folder


def paths_of(workspace: Workspace, identity: str) -> list[Path]:
    """Return the files of a set. Raises NotFound, or BadRequest if there are none."""
    paths = files_in(folder_of(workspace, identity))
    if not paths:
        raise BadRequest(message("admin.error_drafts_empty"))
    return paths


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != REPORT)


def note_state(workspace: Workspace, identity: str, state: str, **facts: Any) -> None:
    save_progress(workspace.store, JOB, {"state": state, "set": identity, **facts})
