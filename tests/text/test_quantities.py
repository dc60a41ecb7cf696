"""What a sentence counts: values worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.text.quantities import find_quantities, plain_quantities

MONTH, YEAR = 365.25 / 12, 365.25


@pytest.mark.parametrize(
    ("sentence", "kind", "value", "role"),
    [
        ("You have 25 days of annual leave.", "days", 25, "exact"),
        ("Give two weeks' notice.", "days", 14, "exact"),
        ("The probation period is six months.", "days", 6 * MONTH, "exact"),
        ("Files are kept for ten years.", "days", 10 * YEAR, "exact"),
        ("You may work from home up to twenty-five days.", "days", 25, "most"),
        ("three (3) weeks of paid leave", "days", 21, "exact"),
        ("Employees get three paid volunteering days.", "days", 3, "exact"),
        ("HR answers within 5 working days.", "working days", 5, "within"),
        ("Ask at least 30 days ahead.", "days", 30, "ahead"),
        ("No later than 14 days after the trip", "days", 14, "within"),
        ("A laptop is replaced every four years.", "days", 4 * YEAR, "every"),
        ("Report it within an hour.", "minutes", 60, "within"),
        ("The break takes at least half an hour.", "minutes", 30, "least"),
        ("Business class above 10 hours", "minutes", 600, "above"),
        ("It covers 80 % of the fee.", "percent", 80, "exact"),
        ("up to 12.5 percent", "percent", 12.5, "most"),
        ("The cap is EUR 1,500.00.", "eur", 1500, "most"),
        ("It costs 1.500 €.", "eur", 1500, "exact"),
        ("It costs 2 500 euros.", "eur", 2500, "exact"),
        ("up to CHF 1'250.50", "chf", 1250.5, "most"),
        ("At least 12 500,50 € are paid.", "eur", 12500.5, "least"),
        ("In 2025 300 hours or more were lost.", "minutes", 18000, "least"),
        ("A gift must not exceed £50.", "gbp", 50, "most"),
        ("Gifts of up to EUR 50 may be accepted.", "eur", 50, "most"),
        ("It is paid at 1.5 times the hourly rate.", "times", 1.5, "exact"),
        ("Use it by 31 March 2026.", "date", 331, "by"),
        ("Use it until 31.03.2026.", "date", 331, "by"),
        ("It starts on July 1.", "date", 701, "from"),
        ("Call by 9:30 am.", "time", 570, "by"),
        ("Call by 2 p.m. at the latest", "time", 840, "by"),
        ("Drivers are aged 21 or over.", "age", 21, "least"),
        ("covered up to the age of 25", "age", 25, "by"),
        ("from the third day of absence", "nth day", 3, "from"),
        ("a card is blocked after two missing receipts", "count recei", 2, "after"),
    ],
)
def test_a_figure_with_its_kind_and_role(sentence: str, kind: str, value: float, role: str) -> None:
    (found,) = find_quantities(plain_quantities(sentence))
    assert (found.kind, found.role) == (kind, role)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("sentence", "per"),
    [
        ("3 days a week", "week"),
        ("25 days of annual leave in each calendar year", "year"),
        ("EUR 0.38 per kilometre", "km"),
        ("0.30 €/km", "km"),
        ("USD 20 an hour", "hour"),
        ("EUR 50 monthly", "month"),
        ("25 days", ""),
    ],
)
def test_what_it_is_per(sentence: str, per: str) -> None:
    (found,) = find_quantities(plain_quantities(sentence))
    assert found.per == per


@pytest.mark.parametrize(
    "sentence", ["between 9 am and 5 pm", "5-7 working days", "2 to 3 weeks", "4-to-12 weeks"]
)
def test_a_range_is_no_single_figure(sentence: str) -> None:
    assert {q.role for q in find_quantities(plain_quantities(sentence))} & {"range"}


@pytest.mark.parametrize(
    "sentence",
    ["A written warning", "Since 2025 employees claim", "One of us", "Play 10 questions"],
)
def test_what_only_looks_like_a_figure(sentence: str) -> None:
    assert find_quantities(plain_quantities(sentence)) == []


@given(st.text(alphabet="0123456789.,:/-–()%€$ amp dayswekshourupto", max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    read = plain_quantities(text)
    assert all(read[q.start : q.end] for q in find_quantities(read))
