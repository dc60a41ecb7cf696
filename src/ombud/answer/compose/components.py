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
    """Component that is on -> model whose words it has, `` for those of the model that is asked.

    `NAME` (then only the named ones are on), `-NAME`, `+NAME`, `NAME=MODEL` and the names of SETS,
    from left to right. Raises UnknownName."""
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
    """Raises UnknownName for a component, or for a model that has no words of its own for it."""
    for name, model in switched(components).items():
        if not model:
            continue
        known: set[str] = set()
        for task in TASKS:
            known.update(variants(task, prompts))
        if model not in known:
            raise UnknownName(
                f"No prompt is written for `{model}`, as in `{name}={model}`.",
                hint=nearest(model, known),
            )


def stays(name: str, on: Mapping[str, str]) -> bool:
    """Whether a section is in the prompt: it is switched on, or cannot be switched."""
    return name in on or name not in COMPONENTS
