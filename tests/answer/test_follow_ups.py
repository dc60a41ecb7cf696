"""Follow-ups and new subjects told apart by their words, where no encoder is installed."""

from datetime import date

import pytest

from ombud.answer import ResolveParts, resolve_question
from ombud.text import Calendar
from ombud.types import Message, Person, Question

HOTEL = "Who pays the hotel on business trips?"
PARTS = ResolveParts(Calendar(date(2026, 6, 1)), ["GB", "DE"])


def standalone(*turns: str) -> str:
    """What is searched for behind these turns of the asker."""
    *earlier, last = turns
    history: list[Message] = []
    for text in earlier:
        history.append(Message(role="user", content=text))
        history.append(Message(role="assistant", content="**Parking**\n\nYes."))
    question = Question(text=last, asker=Person(country="GB"), history=tuple(history))
    return resolve_question(question, PARTS).standalone


@pytest.mark.parametrize(
    "follow_up",
    [
        "And in Germany?",
        "How much?",
        "What about contractors on fixed-term contracts?",
        "Does it apply to interns too?",
        "For people who travel with children of their own?",
        "Would they pay breakfast as well?",
    ],
)
def test_a_follow_up_is_searched_for_with_its_subject(follow_up: str) -> None:
    text = standalone(HOTEL, follow_up)
    assert "hotel on business trips" in text
    assert follow_up.rstrip("?") in text
    assert "Parking" not in text


@pytest.mark.parametrize(
    "new",
    [
        "How long is the notice period during probation for managers?",
        "is there a bike scheme",
        "got 4 days of leave left over, are they gone in january?",
        "I took a course in may and am leaving now, do I pay it back",
    ],
)
def test_a_new_subject_is_searched_for_alone(new: str) -> None:
    assert standalone(HOTEL, new) == new


def test_the_turn_that_opened_the_subject_is_carried() -> None:
    turns = (HOTEL, "and for interns?", "How do I book a course?", "how much?")
    text = standalone(*turns, "And then?")
    assert "book a course" in text
    assert "hotel" not in text
