"""Small words turn what a passage says: a claim and its passage differ in nothing else."""

import pytest

from ombud.answer.proof.verifying import disagreements

DECISION = "The decision on an adjustment lies with the director, subject to approval by the board."
RECEIPT = "Get an email from your supervisor with the amount and send it to travel@example.org."
LINKS = "You may look at a website if the application or the letter links to it."
ABSENCE = (
    "You are not penalised for a low share of billable hours if no work has been assigned to you."
)
WRONG = [
    (
        "The decision on an adjustment lies with the board, subject to approval by the director.",
        DECISION,
    ),
    (
        "Get an email from travel@example.org with the amount and send it to your supervisor.",
        RECEIPT,
    ),
    ("You may look at a website if both the application and the letter link to it.", LINKS),
    (
        "You are not penalised for a low share of billable hours, even if work has been assigned "
        "to you.",
        ABSENCE,
    ),
    (
        "The sitter is paid for four nights, whether or not the dog depends on you.",
        "The sitter is paid for four nights if the dog depends on you.",
    ),
    (
        "The company signs contracts for shared space.",
        "The company will not cover the cost of a deposit or sign contracts for shared space.",
    ),
    ("The bonus may be paid in March.", "The bonus will be paid in March."),
    ("The salary might be reviewed in June.", "The salary is reviewed in June."),
    ("Everybody reaches a full score of ten.", "No one reaches a full score of ten."),
    ("You must use the portal for trips.", "You should use the portal for trips."),
    (
        "The account renews by itself every year, so you need not act.",
        "The account does not automatically renew every year.",
    ),
]
"""(claim, passage): one small word makes it wrong."""
SAME = [
    (
        "Subject to approval by the board, the director has the decision on an adjustment.",
        DECISION,
    ),
    ("Send the email from your supervisor with the amount to travel@example.org.", RECEIPT),
    ("You may look at a website that the application or the letter links to.", LINKS),
    (
        "Both managers and employees keep the form.",
        "Managers and employees, or whoever acts for them, keep the form.",
    ),
    (
        "You keep your place even if you are ill.",
        "You keep your place, whether you are ill or on leave.",
    ),
    ("The bonus may be paid in March.", "The bonus can be paid in March."),
    ("Overtime that wasn't approved is still paid.", "Unapproved overtime is always paid."),
    ("Juniors have no pay review then.", "Juniors will not undergo pay review."),
    (
        "At six months you pass, or probation is extended.",
        "At six months a recommendation is made to pass probation, or to extend if time helps.",
    ),
    (
        "Your budget is limited to $2,000 instead of the usual $4,000.",
        "Each employee has a budget of $4,000 for courses. In the first year the budget is limited "
        "to $2,000.",
    ),
    (
        "Probation ends after six months if your absence is not more than four weeks.",
        "Probation ends after six months. Absence of more than four weeks extends it.",
    ),
]


@pytest.mark.parametrize(("claim", "passage"), WRONG)
def test_a_turned_claim_is_stopped(claim: str, passage: str) -> None:
    assert disagreements(claim, [passage])


@pytest.mark.parametrize("passage", [DECISION, RECEIPT, LINKS, ABSENCE, *(of for _, of in WRONG)])
def test_every_passage_bears_itself_out(passage: str) -> None:
    assert disagreements(passage, [passage]) == []


@pytest.mark.parametrize(("claim", "passage"), SAME)
def test_the_same_in_another_order_passes(claim: str, passage: str) -> None:
    assert disagreements(claim, [passage]) == []
