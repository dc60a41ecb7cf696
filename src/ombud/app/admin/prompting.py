"""Prompts: the shipped ones, versions that people have written, and which is active.

Versions are stored for ever. The active one is a file of the workspace, as if written there by
hand; without a file the shipped prompt is active.
"""

import re
from difflib import unified_diff
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.app.admin.jobs import note_action
from ombud.app.identity.people import mark
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotFound
from ombud.messages import message
from ombud.prompts import shipped, tasks, variants, why_not
from ombud.store import PromptVersion, add_prompt_version, prompt_versions

LONGEST = 50_000
"""Characters of a prompt."""
_VARIANT = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


class PromptLine(NamedTuple):
    """A prompt in the list of a page."""

    name: str
    is_shipped: bool
    is_own: bool
    """True if a file of the workspace is active."""
    versions: int


class PromptPage(NamedTuple):
    """Everything about one prompt."""

    name: str
    shipped: str
    """Empty if none is shipped."""
    active: str
    """The active text; empty if there is none."""
    is_own: bool
    number: int
    """Number of the active version; 0 for the shipped prompt or a file written by hand."""
    versions: tuple[PromptVersion, ...]
    problem: str
    """Reason why the workspace's file is not used."""


def list_prompts(workspace: Workspace) -> list[PromptLine]:
    """Return all prompts by task and variant."""
    lines: list[PromptLine] = []
    for task in tasks():
        for variant in variants(task, workspace.prompts):
            name = f"{task}/{variant}"
            lines.append(
                PromptLine(
                    name=name,
                    is_shipped=bool(shipped(name)),
                    is_own=prompt_file(workspace, name).is_file(),
                    versions=len(prompt_versions(workspace.store, name)),
                )
            )
    return lines


def read_prompt(workspace: Workspace, name: str) -> PromptPage:
    """Return one prompt. Raises NotFound for an unknown task."""
    check_name(name)
    file = prompt_file(workspace, name)
    own = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    versions = prompt_versions(workspace.store, name)
    number = next((one.number for one in versions if one.text == own), 0) if own else 0
    return PromptPage(
        name=name,
        shipped=shipped(name),
        active=own or shipped(name),
        is_own=bool(own),
        number=number,
        versions=tuple(versions),
        problem=why_not(own, name.partition("/")[0]) if own else "",
    )


def save_version(workspace: Workspace, name: str, text: str, by: str) -> PromptVersion:
    """Store a version without activating it. Raises BadRequest for placeholders that the code
    cannot fill."""
    check_name(name)
    text = text.replace("\r\n", "\n")
    if len(text) > LONGEST:
        raise BadRequest(message("admin.error_prompt_long", count=LONGEST))
    problem = why_not(text, name.partition("/")[0])
    if problem:
        raise BadRequest(message("admin.error_prompt", problem=problem))
    made = add_prompt_version(workspace.store, name, text, mark(by))
    note_action(workspace, "prompt written", by, prompt=name, number=made.number)
    return made


def activate(workspace: Workspace, name: str, number: int, by: str) -> None:
    """Activate a version in every process of the workspace; 0 means the shipped prompt. A file
    written by hand is stored as a version first. Raises NotFound."""
    check_name(name)
    text = version(workspace, name, number).text if number else ""
    file = prompt_file(workspace, name)
    store_file_version(workspace, name, file, by)
    try:
        write_or_remove(file, text)
    except OSError as failed:
        raise BadRequest(
            message("admin.error_prompt_write", reason=failed.strerror),
            hint=message("admin.error_prompt_write_hint"),
        ) from failed
    note_action(workspace, "prompt activated", by, prompt=name, number=number)


def store_file_version(workspace: Workspace, name: str, file: Path, by: str) -> None:
    """Store the present file as a version, unless it is one."""
    before = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    stored = [one.text for one in prompt_versions(workspace.store, name)]
    if before.strip() and before not in stored:
        add_prompt_version(workspace.store, name, before, mark(by))


def write_or_remove(file: Path, text: str) -> None:
    """Write the file completely or not at all; remove it if the text is empty."""
    if not text:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def version(workspace: Workspace, name: str, number: int) -> PromptVersion:
    """Return one version. Raises NotFound."""
    for one in prompt_versions(workspace.store, name):
        if one.number == number:
            return one
    raise NotFound(message("admin.error_prompt_version", name=name, number=number))


def difference(before: str, after: str) -> list[str]:
    """Return the lines of `diff -u`, without its header."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return list(lines)[2:]


def preview(text: str) -> str:
    """Mark each placeholder by its name."""
    template = Template(text)
    named = {name: f"⟨{name}⟩" for name in template.get_identifiers()}
    return template.safe_substitute(named)


def check_name(name: str) -> None:
    task, _, variant = name.partition("/")
    if task not in tasks() or not _VARIANT.fullmatch(variant):
        raise NotFound(
            message("admin.error_prompt_unknown", name=name[:100]),
            hint=message("admin.error_prompt_unknown_hint"),
        )


def prompt_file(workspace: Workspace, name: str) -> Path:
    return workspace.prompts / f"{name}.txt"
