"""A message that asks several things gets an answer to each, and is told what is not answered."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answer.asking import GB, ask, company
from ombud.app import Workspace
from ombud.messages import message

TRAVEL = """\
# Business travel

## Hotels

Hotel rooms are paid up to 150 euros a night.

## Meals

Meals are paid up to 35 euros a day.

## Flights

Flights are booked in economy class.
"""
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "travel.md": (TRAVEL, {"topic": "travel"}),
    "leave.md": (
        "# Annual leave\n\n## Days\n\nYou have 26 days of annual leave a year.\n",
        {"topic": "leave"},
    ),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), embedder="minilm", files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


def test_of_an_enumeration_each_thing_is_answered_or_named(home: Workspace) -> None:
    answer = ask(home, "What are the rules on hotels, meals, flights and saunas?", GB)
    assert answer.outcome == "partial"
    for rule in ("150 euros a night", "35 euros a day", "economy class"):
        assert rule in answer.text
    assert answer.missing == ("I found no section on “saunas”.",)
    assert answer.missing[0] in answer.text


def test_where_all_things_are_found_the_answer_is_whole(home: Workspace) -> None:
    answer = ask(home, "Tell me about hotels, meals and flights", GB)
    assert (answer.outcome, answer.missing) == ("full", ())


def test_one_thing_stays_one_question(home: Workspace) -> None:
    answer = ask(home, "How many days of annual leave do I have, please?", GB)
    assert answer.missing == ()
    assert "26 days" in answer.text


def test_commas_of_a_sentence_are_no_enumeration(home: Workspace) -> None:
    answer = ask(home, "Hello, long trip, late flight: how much for meals?", GB)
    assert answer.missing == ()
    answer = ask(home, "Hi, quick one, days off?", GB)
    assert answer.missing == ()


def test_a_question_that_points_back_is_none_of_its_own(home: Workspace) -> None:
    answer = ask(home, "How many days of annual leave do I have? Is it paid?", GB)
    assert answer.missing == ()


CODES = """\
# Pay grades

## Salaries

| Grade | Salary |
| --- | --- |
| L23 | 4,430 euros a month |
| L24 | 4,710 euros a month |
"""


def test_a_code_that_the_documents_do_not_have_is_named(tmp_path: Path) -> None:
    shelf = company(tmp_path, files={"pay.md": (CODES, {})}, plan={"abstain": 0.0})
    known = ask(shelf.workspace, "What is the salary of grade L23?", GB)
    assert (known.outcome, known.missing) == ("full", ())
    assert f"| L23 | 4,430 euros a month ← **{message('answer.asked_row')}** [1] |" in known.text
    unknown = ask(shelf.workspace, "What is the salary of grade L79?", GB)
    assert (unknown.outcome, unknown.missing) == ("partial", ("I found no section on “L79”.",))
    shelf.workspace.close()
