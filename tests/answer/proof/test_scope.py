"""A case for each way in which a claim may hold for more, or for others, than its passage."""

import pytest

from ombud.answer.proof.verifying import disagreements, examine
from ombud.text import CitedPassage

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
        (
            "Your child is a dependant.",
            "A dependant is your partner, child, someone who lives in your household, or another "
            "person who relies on you.",
        ),
        (
            "Control and management of your individual badge is your responsibility.",
            "Control and management of individual user badges is the responsibility of all "
            "full-time teammates, interns, and temporary contractors.",
        ),
        (
            "Don't look at the candidate's profiles, and don't google the candidate.",
            "Don’t look at the candidate's profiles, or google the candidate.",
        ),
        (
            "There is an exception: chairs are provided for an injury or a disability.",
            "Chairs are provided for an injury or a disability.",
        ),
        (
            "Your People Partner will confirm the date.",
            "People Partners will confirm the date with whoever leaves.",
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


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("The limit is 60 days after the expense, and 7 weeks x 7 days = 49 days.", True),
        ("The limit is 60 days after the expense, and 7 weeks x 7 days = 56 days.", False),
        ("The limit is 60 days after the expense, and 9 weeks x 7 days = 63 days.", False),
    ],
)
def test_a_sum_may_stand_behind_other_figures(claim: str, holds: bool) -> None:
    passage = "The limit for a claim is 60 days after the expense."
    question = "I bought a cable 7 weeks ago, am I too late?"
    assert (disagreements(claim, [passage], question=question) == []) is holds


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("1,078 dollars: 40 hours x USD 22 + 6 hours x 1.5 x USD 22 = USD 1,078.", True),
        ("1,100 dollars: 40 hours x USD 22 + 6 hours x 1.5 x USD 22 = USD 1,100.", False),
        ("1,045 dollars: 40 hours x USD 22 + 5 hours x 1.5 x USD 22 = USD 1,045.", False),
    ],
)
def test_what_is_beyond_a_limit_may_be_an_operand(claim: str, holds: bool) -> None:
    passage = "Hours worked above 40 in a workweek are paid at 1.5 times the hourly rate."
    question = "I did 46 hours this week at 22 dollars, what should my check say?"
    assert (disagreements(claim, [passage], question=question) == []) is holds


def test_a_claim_that_names_its_organisation_speaks_of_the_same() -> None:
    passages = [CitedPassage("We do not offer referral bonuses at this time.")]
    claim = "No, Larkmere does not offer referral bonuses at this time."
    assert examine(claim, passages, organisation="Larkmere Instruments").objections == ()
    assert examine(claim, passages, organisation="Foxglove").objections


def test_what_is_said_word_for_word_is_borne_out() -> None:
    passage = (
        "| When | What |\n| --- | --- |\n| Week 6 | First review |\n| Month 3 | Second review. Any "
        "doubt about passing must be named here |\n\nIf you have heard nothing by the last day of "
        "month 6, you have passed.\n\nProbation can be extended once, by up to 3 months, with HR's "
        "agreement. The letter must reach you before the 6 months are over and say what has to "
        "improve. Absence of more than 4 weeks in total extends probation by the same time."
    )
    claim = (
        "Probation can also be extended once, by up to 3 months, with HR's agreement. The letter "
        "must reach you before the 6 months are over and say what has to improve."
    )
    question = "joined 2 sept with a six month probation, I had 4 weeks off ill. when does it end"
    assert disagreements(claim, [passage], question=question) == []
    longer = claim.replace("3 months", "11 months")
    assert disagreements(longer, [passage], question=question)
