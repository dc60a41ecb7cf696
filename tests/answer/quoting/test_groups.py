"""Sections for a group of people, to those who are of it and to all others."""

import pytest

from ombud.answer.quoting.groups import favour_groups
from ombud.answer.quoting.spans import candidate_spans
from ombud.types import Chunk, Evidence, Hit, Person, Question

HOURS = "Your hours are worked out by the month."


def for_others(section: str, question: Question) -> bool:
    return weighed(section, question) < 0.5


def weighed(section: str, question: Question) -> float:
    chunk = Chunk(
        id="a",
        document_id="d",
        title="Leave",
        trail=("Leave", section),
        uri="leave.md",
        text=HOURS,
        start=0,
        end=len(HOURS),
    )
    span = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))[0]
    (favoured,) = favour_groups([span._replace(score=0.5)], question)
    return favoured.score


@pytest.mark.parametrize(
    "section", ["7. Part-timers", "Interns", "Auszubildende", "Freelancers and contractors"]
)
def test_a_section_for_a_group_is_for_others(section: str) -> None:
    assert for_others(section, Question(text="How many days of leave do I get?"))


def test_a_section_for_all_is_for_everybody() -> None:
    assert not for_others("How much leave you have", Question(text="How many days do I get?"))


@pytest.mark.parametrize(
    "text", ["leave for part timers?", "I work part-time", "i work 3 days a week, how many days"]
)
def test_who_names_the_group_is_of_it(text: str) -> None:
    assert not for_others("Part-timers", Question(text=text))


def test_a_contract_names_it_too() -> None:
    asker = Person(contract="part-time")
    assert not for_others("Part-timers", Question(text="How many days?", asker=asker))


def test_a_section_for_a_group_that_is_named_comes_first() -> None:
    question = Question(text="how much leave do part-timers have")
    assert weighed("Part-timers", question) > weighed("How much leave you have", question)
