"""Who asks whether they may, with no model: what it depends on, and whether they meet it."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import ask, company
from ombud.app import Workspace
from ombud.types import Answer, Message

PAGES: dict[str, Any] = {
    "sabbatical.md": (
        "# Sabbatical\n\n## Who may take one\n\nAfter seven years of continuous service you may "
        "take one sabbatical of up to 12 weeks. Your director must agree. Contractors are not "
        "covered.\n\nExample: Ana has 9 years of service and takes a sabbatical in May.\n",
        {},
    ),
    "buying.md": (
        "# Buying leave\n\n## How to buy days\n\nIn January you may buy up to five days of leave. "
        "It is not possible while you are under notice.\n\n- You need not say why.\n- You need "
        "the agreement of your manager to buy days of leave.\n- Buying days is not possible under "
        "notice.\n",
        {},
    ),
}
ASKED = "Can I take a sabbatical?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), files=PAGES, plan={"abstain": 0.0})
    yield shelf.workspace
    shelf.workspace.close()


def states(answer: Answer) -> dict[str, str]:
    return {condition.text.split(" ")[0]: condition.state for condition in answer.conditions}


def talk(home: Workspace, *turns: str) -> Answer:
    """The answer to the last of the turns."""
    *earlier, last = turns
    history: list[Message] = []
    for turn in earlier:
        answer = ask(home, turn, history=tuple(history))
        history.append(Message(role="user", content=turn))
        history.append(Message(role="assistant", content=answer.text))
    return ask(home, last, history=tuple(history))


def test_a_service_that_is_not_known_is_asked_for(home: Workspace) -> None:
    answer = ask(home, ASKED)
    assert (answer.outcome, answer.action) == ("partial", "clarify")
    assert [choice for choice in answer.suggestions if "7 years" in choice] == list(
        answer.suggestions
    )
    assert states(answer) == {"After": "unknown", "Contractors": "unknown"}
    for condition in answer.conditions:
        assert condition.citation.quote in PAGES["sabbatical.md"][0]


@pytest.mark.parametrize(("place", "state"), [(0, "not_met"), (1, "met")])
def test_a_reply_that_was_offered_decides(home: Workspace, place: int, state: str) -> None:
    reply = ask(home, ASKED).suggestions[place]
    answer = talk(home, ASKED, reply)
    assert states(answer)["After"] == state
    assert "After seven years" in answer.claims[0].text
    assert answer.text.startswith("**No") == (state == "not_met")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("I joined 3 months ago. Am I eligible for a sabbatical?", "not_met"),
        ("can I take a sabbatical, I started last month", "not_met"),
        ("I have worked here for 8 years. Can I take a sabbatical?", "met"),
        ("Can I take a sabbatical? I've been here since 2012.", "met"),
        ("can i get a sabbatical after 2 years", "not_met"),
        ("Who can take a sabbatical?", "unknown"),
    ],
)
def test_what_the_asker_says_is_compared_and_nothing_is_guessed(
    home: Workspace, said: str, state: str
) -> None:
    answer = ask(home, said)
    assert states(answer)["After"] == state
    assert "rules in force" not in answer.text


def test_what_was_said_before_still_counts(home: Workspace) -> None:
    answer = talk(home, "How many days can I buy?", "I joined 3 months ago", ASKED)
    assert states(answer)["After"] == "not_met"


def test_a_time_that_a_question_supposes_is_not_kept(home: Workspace) -> None:
    answer = talk(home, "can i get a sabbatical after 2 years", ASKED)
    assert states(answer)["After"] == "unknown"


def test_what_rules_out_for_a_group_is_asked_and_decided(home: Workspace) -> None:
    first = ask(home, "Can I buy days of leave?")
    assert states(first) == {"Buying": "unknown"}
    yes, no = first.suggestions
    assert states(talk(home, "Can I buy days of leave?", yes))["Buying"] == "not_met"
    answer = talk(home, "Can I buy days of leave?", no)
    assert states(answer) == {"Buying": "met"}
    assert answer.outcome == "full"


def test_a_question_for_a_fact_lists_no_conditions(home: Workspace) -> None:
    answer = ask(home, "How long is a sabbatical?")
    assert (answer.conditions, answer.action) == ((), "none")
