"""Format Excel's numbers as dates and times: days since 1900, or 1904, by the codes y, m, d, h and
s."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ombud.documents.office.xlsx_codes import FormatToken

END_OF_CALENDAR = 2_958_466
"""The day after the last of the year 9999."""
SECONDS_A_DAY = 86_400
_DATE_LETTERS = frozenset("ymdhs")
_SEPARATORS = frozenset(".,/-%")
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_HALVES = frozenset(("am/pm", "a/p"))
_UNITS = {"y": "year", "m": "month", "d": "day", "h": "hour", "s": "second"}
_NAMES = {"month": "%B", "day": "%A"}


def is_date(tokens: Sequence[FormatToken]) -> bool:
    """Tell whether a format displays a date, time or duration."""
    for token in tokens:
        if token.kind == "elapsed":
            return True
        if token.kind == "code" and token.text[0].lower() in _DATE_LETTERS:
            return True
    return False


def format_date(value: float, tokens: Sequence[FormatToken], from_1904: bool) -> str:
    """Format a day count as a date; "" outside the calendar."""
    if not 0 <= value < END_OF_CALENDAR:
        return ""
    has_fractions = FormatToken("code", "0") in tokens
    seconds = round(value * SECONDS_A_DAY, 3 if has_fractions else 0)
    try:
        moment = day_zero(value, from_1904) + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return "".join(format_parts(moment, seconds, tokens)).strip()


def format_parts(moment: datetime, seconds: float, tokens: Sequence[FormatToken]) -> Iterator[str]:
    """Yield the parts of a moment in a format. seconds: since day 0, for elapsed time."""
    has_halves = any(token.text.lower() in _HALVES for token in tokens if token.kind == "code")
    unit_before = ""
    for position, token in enumerate(tokens):
        code = token.text.lower()
        if token.kind == "literal" or code in _SEPARATORS:
            yield token.text
            continue
        if token.kind == "elapsed":
            yield str(int(seconds // _SECONDS[code[0]]))
        elif code[0] == "m" and (unit_before == "h" or seconds_follow(tokens[position + 1 :])):
            yield format_unit(moment, "minute", len(code))
        else:
            yield format_code(moment, code, has_halves)
        unit_before = code[0]


def format_code(moment: datetime, code: str, has_halves: bool) -> str:
    """Format one code of a date other than minutes: "mmm" -> "Mar"."""
    if code in _HALVES:
        return moment.strftime("%p")[: len(code) // 2]
    if code == "0":
        return str(moment.microsecond // 100_000)
    if code[0] == "h" and has_halves:
        return pad_number((moment.hour - 1) % 12 + 1, len(code))
    return format_unit(moment, _UNITS[code[0]], len(code)) if code[0] in _UNITS else ""


def format_unit(moment: datetime, unit: str, length: int) -> str:
    """Format a part of a date by the length of its code: 3, 03, Mar, March, M."""
    if unit in _NAMES and length > 2:
        letters = {3: 3, 5: 1}
        return moment.strftime(_NAMES[unit])[: letters.get(length)]
    number = getattr(moment, unit)
    if unit == "year":
        return f"{number:04d}" if length > 2 else f"{number % 100:02d}"
    return pad_number(number, length)


def pad_number(number: int, length: int) -> str:
    return f"{number:02d}" if length > 1 else str(number)


def day_zero(value: float, from_1904: bool) -> datetime:
    """Return day 0 of a day count."""
    if from_1904:
        return datetime(1904, 1, 1)  # noqa: DTZ001
    # Excel takes 1900 for a leap year.
    return datetime(1899, 12, 30 if value >= 60 else 31)  # noqa: DTZ001


def seconds_follow(tokens: Sequence[FormatToken]) -> bool:
    """Tell whether the next unit is seconds, which makes an "m" minutes."""
    for token in tokens:
        if token.kind == "elapsed" or token.text[:1].isalpha():
            return token.text[0].lower() == "s"
    return False
