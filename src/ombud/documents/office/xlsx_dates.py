"""Excel's numbers as dates and times: days since 1900, or 1904, by the codes y, m, d, h and s."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ombud.documents.office.xlsx_codes import Token

END_OF_CALENDAR = 2_958_466
"""The day after the last of the year 9999."""
SECONDS_A_DAY = 86_400
_DATE_LETTERS = frozenset("ymdhs")
_SEPARATORS = frozenset(".,/-")
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_HALVES = frozenset(("am/pm", "a/p"))
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def is_date(tokens: Sequence[Token]) -> bool:
    """Whether a code shows a number as date, time or duration."""
    for token in tokens:
        if token.kind == "elapsed":
            return True
        if token.kind == "code" and token.text[0].lower() in _DATE_LETTERS:
            return True
    return False


def shown_date(value: float, tokens: Sequence[Token], from_1904: bool) -> str:
    """A day count as a date, "" outside of the calendar."""
    if not 0 <= value < END_OF_CALENDAR:
        return ""
    has_fractions = Token("code", "0") in tokens
    seconds = round(value * SECONDS_A_DAY, 3 if has_fractions else 0)
    try:
        moment = _first_day(value, from_1904) + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    has_halves = any(token.kind == "code" and token.text.lower() in _HALVES for token in tokens)
    parts = []
    unit_before = ""
    for position, token in enumerate(tokens):
        code = token.text.lower()
        if token.kind == "literal" or code in _SEPARATORS:
            parts.append(token.text)
        elif code == "0":
            parts.append(f"{moment.microsecond // 1000:03d}"[0])
        elif token.kind == "elapsed":
            parts.append(str(int(seconds // _SECONDS[code[0]])))
            unit_before = code[0]
        elif code[0] == "m" and (unit_before == "h" or _seconds_follow(tokens[position + 1 :])):
            parts.append(_padded(moment.minute, code))
            unit_before = "m"
        else:
            parts.append(_part(moment, token.text, has_halves))
            unit_before = code[0]
    return "".join(parts).strip()


def _first_day(value: float, from_1904: bool) -> datetime:
    """The day 0 of a day count."""
    if from_1904:
        return datetime(1904, 1, 1)  # noqa: DTZ001
    # Excel believes that 1900 was a leap year.
    return datetime(1899, 12, 30 if value >= 60 else 31)  # noqa: DTZ001


def _seconds_follow(tokens: Sequence[Token]) -> bool:
    """Whether the next unit is seconds, which makes an "m" minutes."""
    for token in tokens:
        if token.kind == "elapsed" or token.text[:1].isalpha():
            return token.text[0].lower() == "s"
    return False


def _part(moment: datetime, text: str, has_halves: bool) -> str:
    """One code of a date: "mmm" -> "Mar". has_halves: hours are counted to 12."""
    code = text.lower()
    if code in _HALVES:
        half = text.split("/")[moment.hour >= 12]
        return half.upper() if code == "am/pm" else half
    match code[0]:
        case "y":
            return f"{moment.year % 100:02d}" if len(code) < 3 else f"{moment.year:04d}"
        case "m":
            return _month(moment, len(code))
        case "d":
            return _day(moment, len(code))
        case "h":
            hour = (moment.hour - 1) % 12 + 1 if has_halves else moment.hour
            return _padded(hour, code)
        case "s":
            return _padded(moment.second, code)
    return text if code == "%" else ""


def _month(moment: datetime, letters: int) -> str:
    name = _MONTHS[moment.month - 1]
    forms = {1: str(moment.month), 2: f"{moment.month:02d}", 3: name[:3], 5: name[0]}
    return forms.get(letters, name)


def _day(moment: datetime, letters: int) -> str:
    name = _DAYS[moment.weekday()]
    forms = {1: str(moment.day), 2: f"{moment.day:02d}", 3: name[:3]}
    return forms.get(letters, name)


def _padded(number: int, code: str) -> str:
    """With two digits where the code has several letters."""
    return f"{number:02d}" if len(code) > 1 else str(number)
