"""When two names are one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.text.names.entities import alternative_keys, display_name, entity_key, entity_stems


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Employers", "any employer"),
        ("Bias Audits", "a bias audit"),
        ("such policies", "policy"),
        ("employee’s handbook", "employee's handbooks"),
        ("§ 20-871(b)(1) of the Code", "section 20-871"),
        ("25 working days of paid annual leave for each year", "paid annual leave"),
        ("2 500 hours of paid annual leave", "paid annual leave"),
        ("4 weeks' notice", "notice"),
        ("notice within 30 days of the request", "notice"),
        ("Résumé", "resume"),
    ],
)
def test_names_of_one_thing_have_one_key(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("employer", "employee"),
        ("employment", "employer"),
        ("section 20-871", "section 20-872"),
        ("section 5", "section 6"),
        ("paid leave", "unpaid leave"),
        ("20 days", "30 days"),
        ("bias", "bia"),
    ],
)
def test_different_things_stay_apart(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


def test_what_changes_the_meaning_is_shown() -> None:
    assert display_name("the  employer,") == "employer"
    assert display_name("No employee") == "No employee"
    assert display_name("its website") == "its website"
    assert display_name("leave (paid)") == "leave (paid)"
    assert display_name("leave, paid)") == "leave, paid"


def test_either_of_two_finds_the_pair() -> None:
    assert alternative_keys("an employer or an employment agency in the city") == [
        "employer",
        "employment agency",
    ]
    assert alternative_keys("annual leave") == []
    assert alternative_keys("at once, day or night") == []
    assert alternative_keys("salary or bonus or allowance") == []


def test_stems_find_other_forms_of_a_word() -> None:
    assert entity_stems("reimbursed expenses") == entity_stems("reimbursement of an expense")
    assert entity_stems("the of and") == []


@given(st.text(max_size=80))
def test_any_text_has_a_key_that_is_its_own_key(text: str) -> None:
    key = entity_key(text)
    assert key == key.strip()
    assert len(key.split()) <= 10
    assert entity_key(display_name(text)) == key
