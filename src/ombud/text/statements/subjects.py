"""What a sentence is about, by the words of `contradictions.toml`: how much each of them says."""

import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ombud.text.analysis import analyse
from ombud.text.names.countries import country_names
from ombud.text.phrases import Phrases
from ombud.text.wording import term_pattern

GENERIC = 0.33
"""Weight of a word that most sentences may have."""
WORD = re.compile(r"\w[\w'-]*")


class SubjectWords(NamedTuple):
    silent: re.Pattern[str]
    """They say how much, not what of."""
    generic: re.Pattern[str]
    """Most sentences of a policy may have them."""
    marks: Phrases[int]
    """Who or what is special; several phrases may have one number."""
    sides: Phrases[int]
    """Things that stand side by side, each with a number."""
    groups: tuple[frozenset[int], ...]
    """Numbers of those sides that exclude each other."""
    wider: Mapping[str, str]
    """Stem of a word -> stem of one that covers it."""


@cache
def subject_words() -> SubjectWords:
    path = Path(__file__).with_name("contradictions.toml")
    listed: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return SubjectWords(
        silent=term_pattern(listed["silent"]),
        generic=term_pattern(listed["generic"]),
        marks=_mark_phrases(listed["marks"]),
        sides=_side_phrases(listed["apart"]),
        groups=_numbered_groups(listed["apart"]),
        wider=_wider_stems(listed["wider"]),
    )


def _mark_phrases(marks: list[list[str]]) -> Phrases[int]:
    numbered: list[tuple[str, int]] = []
    for number, phrases in enumerate(marks):
        for phrase in phrases:
            numbered.append((phrase, number))
    return Phrases(numbered)


def _side_phrases(groups: list[list[str]]) -> Phrases[int]:
    sides = list(chain.from_iterable(groups))
    return Phrases(zip(sides, range(len(sides)), strict=True))


def _wider_stems(wider: Mapping[str, str]) -> Mapping[str, str]:
    stems: dict[str, str] = {}
    for narrow, wide in wider.items():
        stem, *_ = analyse(narrow)
        stems[stem], *_ = analyse(wide)
    return stems


def _numbered_groups(groups: list[list[str]]) -> tuple[frozenset[int], ...]:
    numbered: list[frozenset[int]] = []
    start = 0
    for group in groups:
        end = start + len(group)
        numbered.append(frozenset(range(start, end)))
        start = end
    return tuple(numbered)


def wider_than(stem: str) -> str:
    """The stem of a word that covers it, such as parent for paternity; else itself."""
    return subject_words().wider.get(stem, stem)


@lru_cache(maxsize=20_000)
def word_weight(word: str) -> float:
    """0 for a word that says how much, `GENERIC` for one that says little, 1 for any other."""
    if subject_words().silent.fullmatch(word):
        return 0.0
    return GENERIC if subject_words().generic.fullmatch(word) else 1.0


@lru_cache(maxsize=20_000)
def word_stems(word: str) -> tuple[str, ...]:
    return tuple(analyse(word))


def subject_stems(text: str, *, generic: bool = True) -> list[str]:
    """Stems of what `text` is about, without numbers and grades; with generic words or without."""
    least = 0.0 if generic else GENERIC
    stems: list[str] = []
    for word in WORD.findall(text.lower()):
        if word_weight(word) > least:
            stems += word_stems(word)
    return [stem for stem in stems if not has_digit(stem)]


def has_digit(stem: str) -> bool:
    return any(map(str.isdigit, stem))


@lru_cache
def country_stems(codes: Collection[str]) -> frozenset[str]:
    """Stems of the countries' names: where a rule holds is compared apart."""
    return frozenset(chain.from_iterable(map(analyse, country_names(codes))))
