"""A message without what tells who is meant."""

import pytest

from ombud.text import redact


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ask anna.kent@corp.example about it.", "Ask [address] about it."),
        ("Call me at +44 20 7946 0958 today.", "Call me at [number] today."),
        ("I am employee 4482911, born 3.4.1987.", "I am employee [number], born [number]."),
        ("My id is E12345.", "My id is [number]."),
        ("I told Siobhan Quill on Monday.", "I told [name] [name] on Monday."),
        ("Mark Jones hit me.", "[name] [name] hit me."),
        ("Siobhan hit me.", "[name] hit me."),
        ("my boss quillfeather hit me", "my boss [name] hit me"),
        ("It was in O'Neill's office.", "It was in [name] office."),
    ],
)
def test_who_is_meant_is_gone(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "My manager keeps touching me and I told nobody.",
        "How many days of sick leave do I have in May 2026?",
        "I have 26 days, and 5 - 10 of them may be carried over.",
        "Is that covered by the FMLA? I'm not sure.",
        "What if he does it again? Who can help?",
    ],
)
def test_what_is_said_stays(text: str) -> None:
    assert redact(text) == text


def test_twice_is_once() -> None:
    once = redact("I told Siobhan Quill, 020 7946 0958, and my boss tomkins.")
    assert redact(once) == once
