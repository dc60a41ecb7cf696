"""Days and periods named in a question: "last year", "ab 1. Januar 2027", "depuis mars"."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale

from ombud.text.analysis import fold
from ombud.text.days.spans import (
    Calendar,
    Period,
    in_the_past,
    month_end,
    moved,
    unit_period,
    valid_day,
    weekday_near,
    with_preposition,
    year_period,
)
from ombud.text.phrases import WORD, Phrases

LANGUAGES = ("en", "de", "fr", "es")
UNITS = ("day", "weekend", "week", "month", "quarter", "year", "leave_year", "fiscal_year")
YEAR_UNITS = ("year", "leave_year", "fiscal_year")
DAY_OFFSETS = {
    "today": 0,
    "tomorrow": 1,
    "after_tomorrow": 2,
    "yesterday": -1,
    "before_yesterday": -2,
}
SHIFTS = {"before_last": -2, "last": -1, "this": 0, "next": 1}
MONTHS_OF_PART = {"quarter": 3, "half": 6}
NEAR = 6
"""Words between "I joined" and its date."""
RANGE_ENDS = ("to", "until", "in")
"""Roles of the word between both ends of a range, such as "bis zum" or "au"."""
NUMERIC_DATE = re.compile(
    r"(?<![\d.])(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<day2>\d\d?)[./](?P<month2>\d\d?)[./](?P<year2>\d{4}))(?![\d.])"
)
YEAR = re.compile(r"(?:19|20)\d\d")
QUARTER = re.compile(r"q([1-4])")
DAY_NUMBER = re.compile(r"(\d\d?)(?:st|nd|rd|th|er|º)?")


class _Token(NamedTuple):
    role: str
    value: Any
    words: str
    """Folded."""


class _Match(NamedTuple):
    """A date expression and the place of the token behind it."""

    period: Period
    end: int


def find_period(text: str, on: Calendar, language: str = "en") -> Period | None:
    """Return the first day or period that a text names; None where it names none.

    The words of `language` are tried first, then those of the other languages: a short message
    rarely shows its own."""
    order = dict.fromkeys((language, *LANGUAGES))
    for code in order:
        if code in LANGUAGES:
            reader = _Reader(text, code, on)
            period = reader.find()
            if period or reader.first_day:
                return period
    return None


def find_first_day(text: str, on: Calendar, language: str = "en") -> Period | None:
    """Return the days on which somebody may have begun to work, as they say: "I joined in March",
    "I have worked here for less than 7 years"; None where they do not say so."""
    for code in dict.fromkeys((language, *LANGUAGES)):
        first_day = _Reader(text, code, on).first_day if code in LANGUAGES else None
        if first_day:
            return first_day.period
    return None


def find_service(text: str, language: str = "en") -> tuple[int, str] | None:
    """Return the length of service that a rule asks for, such as (7, "year") of "after 7 years";
    None where it names none, or only an upper end."""
    reader = _Reader(text, language if language in LANGUAGES else "en", Calendar(date.min))
    for place in range(len(reader.tokens)):
        unit, before = reader.role(place + 1), reader.role(place - 1)
        if reader.role(place) != "number" or unit not in ("week", "month", "year"):
            continue
        around = {reader.role(place + further) for further in (-4, -3, -2, 2, 3, 4, 5)}
        is_least = before == "after" and unit != "week"
        is_of_service = not around.isdisjoint(("service", "began"))
        if before not in ("less", "until", "to") and (is_least or is_of_service):
            return reader.value(place), unit
    return None


class _Reader:
    """Reads the date expressions of one text with the words of one language."""

    def __init__(self, text: str, language: str, on: Calendar) -> None:
        self.language = language
        self.on = on
        self.tokens = _tokens(text, language)
        self.ahead_words = frozenset(_table()[language]["ahead"])
        self.back_words = frozenset(_table()[language].get("back", ()))
        self.is_past = any(token.role == "past" for token in self.tokens)

    def find(self) -> Period | None:
        """Read the first expression that does not say when somebody began to work."""
        first_day = self.first_day
        for place in range(len(self.tokens)):
            bounded = self.bounded(place)
            if bounded and not (first_day and bounded.end == first_day.end):
                return bounded.period
        return None

    @cached_property
    def first_day(self) -> _Match | None:
        """Read the date or length of time nearest to words such as "I joined"; it lies behind."""
        for at, token in enumerate(self.tokens):
            if token.role == "began":
                near = range(max(at - NEAR, 0), min(at + NEAR, len(self.tokens)))
                for place in sorted(near, key=lambda other: abs(other - at)):
                    day = place + 1 if self.role(place) == "since" else place
                    match = self.length(place) or self.bounded(day)
                    if match:
                        return match._replace(period=in_the_past(match.period, self.on.today))
        return None

    def length(self, place: int) -> _Match | None:
        """Match "2 years", "less than 7 years" or "26 weeks or more" as the days that long ago."""
        unit = self.role(place + 1)
        if self.role(place) != "number" or unit not in UNITS:
            return None
        today, count = self.on.today, self.value(place)
        end = place + (3 if self.role(place + 2) == "ago" else 2)
        latest = moved(today, unit, -count)
        if self.role(place - 1) == "less":
            return _Match(Period(latest + timedelta(days=1), today), end)
        if "more" in (self.role(place - 1), self.role(place + 2)):
            return _Match(Period(None, latest), end)
        return _Match(Period(moved(today, unit, -count - 1) + timedelta(days=1), latest), end)

    def role(self, place: int) -> str:
        return self.tokens[place].role if 0 <= place < len(self.tokens) else ""

    def value(self, place: int) -> Any:
        return self.tokens[place].value

    def bounded(self, place: int) -> _Match | None:
        """Read an expression together with the preposition before it."""
        today = self.on.today
        role = self.role(place)
        if role in ("from", "between"):
            match = self.range(self.skip(place + 1))
            if match:
                return match
        if role in ("since", "from", "until", "before", "after"):
            match = self.expression(self.skip(place + 1), has_preposition=True)
            if match:
                return _Match(with_preposition(role, match.period, today), match.end)
        if role == "in":
            after = self.skip(place)
            match = self.expression(after, has_preposition=True)
            if match:
                return match
        return self.expression(place, has_preposition=False)

    def range(self, place: int) -> _Match | None:
        """Match "between 15 February and 2 March 2027" or "vom 8. bis zum 19. Februar"."""
        first = self.expression(place, has_preposition=True)
        if first is None and self.role(place) != "number":
            return None
        middle = first.end if first else place + 1
        if self.role(middle) not in RANGE_ENDS:
            return None
        last = self.expression(self.skip(middle + 1), has_preposition=True)
        if last is None or last.period.end is None:
            return None
        end = last.period.end
        if first is None or first.period.start is None:
            start = valid_day(end.year, end.month, self.value(place))
        else:
            start = first.period.start
        if start and start > end:
            start = moved(start, "year", end.year - start.year)
        return _Match(Period(start, end), last.end)

    def skip(self, place: int) -> int:
        """Return the place behind prepositions and articles."""
        while self.role(place) == "in":
            place += 1
        return place

    def expression(self, place: int, *, has_preposition: bool) -> _Match | None:
        readers: Sequence[Callable[[int], _Match | None]] = (
            self.edge,
            self.numeric,
            self.offset_day,
            self.in_units,
            self.ago,
            self.day_of_month,
            self.shifted,
            self.part_of_year,
        )
        for read in readers:
            match = read(place)
            if match:
                return match
        return self.month_or_year(place, has_preposition=has_preposition)

    def edge(self, place: int) -> _Match | None:
        """Match "the end of the year" or "début janvier"."""
        role = self.role(place)
        if role not in ("end", "start"):
            return None
        match = self.expression(self.skip(place + 1), has_preposition=True)
        if match is None:
            match = self.bare_unit(self.skip(place + 1))
        if match is None:
            return None
        day = match.period.end if role == "end" else match.period.start
        return _Match(Period(day, day), match.end)

    def bare_unit(self, place: int) -> _Match | None:
        role = self.role(place)
        if role not in ("month", "quarter", "year", "leave_year", "fiscal_year"):
            return None
        return _Match(unit_period(role, 0, self.on), place + 1)

    def numeric(self, place: int) -> _Match | None:
        if self.role(place) != "date":
            return None
        day = self.value(place)
        return _Match(Period(day, day), place + 1)

    def offset_day(self, place: int) -> _Match | None:
        role = self.role(place)
        if role in DAY_OFFSETS:
            day = self.on.today + timedelta(days=DAY_OFFSETS[role])
            return _Match(Period(day, day), place + 1)
        if role == "named_day":
            month, number = self.value(place)
            end = place + 1
            year = self.year_at(end)
            if year:
                end += 1
            named = self.in_likely_year(month, number, year)
            return _Match(Period(named, named), end)
        return None

    def in_units(self, place: int) -> _Match | None:
        """Match "in two weeks" or "il y a deux semaines"."""
        sign = self.direction(place)
        count_place = place + 1
        if not sign:
            sign = self.direction(place - 1)
            count_place = place
        if not sign:
            return None
        if self.role(count_place) != "number" or self.role(count_place + 1) not in UNITS:
            return None
        if self.role(count_place + 2) == "ago":
            sign = -1
        day = moved(self.on.today, self.role(count_place + 1), sign * self.value(count_place))
        return _Match(Period(day, day), count_place + 2)

    def direction(self, place: int) -> int:
        """Return 1 for a word such as "in" (two weeks), -1 for "il y a", 0 for any other."""
        if not 0 <= place < len(self.tokens):
            return 0
        token = self.tokens[place]
        if token.role == "back" or (token.role == "before" and token.words in self.back_words):
            return -1
        return int(token.words in self.ahead_words)

    def ago(self, place: int) -> _Match | None:
        is_ago = self.role(place) == "number" and self.role(place + 2) == "ago"
        if not is_ago or self.role(place + 1) not in UNITS:
            return None
        day = moved(self.on.today, self.role(place + 1), -self.value(place))
        return _Match(Period(day, day), place + 3)

    def day_of_month(self, place: int) -> _Match | None:
        """Match "24 December", "1. Januar 2027" or "March 3rd"."""
        number_place, month_place = place, self.skip(place + 1)
        if self.role(place) == "month_name":
            number_place, month_place = place + 1, place
            if number_place < len(self.tokens) and self.year_at(number_place):
                return None
        if self.role(number_place) != "number" or self.role(month_place) != "month_name":
            return None
        end = max(number_place, month_place) + 1
        year_place = self.skip(end)
        year = self.year_at(year_place)
        if year:
            end = year_place + 1
        day = self.in_likely_year(self.value(month_place), self.value(number_place), year)
        return _Match(Period(day, day), end) if day else None

    def shifted(self, place: int) -> _Match | None:
        """Match "next year", "l'année prochaine", "last March" or "this Friday"."""
        for shift_place, name_place in ((place, place + 1), (place + 1, place)):
            shift = SHIFTS.get(self.role(shift_place))
            role = self.role(name_place)
            if shift is None or not role or not self.may_follow(shift_place, name_place):
                continue
            end = max(shift_place, name_place) + 1
            if role in UNITS and role != "day":
                return _Match(unit_period(role, shift, self.on), end)
            if role == "weekday":
                day = weekday_near(self.value(name_place), shift, self.on.today)
                return _Match(Period(day, day), end)
            if role == "month_name":
                return _Match(self.shifted_month(self.value(name_place), shift), end)
        if self.role(place) == "weekday" and self.role(place - 1) == "in":
            day = weekday_near(self.value(place), 0, self.on.today)
            return _Match(Period(day, day), place + 1)
        return None

    def may_follow(self, shift_place: int, name_place: int) -> bool:
        """Tell whether a shift may stand there: "l'année dernière", but never "march past"."""
        if shift_place < name_place or self.language in ("fr", "es"):
            return True
        return self.role(shift_place) == "before_last"

    def part_of_year(self, place: int) -> _Match | None:
        """Match "Q1", "im ersten Quartal 2026" or "the first half of 2026"."""
        number = 0
        end = place + 1
        months = 3
        if self.role(place) == "quarter_name":
            number = self.value(place)
        elif self.role(place) == "ordinal" and self.role(place + 1) in MONTHS_OF_PART:
            number = self.value(place)
            months = MONTHS_OF_PART[self.role(place + 1)]
            end = place + 2
        if not number or number * months > 12:
            return None
        year_place = self.skip(end)
        year = self.year_at(year_place)
        if year:
            end = year_place + 1
        first = date(year or self.on.today.year, months * (number - 1) + 1, 1)
        return _Match(Period(first, month_end(moved(first, "month", months - 1))), end)

    def month_or_year(self, place: int, *, has_preposition: bool) -> _Match | None:
        if self.role(place) == "month_name":
            return self._month(place, has_preposition=has_preposition)
        is_unit = self.role(place) in YEAR_UNITS
        year_place = self.skip(place + 1) if is_unit else place
        year = self.year_at(year_place)
        is_last = year_place == len(self.tokens) - 1 and self.role(place - 1) != "not_a_year"
        if not year or not (has_preposition or is_unit or is_last):
            return None
        starts = {"leave_year": self.on.leave_year, "fiscal_year": self.on.fiscal_year}
        first = starts.get(self.role(place), (1, 1))
        return _Match(year_period(year, first), year_place + 1)

    def _month(self, place: int, *, has_preposition: bool) -> _Match | None:
        year_place = self.skip(place + 1)
        year = self.year_at(year_place)
        if not (year or has_preposition):
            return None
        month = self.value(place)
        first = date(year, month, 1) if year else self.likely_month(month)
        return _Match(Period(first, month_end(first)), year_place + 1 if year else place + 1)

    def year_at(self, place: int) -> int:
        """Return the year that a token says; 0 where it says none."""
        is_count = self.role(place - 1) in ("not_a_year", "less", "more")
        if self.role(place) != "year_number" or is_count:
            return 0
        return int(self.value(place))

    def in_likely_year(self, month: int, number: int, year: int) -> date | None:
        """Return a day of the year that is given, else the nearest one in the direction asked."""
        today = self.on.today
        if year:
            return valid_day(year, month, number)
        around = (today.year - 1, today.year, today.year + 1)
        days = list(filter(None, [valid_day(other, month, number) for other in around]))
        if self.is_past:
            return max((day for day in days if day <= today), default=None)
        return min((day for day in days if day >= today), default=None)

    def likely_month(self, month: int) -> date:
        """Return the first day of the month of that number in the direction that is asked about."""
        today = self.on.today
        is_back = self.is_past or any(token.role == "since" for token in self.tokens)
        if is_back:
            year = today.year if month <= today.month else today.year - 1
        else:
            year = today.year if month >= today.month else today.year + 1
        return date(year, month, 1)

    def shifted_month(self, month: int, shift: int) -> Period:
        today = self.on.today
        year = today.year
        if shift < 0 and month >= today.month:
            year -= 1
        elif shift > 0 and month <= today.month:
            year += 1
        first = date(year, month, 1)
        return Period(first, month_end(first))


def _tokens(text: str, language: str) -> list[_Token]:
    """Return the words of a text with their roles; other words have the role "word"."""
    folded = fold_in_place(text)
    numeric = {match.start(): match for match in NUMERIC_DATE.finditer(folded)}
    words = list(WORD.finditer(folded))
    plain = [match.group() for match in words]
    tokens: list[_Token] = []
    place = 0
    while place < len(words):
        start = words[place].start()
        written = numeric.get(start)
        day = numeric_day(written) if written else None
        if written and day:
            tokens.append(_Token("date", day, written.group()))
            while place < len(words) and words[place].start() < written.end():
                place += 1
            continue
        length, (role, value) = next(_roles(language).at(plain, place), (1, ("", None)))
        if not role:
            role, value = number_role(plain[place])
        end = words[place + length - 1].end()
        tokens.append(_Token(role, value, folded[start:end]))
        place += length
    return tokens


def fold_in_place(text: str) -> str:
    """Fold letters one by one, so that offsets stay valid."""
    return fold(text) if text.isascii() else "".join(fold(one)[:1] or one for one in text)


def numeric_day(written: re.Match[str]) -> date | None:
    year = int(written["year"] or written["year2"])
    month = int(written["month"] or written["month2"])
    number = int(written["day"] or written["day2"])
    return valid_day(year, month, number)


def number_role(word: str) -> tuple[str, Any]:
    if YEAR.fullmatch(word):
        return "year_number", int(word)
    quarter = QUARTER.fullmatch(word)
    if quarter:
        return "quarter_name", int(quarter[1])
    number = DAY_NUMBER.fullmatch(word)
    return ("number", int(number[1])) if number else ("word", word)


@cache
def _roles(language: str) -> Phrases[tuple[str, Any]]:
    phrases: list[tuple[str, tuple[str, Any]]] = []
    for role, words in _table()[language].items():
        phrases += of_role(role, words)
    for other in _table().values():
        phrases += [(word, ("not_a_year", None)) for word in other["not_a_year"]]
    locale = Locale(language)
    for width in ("wide", "abbreviated"):
        months = locale.months["format"][width].items()
        phrases += [(fold(name), ("month_name", number)) for number, name in months]
    days = locale.days["format"]["wide"].items()
    phrases += [(fold(name), ("weekday", number)) for number, name in days]
    return Phrases(phrases)


def of_role(role: str, words: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield the phrases of one line of the table, each with its role and value."""
    if role == "days":
        for key, names in words.items():
            number, month = map(int, key.split("-"))
            yield from ((name, ("named_day", (month, number))) for name in names)
    elif role in ("numbers", "ordinals"):
        kind = role.removesuffix("s")
        yield from ((word, (kind, number)) for number, word in enumerate(words, start=1))
    else:
        yield from ((word, ("in" if role == "ahead" else role, None)) for word in words)


@cache
def _table() -> Mapping[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
