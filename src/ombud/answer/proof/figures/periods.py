"""Whether a claim speaks of the same unit of time as what it restates: "in that quarter" does not
bear out "in that year". English only."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ombud.answer.proof.aligning import Alignment, Assertion, split_assertions
from ombud.text import Sentence, read_figures

LIKE = 0.35
"""Share of a claim's assertion found in another from which their units are compared."""
RELATED = 2
"""Words shared with a claim's assertion from which another may speak of the same."""
_UNIT = re.compile(
    r"\b(?:(?P<unit>day|week|month|quarter|year|hour|minute|night)s?"
    r"|(?P<rate>dai|night|week|month|quarter|year|hour)ly|(?P<annual>annual(?:ly)?|anniversary))\b"
)
_SHARES = re.compile(
    r"\bquarters? (?:of|off|to|past)\b|\b(?:three|and a) quarters?\b|\bhalf an? \w+"
)


def objections(
    claim: Sequence[Sentence], alignment: Alignment, question: str, language: str
) -> Iterator[str]:
    if language[:2] != "en":
        return
    asked = _units(question.lower())
    for sentence in claim:
        for assertion in split_assertions(sentence, language):
            claimed = _units(_without_quantities(assertion.text))
            stated = _stated_units(assertion, alignment)
            if stated - claimed:
                other_unit = min(stated - claimed)
                for unit in sorted(claimed - stated - asked):
                    yield f"it speaks of {unit}s, the cited text about this of {other_unit}s"


def _stated_units(claim: Assertion, alignment: Alignment) -> set[str]:
    """Of the assertions that the claim's restates, and of those that may speak of the same."""
    closest = alignment.closest(claim)
    if not closest or closest[0].share < LIKE:
        return set()
    units: set[str] = set()
    for one in closest:
        units |= _units(one.text_with_above)
    for other in alignment.assertions:
        if len(other.terms & claim.terms) >= RELATED:
            units |= _units(other.text)
    return units


def _without_quantities(text: str) -> str:
    """Those are compared with their numbers: a year is twelve months."""
    figures = read_figures(text)
    parts: list[str] = []
    end = 0
    for quantity in figures.quantities:
        parts.append(figures.text[end : quantity.start])
        end = quantity.end
    return " ".join([*parts, figures.text[end:]])


@lru_cache(maxsize=8192)
def _units(text: str) -> frozenset[str]:
    units: set[str] = set()
    for match in _UNIT.finditer(_SHARES.sub(" ", text)):
        unit = match["unit"] or match["rate"] or "year"
        units.add("day" if unit == "dai" else unit)
    return frozenset(units)
