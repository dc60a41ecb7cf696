"""One number however it is written, and no number where none is."""

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from ombud.text.numbers import decimal_mark, digits_in, join_groups, numbers_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,250.00", {"1250"}),
        ("1.250,00", {"1250"}),
        ("1250", {"1250"}),
        ("1,250", {"1250"}),
        ("1.250", {"1250"}),
        ("1,250,000 and 1.250.000", {"1250000"}),
        ("1,250.500", {"1250.5"}),
        ("0.125", {"0.125"}),
        ("12.50", {"12.5"}),
        ("12,5", {"12.5"}),
        ("2024,500", {"2024.5"}),
        ("007", {"7"}),
        ("0", {"0"}),
        ("five", {"5"}),
        ("Five days or 5 days", {"5"}),
        ("twenty-five", {"25"}),
        ("Twenty five", {"25"}),
        ("nineteen, zero, ninety", {"19", "0", "90"}),
        ("1 Jan 2026", {"1", "2026"}),
        ("2026-01-01", {"1", "2026"}),
        ("version 1.2.3", {"1.2.3"}),
        ("often and tenure, someone, weight", set()),
        ("", set()),
    ],
)
def test_a_number_is_the_same_however_it_is_written(text: str, found: set[str]) -> None:
    assert numbers_in(text) == found


@pytest.mark.parametrize(
    "written",
    ["1,000", "1.000", "1 000", "1\u00a0000", "1\u2009000", "1\u202f000", "1'000", "1’000", "1000"],
)
def test_a_thousand_is_a_thousand_whatever_groups_it(written: str) -> None:
    assert numbers_in(f"It costs {written} euros.") == {"1000"}
    assert digits_in(written) == {"1000"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12 500,50 €", {"12500.5"}),
        ("12 500.50", {"12500.5"}),
        ("1 234 567", {"1234567"}),
        ("1'234'567.80", {"1234567.8"}),
        ("₹1,00,000 or ₹12,34,567.50", {"100000", "1234567.5"}),
        ("EUR2 500 to EUR 3 500", {"2500", "3500"}),
        ("1 000–2 000 €", {"1000", "2000"}),
        ("On 1 July 2025 2 500 euros", {"1", "2025", "2500"}),
        ("1 500 2 500 25 000", {"1500", "2500", "25000"}),
        ("+2 500 euros", {"2500"}),
        ("2 500 3 times", {"2500", "3"}),
    ],
)
def test_groups_make_one_number(text: str, found: set[str]) -> None:
    assert numbers_in(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In 2025 100 people", {"2025", "100"}),
        ("2024 500", {"2024", "500"}),
        ("section 20 500 people", {"20", "500"}),
        ("Section 20 500", {"20", "500"}),
        ("§ 20 500 Euro", {"20", "500"}),
        ("20 50 people", {"20", "50"}),
        ("20 5000 people", {"20", "5000"}),
        ("20  500", {"20", "500"}),
        ("20\n500", {"20", "500"}),
        ("0 500", {"0", "500"}),
        ("At 9:30 100 people", {"9", "30", "100"}),
        ("24/7 365 days", {"24", "7", "365"}),
        ("3.5 500", {"3.5", "500"}),
        ("2025-01-31 500 people", {"31", "2025", "500"}),
        ("Tel. 30 123 456", {"30", "123", "456"}),
        ("+49 30 123 456", {"49", "30", "123", "456"}),
        ("030 123 456", {"30", "123", "456"}),
        ("30 123 456 78", {"30", "123", "456", "78"}),
        ("555 123 4567", {"555", "123", "4567"}),
        ("5'10 and 500'", {"5", "10", "500"}),
    ],
)
def test_numbers_side_by_side_stay_apart(text: str, found: set[str]) -> None:
    assert numbers_in(text) == found


def test_of_a_date_in_digits_each_part_is_a_number() -> None:
    assert digits_in("2025-01-31 500 people") == {"2025", "1", "31", "500"}


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("1,250 kg", "en", {"1250"}),
        ("1,250 kg", "de", {"1.25"}),
        ("1,250 kg", "fr", {"1.25"}),
        ("1,250 kg", "es", {"1.25"}),
        ("1,250 kg", "", {"1250"}),
        ("1,250 kg", "xx", {"1250"}),
        ("1.250 €", "de", {"1250"}),
        ("1.250 €", "en", {"1250"}),
        ("1,250,000 €", "de", {"1250000"}),
        ("1,250.50 €", "de", {"1250.5"}),
    ],
)
def test_a_lone_comma_before_three_digits_is_read_in_its_language(
    text: str, language: str, found: set[str]
) -> None:
    assert numbers_in(text, language) == found


@pytest.mark.parametrize(
    "locale", ["en", "en_GB", "en_IN", "de", "de_AT", "fr", "es", "es_MX", "it"]
)
@given(st.integers(0, 10**12).map(lambda cents: cents / 100))
def test_what_a_locale_writes_is_read(locale: str, value: float) -> None:
    written = format_decimal(value, "#,##0.00", locale=locale)
    assert {float(number) for number in digits_in(written, locale[:2])} == {value}


@pytest.mark.parametrize(("language", "mark"), [("en", "."), ("de", ","), ("fr", ","), ("es", ",")])
def test_decimal_marks_are_those_of_the_locale(language: str, mark: str) -> None:
    assert decimal_mark(language) == mark


def test_a_number_of_any_length_is_read() -> None:
    assert numbers_in("9" * 10_000) == {"9" * 10_000}
    assert numbers_in("1." + "0" * 10_000) == {"1"}


@given(st.text(alphabet="0123456789 .,'’+-/:§atel", max_size=60))
def test_joining_leaves_out_nothing_but_marks_of_groups(text: str) -> None:
    joined = join_groups(text)
    kept = [character for character in joined if character not in " '’"]
    assert kept == [character for character in text if character not in " '’"]
    assert join_groups(joined) is not None
