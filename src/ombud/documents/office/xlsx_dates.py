"""Excel's numbers as dates and times: days since 1900, or 1904, by the codes y, m, d, h and s."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ombud.documents.office.xlsx_codes import FormatToken

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


def is_date(tokens: Sequence[FormatToken]) -> bool:
    """Whether a code shows a number as date, time or duration."""
    for token in tokens:
        if token.kind == "elapsed":
            return True
        if token.kind == "code" and token.text[0].lower() in _DATE_LETTERS:
            return True
    return False


def shown_date(value: float, tokens: Sequence[FormatToken], from_1904: bool) -> str:
    """A day count as a date, "" outside of the calendar."""
    if not 0 <= value < END_OF_CALENDAR:
        return ""
    has_fractions = FormatToken("code", "0") in tokens
    seconds = round(value * SECONDS_A_DAY, 3 if has_fractions else 0)
    try:
        moment = _first_day(value, from_1904) + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return "".join(_DateWriter(moment, seconds, tokens).parts()).strip()


class _DateWriter:
    """One moment in the terms of a code."""

    def __init__(self, moment: datetime, seconds: float, tokens: Sequence[FormatToken]) -> None:
        """seconds: since day 0, for what is counted beyond a day."""
        self._moment = moment
        self._seconds = seconds
        self._tokens = tokens
        self._has_halves = any(token.text.lower() in _HALVES for token in _codes(tokens))

    def parts(self) -> Iterator[str]:
        unit_before = ""
        for position, token in enumerate(self._tokens):
            code = token.text.lower()
            if token.kind == "literal" or code in _SEPARATORS:
                yield token.text
            elif code == "0":
                yield str(self._moment.microsecond // 100_000)
            elif self._is_minutes(position, unit_before):
                yield _padded(self._moment.minute, code)
                unit_before = "m"
            else:
                yield self._part(token, code)
                unit_before = code[0]

    def _is_minutes(self, position: int, unit_before: str) -> bool:
        """Whether an "m" stands beside hours or seconds, else it is a month."""
        token = self._tokens[position]
        if token.kind == "elapsed" or token.text[0].lower() != "m":
            return False
        return unit_before == "h" or _seconds_follow(self._tokens[position + 1 :])

    def _part(self, token: FormatToken, code: str) -> str:
        """One code of a date: "mmm" -> "Mar"."""
        if token.kind == "elapsed":
            return str(int(self._seconds // _SECONDS[code[0]]))
        if code in _HALVES:
            half = token.text.split("/")[self._moment.hour >= 12]
            return half.upper() if code == "am/pm" else half
        write = _WRITERS.get(code[0])
        if write:
            return write(self._moment, code)
        if code[0] == "h":
            return _padded(self._hour(), code)
        return token.text if code == "%" else ""

    def _hour(self) -> int:
        hour = self._moment.hour
        return (hour - 1) % 12 + 1 if self._has_halves else hour


def _codes(tokens: Sequence[FormatToken]) -> list[FormatToken]:
    return [token for token in tokens if token.kind == "code"]


def _first_day(value: float, from_1904: bool) -> datetime:
    """The day 0 of a day count."""
    if from_1904:
        return datetime(1904, 1, 1)  # noqa: DTZ001
    # Excel believes that 1900 was a leap year.
    return datetime(1899, 12, 30 if value >= 60 else 31)  # noqa: DTZ001


def _seconds_follow(tokens: Sequence[FormatToken]) -> bool:
    """Whether the next unit is seconds, which makes an "m" minutes."""
    for token in tokens:
        if token.kind == "elapsed" or token.text[:1].isalpha():
            return token.text[0].lower() == "s"
    return False


def _year(moment: datetime, code: str) -> str:
    year = f"{moment.year:04d}"
    return year[2:] if len(code) < 3 else year


def _month(moment: datetime, code: str) -> str:
    name = _MONTHS[moment.month - 1]
    if len(code) < 3:
        return _padded(moment.month, code)
    letters = {3: 3, 5: 1}
    return name[: letters.get(len(code))]


def _day(moment: datetime, code: str) -> str:
    name = _DAYS[moment.weekday()]
    if len(code) < 3:
        return _padded(moment.day, code)
    return name[:3] if len(code) == 3 else name


def _second(moment: datetime, code: str) -> str:
    return _padded(moment.second, code)


def _padded(number: int, code: str) -> str:
    """With two digits where the code has several letters."""
    return f"{number:02d}" if len(code) > 1 else str(number)


_WRITERS = {"y": _year, "m": _month, "d": _day, "s": _second}
