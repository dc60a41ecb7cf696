"""When advisors are there, by the clock of the organisation and the rules of a country."""

from datetime import date, datetime, time, timedelta
from functools import lru_cache

from ombud.settings import HandoffSettings, opening_times

LOOKED_AHEAD = 60
"""Days in which the next opening is looked for."""


def is_open(settings: HandoffSettings, country: str | None, now: datetime) -> bool:
    """now: with the organisation's time zone. No hours in the settings: always."""
    times = _times(hours_of(settings, country))
    if now.date() in _days_off(settings, country):
        return False
    if times is None:
        return True
    opens, closes = times.get(now.weekday(), (time.max, time.min))
    return opens <= now.time() < closes


def next_opening(settings: HandoffSettings, country: str | None, now: datetime) -> datetime | None:
    """When they are there next, from `now` on; None where that is in no foreseeable time."""
    if is_open(settings, country, now):
        return now
    times = _times(hours_of(settings, country))
    off = _days_off(settings, country)
    for days in range(LOOKED_AHEAD + 1):
        day = now.date() + timedelta(days=days)
        if day in off:
            continue
        opens = time.min if times is None else times.get(day.weekday(), (None, None))[0]
        if opens is None:
            continue
        # Built from the wall clock, so that a day with another length counts as people count it.
        opening = datetime.combine(day, opens, tzinfo=now.tzinfo)
        if opening > now:
            return opening
    return None


def hours_of(settings: HandoffSettings, country: str | None) -> str:
    """As they are written; empty = always."""
    own = settings.country.get(country or "")
    return settings.hours if own is None or own.hours is None else own.hours


def _days_off(settings: HandoffSettings, country: str | None) -> frozenset[date]:
    own = settings.country.get(country or "")
    closed = settings.closed if own is None or own.closed is None else own.closed
    return frozenset(closed)


@lru_cache(maxsize=64)
def _times(written: str) -> dict[int, tuple[time, time]] | None:
    return opening_times(written) if written else None
