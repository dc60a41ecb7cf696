from collections.abc import Sequence

from lab.makers import hit
from ombud.lab.synthesis.cleaning import (
    COPIED,
    EMBEDDED,
    LEXICAL,
    UNRELATED,
    Cleaner,
    copied_share,
)

RULE = "Employees must return company laptops on their last working day."
SOURCE = hit(RULE).chunk


def two_topics(texts: Sequence[str]) -> list[list[float]]:
    """Leave and laptops stand at a right angle; everything else lies between them."""
    return [_topic(text) for text in texts]


def _topic(text: str) -> list[float]:
    if "leave" in text:
        return [1.0, 0.01 * len(text)]
    return [0.01, 1.0] if "laptop" in text else [1.0, 1.0]


def test_the_same_words_in_another_order_are_a_duplicate() -> None:
    cleaner = Cleaner()
    assert cleaner.check("When must employees return company devices?", SOURCE) == ""
    assert cleaner.check("Company devices: when must employees return?", SOURCE) == LEXICAL
    assert cleaner.check("When must all employees return company devices?", SOURCE) == LEXICAL
    assert cleaner.check("Who pays for a broken phone?", SOURCE) == ""


def test_a_question_that_copies_its_passage_falls() -> None:
    copy = "When must employees return company laptops on their last working day?"
    assert Cleaner().check(copy, SOURCE) == COPIED
    assert copied_share("When do I give back the laptop?", RULE) == 0
    assert copied_share(copy, RULE) > 0.7


def test_a_copied_heading_falls_too() -> None:
    asked = "What happens to my old laptop when I leave?"
    assert Cleaner().check(asked, hit(RULE, trail=(asked[:-1],)).chunk) == COPIED


def test_a_question_that_fell_is_not_remembered() -> None:
    cleaner = Cleaner()
    copy = "When must employees return company laptops on their last working day?"
    assert cleaner.check(copy, SOURCE) == COPIED
    assert cleaner.check(copy, None) == ""


def test_the_same_meaning_in_other_words_is_a_duplicate() -> None:
    cleaner = Cleaner(two_topics)
    assert cleaner.check("When do I give back the laptop?", SOURCE) == ""
    assert cleaner.check("Until what day may somebody keep a laptop?", SOURCE) == EMBEDDED


def test_a_question_beside_its_passage_falls_unless_it_is_noisy() -> None:
    others = [hit("Annual leave.", start=number).chunk for number in range(10)]
    beside = "How long is my leave?"
    assert Cleaner(two_topics, others).check(beside, SOURCE) == UNRELATED
    assert Cleaner(two_topics, others).check(beside, SOURCE, relevant=False) == ""


def test_a_low_likeness_is_enough_where_nothing_else_is_nearer() -> None:
    def shy(texts: Sequence[str]) -> list[list[float]]:
        return [question_or_topic(text) for text in texts]

    def question_or_topic(text: str) -> list[float]:
        if text.endswith("?"):
            return [1.0, 0.0, 0.0]
        return [0.2, 1.0, 0.0] if "laptop" in text else [0.0, 0.0, 1.0]

    cleaner = Cleaner(shy, [hit("Annual leave.", start=number).chunk for number in range(10)])
    assert cleaner.check("When do I return my computer?", SOURCE) == ""


def test_without_an_embedder_nothing_falls_to_meaning() -> None:
    assert Cleaner().check("How long is my leave?", SOURCE) == ""
