"""What a statement depends on: "if you resign", "after five years", "only with a receipt"."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from ombud.text.clauses import content_terms
from ombud.text.figures import read_figures
from ombud.text.scope.parties import parties_in
from ombud.text.scope.synonyms import canonical_terms
from ombud.text.scope.vocabulary import scope_words
from ombud.text.wording import term_pattern

_END = (
    r"(?=[.,:](?!\d)|[;!?()|]| and (?:you|the|it|they|we|must|may|is|are)\b"
    r"| (?:you|it|they|we|larkmere) |$)"
)
_INSIDE = r"(?:[^,.;:!?()|]|[.,:](?=\d))"
_SUBORDINATE = re.compile(
    r"\b(?P<mark>if|unless|as soon as|provided(?: that)?|as long as|so long as|except(?:ing)?(?: for| in| when)?"
    r"|in cases? of|subject to|whenever|when|where|until|once|only|apart from|other than"
    r"|who|whose|on condition that|in the event of)\b"
    rf"(?P<what>{_INSIDE}{{2,160}}?){_END}"
    rf"|^\W*(?P<opening>without|during|for|after|in)\b(?P<opened>{_INSIDE}{{2,60}}?)(?=, )"
)
_LIMITED = re.compile(
    r"\b(?P<mark>above|over|beyond|up to|at least|at most|more than|less than|fewer than|no more than"
    r"|no later than|below|under|after|within|from|by|before|during|for)\b"
    rf"(?P<what>{_INSIDE}{{1,60}}?){_END}"
)
_NOUN = re.compile(r"[ ,]+(?:(?:and|or) [a-z-]+ )?(?P<noun>[a-z][a-z-]+)")
_BARE_NUMBER = frozenset({"above", "over", "beyond", "up", "at", "more", "less", "fewer", "below"})
"""Beside these a number without a unit is a limit too."""


class Condition(NamedTuple):
    """Words without which the statement says more."""

    text: str
    """Small letters, with the word that opens it."""
    mark: str
    terms: frozenset[str]
    numbers: frozenset[str]
    kinds: tuple[str, ...]
    """Of its quantities."""


@lru_cache(maxsize=4096)
def find_conditions(text: str, language: str = "en") -> tuple[Condition, ...]:
    """Those of a text in small letters; English only."""
    if language[:2] != "en":
        return ()
    found: list[Condition] = []
    taken: list[tuple[int, int]] = []
    for pattern in (_SUBORDINATE, _LIMITED):
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            condition = _condition(match, language)
            if pattern is _LIMITED and not _limits(condition):
                continue
            if _is_boilerplate(condition):
                continue
            taken.append(match.span())
            found.append(condition)
    return tuple(found)


def _limits(condition: Condition) -> bool:
    if condition.kinds:
        return True
    return bool(condition.numbers) and condition.mark in _BARE_NUMBER


def _is_boilerplate(condition: Condition) -> bool:
    """ "Unless the law says otherwise", "if you wish": a claim without it says no more."""
    if not condition.terms and not condition.numbers:
        return True
    return not condition.numbers and bool(_words("boilerplate").search(condition.text))


def _condition(match: re.Match[str], language: str) -> Condition:
    groups = match.groupdict()
    what = groups["what"] or groups.get("opened") or ""
    mark = groups["mark"] or groups.get("opening") or ""
    figures = read_figures(what, language)
    kinds = tuple(quantity.kind for quantity in figures.quantities)
    return Condition(
        text=match[0].strip(),
        mark=mark.split()[0],
        terms=canonical_terms(content_terms(what, language)),
        numbers=figures.numbers,
        kinds=kinds,
    )


class Narrowing(NamedTuple):
    """An adjective that narrows a noun: "full-time" of "full-time employees"."""

    word: str
    noun: str


@lru_cache(maxsize=4096)
def find_narrowing(text: str) -> tuple[Narrowing, ...]:
    """Those of a text in small letters that stand before a noun."""
    found: list[Narrowing] = []
    for name in ("narrowing", "narrowing_people"):
        for match in _words(name).finditer(text):
            noun = _NOUN.match(text, match.end())
            if not noun or not content_terms(noun["noun"], "en"):
                continue
            if name == "narrowing" or parties_in(noun["noun"]):
                found.append(Narrowing(match[0], noun["noun"]))
    return tuple(found)


@cache
def _words(name: str) -> re.Pattern[str]:
    return term_pattern(scope_words()["conditions"][name])
