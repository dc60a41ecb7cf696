"""A section for colleagues in another country does not open the answer: pages for everyone have
"US Teammates" and "Non-US Teammates" side by side."""

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from ombud.answer.quoting.spans import AnswerSpan, section_of, weighed
from ombud.text import called_countries, fold, named_countries, remembered
from ombud.types import Question

SHARE = 0.1
"""Factor of the odds of a span whose section is for another country: as of another group."""
LONGEST = 200
"""Letters of a heading."""
HYPHEN = re.compile("[\u2010-\u2015]")
NAME = r"[A-Z][\w.]{1,30}(?: (?:Britain|Kingdom|States))?"
NAMES = rf"{NAME}(?:(?:, | and | & | or |/){NAME}){{0,4}}"
PEOPLE = r"(?:teammates|employees|staff|colleagues|workers|team members|new hires)\b"
FOR_PEOPLE = re.compile(
    rf"(?:^|[(:]\s*|- |\bfor |\bFor |\bapplies to )(?P<outside>[Nn]on-)?(?P<places>{NAMES})[- ]"
    rf"(?:based )?(?i:{PEOPLE})"
)
PEOPLE_OUTSIDE = re.compile(
    rf"(?i:{PEOPLE}) (?:based |working |living )?(?i:outside) (?:of )?(?:the )?(?P<places>{NAMES})"
)
BRACKETS = re.compile(r"\(([^()]*)\)")
WIDER = re.compile(
    r"\b(?:EU|EEA|EMEA|APAC|LATAM|Americas)\b|\b(?i:europ\w*|international|global|everyone|all|both"
    r"|including|other than|not|except|excluding|without)\b"
)
"""Words of a heading that speaks of more than the countries it names, or of all but these."""


class _Addressees(NamedTuple):
    """For whom a heading says it is."""

    countries: frozenset[str] = frozenset()
    """Empty where it does not say."""
    others: frozenset[str] = frozenset()
    """For all but those who work there."""


def favour_own_country(spans: Sequence[AnswerSpan], question: Question) -> list[AnswerSpan]:
    """Spans with those of sections for countries that are neither the asker's nor named less
    likely; likeliest first. Who has no country is told of all."""
    own = question.asker.country
    if not own:
        return list(spans)
    asked = {own, *named_countries(question.text)}
    return weighed(spans, SHARE, lambda span: _is_for_others(span, own, asked))


def _is_for_others(span: AnswerSpan, own: str, asked: Set[str]) -> bool:
    chunk = span.hit.chunk
    if own in chunk.countries:
        return False
    for heading in {chunk.title, *chunk.trail[:-1], section_of(span), span.lead}:
        meant = _addressees(heading)
        if meant.countries and not meant.countries & asked:
            return True
        if own in meant.others:
            return True
    return False


@remembered(4096)
def _addressees(heading: str) -> _Addressees:
    """Of "US Teammates", "(this only applies to US employees)", "Germany", "Parental leave (US)":
    people of a country, or no more than its name. "Visa for the US" is for who goes there."""
    if len(heading) > LONGEST:
        return _Addressees()
    plain = HYPHEN.sub("-", heading).strip(" *_#.:")
    outside = PEOPLE_OUTSIDE.search(plain)
    if outside:
        return _Addressees(others=_countries(outside["places"]))
    if WIDER.search(plain):
        return _Addressees()
    people = FOR_PEOPLE.search(plain)
    if people and people["outside"]:
        return _Addressees(others=_countries(people["places"]))
    if people:
        return _Addressees(countries=_countries(people["places"]))
    named: set[str] = set()
    for part in (BRACKETS.sub("", plain), *BRACKETS.findall(plain)):
        named |= _only_countries(part)
    return _Addressees(countries=frozenset(named))


def _countries(places: str) -> frozenset[str]:
    """`places` stands before people or behind "outside", so that a short name is a country's."""
    return frozenset(named_countries(f"the {places} employees")) | _only_countries(places)


def _only_countries(text: str) -> frozenset[str]:
    """Of names and nothing else: empty where any word is no country's."""
    codes: set[str] = set()
    for name in re.split(r", | and | & | or |/", text.strip()):
        code = called_countries().get(fold(name).strip())
        if code is None or name.islower():
            return frozenset()
        codes.add(code)
    return frozenset(codes)
