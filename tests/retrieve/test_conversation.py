"""Messages as people write them: how many questions, which asides, what a follow-up carries
over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.retrieve import aside_free, carry_over, question_parts
from ombud.types import Message, Question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Hi! How much carer's leave can I take in a year, and how much of it is paid? "
            "Thanks a lot",
            (
                "How much carer's leave can I take in a year?",
                "How much carer's leave can I take in a year? how much of it is paid?",
            ),
        ),
        (
            "I have handed in my notice. When is my final salary paid, and when are my logins cut?",
            (
                "I have handed in my notice. When is my final salary paid?",
                "I have handed in my notice. when are my logins cut?",
            ),
        ),
        (
            "For a trip to Vienna: do I need an A1 certificate, and which meal rates apply?",
            (
                "For a trip to Vienna do I need an A1 certificate?",
                "For a trip to Vienna which meal rates apply?",
            ),
        ),
        (
            "When can I call the Speak Up line, and in which languages?",
            (
                "When can I call the Speak Up line?",
                "When can I call the Speak Up line? in which languages?",
            ),
        ),
        (
            "do we get paid days for the food bank? and how many yrs til i can take a sabbatical",
            (
                "do we get paid days for the food bank?",
                "and how many yrs til i can take a sabbatical",
            ),
        ),
    ],
)
def test_a_double_question_is_two(text: str, expected: tuple[str, ...]) -> None:
    assert question_parts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "How many days of annual leave do I get?",
        "How and when do I ask for parental leave?",
        "Do I have to use my own holiday for it or does the company give something?",
        "My son is ill and my wife is away. Can I stay at home today?",
        "Can I take leave if I am sick and can't call?",
        "Am I allowed to book a hotel for 168 pounds? Is that ok?",
        "bonus",
        "What are the rules on gifts and hospitality and who they apply to",
    ],
)
def test_a_single_question_stays_one(text: str) -> None:
    assert question_parts(text) == (text,)


def test_greetings_and_thanks_are_no_parts() -> None:
    assert question_parts("Good morning! How long is the probation period? Thanks in advance!") == (
        "How long is the probation period?",
    )


def test_an_aside_goes_and_what_matters_stays() -> None:
    told = (
        "Our handball team lost again, so I am in a mood. My position is being eliminated. How "
        "much severance is there?"
    )
    assert aside_free(told) == "My position is being eliminated. How much severance is there?"


@pytest.mark.parametrize(
    "text",
    [
        "My cat ate the receipt on 3 May. Can I claim the hotel without it?",
        "The tram in France was on strike. Is my late arrival counted as absence?",
        "My dog is ill. Can I stay at home with it?",
        "My neighbour works for a supplier. Do I have to declare that?",
        "We got a new coffee machine. Who pays for the coffee?",
        "I did something stupid years ago and was convicted. Will it come up?",
    ],
)
def test_a_sentence_that_may_matter_stays(text: str) -> None:
    assert aside_free(text) == text


@pytest.mark.parametrize("text", ["Hello", "thanks!", "My cat is asleep.", " ok "])
def test_nothing_but_an_aside_is_not_emptied(text: str) -> None:
    assert aside_free(text) == text.strip()
    assert question_parts(text) == (text.strip(),)


HISTORY = (
    Message(role="user", content="what do i get for the g6 thing in june"),
    Message(
        role="assistant",
        content="The Annual Cash Bonus target for G5 to G7 is 8 % of base salary. [1]",
    ),
)


def test_a_follow_up_carries_over_the_words_of_the_answer() -> None:
    words = carry_over(Question(text="and if they put me on a pip?", history=HISTORY)).split()
    assert {"Annual", "Cash", "Bonus", "target", "salary"} <= set(words)
    assert not {"The", "of", "is"} & set(words)


def test_headings_that_an_answer_names_come_first() -> None:
    answer = "You may carry over 5 days. [1]\n\n[1] Annual leave > Carry-over\n    docs/leave.md"
    history = (
        Message(role="user", content="can i keep days"),
        Message(role="assistant", content=answer),
    )
    assert carry_over(Question(text="until when?", history=history)).startswith(
        "Annual leave Carry-over"
    )


def test_only_the_last_answer_is_carried_over_and_not_all_of_a_long_one() -> None:
    long = Message(
        role="assistant",
        content=" ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400)),
    )
    assert "Bonus" not in carry_over(Question(text="and then?", history=(*HISTORY, long)))
    assert len(carry_over(Question(text="and then?", history=(*HISTORY, long))).split()) == 24


def test_without_an_answer_nothing_is_carried_over() -> None:
    assert carry_over(Question(text="and then?")) == ""
    assert carry_over(Question(text="and then?", history=HISTORY[:1])) == ""


@given(st.text(max_size=300))
def test_no_text_is_an_error_and_none_is_emptied(text: str) -> None:
    assert bool(aside_free(text)) == bool(text.strip())
    assert question_parts(text)
