"""The day a predecessor ends."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.store import cut_document, successors
from store.places import document

DAYS = st.dates(date(1990, 1, 2), date(2090, 1, 1))


def test_the_first_of_several_successors_counts() -> None:
    new = [document(f"n{d}", effective_from=date(2024, 1, d), supersedes="old") for d in (9, 3, 5)]
    assert successors(new) == {"old": date(2024, 1, 3)}


@pytest.mark.parametrize(
    "fields",
    [
        {"supersedes": "old"},
        {"effective_from": date(2024, 1, 1)},
        {"effective_from": date(2024, 1, 1), "supersedes": ""},
        {"effective_from": date(2024, 1, 1), "supersedes": "old", "status": "draft"},
        {"effective_from": date(2024, 1, 1), "supersedes": "old", "status": "withdrawn"},
    ],
)
def test_what_is_not_in_force_ends_nothing(fields: dict[str, object]) -> None:
    assert successors([document("new", **fields)]) == {}


def test_a_document_that_names_itself_is_not_ended_by_itself() -> None:
    assert successors([document("a", effective_from=date(2024, 1, 1), supersedes="a")]) == {}


@given(st.none() | DAYS, st.none() | DAYS)
def test_it_ends_on_the_earlier_of_its_own_day_and_the_eve(
    own: date | None, begin: date | None
) -> None:
    old = document("old", effective_to=own)
    found = cut_document(old, {"old": begin} if begin else {}).effective_to
    wanted = [day for day in (own, begin and begin - timedelta(days=1)) if day]
    assert found == (min(wanted) if wanted else None)


def test_a_leap_day_and_the_turn_of_a_year() -> None:
    assert cut_document(document("old"), {"old": date(2024, 3, 1)}).effective_to == date(
        2024, 2, 29
    )
    assert cut_document(document("old"), {"old": date(2024, 1, 1)}).effective_to == date(
        2023, 12, 31
    )


def test_a_successor_since_ever_is_no_error() -> None:
    assert cut_document(document("old"), {"old": date.min}).effective_to == date.min


def test_others_are_left_alone() -> None:
    old = document("old", effective_to=date(2024, 1, 1))
    assert cut_document(old, {"other": date(2020, 1, 1)}) == old
