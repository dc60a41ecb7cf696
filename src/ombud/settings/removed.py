"""Settings that no longer exist: a workspace that still sets one is warned and keeps working."""

import logging
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)

REMOVED_SETTINGS: dict[str, str] = {
    "publish.below_floor": "ombud report gaps asks a chat model what contradicts.",
    "publish.contradictions": "ombud report gaps asks a chat model what contradicts.",
    "answer.triage": "The shipped classifier judges; name further terms in answer.sensitive_terms.",
}
"""Key -> one sentence on what replaces it. A key is `sync.key`, a section, or `source.*.key`;
`plan.key` also holds under [country.X], [persona.X], [experiment.X] and in requests; and
`plan.key=value` is one value, or one item of a list, of a key that stays."""


def replacement_of(path: Sequence[str], value: Any = None) -> str:
    """Return what replaces a removed setting, or value of one; empty for any other."""
    name = ".".join(path[2:] if path[2:3] == ["plan"] else path)
    for pattern, sentence in REMOVED_SETTINGS.items():
        if fnmatchcase(name, pattern) or fnmatchcase(f"{name}={value}", pattern):
            return sentence
    return ""


def without_removed(
    tree: Mapping[str, Any], place: str, path: Sequence[str] = ()
) -> dict[str, Any]:
    """Return settings without the removed ones, each of which is logged once as a warning.

    place: where they are set, such as `ombud.toml`. path: of the tables around `tree`.
    """
    left: dict[str, Any] = {}
    for key, value in tree.items():
        here = [*path, str(key)]
        if sentence := replacement_of(here, value):
            _warn(".".join(here), place, sentence)
        elif isinstance(value, Mapping):
            left[key] = without_removed(value, place, here)
        elif isinstance(value, list | tuple):
            left[key] = type(value)(_items_left(value, place, here))
        else:
            left[key] = value
    return left


def _items_left(items: Sequence[Any], place: str, path: Sequence[str]) -> list[Any]:
    left: list[Any] = []
    for number, item in enumerate(items):
        if isinstance(item, Mapping):
            left.append(without_removed(item, place, [*path, str(number)]))
        elif sentence := replacement_of(path, item):
            _warn(f"{'.'.join(path)} = {item!r}", place, sentence)
        else:
            left.append(item)
    return left


@cache
def _warn(name: str, place: str, sentence: str) -> None:
    logger.warning("`%s` in %s was removed and is ignored: %s", name, place, sentence)
