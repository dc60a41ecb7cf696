"""Who asks for a person gets one, and who asks for a name gets an answer."""

import pytest

from ombud.answer.triage.persons import wants_person


@pytest.mark.parametrize(
    "text",
    [
        "can i talk to someone",
        "I want to speak to a real person please",
        "human please!!",
        "Can you connect me with HR?",
        "not a bot pls",
        "Kann ich mit einem Menschen sprechen?",
        "je voudrais parler à quelqu'un",
        "quiero hablar con una persona",
    ],
)
def test_who_asks_for_a_person_is_heard(text: str) -> None:
    assert wants_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "who do i talk to about my pension",
        "Who should I speak to if my laptop is stolen?",
        "How many days of annual leave do I have?",
        "Do I have to talk to my manager before I book leave?",
        "With whom can I talk about my return to work and what must I bring to the meeting?",
        "wer ist meine Ansprechperson",
        "personal days",
    ],
)
def test_a_question_stays_a_question(text: str) -> None:
    assert not wants_person(text)
