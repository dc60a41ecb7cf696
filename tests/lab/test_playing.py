"""Cases with a goal: a scripted model plays the asker, and a judge reads the conversation."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.judging import judge, scripted
from lab.keeping import home_with, said
from ombud.lab import Judge, RunOptions, cases_text, parse_metrics, read_cases, read_run, run_cases
from ombud.lab.runs.systems import function_target
from ombud.store import Store
from ombud.types import Case, Goal

SYSTEM = """
def talk(question, history):
    if "three days" in question:
        return "With three days a week you have 15 days."
    return "How many days a week do you work?"

def deaf(question):
    return "How many days a week do you work?"
"""
WANTED = "to know how many days of leave they have"
GOAL = Goal(wanted=WANTED, about="You work three days a week.", turns=3)
TALK = Case(id="a-talk", question="how much holiday do i get?", goal=GOAL)
PLAIN = Case(id="a-case", question="how much holiday do i get?")
METRICS = "turns,length,conversation.goal_reached,conversation.turn_helpful,eva.relevance"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lab_talks.py").write_text(SYSTEM, encoding="utf-8")
    (tmp_path / "talks.jsonl").write_text(cases_text([TALK, PLAIN]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "lab_talks", raising=False)
    return home_with(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path / "runs")) as opened:
        yield opened


def asker(say: Callable[[str], Any]) -> Judge:
    return Judge(scripted(say), {"instructions": "-", "turn": "$goal $about\n$conversation"})


def replies(prompt: str) -> dict[str, str]:
    assert WANTED in prompt
    if "15 days" in prompt:
        return {"status": "satisfied", "message": "Thanks!"}
    return {"status": "asking", "message": "three days"}


def grades(prompt: str) -> dict[str, Any]:
    if "1, 2, 3, 4, 5" in prompt:
        # Other rubrics are given for the last answer, with what was said before it.
        return {"reason": "as it is", "grade": 5 if "user: three days" in prompt else 1}
    answer = prompt.rpartition("<answer>")[2]
    return {"reason": "as it is", "grade": int("15 days" in answer)}


def scores(store: Store, cases: list[Case], playing: Judge | None) -> dict[str, Any]:
    options = RunOptions(parse_metrics(METRICS), "talks", "talks.jsonl")
    target = function_target("lab_talks:talk")
    work = run_cases(cases, target, store, options, asker=playing, judge_of=lambda _: judge(grades))
    run = asyncio.run(work)
    recorded = read_run(store, run.id)
    return {one.metric: (one.value, one.reason) for one in recorded.scores}


def test_an_asker_goes_on_until_they_have_what_they_want(home: Path, store: Store) -> None:
    found = scores(store, [TALK], asker(replies))
    assert found["turns"][0] == 2
    assert found["length"][0] == 9  # of the last answer
    assert found["conversation.goal_reached"] == (1, "as it is")
    assert found["conversation.turn_helpful"][0] == 0.5
    assert "turn 1: 0, as it is / turn 2: 1" in found["conversation.turn_helpful"][1]
    assert found["eva.relevance"][0] == 5


def test_no_more_turns_than_the_goal_allows(home: Path, store: Store) -> None:
    endless = asker(lambda _: {"status": "asking", "message": "And?"})
    assert scores(store, [TALK], endless)["turns"][0] == 3
    assert endless.asked == 2


def test_a_case_without_a_goal_is_asked_once(home: Path, store: Store) -> None:
    found = scores(store, [PLAIN], None)
    assert found["conversation.goal_reached"][0] is None
    assert "has no goal" in found["turns"][1]


def test_without_a_model_it_is_said_who_is_missing(home: Path) -> None:
    printed = said(home, "run", "talks.jsonl", "--target", "lab_talks:talk", code=1)
    assert "a chat model plays their asker" in " ".join(printed.split())


def test_goals_are_read_and_written(home: Path) -> None:
    assert read_cases(Path("talks.jsonl")) == (TALK, PLAIN)
