"""Rating rounds of answers with drafts in force, which publishing may require."""

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
    """A workspace with drafts in force."""

    workspace: Workspace
    """The live workspace with the drafts in force from their first days on."""
    drafts: tuple[PolicyDraft, ...]
    digest: str
    """As of a check: of the drafts, the other documents and the settings."""


@contextmanager
def with_drafts(
    workspace: Workspace, paths: Sequence[Path], choices: DraftChoices, on_progress: OnProgress
) -> Iterator[DraftedWorkspace]:
    """Open a workspace with the drafts, which is removed at the end. Raises as `check_drafts`
    does."""
    drafts = read_drafts(workspace, paths, choices)
    digest = digest_of_check(workspace, drafts)
    with overlay(workspace, drafts, on_progress) as shadow:
        yield DraftedWorkspace(shadow, drafts, digest)


def store_round(workspace: Workspace, digest: str, decision: str) -> None:
    """Store a round's decision; the last one counts."""
    file = round_file(workspace, digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"decision": decision}), encoding="utf-8")
    part.replace(file)


def stored_round(workspace: Workspace, digest: str) -> str:
    """Return go, no-go or undecided; empty if nobody rated exactly these drafts."""
    try:
        return str(
            json.loads(round_file(workspace, digest).read_text(encoding="utf-8"))["decision"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def round_file(workspace: Workspace, digest: str) -> Path:
    return workspace.data / "publishing" / "rounds" / f"{digest[:32]}.json"
