"""Units, currencies and months that a text names."""

import re
from collections.abc import Mapping
from functools import cache

from ombud.text.dates import MONTHS
from ombud.text.numbers import NUMBER_WORDS, spell_out

_WRITTEN: Mapping[str, str] = {
    "day": r"days?\b|daily\b",
    "week": r"week(?:s|ly)?\b",
    "month": r"month(?:s|ly)?\b",
    "year": r"year(?:s|ly)?\b|annual",
    "hour": r"hour(?:s|ly)?\b|hrs?\b",
    "minute": r"minutes?\b|mins?\b",
    "percent": r"%|per ?cent\b",
    "pound": r"£|gbp\b|pounds?\b|quid\b|sterling\b",
    "euro": r"€|eur\b|euros?\b",
    "dollar": r"\$|usd\b|dollars?\b|bucks\b",
    **{month: rf"{month}\b" for month in MONTHS},
}
"""Unit -> how it is written."""
_MAY = re.compile(r"(?<=[a-z,(] )May\b")


def units_named(text: str) -> set[str]:
    """Units, currencies and months wherever they stand: a table has its unit in the head and its
    number in a row."""
    plain = spell_out(text)
    named = {name for name, pattern in _patterns().items() if pattern.search(plain)}
    # "You may" is no month, "in May" and "1 May" are.
    is_month = _may_beside_number().search(plain) or _MAY.search(text)
    if not is_month:
        named.discard("may")
    return named


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    for name, written in _WRITTEN.items():
        patterns[name] = re.compile(rf"(?<![a-z])(?:{written})")
    return patterns


@cache
def _may_beside_number() -> re.Pattern[str]:
    number = rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)}))(?:st|nd|rd|th)?"
    return re.compile(rf"{number}[ -]?(?:[a-z]+[ -])??may\b|(?<![a-z])may ?\d")
