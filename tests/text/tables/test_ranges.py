"""Ranges that labels name."""

import pytest

from ombud.text.tables import read_range


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("5-10 years", [5, 7.5, 10], [4, 11]),
        ("5 – 10", [5, 10], [4.9]),
        ("G5 to G7", [5, 6, 7], [4, 8]),
        ("30,000 - 32,499", [30_000, 31_200], [32_500, 30]),
        ("EUR 1,200.01 to EUR 3,000", [1_201, 3_000], [1_200]),
        ("less than 2 years", [0, 1.9], [2]),
        ("up to 50 km", [0, 50], [51]),
        ("over £150", [151], [150]),
        ("at least 3", [3, 400], [2]),
        ("12+", [12, 13], [11]),
        ("6 years or more", [6, 40], [5]),
        ("between one and two years", [1, 2], [3]),
        ("Grade 7", [7], [6, 79]),
    ],
)
def test_a_label_holds_the_numbers_of_its_range(
    label: str, inside: list[float], outside: list[float]
) -> None:
    found = read_range(label)
    assert found is not None
    assert [value for value in inside if not found.holds(value)] == []
    assert [value for value in outside if found.holds(value)] == []


@pytest.mark.parametrize("label", ["", "Lisbon", "n/a", "-"])
def test_a_label_without_numbers_names_no_range(label: str) -> None:
    assert read_range(label) is None


@pytest.mark.parametrize("label", ["1.2.3", "9" * 5_000, "1,,2", "5-" * 2_000, "<" * 9_000 + "1"])
def test_what_is_no_number_does_no_harm(label: str) -> None:
    read_range(label)
