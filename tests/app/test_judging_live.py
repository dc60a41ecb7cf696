"""A judge grades a share of the answers that people got, within a budget of its own."""

import json

import pytest

from answer.faulty import Reply as Sent
from answer.faulty import completion, misbehaving, ok
from app.conftest import Open
from lab.makers import cites, says
from ombud.app import Workspace, erase_personal_data, judge_live, production
from ombud.errors import LabError, SetupError
from ombud.store import add_turn, list_runs, read_observations
from ombud.types import Person, Question, Trace

TOML = """
[models]
chat = "openai:{model}"
base_url = "{url}"
[lab]
harvest = {harvest}
judge_share = 1
judge_budget = {budget}
judge_metrics = "eva.relevance"
"""


def grades(asked: dict[str, object]) -> Sent:
    return ok(completion(asked, json.dumps({"reason": "It answers.", "grade": 4})))


def opened(
    open_home: Open,
    url: str,
    *,
    budget: float = 1.0,
    model: str = "gpt-4.1",
    harvest: str = "true",
    answers: int = 9,
) -> Workspace:
    workspace = open_home(TOML.format(url=url, budget=budget, model=model, harvest=harvest))
    for number in range(answers):
        text = f"May Karen Smith of team {number} cut my leave, number {number}?"
        question = Question(text=text, asker=Person(id=f"p{number}", country="GB"))
        trace = Trace(variant="deep" if number % 2 else "")
        add_turn(
            workspace.store,
            question,
            says("You have 26 days.", cites("26 days"), id=f"a{number}", trace=trace),
        )
    return workspace


def test_live_answers_are_graded_once_without_who_asked(
    open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with misbehaving(grades) as server:
        workspace = opened(open_home, server.url)
        assert judge_live(workspace) == ""
        asked = len(server.asked)
        assert asked == 9
        assert "Karen" not in json.dumps(server.asked)
        assert judge_live(workspace) == ""
        assert len(server.asked) == asked
    page = production.show_production(workspace)
    assert page.live
    (line,) = page.live.figures
    assert (line.metric, line.mean.value, line.mean.valid) == ("eva.relevance", 4.0, 9)
    assert page.live.price
    # The grades are compared between those who can be in an experiment.
    (experiment,) = page.experiments
    sides = {
        row.group: row.people
        for pair in experiment.rows
        for row in pair
        if row.figure == "eva.relevance"
    }
    assert sides == {"A": 4, "B": 4}


def test_what_a_person_wrote_is_erased_from_judged_answers_too(
    open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with misbehaving(grades) as server:
        workspace = opened(open_home, server.url)
        judge_live(workspace)
    assert erase_personal_data(workspace, person="p3")["gone"]
    (run,) = list_runs(workspace.store)
    seen = [observation for _, observation in read_observations(workspace.store, run.id)]
    assert len(seen) == 8
    assert not any("number 3" in observation.case.question for observation in seen)
    page = production.show_production(workspace)
    assert page.live
    assert page.live.figures[0].mean.valid == 8
    assert page.live.price


def test_a_used_budget_ends_the_grades_of_the_day(
    open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with misbehaving(grades) as server:
        workspace = opened(open_home, server.url, budget=0.0001)
        assert "budget" in judge_live(workspace)
        assert 0 < len(server.asked) < 9
        asked = len(server.asked)
        assert "budget" in judge_live(workspace)
        assert len(server.asked) == asked


def test_without_consent_budget_or_price_nothing_is_judged(
    open_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with misbehaving(grades) as server:
        with pytest.raises(LabError, match="agreed"):
            judge_live(opened(open_home, server.url, harvest="false", answers=0))
        with pytest.raises(SetupError, match="no budget"):
            judge_live(opened(open_home, server.url, budget=0.0, answers=0))
        assert server.asked == []
        workspace = opened(open_home, server.url, model="own")
        with pytest.raises(SetupError, match="what the judge costs is not known"):
            judge_live(workspace)
