"""Questions that a person should answer: found by terms, before anything is searched.

Recall first: a story that is told is caught by what it says, not by what it asks. A question
*about* a policy ("how long is a grievance kept?") is not a story, so weak terms count only where
someone speaks of themselves or of what somebody did."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ombud.errors import BadSetting
from ombud.text import TermSearch, plain_wording

SHIPPED = Path(__file__).parent / "sensitive.toml"
UNNAMED = "told"
"""Name of a matter that no term names."""


class Matter(NamedTuple):
    name: str
    topic: str
    """Whose contact is offered."""
    danger: bool
    """Someone may be at risk now: the emergency number comes first."""
    distress: bool = False
    """Someone may need to be listened to: helplines come first."""
    weak: bool = False
    """Only a weak term speaks for it."""


class _Group(NamedTuple):
    matter: Matter
    strong: TermSearch
    weak: TermSearch


class Sensitive:
    def __init__(self, groups: list[_Group], personal: TermSearch, about: TermSearch) -> None:
        self._groups = groups
        self._personal = personal
        self._about = about
        self._found = lru_cache(maxsize=64)(self._find)

    def find(self, text: str) -> Matter | None:
        """The gravest matter that `text` speaks of; None when it is an ordinary question."""
        return self._found(plain_wording(" ".join(text.split())))

    def _find(self, message: str) -> Matter | None:
        """The same of a message in plain words; triage asks for it as a feature, too."""
        is_story = self._personal.search(message) and not self._about.search(message)
        matters: list[Matter] = []
        for group in self._groups:
            if group.strong.search(message):
                matters.append(group.matter)
            elif is_story and group.weak.search(message):
                # "My ex" and "scared of" are not enough to name an emergency number.
                matters.append(group.matter._replace(danger=False, weak=True))
        return max(matters, key=_gravity, default=None)


def _gravity(matter: Matter) -> tuple[bool, bool]:
    return matter.danger, not matter.weak


def read_sensitive(path: Path | None = None) -> Sensitive:
    """The terms of `path`, or the shipped ones. Raises BadSetting naming the file."""
    return _read(path) if path else _shipped()


@cache
def _shipped() -> Sensitive:
    return _read(SHIPPED)


def _read(file: Path) -> Sensitive:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        return Sensitive(
            groups=list(map(_group, content["matter"])),
            personal=_any(content["personal"]),
            about=_any(content["about"]),
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, re.error) as wrong:
        raise BadSetting(
            f"{file} cannot be read: {wrong}.", hint="See the shipped sensitive.toml for its form."
        ) from wrong
    except (KeyError, TypeError) as wrong:
        raise BadSetting(
            f"{file} lacks {wrong}.", hint="See the shipped sensitive.toml for its form."
        ) from wrong


def _group(row: Mapping[str, Any]) -> _Group:
    matter = Matter(
        name=row["name"],
        topic=row.get("topic", row["name"]),
        danger=bool(row.get("danger", False)),
    )
    return _Group(
        matter=matter,
        strong=_any(row.get("strong", [])),
        weak=_any(row.get("weak", [])),
    )


def _any(terms: list[str]) -> TermSearch:
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise TypeError(f"a list of terms; `{terms}` is none")
    return TermSearch(terms)
