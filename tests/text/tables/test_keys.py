"""Rows of a table that questions name by their key."""

import pytest

from ombud.text import key_rows, named_row


def table(*lines: str) -> str:
    head, *rows = lines
    return "\n".join([head, "| --- | --- |", *rows])


GRADES = table("| Grade | Hotel |", *(f"| {n} | up to {100 + n} |" for n in range(1, 100)))
WRITTEN = table("| Grade | Hotel |", *(f"| Grade {n} | {100 + n} |" for n in range(1, 100)))
CODES = table("| Code | Device |", "| 23 | Desk |", "| S2 | Phone |", "| S23 | Tablet |")
PLACES = table(
    "| Place | Cap |", "| Lisbon, Porto | 120 |", "| Portugal (PT) | 95 |", "| Spain | 90 |"
)
SERVICE = table(
    "| Service | Notice in weeks |",
    "| under 1 year | 7 |",
    "| 1-5 years | 2 |",
    "| 5-10 years | 3 |",
    "| over 10 years | 4 |",
)
AT_LEAST = table("| Service | Days |", *(f"| {n} years or more | {n} |" for n in range(1, 12)))
BANDS = table("| Band | Rate |", "| A | 0.20 |", "| B | 0.30 |", "| C to E | 0.40 |", "| I | 0.5 |")
SERIES = table("| Level | Who decides |", "| L1 to L40 | Head |", "| L41 to L80 | Director |")
LIMITS = table("| Salary (EUR) | Bonus |", "| 30,000 - 32,499 | 1 % |", "| 32,500 - 34,999 | 2 % |")
CHILDREN = table("| Children | Days |", "| 1 | 3 |", "| 2 | 2 |", "| 3 | 1 |")
ROOMS = table("| Room | Seats |", "| 5.1 | 8 |", "| 5.10 | 12 |", "| 5.01 | 20 |")


@pytest.mark.parametrize(
    ("question", "text", "key"),
    [
        ("hotel of grade 7", GRADES, "7"),
        ("hotel of grade 79", GRADES, "79"),
        ("hotel limit grade 7?", WRITTEN, "Grade 7"),
        ("What may grade7 spend?", WRITTEN, "Grade 7"),
        ("code S23", CODES, "S23"),
        ("what is s-23", CODES, "S23"),
        ("what is s 2?", CODES, "S2"),
        ("code 23 please", CODES, "23"),
        ("hotel in porto", PLACES, "Lisbon, Porto"),
        ("hotel cap PORTUGAL", PLACES, "Portugal (PT)"),
        ("notice after 7 years", SERVICE, "5-10 years"),
        ("notice with five years of service", SERVICE, "5-10 years"),
        ("I have been here for 12 years", SERVICE, "over 10 years"),
        ("notice for 1-5 years", SERVICE, "1-5 years"),
        ("days after 9 years", AT_LEAST, "9 years or more"),
        ("what's a ride in band b worth", BANDS, "B"),
        ("what can i claim in band A", BANDS, "A"),
        ("who decides for L44", SERIES, "L41 to L80"),
        ("bonus with a salary of 32,700 eur", LIMITS, "32,500 - 34,999"),
        ("bonus with 31200 euros", LIMITS, "30,000 - 32,499"),
        ("days off with 3 children", CHILDREN, "3"),
        ("how many seats in room 5.10", ROOMS, "5.10"),
        ("room 5.1", ROOMS, "5.1"),
    ],
)
def test_a_key_in_a_question_names_its_row(question: str, text: str, key: str) -> None:
    rows = key_rows(text)
    number = named_row(question, rows)
    assert number is not None
    assert text.split("\n")[number + 2].startswith(f"| {key} |")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("code S24", CODES),
        ("what is L90", SERIES),
        ("is it a or i who decides", BANDS),
        ("", CODES),
        ("how do I book a hotel?", PLACES),
        ("anything", "No table at all."),
    ],
)
def test_a_question_without_a_key_names_no_row(question: str, text: str) -> None:
    assert named_row(question, key_rows(text)) is None


def test_what_fewer_rows_hold_says_more() -> None:
    rows = [f"| Lisbon | {kind} | {n} |" for n, kind in enumerate(["visit", "course", "fair"])]
    text = "\n".join(["| City | Purpose | Cap |", "| --- | --- | --- |", *rows])
    assert named_row("cap for a course in Lisbon", key_rows(text)) == 1


def test_long_questions_and_cells_are_compared_in_time() -> None:
    rows = key_rows(table("| A | B |", *(f"| {'7 ' * 300} | {'x' * 3000} |" for _ in range(50))))
    assert named_row("7 " * 3000, rows) is not None
