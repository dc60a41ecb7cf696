"""What a sentence counts, and in which role: "up to two weeks" is at most 14 days.

English only: in other languages words are found, roles are not.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from ombud.text.dates import MONTHS
from ombud.text.numbers import DIGITS, NUMBER, NUMBER_WORDS, plain_decimal, spell_out
from ombud.text.phrases import holds_any
from ombud.text.roles import role_of


class Quantity(NamedTuple):
    kind: str
    """What can be compared: days, working days, minutes, percent, eur, date, time, age, "count
    char" of characters."""
    value: float
    """Durations in days (weeks, months and years as well) or in minutes; dates as month x 100 +
    day."""
    start: int
    """Offsets into `plain_quantities(sentence)`, of the words that make up the quantity."""
    end: int
    role: str = "exact"
    """As `role_of` tells it; a range is never compared."""
    per: str = ""
    """Such as "week" of "3 days a week"; empty where the sentence does not say."""
    unit: str = ""
    """As counted, such as "week" of "2 weeks": other units of the same kind are compared with some
    latitude."""
    year: int = 0
    """Of a date; 0 where it has none."""


_N = rf"(?P<n>{NUMBER})"
_BETWEEN = (
    r"(?:(?!(?:a|an|after|and|are|as|at|before|by|for|from|in|is|of|on|or|per|plus|than|the|times"
    r"|to|until|with)\b)[a-z][a-z-]*[ -]){0,3}?"
)
"""Words between a number and its unit: "three paid volunteering days"."""
_MONTH = "|".join(MONTHS)
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
_ORDINAL = rf"(?:{'|'.join(ORDINALS)})\b|\d+(?:st|nd|rd|th)\b"
_CURRENCIES = {
    "eur": r"€|eur\b|euros?\b",
    "gbp": r"£|gbp\b|pounds?(?: sterling)?\b|quid\b",
    "usd": r"us\$|\$|usd\b|us dollars?\b|dollars?\b",
    "chf": r"chf\b|francs?\b",
}
_CURRENCY_MARKS = {
    "eur": ("€", "eur"),
    "gbp": ("£", "gbp", "pound", "quid"),
    "usd": ("$", "usd", "dollar"),
    "chf": ("chf", "franc"),
}
_DAYS = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 365.25 / 12, "year": 365.25}
_MINUTES = {"minute": 1.0, "hour": 60.0}
_SPANS = (*_DAYS, *_MINUTES, "night")
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}

_DATE = re.compile(
    rf"(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}})\b)?"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d\d?)(?:st|nd|rd|th)?\b(?:,? (?P<year2>\d{{4}})\b)?"
)
_TIME = re.compile(
    r"\b(?P<hour>\d\d?)(?:[:.](?P<minute>\d\d))?"
    r"(?: ?(?P<half>[ap])\.?m\b\.?|(?<=:\d\d)(?P<short>[ap])\b)"
    r"|\b(?P<h>\d\d?):(?P<m>\d\d)\b"
)
_AGE = re.compile(
    rf"\baged? (?:of )?({NUMBER})|\b({NUMBER})[ -]years?(?:[ -]old\b| of age\b|(?= or older))"
)
_SIGN_FIRST = [
    (name, re.compile(rf"(?:{sign}) ?(?P<n>{DIGITS}) ?(?P<scale>k|m|thousand|million)?\b"))
    for name, sign in _CURRENCIES.items()
]
_SIGN_LAST = [
    (name, re.compile(rf"{_N} ?(?P<scale>thousand|million)? ?(?:{sign})"))
    for name, sign in _CURRENCIES.items()
]
_TIMES = (
    r"(?P<n>\d+(?:[.,]\d+)?) ?"
    r"(?:x\b|times(?= (?:the|your|their|base|basic|normal|hourly)))"
)
_NUMBER_AND_UNIT = [
    ("percent", re.compile(rf"{_N} ?(?:%|per ?cent\b|percentage points?\b)")),
    ("times", re.compile(_TIMES)),
    ("km", re.compile(rf"{_N} ?(?:km\b|kilomet(?:re|er)s?\b)")),
    ("miles", re.compile(rf"{_N} ?miles?\b")),
]
_NTH = re.compile(
    rf"(?P<nth>{_ORDINAL}) (?P<unit>(?:working |calendar |business )?(?:day|week|month|year))\b"
    rf"|\b(?P<unit2>day|week|month|year) (?P<n>\d+)\b"
)
_WORKING = re.compile(rf"{_N}[ -]?{_BETWEEN}(?:working|business|work|week)[ -]days?\b")
_DURATION = re.compile(
    rf"(?:{_N}[ -]?{_BETWEEN}|(?P<half>half an? )"
    r"|(?P<one>(?<=within )an? |(?<=than )an? |(?<=least )an? ))"
    rf"(?P<unit>{'|'.join(_SPANS)})s?\b"
)
_COUNT = re.compile(rf"{_N} (?:[a-z-]+ ){{0,2}}?(?P<noun>[a-z]{{3,}}[^s\W]s|people)\b")
_RATE = re.compile(
    r"(?:\ba|\ban|\bper|\beach|\bevery|\bany|\bone|/) ?(?:\w+ )??"
    r"(?P<per>day|night|week|month|quarter|year|hour|km|kilometre|mile|person|employee|child|trip"
    r"|journey|shift)\b"
    r"|\b(?P<adverb>daily|nightly|weekly|monthly|yearly|annually|hourly)\b"
)
_RATE_ADVERBS = {
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "hourly": "hour",
}
_CLAUSE_END = re.compile(r"[.;:,(|]")
_MAY = re.compile(r"(?<=\d) may\b")
_IN_BRACKETS = re.compile(r"\b[a-z]+ \((\d+)\)")
_BEFORE = 60
"""Characters in front of a quantity that tell its role; behind it `_AFTER`."""
_AFTER = 45


def plain_quantities(sentence: str) -> str:
    """What quantities are looked for in: as `spell_out` makes it, with "two (2) weeks" as "2
    weeks"; in "EUR 5 may" is no month."""
    if " may" in sentence:
        sentence = _MAY.sub(" can", sentence)
    plain = spell_out(sentence)
    return _IN_BRACKETS.sub(r"\1", plain) if "(" in plain else plain


def find_quantities(text: str, language: str = "en") -> list[Quantity]:
    """Those of a sentence that went through `plain_quantities`, in reading order.

    language: of its digits (see `numbers`); words are understood in English only.
    """
    quantities: list[Quantity] = []
    for read, marks in _READERS:
        if not holds_any(text, marks):
            continue
        for candidate in read(text, language):
            if not _overlaps_any(candidate, quantities):
                quantities.append(_in_context(candidate, text))
    for candidate in _counted_things(text, language):
        if _overlaps_any(candidate, quantities):
            continue
        counted = _in_context(candidate, text)
        # "Play 10 questions" counts nothing, "at least 10 questions" does.
        if counted.role != "exact":
            quantities.append(counted)
    quantities.sort(key=_start)
    return quantities


def _start(quantity: Quantity) -> int:
    return quantity.start


def _overlaps_any(quantity: Quantity, others: Iterable[Quantity]) -> bool:
    return any(_overlap(quantity, other) for other in others)


def _overlap(first: Quantity, second: Quantity) -> bool:
    return first.start < second.end and second.start < first.end


def _dates(text: str, language: str) -> Iterator[Quantity]:
    for match in _DATE.finditer(text):
        month = match["month"] or match["month2"]
        day = match["day"] or match["day2"]
        year = match["year"] or match["year2"]
        yield Quantity(
            kind="date",
            value=100 * (MONTHS.index(month) + 1) + int(day),
            start=match.start(),
            end=match.end(),
            year=int(year or 0),
        )


def _times(text: str, language: str) -> Iterator[Quantity]:
    for match in _TIME.finditer(text):
        yield Quantity("time", _minutes_of_day(match), *match.span())


def _ages(text: str, language: str) -> Iterator[Quantity]:
    for match in _AGE.finditer(text):
        years = _number(match[1] or match[2], language)
        if years is not None:
            yield Quantity("age", years, *match.span())


def _money(text: str, language: str) -> Iterator[Quantity]:
    written = [name for name, marks in _CURRENCY_MARKS.items() if holds_any(text, marks)]
    for name, pattern in (*_SIGN_FIRST, *_SIGN_LAST):
        for match in pattern.finditer(text) if name in written else ():
            amount = _number(match["n"], language)
            if amount is None:
                continue
            scale = match["scale"]
            if scale:
                amount *= _SCALES[scale]
            yield Quantity(name, amount, *match.span())


def _with_unit(text: str, language: str) -> Iterator[Quantity]:
    for name, pattern in _NUMBER_AND_UNIT:
        for match in pattern.finditer(text):
            value = _number(match["n"], language)
            if value is not None:
                yield Quantity(name, value, *match.span())


def _ordinals(text: str, language: str) -> Iterator[Quantity]:
    for match in _NTH.finditer(text):
        if match["n"]:
            unit = match["unit2"]
            position = _number(match["n"], language)
        else:
            *_, unit = match["unit"].split()
            position = _ordinal(match["nth"])
        if position is not None:
            yield Quantity(f"nth {unit}", position, *match.span())


def _working_days(text: str, language: str) -> Iterator[Quantity]:
    for match in _WORKING.finditer(text):
        days = _number(match["n"], language)
        if days is not None:
            yield Quantity("working days", days, *match.span())


def _durations(text: str, language: str) -> Iterator[Quantity]:
    for match in _DURATION.finditer(text):
        unit = match["unit"]
        count = _count_of_units(match, language)
        if count is None:
            continue
        if unit in _MINUTES:
            kind = "minutes"
            size = _MINUTES[unit]
        elif unit in _DAYS:
            kind = "days"
            size = _DAYS[unit]
        else:
            kind = "nights"
            size = 1.0
        yield Quantity(kind, count * size, *match.span(), unit=unit)


def _count_of_units(match: re.Match[str], language: str) -> float | None:
    if match["half"]:
        return 0.5
    if match["one"]:
        return 1.0
    return _number(match["n"], language)


def _counted_things(text: str, language: str) -> Iterator[Quantity]:
    for match in _COUNT.finditer(text):
        count = _number(match["n"], language)
        if count is None:
            continue
        yield Quantity(f"count {match['noun'][:5]}", count, *match.span())


_READERS = (
    (_dates, MONTHS),
    (_times, (":", "am", "a.m", "pm", "p.m")),
    (_ages, ("age", "old")),
    (_money, tuple(chain.from_iterable(_CURRENCY_MARKS.values()))),
    (_with_unit, ("%", "cent", "x", "times", "km", "kilomet", "mile")),
    (_ordinals, ("day", "week", "month", "year")),
    (_working_days, (" day", "-day")),
    (_durations, _SPANS),
)
"""The likelier reading of a number first, each with marks of which a text that it finds something
in holds one: to look for these takes a tenth of the time."""


def _in_context(quantity: Quantity, text: str) -> Quantity:
    """With its role and what it is per."""
    begin = max(0, quantity.start - _BEFORE)
    before = text[begin : quantity.start].rstrip()
    end = quantity.end + _AFTER
    after = text[quantity.end : end]
    clause = _CLAUSE_END.split(after)[0]
    rate = _RATE.search(clause)
    if rate and rate.start() <= 1:  # "20 hours a week or more"
        after = after[rate.end() :]
    return quantity._replace(
        role=role_of(quantity.kind, before, after),
        per=_unit_of_rate(rate),
    )


def _unit_of_rate(match: re.Match[str] | None) -> str:
    if not match:
        return ""
    unit = match["per"] or _RATE_ADVERBS[match["adverb"]]
    return "km" if unit == "kilometre" else unit


def _number(written: str, language: str) -> float | None:
    """None for a label such as "1.2.3"."""
    if written in NUMBER_WORDS:
        return float(NUMBER_WORDS[written])
    try:
        return float(plain_decimal(written, language))
    except ValueError:
        return None


def _ordinal(written: str) -> float:
    if written in ORDINALS:
        return float(ORDINALS.index(written) + 1)
    return float(re.sub(r"\D", "", written))


def _minutes_of_day(match: re.Match[str]) -> float:
    if match["h"]:
        hours = int(match["h"])
        minutes = int(match["m"])
    else:
        hours = int(match["hour"]) % 12
        minutes = int(match["minute"] or 0)
    if "p" in (match["half"], match["short"]):
        hours += 12
    return 60.0 * hours + minutes
