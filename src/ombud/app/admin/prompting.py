"""The words for models: what ships, what people have written, which of it counts.

A version is kept in the store for ever; the one that counts is a file of the workspace, as if
somebody had put it there by hand, and where there is none what ships counts."""

import re
from difflib import unified_diff
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.app.admin.jobs import note_action
from ombud.app.identity.people import mark
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, NotFound
from ombud.prompts import shipped, tasks, variants, why_not
from ombud.store import PromptVersion, add_prompt_version, prompt_versions

LONGEST = 50_000
"""Characters."""
_VARIANT = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


class PromptLine(NamedTuple):
    """A prompt as a page lists it."""

    name: str
    is_shipped: bool
    is_own: bool
    """A file of the workspace counts."""
    versions: int


class PromptPage(NamedTuple):
    """Everything about one prompt."""

    name: str
    shipped: str
    """Empty where none ships."""
    active: str
    """What counts; empty where neither ships nor stands in the workspace."""
    is_own: bool
    number: int
    """Of the version that counts; 0 = what ships, or a file that nobody wrote here."""
    versions: tuple[PromptVersion, ...]
    problem: str
    """Why the file of the workspace is not used."""


def list_prompts(workspace: Workspace) -> list[PromptLine]:
    """By task and variant."""
    lines: list[PromptLine] = []
    for task in tasks():
        for variant in variants(task, workspace.prompts):
            name = f"{task}/{variant}"
            lines.append(
                PromptLine(
                    name=name,
                    is_shipped=bool(shipped(name)),
                    is_own=_file(workspace, name).is_file(),
                    versions=len(prompt_versions(workspace.store, name)),
                )
            )
    return lines


def read_prompt(workspace: Workspace, name: str) -> PromptPage:
    """Raises NotFound for a task that there is none of."""
    _check_name(name)
    file = _file(workspace, name)
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
    """Keeps it; it does not count yet. Raises BadRequest for words that the code cannot fill in."""
    _check_name(name)
    text = text.replace("\r\n", "\n")
    if len(text) > LONGEST:
        raise BadRequest(f"A prompt may have at most {LONGEST:,} characters.")
    problem = why_not(text, name.partition("/")[0])
    if problem:
        raise BadRequest(f"This cannot be sent: {problem}", hint="Nothing was saved.")
    made = add_prompt_version(workspace.store, name, text, mark(by))
    note_action(workspace, "prompt written", by, prompt=name, number=made.number)
    return made


def activate(workspace: Workspace, name: str, number: int, by: str) -> None:
    """From now on this version counts, in every process of the workspace; 0 = what ships. A file
    that was written by hand is kept as a version first. Raises NotFound."""
    _check_name(name)
    text = version(workspace, name, number).text if number else ""
    file = _file(workspace, name)
    _keep_file(workspace, name, file, by)
    try:
        _put(file, text)
    except OSError as failed:
        raise BadRequest(
            f"The prompt cannot be written: {failed.strerror}.", hint="Check the folder `prompts`."
        ) from failed
    note_action(workspace, "prompt activated", by, prompt=name, number=number)


def _keep_file(workspace: Workspace, name: str, file: Path, by: str) -> None:
    """What stands there as a version, unless it is one."""
    before = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    known = [one.text for one in prompt_versions(workspace.store, name)]
    if before.strip() and before not in known:
        add_prompt_version(workspace.store, name, before, mark(by))


def _put(file: Path, text: str) -> None:
    """Whole, or not at all; no file for an empty text."""
    if not text:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def version(workspace: Workspace, name: str, number: int) -> PromptVersion:
    """Raises NotFound."""
    for one in prompt_versions(workspace.store, name):
        if one.number == number:
            return one
    raise NotFound(f"`{name}` has no version {number}.")


def difference(before: str, after: str) -> list[str]:
    """Lines as `diff -u` writes them, without its head."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return list(lines)[2:]


def preview(text: str) -> str:
    """With each placeholder named where its value will stand."""
    template = Template(text)
    named = {name: f"⟨{name}⟩" for name in template.get_identifiers()}
    return template.safe_substitute(named)


def _check_name(name: str) -> None:
    task, _, variant = name.partition("/")
    if task not in tasks() or not _VARIANT.fullmatch(variant):
        raise NotFound(f"There is no prompt `{name[:100]}`.", hint="/admin/prompts lists all.")


def _file(workspace: Workspace, name: str) -> Path:
    return workspace.prompts / f"{name}.txt"
