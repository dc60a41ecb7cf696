"""Questions of people, taken with consent."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lab.keeping import home_with, said, told
from lab.makers import cites, says
from ombud.errors import LabError
from ombud.lab import (
    harvest_questions,
    read_cases,
    unreviewed,
)
from ombud.store import Store, add_turn, open_store, rate_answer
from ombud.types import Message, Person, Question

AGREED = "[lab]\nharvest = true\n"


def kept(home: Path, fill: Callable[[Store], None]) -> Path:
    with closing(open_store("", home / ".ombud")) as store:
        fill(store)
    return home


def fill_questions(store: Store) -> None:
    person = Person(id="p-77", country="GB", roles=("manager",))
    asked = {
        "a1": Question(text="My boss Karen Smith cut my leave, may she?", asker=person),
        "a2": Question(text="how much annual leave do I have in a year?", asker=person),
        "a3": Question(
            text="How much annual leave do I have in a year", asker=Person(country="GB")
        ),
        "a4": Question(text="And then what?", history=(Message(role="user", content="Hello"),)),
        "a5": Question(text="I was harassed by my manager at work"),
        "a6": Question(text="Leave?"),
    }
    for name, question in asked.items():
        action = "handoff" if name == "a5" else "none"
        answer = says("You have 26.", cites("You have 26 days."), id=name, action=action)
        add_turn(store, question, answer)
        rate_answer(store, name, "p", 1)


def test_questions_are_taken_without_who_asked(tmp_path: Path) -> None:
    home = kept(home_with(tmp_path, settings=AGREED), fill_questions)
    out = home / "queue.jsonl"
    found = told(home, "import", "--past-questions", "--out", out, "--sample", "9")
    assert found["left_out"] == {
        "asked before": 1,
        "in the middle of a conversation": 1,
        "sensitive": 1,
        "too short": 1,
    }
    text = out.read_text(encoding="utf-8")
    for hidden in ("p-77", "manager", "Karen", "Smith", "a1", "harassed"):
        assert hidden not in text
    cases = read_cases(out)
    assert len(cases) == 2
    assert all(one.person == Person(country="GB") for one in cases)
    assert unreviewed(cases) == tuple(one.id for one in cases)
    assert {item.quote for one in cases for item in one.evidence} == {"You have 26 days."}


def test_live_answers_become_a_run_without_who_asked(tmp_path: Path) -> None:
    home = kept(home_with(tmp_path, settings=AGREED), fill_questions)
    run = told(home, "import", "--past-questions", "--run", "live", "--metrics", "length")
    (length,) = [row for row in run["metrics"] if row["group"] == "overall"]
    assert (length["valid"], length["mean"]) == (2, 3.0)
    text = said(home, "export", "live")
    assert "You have 26." in text
    for hidden in ("p-77", "manager", "Karen", "Smith", '"a1"', "harassed"):
        assert hidden not in text


def test_of_a_question_that_was_asked_twice_the_sampled_answer_is_its_own(tmp_path: Path) -> None:
    def fill(store: Store) -> None:
        for name, topic, text in (
            ("a1", "leave", "You have 20."),
            ("a2", "travel", "Book online."),
        ):
            answer = says(text, id=name, topic=topic)
            add_turn(store, Question(text="What are the rules of this company?"), answer)

    home = kept(home_with(tmp_path, settings=AGREED), fill)
    said(home, "import", "--past-questions", "--run", "live", "--topic", "travel")
    assert "Book online." in said(home, "export", "live")


def test_nothing_is_taken_unless_they_agreed(tmp_path: Path) -> None:
    home = kept(home_with(tmp_path), fill_questions)
    out = home / "queue.jsonl"
    refused = said(home, "import", "--past-questions", "--out", out, code=LabError.exit_code)
    assert "nothing says that they have agreed" in refused
    assert "harvest = true" in refused
    assert not out.exists()


def test_the_same_seed_draws_the_same_questions(tmp_path: Path) -> None:
    def fill(store: Store) -> None:
        for number, word in enumerate(("leave", "travel", "sickness", "pensions", "parking")):
            question = Question(text=f"What are the rules of {word} here?")
            add_turn(store, question, says("So.", id=f"a{number}", topic=word))

    home = kept(home_with(tmp_path), fill)
    with closing(open_store("", home / ".ombud")) as store:
        drawn = [harvest_questions(store, 3, seed=seed).cases for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1]
        assert drawn[0] != drawn[2]
        (of_topic,) = harvest_questions(store, 3, topic="travel").cases
        assert "travel" in of_topic.question
