"""Business hours of advisors, by the organisation's clock and the rules of a country."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from ombud.settings import HandoffSettings, opening_times

LOOKED_AHEAD = 60
"""Days to search for the next opening."""


def is_open(settings: HandoffSettings, country: str | None, now: datetime) -> bool:
    """Tell whether advisors are there. now: in the organisation's time zone. Without opening hours
    in the settings they always are."""
    times = times_of_week(hours_of(settings, country))
    if now.date() in days_off(settings, country):
        return False
    if times is None:
        return True
    opens, closes = times.get(now.weekday(), (time.max, time.min))
    return opens <= now.time() < closes


def next_opening(settings: HandoffSettings, country: str | None, now: datetime) -> datetime | None:
    """Find when advisors are there next, from `now` on; None if not within `LOOKED_AHEAD` days."""
    if is_open(settings, country, now):
        return now
    times = times_of_week(hours_of(settings, country))
    off = days_off(settings, country)
    for days in range(LOOKED_AHEAD + 1):
        day = now.date() + timedelta(days=days)
        if day in off:
            continue
        opens = time.min if times is None else times.get(day.weekday(), (None, None))[0]
        if opens is None:
            continue
        # Built from wall-clock time, so that days of 23 or 25 hours are right.
        opening = datetime.combine(day, opens, tzinfo=now.tzinfo)
        if opening > now:
            return opening
    return None


def deadline(
    settings: HandoffSettings, country: str | None, start: datetime, span: timedelta
) -> datetime | None:
    """Return when a span of working hours is over; None if that is too far ahead. start: in the
    organisation's time zone."""
    now = next_opening(settings, country, start)
    while now is not None:
        closes = closing(settings, country, now)
        # In UTC, because days have 23 or 25 hours where clocks change.
        left = closes.astimezone(UTC) - now.astimezone(UTC)
        if span <= left:
            return (now.astimezone(UTC) + span).astimezone(now.tzinfo)
        span -= left
        now = next_opening(settings, country, closes)
    return None


def closing(settings: HandoffSettings, country: str | None, now: datetime) -> datetime:
    """Return when advisors who are there now leave; midnight if they always are."""
    times = times_of_week(hours_of(settings, country))
    if times is None:
        return datetime.combine(now.date() + timedelta(days=1), time.min, tzinfo=now.tzinfo)
    return datetime.combine(now.date(), times[now.weekday()][1], tzinfo=now.tzinfo)


def hours_of(settings: HandoffSettings, country: str | None) -> str:
    """Return the opening hours as they are written; empty means always."""
    own = settings.country.get(country or "")
    return settings.hours if own is None or own.hours is None else own.hours


def days_off(settings: HandoffSettings, country: str | None) -> frozenset[date]:
    own = settings.country.get(country or "")
    closed = settings.closed if own is None or own.closed is None else own.closed
    return frozenset(closed)


@lru_cache(maxsize=64)
def times_of_week(written: str) -> dict[int, tuple[time, time]] | None:
    return opening_times(written) if written else None
