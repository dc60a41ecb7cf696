"""Who says hello, thank you or goodbye, or asks what this is, and nothing else."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ombud.text import fold

Kind = Literal["greeting", "thanks", "farewell", "about"]
STRONGEST: Sequence[Kind] = ("about", "farewell", "greeting", "thanks")
"""Of several in one message the first of these is answered."""
LONGEST = 90
"""Characters."""
_APART = re.compile(r"[^\w'-]+")


class Pleasantry(NamedTuple):
    kind: Kind
    language: str


def pleasantry_of(text: str) -> Pleasantry | None:
    """None where anything else stands in the message."""
    if len(text) > LONGEST:
        return None
    said = " ".join(_APART.sub(" ", fold(text.replace("’", "'"))).split())
    for language, pattern in _patterns().items():
        if not pattern.whole.fullmatch(said):
            continue
        for kind in STRONGEST:
            if pattern.kinds[kind].search(said):
                return Pleasantry(kind, language)
    return None


class _Patterns(NamedTuple):
    whole: re.Pattern[str]
    """A message of nothing but phrases and fillers."""
    kinds: dict[Kind, re.Pattern[str]]


@cache
def _patterns() -> dict[str, _Patterns]:
    path = Path(__file__).with_name("pleasantries.toml")
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    return {language: _compiled(phrases) for language, phrases in held.items()}


def _compiled(phrases: dict[str, list[str]]) -> _Patterns:
    every = [phrase for listed in phrases.values() for phrase in listed]
    whole = re.compile(rf"(?:{_any_of(every)}(?: |$))+")
    kinds: dict[Kind, re.Pattern[str]] = {}
    for kind in STRONGEST:
        kinds[kind] = re.compile(rf"(?:^| ){_any_of(phrases[kind])}(?: |$)")
    return _Patterns(whole, kinds)


def _any_of(phrases: Sequence[str]) -> str:
    """The longest first, so that none hides another."""
    folded = sorted(map(fold, phrases), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, folded))})"
