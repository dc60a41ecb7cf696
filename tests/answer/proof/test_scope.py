"""A case for each way in which a claim may hold for more, or for others, than its passage."""

import pytest

from ombud.answer.proof.verifying import disagreements

RATES = "| Matter | France | Germany |\n| --- | --- | --- |\n| Claims | 6 years | 8 years |\n| Files | 3 years | 5 years |"


@pytest.mark.parametrize(
    ("claim", "passage", "objection"),
    [
        (
            "Employees may take a sabbatical of three months.",
            "After five years of service employees may take a sabbatical of three months.",
            "only under a condition: “after five years of service",
        ),
        (
            "The hotel is reimbursed in full.",
            "The hotel is reimbursed in full if the portal had none within the cap.",
            "only under a condition: “if the portal had none",
        ),
        (
            "Employees have five days of study leave.",
            "Full-time employees have five days of study leave.",
            "only under a condition: “full-time”",
        ),
        (
            "All gifts go into the register.",
            "Gifts above the limit go into the register.",
            "it speaks of all",
        ),
        (
            "The answer always comes within ten days.",
            "The answer normally comes within ten days.",
            "only of the normal case",
        ),
        (
            "Managers have ten days of sick leave a year.",
            "Interns have ten days of sick leave a year.",
            "it speaks of the manager",
        ),
        (
            "Payroll approves the request within ten days.",
            "The line manager approves the request within ten days.",
            "it speaks of the payroll",
        ),
        (
            "Gifts are recorded within 30 days and trips within 14 days.",
            "Gifts are recorded within 14 days and trips within 30 days.",
            "are exchanged",
        ),
        ("In France claims are kept for 8 years.", RATES, "another row or column"),
        (
            "The meal is paid, excluding drinks.",
            "The meal is paid, including drinks.",
            "it says “excluding”",
        ),
    ],
)
def test_what_holds_for_more_is_named(claim: str, passage: str, objection: str) -> None:
    assert any(objection in said for said in disagreements(claim, [passage]))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "You may take a sabbatical once you have five years of service.",
            "After five years of service employees may take a sabbatical.",
        ),
        (
            "Your manager approves the request.",
            "The line manager approves the request.",
        ),
        ("In France claims are kept for 6 years.", RATES),
        (
            "Not yet: the note is needed from day 3.",
            "The note is needed from day 3 of the illness.",
        ),
        (
            "You may have to show the receipt to your manager.",
            "You may have to show the receipt to the manager.",
        ),
        (
            "No intern, contractor or visitor may enter the laboratory alone.",
            "Interns, contractors and visitors may not enter the laboratory alone.",
        ),
    ],
)
def test_the_same_in_other_words_passes(claim: str, passage: str) -> None:
    assert disagreements(claim, [passage]) == []


def test_a_condition_that_the_question_names_need_not_be_said_again() -> None:
    passage = "After five years of service you have 28 days of leave."
    question = "How much leave do I have after five years of service?"
    assert disagreements("You have 28 days of leave.", [passage], question=question) == []
    assert disagreements("You have 28 days of leave.", [passage], question="How much leave?")


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("You get EUR 36 for 120 km.", True),
        ("You get EUR 40 for 120 km.", False),
    ],
)
def test_a_rule_applied_to_the_askers_own_figures_is_computed(claim: str, holds: bool) -> None:
    passage = "A private car is paid at EUR 0.30 a km."
    question = "I drove 120 km with my private car. What do I get?"
    assert (disagreements(claim, [passage], question=question) == []) is holds
