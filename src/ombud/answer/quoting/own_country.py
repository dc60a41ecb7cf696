"""A section for colleagues in another country does not open the answer: pages for everyone have
"US Teammates" and "Non-US Teammates" side by side."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.quoting.applying import is_of_country
from ombud.answer.quoting.spans import AnswerSpan, likelier, section_of
from ombud.text import named_countries, remembered
from ombud.types import Question

SHARE = 0.1
"""Factor of the odds of a span whose section is for another country: as of another group."""
ELSEWHERE = re.compile(
    r"\b(?:non[- ]|outside (?:of )?(?:the )?|not (?:based )?in (?:the )?|except (?:in )?(?:the )?)"
    r"(?P<place>[^\s,;:()]+(?: [^\s,;:()]+)?)",
    re.IGNORECASE,
)
PEOPLE = re.compile(
    r"(?P<place>[^\s,;:()]+(?: [^\s,;:()]+)?)[- ](?:based )?"
    r"(?:teammates|employees|staff|colleagues|workers|team members|hires|people)\b",
    re.IGNORECASE,
)
GOING = re.compile(
    r"\b(?:travel|trip|visit|mov(?:e|ing)|going|relocat|post(?:ed|ing)|second)", re.IGNORECASE
)
"""In a heading such as "Travel to Germany", which is for who goes there."""


class _Meant(NamedTuple):
    """For whom a heading is."""

    only: frozenset[str]
    """Countries; empty where it does not say."""
    never: frozenset[str]


def favour_own_country(spans: Sequence[AnswerSpan], question: Question) -> list[AnswerSpan]:
    """Spans with those of sections for countries other than the asker's less likely; likeliest
    first. Where the question names countries it is about these, and who has none is told of
    all."""
    about = set(named_countries(question.text))
    if not about and question.asker.country:
        about = {question.asker.country}
    if not about:
        return list(spans)
    weighed: list[AnswerSpan] = []
    for span in spans:
        if _is_for_others(span, about):
            span = likelier(span, SHARE)
        weighed.append(span)
    return sorted(weighed, key=lambda span: -span.score)


def _is_for_others(span: AnswerSpan, about: set[str]) -> bool:
    chunk = span.hit.chunk
    for heading in {chunk.title, *chunk.trail[:-1], section_of(span), span.lead}:
        meant = _meant(heading)
        if meant.only and not meant.only & about:
            return True
        if about <= meant.never:
            return True
    return False


@remembered(4096)
def _meant(heading: str) -> _Meant:
    never = _places(ELSEWHERE, heading)
    if never:
        return _Meant(only=frozenset(), never=never)
    named = frozenset(named_countries(heading))
    people = _places(PEOPLE, heading)
    if people:
        return _Meant(only=people | named, never=frozenset())
    if GOING.search(heading):
        named = frozenset()
    whole = frozenset(code for code in named if is_of_country(heading, code))
    return _Meant(only=whole, never=frozenset())


def _places(pattern: re.Pattern[str], heading: str) -> frozenset[str]:
    codes: set[str] = set()
    for match in pattern.finditer(heading):
        place = match["place"].replace("-", " ")
        codes.update(named_countries(f"in the {place}"))
    return frozenset(codes)
