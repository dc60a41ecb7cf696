"""The named components of a prompt, and which of them a plan switches on."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ombud.errors import UnknownName
from ombud.prompts import variants
from ombud.settings import nearest

TASKS = ("compose", "question")
"""Prompts: the rules, and the message that goes with them."""
USUAL = (
    "role",
    "tailoring",
    "only-context",
    "ignore-irrelevant",
    "key-information",
    "insufficient-context",
    "format",
    "persona-length",
    "persona-style",
    "no-extraneous",
    "answer-cue",
)
"""Components that a prompt has where the plan says nothing. The persona is said once."""
COMPONENTS = (*USUAL, "persona-reinforcement", "question-first", "turn-delimiters")
"""All that can be switched. Sections of other names, such as `data`, are in every prompt."""
SETS: dict[str, tuple[str, ...]] = {
    "usual": USUAL,
    "bare": tuple(f"-{name}" for name in COMPONENTS),
    "no-persona": ("-tailoring", "-persona-length", "-persona-style", "-persona-reinforcement"),
    "no-guards": ("-only-context", "-ignore-irrelevant", "-insufficient-context", "-no-extraneous"),
}
"""Several at once, by one name."""


def switched(components: Sequence[str]) -> dict[str, str]:
    """Map each component that is on to the model whose words it has, or to the empty string for the
    words of the model in use.

    Entries are read from left to right: `NAME` (then only the named ones are on), `-NAME`, `+NAME`,
    `NAME=MODEL` and the names of SETS. Raises UnknownName."""
    entries: list[str] = []
    for entry in components:
        entries += SETS.get(entry, (entry,))
    on: dict[str, str] = {}
    if not any(map(_is_plain_name, entries)):
        on = dict.fromkeys(USUAL, "")
    for entry in entries:
        name, _, model = entry.removeprefix("+").removeprefix("-").partition("=")
        if name not in COMPONENTS:
            raise UnknownName(
                f"No component of a prompt is called `{name}`.",
                hint=nearest(name, [*COMPONENTS, *SETS]),
            )
        if entry.startswith("-"):
            on.pop(name, None)
        else:
            on[name] = model
    return on


def _is_plain_name(entry: str) -> bool:
    return not entry.startswith("-") and bool(re.fullmatch("[a-z-]*[a-z]", entry))


def check_components(components: Sequence[str], prompts: Path | None = None) -> None:
    """Raise UnknownName for an unknown component, or for a model without words of its own for
    it."""
    for name, model in switched(components).items():
        if not model:
            continue
        names: set[str] = set()
        for task in TASKS:
            names.update(variants(task, prompts))
        if model not in names:
            raise UnknownName(
                f"No prompt is written for `{model}`, as in `{name}={model}`.",
                hint=nearest(model, names),
            )


def stays(name: str, on: Mapping[str, str]) -> bool:
    """Tell whether a section is in the prompt: it is on, or cannot be switched."""
    return name in on or name not in COMPONENTS
