"""When somebody began to work here, as they say it."""

from datetime import date

import pytest

from ombud.text import Calendar, find_first_day

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I only joined in May. Do I get my normal pay?", date(2026, 5, 1), date(2026, 5, 31)),
        ("I started in December", date(2025, 12, 1), date(2025, 12, 31)),
        ("I joined on 1 August 2026", date(2026, 8, 1), date(2026, 8, 1)),
    ],
)
def test_a_first_day_lies_behind_the_question(text: str, first: date, last: date) -> None:
    found = find_first_day(text, Calendar(TODAY))
    assert found
    assert (found.start, found.end) == (first, last)
