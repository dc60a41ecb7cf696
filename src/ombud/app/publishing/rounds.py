"""What people said of answers with drafts in force: a round that publishing may wait for."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ombud.app.publishing.checking import digest_of_check
from ombud.app.publishing.drafts import DraftChoices, PolicyDraft, read_drafts
from ombud.app.publishing.shadow import overlay
from ombud.app.workspace import Workspace

OnProgress = Callable[[str, int, int], None]


class DraftedWorkspace(NamedTuple):
    workspace: Workspace
    """The one that serves, with the drafts in force from their days on."""
    drafts: tuple[PolicyDraft, ...]
    digest: str
    """As of a check: of the drafts, the documents beside them and the settings."""


@contextmanager
def with_drafts(
    workspace: Workspace, paths: Sequence[Path], choices: DraftChoices, on_progress: OnProgress
) -> Iterator[DraftedWorkspace]:
    """Gone at the end. Raises as `check_drafts` does."""
    drafts = read_drafts(workspace, paths, choices)
    digest = digest_of_check(workspace, drafts)
    with overlay(workspace, drafts, on_progress) as shadow:
        yield DraftedWorkspace(shadow, drafts, digest)


def keep_round(workspace: Workspace, digest: str, decision: str) -> None:
    """The last one counts."""
    file = _file(workspace, digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"decision": decision}), encoding="utf-8")
    part.replace(file)


def kept_round(workspace: Workspace, digest: str) -> str:
    """go, no-go or undecided; empty where people rated nothing of just these drafts."""
    try:
        return str(json.loads(_file(workspace, digest).read_text(encoding="utf-8"))["decision"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _file(workspace: Workspace, digest: str) -> Path:
    return workspace.data / "publishing" / "rounds" / f"{digest[:32]}.json"
