"""Days and periods in words. Saturday 28 November 2026 is today; dates were counted on a calendar."""

from datetime import date

import pytest

from ombud.text import Calendar, find_period

TODAY = date(2026, 11, 28)
CALENDAR = Calendar(TODAY, leave_year=(4, 1), fiscal_year=(4, 6))


@pytest.mark.parametrize(
    ("text", "language", "start", "end"),
    [
        ("What was the hotel cap in 2025?", "en", "2025-01-01", "2025-12-31"),
        ("mileage last year", "en", "2025-01-01", "2025-12-31"),
        ("will it change next year", "en", "2027-01-01", "2027-12-31"),
        ("the year before last", "en", "2024-01-01", "2024-12-31"),
        ("from 1 January 2027 on", "en", "2027-01-01", None),
        ("what changed since March", "en", "2026-03-01", "2026-11-28"),
        ("Is next Friday a day off?", "en", "2026-12-04", "2026-12-04"),
        ("last Monday", "en", "2026-11-23", "2026-11-23"),
        ("this month", "en", "2026-11-01", "2026-11-30"),
        ("in two weeks", "en", "2026-12-12", "2026-12-12"),
        ("three days ago", "en", "2026-11-25", "2026-11-25"),
        ("before April", "en", None, "2027-03-31"),
        ("until the end of the year", "en", "2026-11-28", "2026-12-31"),
        ("in the first half of 2026", "en", "2026-01-01", "2026-06-30"),
        ("in Q1 2027", "en", "2027-01-01", "2027-03-31"),
        ("between 15 February and 2 March 2027", "en", "2027-02-15", "2027-03-02"),
        ("on 31.12.2025", "en", "2025-12-31", "2025-12-31"),
        ("how many days in this leave year", "en", "2026-04-01", "2027-03-31"),
        ("next fiscal year", "en", "2027-04-06", "2028-04-05"),
        ("Gilt das nächstes Jahr noch?", "de", "2027-01-01", "2027-12-31"),
        ("ab dem 1. Januar 2027", "de", "2027-01-01", None),
        ("übermorgen", "de", "2026-11-30", "2026-11-30"),
        ("Vom 8. bis zum 19. Februar 2027", "de", "2027-02-08", "2027-02-19"),
        ("l'année dernière", "fr", "2025-01-01", "2025-12-31"),
        ("vendredi prochain", "fr", "2026-12-04", "2026-12-04"),
        ("il y a deux semaines", "fr", "2026-11-14", "2026-11-14"),
        ("el año que viene", "es", "2027-01-01", "2027-12-31"),
        ("desde marzo", "es", "2026-03-01", "2026-11-28"),
    ],
)
def test_a_period_is_read(text: str, language: str, start: str | None, end: str | None) -> None:
    period = find_period(text, CALENDAR, language)
    assert period is not None
    assert period.start == (date.fromisoformat(start) if start else None)
    assert period.end == (date.fromisoformat(end) if end else None)


@pytest.mark.parametrize(
    "text",
    [
        "Where is form 2025?",
        "may I bring my dog",
        "I paid 20.12 pounds for parking",
        "a second job",
        "march past the gate",
        "notice after 2 years of service",
        "within 3 months",
        "Monday to Friday",
        "the last day",
        "",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert find_period(text, CALENDAR) is None


def test_the_language_of_a_short_message_need_not_be_known() -> None:
    period = find_period("nächstes Jahr?", CALENDAR, "en")
    assert period is not None
    assert period.start == date(2027, 1, 1)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("in 2025", date(2025, 12, 31)),
        ("in 2026", TODAY),
        ("from 1 January 2027", date(2027, 1, 1)),
        ("since March", TODAY),
    ],
)
def test_the_day_of_a_period_is_the_one_nearest_to_today(text: str, day: date) -> None:
    period = find_period(text, CALENDAR)
    assert period is not None
    assert period.day_nearest(TODAY) == day
