"""What a text denies, obliges and allows."""

import pytest

from ombud.text.polarity import Modal, count_denials, denied_runs, expresses, find_modals, forbids


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("you may carry days over", "en", 0),
        ("you may not carry days over", "en", 1),
        ("it isn't prohibited", "en", 2),
        ("neither days nor hours are carried over", "en", 1),
        ("no later than friday", "en", 0),
        ('the form called "not applicable"', "en", 0),
        ("kein urlaub und nie frei", "de", 1),
        ("urlaub und frei", "de", 0),
        ("il n'y a pas de prime", "fr", 1),
    ],
)
def test_denials_are_counted(text: str, language: str, count: int) -> None:
    assert count_denials(text, language) == count


def test_modal_verbs_are_found_with_their_kind() -> None:
    text = "you must ask, you should wait, you may go, you need not stay, you cannot return"
    assert list(find_modals(text)) == [
        Modal("oblige", "must", " ask", start=4),
        Modal("advise", "should", " wait", start=18),
        Modal("allow", "may", " go", start=35),
        Modal("spare", "need not", " stay", start=47),
        Modal("forbid", "cannot", " return", start=66),
    ]


def test_what_is_not_allowed_does_not_allow() -> None:
    assert expresses("allow", "you may leave")
    assert not expresses("allow", "you may not leave")
    assert forbids("you may not leave")


def test_what_a_denial_is_of() -> None:
    assert denied_runs("the manager does not answer the letter") == [frozenset({"answer"})]
    assert denied_runs("the manager answers") == []
