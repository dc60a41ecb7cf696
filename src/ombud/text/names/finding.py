"""Names, quotations and addresses in a text."""

import re
from collections.abc import Iterator
from functools import cache

from ombud.text.dates import MONTHS

_WORD = re.compile(r"[^\W_]+")
_CAPITAL = r"(?:[A-Z]{2,}|[A-Z]\d+|\w+[A-Z]\w*|[A-Z][^\W\d_]{2,})"
_NAME = re.compile(
    rf"(?<=[\w,;:)'\"] )[\"(]?{_CAPITAL}\b(?: {_CAPITAL}\b)*"
    rf"|\b(?:[A-Z]{{2,}}|[A-Z]\d+|\w+[A-Z]\w*)\b(?: {_CAPITAL}\b)*"
)
_GRADES = re.compile(r"\b([A-Z])(\d)\s?(?:-|–|TO|to|through)\s?([A-Z]?)(\d)\b")
_SHORTEST_PLURAL = 4
_QUOTATION = re.compile(r'"([^"]{2,300})"')
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[a-z][a-z+.-]*:/{0,2}|www\.)(?=\w)[^\s)\]>\"]+"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^\s)\]>\"]*"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|example)\b"
)


def find_names(text: str) -> Iterator[str]:
    """Words in capitals or with a number, and capitals inside a sentence; several in a row are one
    name. Months of dates are none."""
    for match in _NAME.finditer(_month_of_date().sub(" ", text)):
        yield match[0]


def find_quotations(text: str) -> list[str]:
    """What stands between straight quotes."""
    return _QUOTATION.findall(text)


def find_addresses(text: str) -> list[str]:
    """Of mail and of the web, with and without their scheme."""
    return [address.rstrip(".,;") for address in _ADDRESS.findall(text)]


def split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def word_stem(word: str) -> str:
    """One case, without the s of a plural: names are not stemmed further."""
    folded = word.casefold()
    if len(folded) < _SHORTEST_PLURAL:
        return folded
    return folded.removesuffix("s")


def grades_between(text: str) -> frozenset[str]:
    """In small letters all grades of ranges: g5, g6 and g7 of "G5-G7"."""
    grades: set[str] = set()
    for letter, first, other, last in _GRADES.findall(text):
        if other in ("", letter):
            grades.update(
                f"{letter}{grade}".casefold() for grade in range(int(first), int(last) + 1)
            )
    return frozenset(grades)


@cache
def _month_of_date() -> re.Pattern[str]:
    names = [month.capitalize() for month in MONTHS]
    month = "|".join([*names, *(name[:3] for name in names), "Sept"])
    return re.compile(
        rf"(?<=\d )(?:of )?(?:{month})\b\.?|(?<=\d[snrt][tdh] )(?:of )?(?:{month})\b"
        rf"|\b(?:{month})(?= \d)"
    )
