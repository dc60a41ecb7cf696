"""What a sentence counts, and in which role: "up to two weeks" is at most 14 days.

English only: in other languages words are found, roles are not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.text.numbers import MONTHS, NUMBER_WORDS, plain_decimal, spell_out


class Quantity(NamedTuple):
    kind: str
    """What can be compared: days, working days, minutes, percent, eur, date, time, age, "count
    char" of characters."""
    value: float
    """Durations in days (weeks, months and years as well) or in minutes; dates as month x 100 +
    day."""
    role: str
    """exact, most, least, within, above, after, ahead, every, by, from; or range, which is never
    compared."""
    per: str
    """Such as "week" of "3 days a week"; empty where the sentence does not say."""
    unit: str
    """As counted, such as "week" of "2 weeks": other units of the same kind are compared with some
    latitude."""
    year: int
    """Of a date; 0 where it has none."""
    start: int
    """Offsets into `plain(sentence)`, of the words that make up the quantity."""
    end: int


_NUMBER = rf"(?<![\w.,])(?:\d+(?:[.,]\d+)*|(?:{'|'.join(NUMBER_WORDS)})\b)"
_N = rf"(?P<n>{_NUMBER})"
_BETWEEN = (
    r"(?:(?!(?:a|an|after|and|are|as|at|before|by|for|from|in|is|of|on|or|per|plus|than|the|times|to|until|with)\b)"
    r"[a-z][a-z-]*[ -]){0,3}?"
)
"""Words between a number and its unit: "three paid volunteering days"."""
_MONTH = "|".join(MONTHS)
_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)})\b|\d+(?:st|nd|rd|th)\b"
_CURRENCIES = {
    "eur": r"€|eur\b|euros?\b",
    "gbp": r"£|gbp\b|pounds?(?: sterling)?\b|quid\b",
    "usd": r"us\$|\$|usd\b|us dollars?\b|dollars?\b",
    "chf": r"chf\b|francs?\b",
}
_DAYS = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 365.25 / 12, "year": 365.25}
_MINUTES = {"minute": 1.0, "hour": 60.0}
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}

_DATE = re.compile(
    rf"(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}})\b)?"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d\d?)(?:st|nd|rd|th)?\b(?:,? (?P<year2>\d{{4}})\b)?"
)
_TIME = re.compile(
    r"\b(?P<hour>\d\d?)(?:[:.](?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b\.?|\b(?P<h>\d\d?):(?P<m>\d\d)\b"
)
_AGE = re.compile(
    rf"\baged? (?:of )?({_NUMBER})|\b({_NUMBER})[ -]years?(?:[ -]old\b| of age\b|(?= or older))"
)
_MONEY = [
    (name, re.compile(rf"(?:{sign}) ?(?P<n>\d+(?:[.,]\d+)*) ?(?P<scale>k|m|thousand|million)?\b"))
    for name, sign in _CURRENCIES.items()
] + [
    (name, re.compile(rf"{_N} ?(?P<scale>thousand|million)? ?(?:{sign})"))
    for name, sign in _CURRENCIES.items()
]
_SIMPLE = [
    ("percent", re.compile(rf"{_N} ?(?:%|per ?cent\b|percentage points?\b)")),
    (
        "times",
        re.compile(
            r"(?P<n>\d+(?:[.,]\d+)?) ?(?:x\b|times(?= (?:the|your|their|base|basic|normal|hourly)))"
        ),
    ),
    ("km", re.compile(rf"{_N} ?(?:km\b|kilomet(?:re|er)s?\b)")),
    ("miles", re.compile(rf"{_N} ?miles?\b")),
]
_NTH = re.compile(
    rf"(?P<nth>{_ORDINAL}) (?P<unit>(?:working |calendar |business )?(?:day|week|month|year))\b"
    rf"|\b(?P<unit2>day|week|month|year) (?P<n>\d+)\b"
)
_WORKING = re.compile(rf"{_N}[ -]?{_BETWEEN}(?:working|business|work|week)[ -]days?\b")
_DURATION = re.compile(
    rf"(?:{_N}[ -]?{_BETWEEN}|(?P<half>half an? )|(?P<one>(?<=within )an? |(?<=than )an? |(?<=least )an? ))"
    rf"(?P<unit>{'|'.join((*_DAYS, *_MINUTES, 'night'))})s?\b"
)
_COUNT = re.compile(rf"{_N} (?:[a-z-]+ ){{0,2}}?(?P<noun>[a-z]{{3,}}[^s\W]s|people)\b")

_PER = re.compile(
    r"(?:\ba|\ban|\bper|\beach|\bevery|\bany|\bone|/) ?(?:\w+ )??"
    r"(?P<per>day|night|week|month|quarter|year|hour|km|kilometre|mile|person|employee|child|trip|journey|shift)\b"
    r"|\b(?P<adverb>daily|nightly|weekly|monthly|yearly|annually|hourly)\b"
)
_ADVERBS = {
    "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year",
    "hourly": "hour",
}  # fmt: skip
_POINTS = frozenset({"date", "time", "age", "nth day", "nth week", "nth month", "nth year"})
_FILLER = re.compile(
    r"(?: (?:about|around|approximately|roughly|the|an?|total of|age|the age of|on|of))+$"
)
_ROLES_BEFORE = [
    (role, re.compile(rf"(?:^|\W)(?:{cues})$"))
    for role, cues in (
        ("range", rf"between|(?:{_NUMBER})(?: ?[ap]\.?m\.?| [a-z%€£$]+)? ?-?(?:[-–]|to-?|and|or)"),
        (
            "within",
            r"within(?: the (?:first|next|following))?|(?:no|not) later than|in the first|at the latest(?: by)?",
        ),
        (
            "least",
            r"≥|at least|(?:no|not) (?:less|fewer|shorter|earlier) than|(?:a )?minimum(?: is| of|:)?|min\.?",
        ),
        (
            "most",
            r"≤|up to(?: a (?:total|maximum) of| the)?|at (?:the )?most|(?:no|not) (?:more|longer|higher) than",
        ),
        (
            "most",
            r"(?:not|never) (?:exceed|cost more than|be more than)|limited to|capped at|(?:a )?max(?:imum)?(?: of|\.)?",
        ),
        ("most", r"<|less than|fewer than|under|below|as much as"),
        ("most", r"(?:cap|maximum|limit|ceiling)s?\b[^.;,]{0,40}(?:\bis|\bare|:|\bof)"),
        ("least", r"minimum\b[^.;,]{0,40}(?:\bis|\bare|:|\bof)"),
        (
            "above",
            r">|above|over|more than|exceed(?:s|ing)?|longer than|greater than|higher than|in excess of|beyond",
        ),
        ("every", r"every|once every|once in"),
        ("after", r"after|following|once|completed?|completing|upon"),
    )
]
_POINTS_BEFORE = [
    (
        "by",
        re.compile(
            r"\b(?:by|until|till|before|up to|through|(?:no|not) later than|latest(?: by)?|ends?|expires?)$"
        ),
    ),
    (
        "from",
        re.compile(r"\b(?:from|since|after|starting|as of|effective|beginning|begins?|starts?)$"),
    ),
]
_ROLES_AFTER = [
    ("range", re.compile(rf"^ ?-?(?:[-–]|to-?|and|or) ?(?:{_NUMBER})")),
    (
        "least",
        re.compile(
            r"^,? (?:or (?:more|over|older|above|longer)|and (?:over|above|older)|minimum\b|at (?:the )?least)"
        ),
    ),
    ("most", re.compile(r"^,? (?:or (?:less|fewer|under|younger)|at (?:the )?most|maximum\b)")),
    ("within", re.compile(r"^ at the latest")),
]
_AHEAD = re.compile(
    r"^s?['’]? ?(?:\w+ ){0,2}?(?:before|ahead|in advance|prior|beforehand|earlier)\b"
)


def plain_quantities(sentence: str) -> str:
    """What quantities are looked for in: as `spelt`, with "two (2) weeks" as "2 weeks"; in "EUR 5
    may" is no month."""
    return re.sub(
        r"\b[a-z]+ \((\d+)\)", r"\1", spell_out(re.sub(r"(?<=\d) may\b", " can", sentence))
    )


def find_quantities(text: str) -> list[Quantity]:
    """Those of a sentence that went through `plain`, in reading order."""
    taken: list[Quantity] = []
    for found in _all(text):
        if all(found.end <= other.start or found.start >= other.end for other in taken):
            taken.append(_placed(found, text))
    return sorted(taken, key=lambda quantity: quantity.start)


def _all(text: str) -> Iterator[Quantity]:
    """Every reading of every number, the likelier ones first."""
    for match in _DATE.finditer(text):
        month, day, year = (match[name] or match[f"{name}2"] for name in ("month", "day", "year"))
        yield _quantity(
            "date", 100 * (MONTHS.index(month) + 1) + int(day), match, year=int(year or 0)
        )
    for match in _TIME.finditer(text):
        yield _quantity("time", _minutes(match), match)
    for match in _AGE.finditer(text):
        yield _quantity("age", _number(next(n for n in match.groups() if n)), match)
    for name, pattern in _MONEY:
        for match in pattern.finditer(text):
            yield _quantity(name, _number(match["n"]) * _SCALES.get(match["scale"] or "", 1), match)
    for name, pattern in _SIMPLE:
        for match in pattern.finditer(text):
            yield _quantity(name, _number(match["n"]), match)
    for match in _NTH.finditer(text):
        unit = (match["unit"] or match["unit2"]).split()[-1]
        yield _quantity(
            f"nth {unit}", _number(match["n"]) if match["n"] else _ordinal(match["nth"]), match
        )
    for match in _WORKING.finditer(text):
        yield _quantity("working days", _number(match["n"]), match)
    for match in _DURATION.finditer(text):
        yield _duration(match)
    for match in _COUNT.finditer(text):
        counted = _placed(_quantity(f"count {match['noun'][:5]}", _number(match["n"]), match), text)
        # "Play 10 questions" counts nothing, "at least 10 questions" does.
        if counted.role != "exact":
            yield counted


def _quantity(
    kind: str, value: float, match: re.Match[str], unit: str = "", year: int = 0
) -> Quantity:
    return Quantity(kind, value, "exact", "", unit, year, match.start(), match.end())


def _duration(match: re.Match[str]) -> Quantity:
    unit = match["unit"]
    count = 0.5 if match["half"] else 1.0 if match["one"] else _number(match["n"])
    if unit in _MINUTES:
        return _quantity("minutes", count * _MINUTES[unit], match, unit)
    return _quantity(
        "days" if unit in _DAYS else "nights", count * _DAYS.get(unit, 1.0), match, unit
    )


def _placed(found: Quantity, text: str) -> Quantity:
    """With its role and what it is per."""
    before, after = (
        text[max(0, found.start - 60) : found.start].rstrip(),
        text[found.end : found.end + 45],
    )
    clause = re.split(r"[.;:,(|]", after)[0]
    per = _PER.search(clause)
    said = "" if not per else per["per"] or _ADVERBS[per["adverb"]]
    if per and per.start() <= 1:  # "20 hours a week or more"
        after = after[per.end() :]
    return found._replace(
        role=_role(found.kind, before, after), per="km" if said == "kilometre" else said
    )


def _role(kind: str, before: str, after: str) -> str:
    if kind in ("days", "working days", "minutes") and _AHEAD.match(after):
        return "ahead"
    for role, pattern in _ROLES_AFTER:
        if pattern.match(after):
            return "by" if role == "within" and kind in _POINTS else role
    bare = _FILLER.sub("", f" {before}")
    for role, pattern in _POINTS_BEFORE if kind in _POINTS else ():
        if pattern.search(bare):
            return role
    # The filler may be the cue's own end, such as "a maximum of".
    return next(
        (role for role, pattern in _ROLES_BEFORE if pattern.search(before) or pattern.search(bare)),
        "exact",
    )


def _number(written: str) -> float:
    return float(NUMBER_WORDS.get(written) or plain_decimal(written))


def _ordinal(written: str) -> float:
    return float(
        _ORDINALS.index(written) + 1 if written in _ORDINALS else re.sub(r"\D", "", written)
    )


def _minutes(match: re.Match[str]) -> float:
    if match["h"]:
        return 60.0 * int(match["h"]) + int(match["m"])
    return 60.0 * (int(match["hour"]) % 12 + 12 * (match["half"] == "p")) + int(
        match["minute"] or 0
    )
