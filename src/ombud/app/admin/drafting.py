"""Drafts that are handed in on a page, checked beside the requests, and put in force."""

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
from ombud.errors import BadRequest, Busy, NotFound, OmbudError
from ombud.store import read_progress, save_progress

FOLDER = "drafts"
JOB = "check"
MADE = 20
"""Questions made from the drafts, as on the command line."""
REPORT = "check.html"


def keep_drafts(workspace: Workspace, files: list[tuple[str, bytes]], by: str) -> str:
    """A set of drafts in a folder of its own; returns its id. Raises BadRequest."""
    identity = secrets.token_hex(6)
    kept = keep_named(workspace, workspace.home / DATA / FOLDER / identity, files)
    note_action(workspace, "drafts handed in", by, files=len(kept))
    return identity


def list_sets(workspace: Workspace) -> list[tuple[str, list[str]]]:
    """(id, names of files), the newest first."""
    root = workspace.home / DATA / FOLDER
    if not root.is_dir():
        return []
    folders = [one for one in root.iterdir() if one.is_dir()]
    found: list[tuple[str, list[str]]] = []
    for folder in sorted(folders, key=lambda one: one.stat().st_mtime, reverse=True):
        names = [path.name for path in _files(folder)]
        found.append((folder.name, names))
    return found


def start_check(workspace: Workspace, identity: str, choices: DraftChoices, by: str) -> None:
    """In a thread; `check_state` tells how it goes. Raises Busy, NotFound."""
    paths = paths_of(workspace, identity)
    if check_state(workspace)["state"] == "running":
        raise Busy("A check runs already.", hint="Its progress stands on this page.")
    note_action(workspace, "drafts checked", by)
    _note(workspace, identity, "running", step="begins")

    def check() -> None:
        try:
            found = check_drafts(
                workspace,
                paths,
                choices,
                QuestionChoices(made=MADE),
                on_progress=lambda step, done, total: _note(
                    workspace, identity, "running", step=step, done=done, total=total
                ),
            )
        except OmbudError as failed:
            _note(workspace, identity, "failed", said=f"{failed} {failed.hint}".strip())
            return
        html = check_html(found, workspace.settings.general.name)
        (folder_of(workspace, identity) / REPORT).write_text(html, encoding="utf-8")
        told = check_json(found)
        counts = {name: count for name, count in told["counts"].items() if count}
        _note(
            workspace,
            identity,
            "done",
            go=told["go"],
            reasons=list(told["reasons"]),
            questions=told["questions"],
            counts=counts,
        )

    run_beside(check)


def publish(
    workspace: Workspace, identity: str, choices: DraftChoices, force: str, by: str
) -> None:
    """Raises LabError where no check says go and no reason is given."""
    publish_drafts(workspace, paths_of(workspace, identity), choices, force=force.strip())
    remove_set(workspace, identity)  # what is in force stands in its source
    note_action(workspace, "drafts published", by, forced=bool(force.strip()))


def remove_set(workspace: Workspace, identity: str) -> None:
    """Raises NotFound."""
    rmtree(folder_of(workspace, identity), ignore_errors=True)


def undo(workspace: Workspace, publication: str, by: str) -> None:
    undo_publication(workspace, publication)
    note_action(workspace, "publication taken back", by)


def check_state(workspace: Workspace) -> dict[str, Any]:
    """state idle | running | done | failed, and of which set."""
    return read_progress(workspace.store, JOB) or {"state": "idle"}


def report_of(workspace: Workspace, identity: str) -> str:
    """The report of the last check, as HTML. Raises NotFound."""
    file = folder_of(workspace, identity) / REPORT
    if not file.is_file():
        raise NotFound("These drafts were not checked yet.")
    return file.read_text(encoding="utf-8")


def folder_of(workspace: Workspace, identity: str) -> Path:
    """Raises NotFound."""
    folder = workspace.home / DATA / FOLDER / identity
    if not identity.isalnum() or not folder.is_dir():
        raise NotFound("These drafts are gone.")
    return folder


def paths_of(workspace: Workspace, identity: str) -> list[Path]:
    """Raises NotFound, BadRequest."""
    found = _files(folder_of(workspace, identity))
    if not found:
        raise BadRequest("This set holds no draft.")
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != REPORT)


def _note(workspace: Workspace, identity: str, state: str, **said: Any) -> None:
    save_progress(workspace.store, JOB, {"state": state, "set": identity, **said})
