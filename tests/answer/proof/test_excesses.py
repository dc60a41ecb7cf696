"""What a claim adds to its passage in a word or two, and what it may well say."""

import pytest

from ombud.answer.proof.verifying import disagreements, examine

WIDER = [
    (
        "You keep your pay during notice, however long you have been here.",
        "You keep your pay during notice.",
    ),
    (
        "Whatever your grade, hours above 37.5 are paid at 1.5x.",
        "Hours above 37.5 are paid at 1.5x.",
    ),
    (
        "The budget may be spent on courses, whether or not they have to do with your work.",
        "The budget may be spent on courses.",
    ),
    ("Some of the managers answer within a week.", "The managers answer within a week."),
    (
        "Finance reports it on weekdays, public holidays excluded.",
        "Finance reports it on weekdays.",
    ),
    (
        "Approve overtime before it is worked; this is optional.",
        "Approve overtime before it is worked.",
    ),
    ("The allowance is USD 12.50 a month.", "The allowance is EUR 12.50 a month."),
    ("Only the plan covers the dentist's bills.", "The plan covers the dentist's bills."),
    ("The refresh comes in the last week of that quarter.", "The refresh comes in that year."),
]
"""(claim, what it says that of): a reader is told more than the passage says."""
SAME = [
    ("It holds whatever your grade.", "It holds for employees regardless of their grade."),
    ("You keep whatever you do not spend.", "What you do not spend of the allowance you keep."),
    ("You only need to give notice.", "You need to give notice."),
    (
        "You get a decision no later than 30 days from your request.",
        "A decision on a request is given as soon as possible, not to exceed 30 days from the request.",
    ),
    ("It may be extended to 80 % or more.", "It may be extended to 80%+."),
    ("Meetings are held from 10:30 am to 1 pm.", "Meetings are held between 10:30am-1:00p."),
    ("The allowance is EUR 12.50 per month.", "The allowance is EUR 12.50 a month."),
    ("You must respect the licences of code.", "We must respect the licences of code."),
    ("You get EUR 0.30 for each kilometre.", "You get 30 cents for each kilometre."),
]


@pytest.mark.parametrize(("claim", "source"), WIDER)
def test_a_claim_that_says_more_is_stopped(claim: str, source: str) -> None:
    assert disagreements(claim, [source])


@pytest.mark.parametrize(("claim", "source"), SAME)
def test_a_claim_that_says_the_same_passes(claim: str, source: str) -> None:
    assert disagreements(claim, [source]) == []


PROBATION = "Probation lasts 6 months from the first day."
PREMIUM = (
    "Overtime above 40 hours earns a premium of half of the hourly rate, paid for each such hour."
)


@pytest.mark.parametrize(
    ("day", "right"), [("1 March 2027", True), ("2 March 2027", True), ("1 April 2027", False)]
)
def test_the_end_of_a_time_is_counted_from_the_askers_own_day(day: str, right: bool) -> None:
    claim = f"Your probation lasts 6 months from 2 September 2026, until {day}."
    question = "I started on 2 sept, when does my probation end?"
    found = examine(claim, [PROBATION], question=question)
    assert (not found.objections) is right
    assert found.derived or not right


@pytest.mark.parametrize(("total", "right"), [("1,078.00", True), ("1,087.00", False)])
def test_a_total_of_sums_that_are_written_out_is_checked(total: str, right: bool) -> None:
    claim = (
        f"For 46 hours you get USD {total}: 46 x 22.00 = 1,012.00, and the premium of "
        "6 x half of 22.00 = 66.00 above 40 hours."
    )
    question = "I worked 46 hours at 22 dollars, 6 of them overtime. What is my pay?"
    assert (disagreements(claim, [PREMIUM], question=question) == []) is right


@pytest.mark.parametrize(("year", "right"), [("2027", True), ("2031", False)])
def test_the_year_of_such_a_day_is_checked(year: str, right: bool) -> None:
    claim = f"Your probation lasts 6 months from 2 September 2026, until 1 March {year}."
    question = "I started on 2 September 2026, when does my probation end?"
    assert (not examine(claim, [PROBATION], question=question).objections) is right


def test_a_day_beyond_the_calendar_is_no_day() -> None:
    claim = "Your probation lasts 6 months, until 1 March 2027."
    question = "I started on 31 December 9999, when does my probation end?"
    assert examine(claim, [PROBATION], question=question).objections
