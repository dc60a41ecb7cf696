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
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}"


def _full_name(match: re.Match[str]) -> str:
    beginning = (match[1] or match[2])[:3]
    return next(month for month in MONTHS if month.startswith(beginning))


@cache
def _month_beside_day() -> re.Pattern[str]:
    names = "|".join([*MONTHS, *(month[:3] for month in MONTHS), "sept"])
    return re.compile(rf"(?<=\d[ \u00a0])({names})\b\.?|\b({names})\b\.?(?=[ \u00a0]\d)")
