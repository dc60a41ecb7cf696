"""Terms of matters that a person should help with: those that ship, or the organisation's own."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ombud.errors import BadSetting
from ombud.text import TermSearch, plain_wording

SHIPPED = Path(__file__).with_suffix(".toml")
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

    @property
    def is_guess(self) -> bool:
        """Tell whether only the classifier sees it: no term names it, and nobody is in distress."""
        return self.name == UNNAMED and not self.distress


POSSIBLE_DISTRESS = Matter(UNNAMED, "wellbeing", danger=False, distress=True)


class SensitiveTerms:
    def __init__(self, matters: Sequence[tuple[Matter, TermSearch]]) -> None:
        self._matters = matters
        self._found = lru_cache(maxsize=64)(self._find)

    def find(self, text: str) -> Matter | None:
        """Return the matter that a text names, one of danger first."""
        return self._found(plain_wording(" ".join(text.split())))

    def _find(self, message: str) -> Matter | None:
        named = [matter for matter, terms in self._matters if terms.search(message)]
        return max(named, key=lambda matter: matter.danger, default=None)


def read_sensitive(path: Path | None = None) -> SensitiveTerms:
    """Return the terms of `path`, or the shipped ones. Raises BadSetting naming the file."""
    return _load(path) if path else _shipped()


@cache
def _shipped() -> SensitiveTerms:
    return _load(SHIPPED)


def _load(file: Path) -> SensitiveTerms:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        return SensitiveTerms(list(map(_matter, content["matter"])))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, re.error) as wrong:
        problem = f"cannot be read: {wrong}"
    except (KeyError, TypeError) as wrong:
        problem = f"lacks {wrong}"
    raise BadSetting(f"{file} {problem}.", hint="See the shipped sensitive.toml for its form.")


def _matter(row: Mapping[str, Any]) -> tuple[Matter, TermSearch]:
    name, terms = row["name"], row["strong"]
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise TypeError(f"a list of terms; `{terms}` is none")
    matter = Matter(name, row.get("topic", name), danger=bool(row.get("danger", False)))
    return matter, TermSearch(terms)
