"""When advisors are there; values by hand from the calendar."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ombud.handoff import deadline, is_open, next_opening
from ombud.settings import HandoffSettings, opening_times

BERLIN = ZoneInfo("Europe/Berlin")
WEEK = HandoffSettings(hours="mon-fri 09:00-17:00, sat 10:00-12:00", closed=(date(2026, 12, 25),))


def at(day: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
    """2026-11-23 is a Monday."""
    return datetime(2026, month, day, hour, minute, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        (at(23, 8, 59), at(23, 9)),
        (at(23, 9), at(23, 9)),
        (at(23, 16, 59), at(23, 16, 59)),
        (at(23, 17), at(24, 9)),
        (at(27, 20), at(28, 10)),  # Friday night, so Saturday
        (at(28, 12), at(30, 9)),  # Saturday noon, so Monday
        (at(24, 18, month=12), at(26, 10, month=12)),  # before Christmas, a Friday
    ],
)
def test_the_next_opening(now: datetime, opens: datetime) -> None:
    assert next_opening(WEEK, "GB", now) == opens
    assert is_open(WEEK, "GB", now) == (opens == now)


def test_a_night_in_which_clocks_change_opens_by_the_wall_clock() -> None:
    """Summer time ends on 25 October 2026."""
    settings = HandoffSettings(hours="sun 09:00-10:00")
    opening = next_opening(settings, None, datetime(2026, 10, 24, 12, tzinfo=BERLIN))
    assert opening is not None
    assert opening.isoformat() == "2026-10-25T09:00:00+01:00"


def test_a_country_has_hours_of_its_own() -> None:
    settings = HandoffSettings.model_validate(
        {"hours": "mon-fri 09:00-17:00", "country": {"de": {"hours": "tue 08:00-09:00"}}}
    )
    assert next_opening(settings, "DE", at(23, 12)) == at(24, 8)
    assert is_open(settings, "GB", at(23, 12))


def test_without_hours_they_are_always_there_but_for_days_off() -> None:
    settings = HandoffSettings(closed=(date(2026, 11, 23),))
    assert is_open(HandoffSettings(), None, at(23, 3))
    assert not is_open(settings, None, at(23, 3))
    assert next_opening(settings, None, at(23, 3)) == at(24, 0)


def test_who_never_opens_is_not_waited_for() -> None:
    every_day = tuple(date.fromordinal(at(23, 0).toordinal() + days) for days in range(100))
    assert next_opening(HandoffSettings(closed=every_day), None, at(23, 12)) is None


def test_days_may_go_round_the_week() -> None:
    assert sorted(opening_times("fri-mon 22:00-23:00")) == [0, 4, 5, 6]


@pytest.mark.parametrize(
    "written",
    ["9-17", "mon-fri 17:00-09:00", "mon-fry 09:00-17:00", "09:00-09:00", "mon 25:00-26:00", ""],
)
def test_what_cannot_be_read_is_said(written: str) -> None:
    with pytest.raises(ValueError, match=r"not written like|ends before|no day|hour must"):
        opening_times(written)


@pytest.mark.parametrize(
    ("start", "minutes", "over"),
    [
        (at(23, 9), 30, at(23, 9, 30)),
        (at(23, 16, 50), 10, at(23, 17)),
        (at(23, 16, 50), 30, at(24, 9, 20)),
        (at(27, 16, 50), 140, at(30, 9, 10)),  # ten minutes of Friday, all of Saturday
        (at(23, 3), 30, at(23, 9, 30)),
        (at(24, 16, 50, month=12), 30, at(26, 10, 20, month=12)),
    ],
)
def test_a_target_counts_working_hours_only(start: datetime, minutes: int, over: datetime) -> None:
    assert deadline(WEEK, "GB", start, timedelta(minutes=minutes)) == over


def test_a_target_of_a_desk_that_is_always_open_goes_through_the_night() -> None:
    """Summer time ends in the night before 25 October 2026."""
    start = datetime(2026, 10, 24, 23, tzinfo=BERLIN)
    over = deadline(HandoffSettings(), None, start, timedelta(hours=6))
    assert over is not None
    assert over.isoformat() == "2026-10-25T04:00:00+01:00"


def test_a_desk_that_never_opens_has_no_target() -> None:
    never = HandoffSettings(
        hours="mon 09:00-10:00",
        closed=tuple(date(2026, 11, 23) + timedelta(weeks=week) for week in range(20)),
    )
    assert deadline(never, None, at(23, 9), timedelta(minutes=5)) is None
