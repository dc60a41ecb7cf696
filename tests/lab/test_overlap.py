import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from ombud.lab.metrics.overlap import (
    answer_tokens,
    chrf,
    exact_match,
    numbers,
    rouge_l,
    token_f1,
    words,
)

WORDS = st.lists(
    st.sampled_from(["the", "a", "leave", "days", "25", "policy", "of"]), max_size=12
).map(" ".join)


def test_squad() -> None:
    # The rules of the SQuAD script: lower case, no punctuation, no articles.
    assert answer_tokens("The  Eiffel-Tower, a landmark!") == ("eiffeltower", "landmark")
    assert exact_match("The cat.", "cat") == 1
    assert token_f1("the cat sat on the mat", "a cat lay on a mat") == pytest.approx(3 / 4)
    assert token_f1("25 25 days", "25 days") == pytest.approx(2 * 2 / 5)
    assert answer_tokens("$100 | “50 €”, ½ day") == ("100", "50", "1⁄2", "day")
    assert token_f1("", "the") == 1
    assert token_f1("", "days") == 0


def test_scripts_without_spaces() -> None:
    # 4 characters each, 3 the same.
    assert token_f1("有給休暇", "有給休日") == pytest.approx(0.75)


class SameWords:
    """Gives rouge-score the lab's words: its own keep ASCII letters only."""

    def tokenize(self, text: str) -> list[str]:
        return list(words(text))


def test_rouge_l_is_that_of_rouge_score() -> None:
    oracle = RougeScorer(["rougeL"], tokenizer=SameWords())
    draw = random.Random(1)
    for _ in range(300):
        a, b = (" ".join(draw.choices("abcdé有", k=draw.randint(1, 40))) for _ in range(2))
        assert rouge_l(a, b) == pytest.approx(oracle.score(b, a)["rougeL"].fmeasure, abs=1e-9)
    # Lin 2004, section 3.1: S1 is "police killed the gunman".
    assert rouge_l("police kill the gunman", "police killed the gunman") == 0.75
    assert rouge_l("", "") == 1
    assert rouge_l("", "days") == 0


@pytest.mark.parametrize(
    ("candidate", "reference", "value"),
    [("a", "a", 1), ("", "days", 0), ("", " ", 1), ("a b c", "abc", 1), ("abcdefg", "hijklm", 0)],
)
def test_chrf_of_equal_and_empty_texts(candidate: str, reference: str, value: float) -> None:
    assert chrf(candidate, reference) == pytest.approx(value)


def test_chrf_weighs_recall_more() -> None:
    # One order only: precision 1/1, recall 1/2; F2 = 5 * .5 / (4 * 1 + .5).
    assert chrf("a", "ab") == pytest.approx(2.5 / 4.5)
    assert chrf("ab", "a") == pytest.approx(2.5 / 3)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("25 days", {"25"}),
        ("£1,000.50 or 1.000,50 € or 1 000.5", {"1000.5"}),
        ("1,000 and 1.000 and 1 000 and 1\u00a0000", {"1000"}),
        ("2.5, 2,50 and 02.5", {"2.5"}),
        ("1,234,567 and 1.234.567", {"1234567"}),
        ("in 2024 300 people", {"2024", "300"}),
        ("10-15 %, 3.14159", {"10", "15", "3.14159"}),
        ("2024-01-31", {"2024", "1", "31"}),
        ("100.00 or 100", {"100"}),
        ("1'000 or 1’000", {"1000"}),
        ("₹1,00,000", {"100000"}),
        ("12 500,50 or 12.500,50", {"12500.5"}),
        ("call 030 123 456", {"30", "123", "456"}),
        ("0 and 00", {"0"}),
        ("version 1.2.3", {"1.2.3"}),
        ("Section 4.", {"4"}),
        ("none", set()),
    ],
)
def test_numbers(text: str, found: set[str]) -> None:
    assert numbers(text) == found


@given(WORDS, WORDS)
def test_likeness_is_symmetric_where_it_should_be_and_bounded(a: str, b: str) -> None:
    assert token_f1(a, b) == token_f1(b, a)
    assert rouge_l(a, b) == rouge_l(b, a)
    for likeness in (token_f1, exact_match, rouge_l, chrf):
        assert 0 <= likeness(a, b) <= 1 + 1e-12
        assert likeness(a, a) == pytest.approx(1)


@given(st.text(), st.text())
def test_any_text_can_be_compared(a: str, b: str) -> None:
    for likeness in (token_f1, exact_match, rouge_l, chrf):
        assert 0 <= likeness(a, b) <= 1 + 1e-12
    assert all(numbers(a))
