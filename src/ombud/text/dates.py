"""Dates, the same however they are written: "31 march 2026"."""

import re
from functools import cache

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SHORT_MONTHS = tuple(month[:3] for month in MONTHS)
_MONTH_OF = dict(zip(SHORT_MONTHS, MONTHS, strict=True))
_IN_DIGITS = re.compile(
    r"\b(?:(\d{4})-(0[1-9]|1[0-2])-(\d\d)|(\d\d?)\.(0?[1-9]|1[0-2])\.(\d{4}))\b"
)


def spell_dates(text: str) -> str:
    """Lower-case `text` with 2026-03-31 and 31.03.2026 as "31 march 2026"."""
    return _IN_DIGITS.sub(_spelt_date, text)


def spell_months(text: str) -> str:
    """Lower-case `text` with the short names of months in full where a day stands beside them."""
    return _month_beside_day().sub(_full_name, text)


def _spelt_date(match: re.Match[str]) -> str:
    if match[1]:
        year, month, day = match.group(1, 2, 3)
    else:
        day, month, year = match.group(4, 5, 6)
    name = MONTHS[int(month) - 1]
    return f"{int(day)} {name} {year}"


def _full_name(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    return _MONTH_OF[name[:3]]


@cache
def _month_beside_day() -> re.Pattern[str]:
    names = "|".join([*MONTHS, *SHORT_MONTHS, "sept"])
    behind = rf"(?<=\d[ \u00a0])({names})\b\.?"
    in_front = rf"\b({names})\b\.?(?=[ \u00a0]\d)"
    return re.compile(f"{behind}|{in_front}")
