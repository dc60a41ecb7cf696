"""What a statement depends on: "if you resign", "after five years", "only with a receipt"."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ombud.text.clauses import content_terms
from ombud.text.figures import read_figures
from ombud.text.quantities import Quantity
from ombud.text.scope.parties import parties_in
from ombud.text.scope.synonyms import canonical_terms
from ombud.text.scope.vocabulary import scope_words
from ombud.text.wording import term_pattern

_END = (
    r"(?=[.,:](?!\d)|[;!?()|]| and (?:you|the|it|they|we|must|may|is|are)\b"
    r"| (?:you|it|they|we) |$)"
)
_INSIDE = r"(?:[^,.;:!?()|]|[.,:](?=\d))"
_SUBORDINATE = re.compile(
    r"\b(?<!even )(?P<mark>if|unless|as soon as|provided(?: that)?|as long as|so long as"
    r"|except(?:ing)?(?: for| in| when)?|in cases? of|subject to|whenever|when|where|until|once"
    r"|only|apart from|other than|who|whose|on condition that|in the event of)\b"
    rf"(?P<what>{_INSIDE}{{2,160}}?){_END}"
    rf"|^\W*(?P<opening>without|during|for|after|in)\b(?P<opened>{_INSIDE}{{2,60}}?)(?=, )"
)
_NO_VERB = r"(?! (?:may|must|can|will|is|are|has|have|employees?|staff|you|they) )"
_LIMITED = re.compile(
    r"\b(?P<mark>above|over|beyond|up to|at least|at most|more than|less than|fewer than"
    r"|no more than|no later than|below|under|after|within|from|by|before|during|for|with)\b"
    rf"(?P<what>(?:{_NO_VERB}{_INSIDE}){{1,60}})"
)
_ASIDE = re.compile(
    r"\b(?P<mark>of)\b"
    rf"(?P<what>(?:(?! (?:may|must|can|is|are|has|have|in|on|at|by|to) ){_INSIDE}){{3,60}})"
)
_LISTED = re.compile(r", (?:and|or) (?:[a-z]+ )?[a-z]+ $")
"""The last of several: "interns, contractors and people who …"."""
_ENUMERATED = re.compile(r", (?:an? |the )?[a-z]+ $")
_GOES_ON = re.compile(r",? ?(?:and|or) |, (?=[^,]*,? (?:and|or) )")
"""One of several: "your child, someone who lives with you, or another person"."""
_OR_MORE = re.compile(
    r"\b(?:more than|at least|up to|at most|no more than)\b"
    r"|\b(?:or|and) (?:more|over|older|above|longer|less|under|fewer|below)\b"
)
_BRACKETS = re.compile(r" ?\([^()]*\)")
_POINTING = re.compile(r"\b(?:this|these|those|such)\b")
BOILERPLATE = 3
"""Words of the longest condition that is none."""
_NOUN = re.compile(r"[ ,]+(?:(?:and|or) [a-z-]+ )?(?P<noun>[a-z][a-z-]+)")
_OTHERS = re.compile(r", (?:[a-z-]+ )?[a-z-]+,? (?:and|or) ")
"""Behind "full-time teammates": "interns, and contractors", of whom it says nothing."""
_LASTING = frozenset({"for", "during"})
"""How long something lasts is no condition, "for 3 or more days" is one."""
_BARE_NUMBER = frozenset({"above", "over", "beyond", "up", "at", "more", "less", "fewer", "below"})
"""Beside these a number without a unit is a limit too."""


def unit_kinds(quantities: Iterable[Quantity]) -> tuple[str, ...]:
    """Kinds of quantities, with years and months apart from shorter times."""
    kinds: list[str] = []
    for quantity in quantities:
        is_long = quantity.unit in ("month", "year")
        kinds.append("months" if is_long else quantity.kind)
    return tuple(kinds)


class StatedCondition(NamedTuple):
    """Words without which the statement says more."""

    text: str
    """Small letters, with the word that opens it."""
    mark: str
    terms: frozenset[str]
    numbers: frozenset[str]
    kinds: tuple[str, ...]
    """Of its quantities, as `unit_kinds` gives them."""


@lru_cache(maxsize=4096)
def find_conditions(text: str, *, closely: bool = False) -> tuple[StatedCondition, ...]:
    """Those of an English text in small letters; closely: also what something is done with, for or
    about, which a paraphrase may leave out."""
    found: list[StatedCondition] = []
    taken: list[tuple[int, int]] = []
    plain = _BRACKETS.sub(" ", text)
    for pattern, says_more in _READERS if closely else _READERS[:2]:
        for match in pattern.finditer(plain):
            if _overlaps(match, taken):
                continue
            if match["mark"] in ("who", "whose") and _is_of_several(plain, match):
                continue
            condition = _condition(match)
            if says_more(condition) and not _is_boilerplate(condition):
                taken.append(match.span())
                found.append(condition)
    return tuple(found)


def _overlaps(match: re.Match[str], taken: Sequence[tuple[int, int]]) -> bool:
    return any(match.start() < end and start < match.end() for start, end in taken)


def _is_of_several(text: str, match: re.Match[str]) -> bool:
    """Whether it tells who is meant by one of those that are listed, and of the others nothing."""
    before, behind = text[: match.start()], text[match.end() :]
    if _LISTED.search(before):
        return True
    return bool(_ENUMERATED.search(before) and _GOES_ON.match(behind))


def _always(condition: StatedCondition) -> bool:
    return True


def _limits(condition: StatedCondition) -> bool:
    if condition.mark in _LASTING:
        return bool(_OR_MORE.search(condition.text))
    if condition.kinds:
        return True
    is_bare = condition.mark in _BARE_NUMBER or bool(_OR_MORE.search(condition.text))
    return bool(condition.numbers) and is_bare


def _measures(condition: StatedCondition) -> bool:
    return condition.mark != "of" or bool(condition.numbers)


_READERS = ((_SUBORDINATE, _always), (_LIMITED, _limits), (_ASIDE, _measures))
"""(pattern, whether what it finds is a condition); the last one of what may be left out."""


def _is_boilerplate(condition: StatedCondition) -> bool:
    """ "Unless the law says otherwise", "if you wish": a claim without it says no more."""
    if not condition.terms and not condition.numbers:
        return True
    if _POINTING.search(condition.text) and not condition.numbers:
        # "In this case", "in one of these locations": the condition stands in another sentence.
        return True
    is_short = len(condition.terms) <= BOILERPLATE and not condition.numbers
    return is_short and bool(_words("boilerplate").search(condition.text))


def _condition(match: re.Match[str]) -> StatedCondition:
    groups = match.groupdict()
    what = groups["what"] or groups.get("opened") or ""
    mark = groups["mark"] or groups.get("opening") or ""
    figures = read_figures(what)
    return StatedCondition(
        text=match[0].strip(),
        mark=mark.split()[0],
        terms=canonical_terms(content_terms(what, "en")),
        numbers=figures.numbers,
        kinds=unit_kinds(figures.quantities),
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
            if _OTHERS.match(text, noun.end()):
                continue
            if name == "narrowing" or parties_in(noun["noun"]):
                found.append(Narrowing(match[0], noun["noun"]))
    return tuple(found)


@cache
def _words(name: str) -> re.Pattern[str]:
    return term_pattern(scope_words()["conditions"][name])
