"""Spans of days, and what a unit of time or a preposition makes of them."""

import calendar
from datetime import date, timedelta
from typing import NamedTuple


class Calendar(NamedTuple):
    """The day a question is asked on, and the first day of the organisation's years."""

    today: date
    leave_year: tuple[int, int] = (1, 1)
    fiscal_year: tuple[int, int] = (1, 1)
    """Month and day."""


class Period(NamedTuple):
    """A span of days, both ends inclusive; None is an open end."""

    start: date | None
    end: date | None

    def day_nearest(self, today: date) -> date:
        """Return the day of the period whose rules are asked for: today if it lies inside."""
        if self.end and self.end < today:
            return self.end
        if self.start and self.start > today:
            return self.start
        return today

    @property
    def is_day(self) -> bool:
        return self.start is not None and self.start == self.end


def with_preposition(role: str, period: Period, today: date) -> Period:
    if role == "since":
        return Period(period.start, max(today, period.end or today))
    if role == "from":
        is_over = period.end is not None and period.end < today  # "von letzter Woche"
        return period if is_over else Period(period.start, None)
    if role == "until":
        return Period(min(today, period.start or today), period.end)
    if role == "before":
        start = period.start
        return Period(None, start - timedelta(days=1) if start else None)
    end = period.end
    return Period(end + timedelta(days=1) if end else None, None)


def unit_period(unit: str, shift: int, on: Calendar) -> Period:
    """Return the week, month, quarter or year `shift` units away from today."""
    today = on.today
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        return Period(monday, monday + timedelta(days=6))
    if unit == "weekend":
        from_today = calendar.SATURDAY - today.weekday()
        saturday = today + timedelta(days=from_today, weeks=shift)
        return Period(saturday, saturday + timedelta(days=1))
    if unit == "month":
        first = moved(today.replace(day=1), "month", shift)
        return Period(first, month_end(first))
    if unit == "quarter":
        current = today.replace(month=today.month - (today.month - 1) % 3, day=1)
        first = moved(current, "quarter", shift)
        return Period(first, month_end(moved(first, "month", 2)))
    starts = {"leave_year": on.leave_year, "fiscal_year": on.fiscal_year}.get(unit, (1, 1))
    has_begun = (today.month, today.day) >= starts
    year = today.year if has_begun else today.year - 1
    return year_period(year + shift, starts)


def year_period(year: int, starts: tuple[int, int]) -> Period:
    first = date(year, *starts)
    return Period(first, date(year + 1, *starts) - timedelta(days=1))


def moved(day: date, unit: str, count: int) -> date:
    """Return the day `count` units later; at the end of a shorter month its last day."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = {"month": 1, "quarter": 3}.get(unit, 12) * count
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def in_the_past(period: Period, today: date) -> Period:
    """Return a period that has begun: "May", said in November of somebody's first day, is the last
    one."""
    start, end = period
    if start is None or start <= today:
        return period
    return Period(moved(start, "year", -1), moved(end, "year", -1) if end else None)


def month_end(first: date) -> date:
    return first.replace(day=calendar.monthrange(first.year, first.month)[1])


def weekday_near(number: int, shift: int, today: date) -> date:
    """Return the latest such weekday before today, the first from today on, or next week's."""
    monday = today - timedelta(days=today.weekday())
    day = monday + timedelta(days=number, weeks=max(shift, 0))
    if shift == 0 and day < today:
        return day + timedelta(weeks=1)
    if shift < 0 and day >= today:
        return day - timedelta(weeks=1)
    return day


def valid_day(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None
