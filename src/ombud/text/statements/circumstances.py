"""Of whom, when and where a sentence speaks: two that differ in this do not contradict each
other."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ombud.text.statements.subjects import country_stems, subject_stems, subject_words

_CODE = re.compile(r"\b[A-Z]{1,2}\d{1,2}\b")
_PLACE = re.compile(r"\b(?:[Ii]n|[Aa]t|[Ff]or|[Ff]rom|[Tt]o) ([A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)?)")
_NEGATED = re.compile(
    r"\b(?:not|never|no|cannot|without|nor)\b"
    r"(?! (?:more|less|later|longer|fewer|exceed|earlier|higher))"
)
_ACTORS = {
    "manager": r"(?:(?:your|the|a|their|each|all|line) )*(?:line )?managers?\b",
    "hr": r"(?:the )?hr\b",
    "payroll": r"payroll\b",
    "employee": (
        r"(?:(?:an|the|all|every|each|most|new) )*"
        r"(?:employees?|you|staff|everyone|parents?|workers?)\b"
    ),
}
_LEADING = {actor: re.compile(rf"^\W*(?:\w+, )?{words}") for actor, words in _ACTORS.items()}
_BY = {
    actor: re.compile(rf"\bby {words}") for actor, words in _ACTORS.items() if actor != "employee"
}
_PHASE = re.compile(
    r"\b(during|throughout|after|following|upon|before|prior to)\b "
    r"(?:(?:the|your|their|an?|end|of) )*([a-z]+)"
)
_PHASES = {"throughout": "during", "following": "after", "upon": "after", "prior to": "before"}


class Circumstances(NamedTuple):
    """Of whom and of what circumstances a sentence speaks."""

    marks: frozenset[int]
    """Special people and things that the sentence or its heading names."""
    marks_around: frozenset[int]
    """The same with all headings and the title."""
    sides: tuple[frozenset[int], ...]
    """Of each group of things that stand side by side, those that are named."""
    codes: frozenset[str]
    """Such as grades."""
    actor: str
    phases: Mapping[str, str]
    """Noun -> during, after or before it."""
    negated: bool
    countries: frozenset[str]
    places: frozenset[str]


class Headings(NamedTuple):
    """What stands above a passage, looked at once."""

    last: str
    """The nearest heading and the line that leads in."""
    specific_stems: frozenset[str]
    """Of title, headings and lead-in; neither generic nor of a country."""
    stems: frozenset[str]
    """All of them."""
    last_marks: frozenset[int]
    marks: frozenset[int]


@lru_cache(maxsize=4096)
def read_headings(
    title: str, trail: tuple[str, ...], countries: tuple[str, ...], lead: str
) -> Headings:
    """countries: those the passage holds in. lead: the line that leads in a list; may be empty."""
    last = f"{lead} {trail[-1] if trail else title}"
    everything = f"{title} {' '.join(trail)} {lead}".lower()
    specific = frozenset(subject_stems(everything, generic=False))
    return Headings(
        last=last,
        specific_stems=specific - country_stems(countries),
        stems=frozenset(subject_stems(everything)),
        last_marks=subject_words().marks.values_in(last.lower()),
        marks=subject_words().marks.values_in(everything),
    )


def read_circumstances(
    text: str, bare: str, countries: tuple[str, ...], headings: Headings
) -> Circumstances:
    """bare: `text` in small letters without its figures. countries: those that it names."""
    words = subject_words()
    marks = words.marks.values_in(bare) | headings.last_marks
    sides = words.sides.values_in(bare)
    return Circumstances(
        marks=marks,
        marks_around=marks | headings.marks,
        sides=tuple(sides & group for group in words.groups),
        codes=frozenset(_CODE.findall(text)),
        actor=_actor(bare),
        phases=_phases(bare),
        negated=bool(_NEGATED.search(bare)),
        countries=frozenset(countries),
        places=frozenset(_PLACE.findall(text)),
    )


def _phases(bare: str) -> dict[str, str]:
    phases: dict[str, str] = {}
    for when, noun in _PHASE.findall(bare):
        phases[noun] = _PHASES.get(when, when)
    return phases


def _actor(bare: str) -> str:
    for actor, pattern in _BY.items():
        if pattern.search(bare):
            return actor
    for actor, pattern in _LEADING.items():
        if pattern.match(bare):
            return actor
    return ""
