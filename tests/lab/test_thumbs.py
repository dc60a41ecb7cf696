"""Thumbs beside metrics of the answers that they are on, pairs for fine-tuning, and questions taken
with consent."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from scipy import stats

from lab.keeping import home_with, said, told
from lab.makers import case, cites, says
from ombud.errors import BadRequest, LabError
from ombud.lab import (
    RatedAnswer,
    RecordedRun,
    harvest_questions,
    preference_lines,
    preferences_of_runs,
    preferences_of_thumbs,
    read_cases,
    thumb_correlations,
    unreviewed,
    values_of_metric,
)
from ombud.store import Feedback, Store, add_turn, open_store, rate_answer
from ombud.types import Message, Observation, Person, Question, Run, Score, Trace

AGREED = "[lab]\nharvest = true\n"


def thumbs(values: list[int]) -> list[Feedback]:
    return [Feedback(f"a{n}", "p", value, "", "") for n, value in enumerate(values)]


def test_correlations_are_spearmans_with_the_strongest_first() -> None:
    given = [1, 1, 1, -1, -1, 1, -1, -1]
    good = [0.9, 0.8, 0.95, 0.2, 0.1, 0.7, 0.3, 0.15]
    noise = [0.5, 0.1, 0.9, 0.8, 0.2, 0.3, 0.6, 0.4]
    measured: dict[str, dict[str, float | None]] = {
        "noise": {f"a{n}": value for n, value in enumerate(noise)},
        "confidence": {f"a{n}": value for n, value in enumerate(good)},
        "rare": {"a0": 1.0, "a1": None},
    }
    rows = thumb_correlations(thumbs(given), measured)
    assert [(row.metric, row.answers) for row in rows] == [("confidence", 8), ("noise", 8)]
    for row, values in zip(rows, (good, noise), strict=True):
        assert row.spearman.value == pytest.approx(stats.spearmanr(given, values).statistic)
    # 4 of each: 2 of the 70 orders are as extreme.
    assert rows[0].p == pytest.approx(2 / 70, abs=0.01)
    assert rows[0].adjusted == pytest.approx(2 * (rows[0].p or 0))


def kept(home: Path, fill: Callable[[Store], None]) -> Path:
    with closing(open_store("", home / ".ombud")) as store:
        fill(store)
    return home


def test_the_command_reads_what_is_known_of_rated_answers(tmp_path: Path) -> None:
    remote = Observation(case=case(id="c0"), answer=says("Yes.", id="a0"))
    judged = Score(case_id="c0", metric="chrf", value=0.5)
    run = Run(id="r1", name="r", dataset="d", cases=1, target="http://127.0.0.1:1", state="done")

    def fill(store: Store) -> None:
        for number in range(6):
            words = " ".join(["word"] * (number + 1))
            answer = says(words, id=f"a{number}", trace=Trace(signals={"confidence": number / 5}))
            add_turn(store, Question(text="How?"), answer)
            rate_answer(store, f"a{number}", "p", 1 if number > 2 else -1, "why" if number else "")

    home = kept(home_with(tmp_path, RecordedRun(run, (remote,), (judged,))), fill)
    found = told(home, "align", "--feedback")
    assert (found["thumbs"], found["up"], found["answers"], found["comments"]) == (6, 3, 6, 5)
    by_name = {row["metric"]: row for row in found["metrics"]}
    # Thumbs tie in two threes: r = 9 / sqrt(17.5 * 13.5).
    expected = pytest.approx(stats.spearmanr(range(6), [-1, -1, -1, 1, 1, 1]).statistic)
    assert by_name["confidence"]["spearman"]["value"] == expected
    assert by_name["words"]["answers"] == 6
    assert "chrf" not in by_name  # of one answer nothing can be said
    assert "6 thumbs on 6 answers, 3 of them up" in said(home, "align", "--feedback")


def test_without_thumbs_it_says_so(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    assert "Nobody has rated" in said(home, "align", "--feedback", code=2)
    assert "What did people say" in said(home, "align", code=2)


# Preferences --------------------------------------------------------------------------------------


def run_of(name: str, values: dict[str, float], words: str) -> RecordedRun:
    seen: list[Observation] = []
    scores: list[Score] = []
    for case_id, value in values.items():
        asked = case(id=case_id, question=f"{case_id}?", history=())
        answer = says(f"{words} on {case_id}. [1]", cites("You have 26 days."))
        seen.append(Observation(case=asked, answer=answer))
        scores.append(Score(case_id=case_id, metric="token_f1", value=value))
    return RecordedRun(
        Run(id=name, name=name, dataset="d", cases=len(seen), state="done"),
        tuple(seen),
        tuple(scores),
    )


def test_the_better_answer_of_two_runs_is_chosen() -> None:
    first = run_of("r1", {"a": 0.9, "b": 0.2, "c": 0.5, "only": 1.0}, "First")
    second = run_of("r2", {"a": 0.1, "b": 0.8, "c": 0.45}, "Second")
    pairs = preferences_of_runs(first, second, values_of_metric([first, second], "token_f1"), 0.1)
    rows = [json.loads(line) for line in preference_lines(pairs).splitlines()]
    assert rows == [
        {"prompt": "a?", "chosen": "First on a.", "rejected": "Second on a."},
        {"prompt": "b?", "chosen": "Second on b.", "rejected": "First on b."},
    ]
    with pytest.raises(BadRequest, match="prefers no answer"):
        values_of_metric([first], "length")
    with pytest.raises(BadRequest, match="has no `chrf`"):
        values_of_metric([first], "chrf")


def test_answers_that_helped_stand_before_those_that_did_not() -> None:
    rated = [
        RatedAnswer("How much leave?", "GB", "26 days.", 1),
        RatedAnswer("how much  leave?", "GB", "No idea.", -1),
        RatedAnswer("How much leave?", "DE", "Nothing.", -1),
        RatedAnswer("How much leave?", "GB", "26 days.", -1),
    ]
    (pair,) = preferences_of_thumbs(rated)
    assert (pair.chosen, pair.rejected) == ("26 days.", "No idea.")


def test_pairs_of_what_people_rated(tmp_path: Path) -> None:
    home = home_with(tmp_path, run_of("r1", {"a": 0.0}, "First"), run_of("r2", {"a": 0.0}, "Two"))
    ratings = home / "ratings.csv"
    lines = [
        "item,rater,criterion,value,run,case",
        "x,ann,relevance,2,r1,a",
        "y,ann,relevance,4,r2,a",
    ]
    ratings.write_text("\n".join(lines), encoding="utf-8")
    out = home / "pairs.jsonl"
    words = ("export", "r1", "--preferences", out, "--against", "r2", "--by", ratings)
    assert told(home, *words)["pairs"] == 1
    assert json.loads(out.read_text(encoding="utf-8"))["chosen"] == "Two on a."
    assert "which other run" in said(home, *words[:4], code=2)
    aligned = told(home, "align", "--labels", ratings, "--metric", "token_f1")
    assert aligned["criteria"][0]["items"] == 2


# Harvest ------------------------------------------------------------------------------------------


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
    found = told(home, "harvest", "--out", out, "--n", "9")
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


def test_nothing_is_taken_unless_they_agreed(tmp_path: Path) -> None:
    home = kept(home_with(tmp_path), fill_questions)
    out = home / "queue.jsonl"
    refused = said(home, "harvest", "--out", out, code=LabError.exit_code)
    assert "nothing says that they have agreed" in refused
    refused = said(home, "export", "feedback", "--preferences", out, code=LabError.exit_code)
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
