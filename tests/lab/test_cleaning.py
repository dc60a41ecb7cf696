from collections.abc import Sequence

import pytest

from lab.makers import hit
from ombud.lab.synthesis.cleaning import (
    COPIED,
    EMBEDDED,
    LEXICAL,
    NO_ANSWER,
    UNRELATED,
    Cleaner,
    copied_share,
    is_answered,
)
from ombud.lab.synthesis.pairs import QuestionAnswer

RULE = "Employees must return company laptops on their last working day."


def pair(question: str, quote: str = RULE, kind: str = "heading", **fields: str) -> QuestionAnswer:
    given = {"style": "plain", "wording": question, "answer": quote} | fields
    return QuestionAnswer(hit(quote).chunk, kind, question=question, quote=quote, **given)


def two_topics(texts: Sequence[str]) -> list[list[float]]:
    """Leave and laptops stand at a right angle; everything else lies between them."""
    return [_topic(text) for text in texts]


def _topic(text: str) -> list[float]:
    if "leave" in text:
        return [1.0, 0.01 * len(text)]
    return [0.01, 1.0] if "laptop" in text else [1.0, 1.0]


@pytest.mark.parametrize(
    "quote",
    [
        "Three words only.",
        "See the travel page for more information.",
        "Please follow these steps:",
        "This page is under construction and will be filled soon.",
        "https://example.org/a https://example.org/b https://example.org/c and more",
        "Our perks\n- Gym\n- Phone\n- Lunch",
        "who leave during the notice period keep their laptop.",
        "Wer krank ist 病気休暇を取得できます。",
    ],
)
def test_a_quote_that_says_nothing_is_no_answer(quote: str) -> None:
    assert not is_answered(pair("What about it?", quote))


@pytest.mark.parametrize(
    "quote", [RULE, "You need:\n- a laptop that the company has approved\n- a badge"]
)
def test_a_sentence_or_a_list_of_some_length_is_an_answer(quote: str) -> None:
    assert is_answered(pair("What do I need?", quote))


def test_an_empty_cell_is_no_answer() -> None:
    row = "| Sick leave | n/a |"
    assert not is_answered(pair("What is the limit for sick leave?", row, "table", answer="n/a"))
    assert is_answered(
        pair(
            "What is the limit for sick leave?",
            row.replace("n/a", "5 days"),
            "table",
            answer="5 days",
        )
    )


def test_a_quote_must_stand_in_its_passage() -> None:
    elsewhere = pair("When do I return my laptop?")
    moved = QuestionAnswer(
        hit("Another text.").chunk, *(getattr(elsewhere, name) for name in elsewhere.__slots__[1:])
    )
    assert Cleaner().check_words(moved) == NO_ANSWER


def test_the_same_words_in_another_order_are_a_duplicate() -> None:
    sieve = Cleaner()
    first = pair("When must employees return company devices?")
    assert sieve.check_words(first) == ""
    sieve.accept(first, None)
    assert sieve.check_words(pair("Company devices: when must employees return?")) == LEXICAL
    assert sieve.check_words(pair("When must all employees return company devices?")) == LEXICAL
    assert sieve.check_words(pair("Who pays for a broken phone?")) == ""


def test_slips_and_small_talk_do_not_hide_a_duplicate() -> None:
    sieve = Cleaner()
    sieve.accept(pair("When do I return devices?"), None)
    noisy = pair(
        "Hi, wehn do I retrun devices? Thanks!", style="typos", wording="When do I return devices?"
    )
    assert sieve.check_words(noisy) == LEXICAL


def test_a_question_that_copies_its_passage_falls() -> None:
    copy = "When must employees return company laptops on their last working day?"
    assert Cleaner().check_words(pair(copy)) == COPIED
    assert copied_share("When do I give back the laptop?", RULE) == 0
    assert copied_share(copy, RULE) > 0.8


def test_a_copied_heading_falls_too() -> None:
    chunk = hit(RULE, trail=("What happens to my old laptop when I leave",)).chunk
    asked = "What happens to my old laptop when I leave?"
    assert (
        Cleaner().check_words(QuestionAnswer(chunk, "heading", "plain", asked, asked, RULE, RULE))
        == COPIED
    )


def test_near_vectors_are_a_duplicate_and_far_ones_poor() -> None:
    others = [hit(f"Annual leave, part {number}.", start=number).chunk for number in range(10)]
    sieve = Cleaner(two_topics, others)
    laptop = pair("When do I return my laptop?")
    [measured] = sieve.measure([laptop])
    assert sieve.check_meaning(laptop, measured) == ""
    sieve.accept(laptop, measured)
    again = pair("Is there a day on which laptop and badge go back?")
    assert sieve.check_meaning(again, sieve.measure([again])[0]) == EMBEDDED
    beside = pair("How long is my leave?")
    assert sieve.check_meaning(beside, sieve.measure([beside])[0]) == UNRELATED


def test_a_low_likeness_is_enough_where_nothing_else_is_nearer() -> None:
    def shy(texts: Sequence[str]) -> list[list[float]]:
        return [question_or_topic(text) for text in texts]

    def question_or_topic(text: str) -> list[float]:
        if text.endswith("?"):
            return [1.0, 0.0, 0.0]
        return [0.2, 1.0, 0.0] if "laptop" in text else [0.0, 0.0, 1.0]

    sieve = Cleaner(shy, [hit("Annual leave.", start=number).chunk for number in range(10)])
    asked = pair("When do I return my computer?")
    assert sieve.check_meaning(asked, sieve.measure([asked])[0]) == ""


def test_without_an_embedder_nothing_falls_to_meaning() -> None:
    sieve = Cleaner()
    asked = pair("How long is my leave?")
    assert sieve.measure([asked]) == [None]
    assert sieve.check_meaning(asked, None) == ""
