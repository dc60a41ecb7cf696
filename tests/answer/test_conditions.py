"""Conditions that a model lists, and what decides whether they are met."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import Script, ask, claim, company, draft, with_model
from ombud.app import Workspace
from ombud.types import Answer, AnswerCondition, Message

PAGE = """# Sabbatical

## Who may take one

You may take a sabbatical once you have worked here for seven years. Parental leave counts towards
these years. At most 10% of a team may be away at once. Requests are made three months before.
"""
RULE = "You may take a sabbatical once you have worked here for seven years."
ASKED = "I joined 3 months ago. Am I eligible for a sabbatical?"
NO = "No, you may take a sabbatical only once you have worked here for seven years."
CONDITION = {
    "text": "You have worked here for seven years",
    "passage": "G1",
    "quote": "worked here for seven years",
    "state": "not_met",
    "fact": "I joined 3 months ago",
    "comparison": "3 months >= 7 years",
    "question": "How long have you worked here?",
    "choices": ["Less than seven years", "Seven years or more"],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    files: dict[str, Any] = {"sabbatical.md": (PAGE, {})}
    shelf = company(tmp_path_factory.mktemp("home"), files=files, plan={"abstain": 0.0})
    yield shelf.workspace
    shelf.workspace.close()


def answered(home: Workspace, text: str = ASKED, **changed: Any) -> Answer:
    said = claim(NO, "G1") | {"quotes": ["worked here for seven years"]}
    options = {"history": changed.pop("history")} if "history" in changed else {}
    script = Script(draft(said, conditions=[CONDITION | changed]))
    return ask(with_model(home, script.chat), text, **options)


def decided(home: Workspace, text: str = ASKED, **changed: Any) -> AnswerCondition:
    (condition,) = answered(home, text, **changed).conditions
    return condition


def test_a_condition_that_is_not_met_is_shown_with_its_words(home: Workspace) -> None:
    answer = answered(home)
    (condition,) = answer.conditions
    assert (condition.state, condition.question) == ("not_met", "")
    assert condition.citation.quote == RULE
    assert answer.claims[0].text == NO
    assert "✗ You have worked here for seven years" in answer.text
    assert (answer.outcome, answer.action) == ("full", "none")


@pytest.mark.parametrize(
    ("months", "state"), [("3 months", "not_met"), ("83 months", "not_met"), ("84 months", "met")]
)
def test_lengths_of_time_are_compared_by_code_whatever_the_model_says(
    home: Workspace, months: str, state: str
) -> None:
    text = f"I joined {months} ago. Am I eligible for a sabbatical?"
    more = {"fact": f"I joined {months} ago", "comparison": f"{months} >= 7 years"}
    assert decided(home, text, **more).state == state
    assert decided(home, text, **more, state="met").state == state


@pytest.mark.parametrize(
    "comparison",
    [
        "9 years >= 7 years",  # the asker did not say nine
        "3 months >= 2 months",  # the rule does not say two
        "3 months",
        "3 months >= seven",
        "long enough",
        "3 months >= 7 weeks or years",
        "3000000000000 years >= 7 years",
    ],
)
def test_a_comparison_of_other_figures_decides_nothing(home: Workspace, comparison: str) -> None:
    condition = decided(home, comparison=comparison, state="met")
    assert condition.state == "unknown"
    assert condition.question


def test_the_reply_to_the_question_decides(home: Workspace) -> None:
    text = "Am I eligible for a sabbatical?"
    first = answered(home, text, state="unknown", fact="", comparison="")
    assert (first.outcome, first.action) == ("partial", "clarify")
    assert first.suggestions == ("Less than seven years", "Seven years or more")
    turns = (
        Message(role="user", content=text),
        Message(role="assistant", content=first.text),
    )
    reply = first.suggestions[1]
    then = answered(home, reply, history=turns, state="met", fact=reply, comparison="")
    (condition,) = then.conditions
    assert condition.state == "met"
    assert then.action == "none"


@pytest.mark.parametrize(("verdict", "kept"), [("borne_out", 1), ("not_said", 0)])
def test_a_condition_is_compared_with_its_passage(home: Workspace, verdict: str, kept: int) -> None:
    verifier = Script({"claims": [{"number": number, "verdict": verdict} for number in (1, 2)]})
    said = claim(RULE, "G1") | {"quotes": [RULE]}
    asked = with_model(home, Script(draft(said, conditions=[CONDITION])).chat)
    asked.__dict__["answering"] = asked.answering._replace(verifier=verifier.named("test:verifier"))
    answer = ask(asked, ASKED)
    assert [one.text for one in answer.claims] == [RULE]
    assert len(answer.conditions) == kept
    assert "You have worked here for seven years" in verifier.prompts[0]
