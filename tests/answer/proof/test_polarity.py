"""What a claim denies, obliges and allows beside what its passage does: a case for each rule."""

import pytest

from ombud.answer.proof.verifying import disagreements


@pytest.mark.parametrize(
    ("claim", "passage", "objection"),
    [
        (
            "You must send the form to your manager.",
            "You may send the form to your manager.",
            "it says “must”, the cited text leaves it open",
        ),
        (
            "You may send the form to your manager.",
            "You must send the form to your manager.",
            "it says “may”, the cited text obliges",
        ),
        (
            "You may need to send the form to your manager.",
            "You must send the form to your manager.",
            "it says “may need”, the cited text obliges",
        ),
        (
            "You may send the form to your manager.",
            "Send the form to your manager.",
            "it says “may”, the cited text obliges",
        ),
        (
            "Updates of laptops may be applied within a day.",
            "Updates of laptops are applied within a day.",
            "it says “may”, the cited text obliges",
        ),
        (
            "You need not send the form to your manager.",
            "You must send the form to your manager.",
            "it says “need not”, the cited text does not leave it open",
        ),
        (
            "You need not send the form to your manager.",
            "You must not send the form to your manager.",
            "it says “need not”, the cited text does not leave it open",
        ),
        (
            "You must not send the form to your manager.",
            "You need not send the form to your manager.",
            "it says “must not”, the cited text leaves it open",
        ),
        (
            "You should send the form to your manager.",
            "You must send the form to your manager.",
            "it says “should”, the cited text obliges",
        ),
    ],
)
def test_a_changed_duty_is_named(claim: str, passage: str, objection: str) -> None:
    assert objection in disagreements(claim, [passage])


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("You must send the form.", "You must send the form to your manager."),
        ("You have to send the form.", "Send the form to your manager."),
        ("You may send the form.", "You can send the form to your manager."),
        (
            "You need not send the form.",
            "The form to your manager is optional; nobody has to send it.",
        ),
        ("You must not send the form.", "You cannot send the form to your manager."),
        ("You should send the form.", "We recommend that you send the form to your manager."),
    ],
)
def test_a_duty_in_other_words_is_borne_out(claim: str, passage: str) -> None:
    assert disagreements(claim, [passage]) == []


def test_a_limit_may_not_get_lost() -> None:
    passage = "The bonus can never be higher than the salary of a month."
    said = disagreements("The bonus can be higher than the salary of a month.", [passage])
    assert "the cited text sets a limit, it does not" in said


def test_an_opposite_is_named() -> None:
    passage = "Ask your manager before the trip to the office."
    said = disagreements("Ask your manager after the trip to the office.", [passage])
    assert "it says “after”, the cited text “before”" in said


@pytest.mark.parametrize("language", ["en", "de"])
def test_yes_and_no_at_the_beginning_deny_nothing(language: str) -> None:
    passage = "Employees carry over five days of leave."
    assert disagreements("No, employees carry over five days of leave.", [passage], language) == []
