"""Variants on live answers: people are the units, and advice follows what moved."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from ombud.errors import NotFound
from ombud.lab import (
    ExperimentScope,
    LiveFigure,
    advise,
    compare_variants,
    experiment_scopes,
    live_answers,
)
from ombud.lab.online.variants import LiveAnswer
from ombud.store import add_turn, list_feedback, rate_answer, read_thumbs
from ombud.types import Answer, Person, Question, Trace


def people(variant: str, count: int, share: float, seed: int, each: int = 1) -> list[LiveAnswer]:
    draw = random.Random(seed)
    answers: list[LiveAnswer] = []
    for number in range(count):
        for _ in range(each):
            outcome = "answered" if draw.random() < share else "to a person"
            answers.append(LiveAnswer(variant, f"{variant}{number}", outcome, 0.01, 1.0))
    return answers


def compared(answers: list[LiveAnswer]) -> list[LiveFigure]:
    return compare_variants(answers, experiment_scopes({}, answers))


def row(rows: list[LiveFigure], variant: str, group: str = "B") -> LiveFigure:
    wanted = (variant, group, "answered")
    return next(one for one in rows if (one.variant, one.group, one.figure) == wanted)


def test_a_better_and_a_worse_variant_and_one_that_cannot_be_told() -> None:
    answers = [
        *people("", 900, 0.6, 1),
        *people("better", 300, 0.8, 2),
        *people("worse", 300, 0.4, 3),
        *people("same", 300, 0.6, 4),
    ]
    rows = compared(answers)
    advice = {one.variant: one for one in advise(rows)}
    told = {name: one.advice for name, one in advice.items()}
    assert told == {"better": "take it over", "worse": "turn it off", "same": "keep collecting"}
    assert advice["same"].why == "no measurable difference between A and B"
    better = row(rows, "better")
    assert better.low is not None
    assert 0 < better.low < (better.difference or 0) < 0.4


def test_one_who_asks_a_hundred_times_is_one_person() -> None:
    plain = people("", 6, 0.5, 7, each=100)
    loud = [LiveAnswer("deep", "x0", "answered", 0.0, 1.0)] * 500
    rows = compared([*plain, *loud, *people("deep", 5, 0.5, 8)])
    assert not row(rows, "deep").moved
    assert row(rows, "deep").people == 6
    few = compared([*plain, *loud])
    assert row(few, "deep").p is None
    assert row(few, "deep").difference is None


def test_the_control_group_are_those_who_can_be_in_it_since_its_start() -> None:
    def answer(person: str, at: str, variant: str = "", **more: Any) -> LiveAnswer:
        given: dict[str, Any] = {
            "outcome": "answered",
            "price": 0.0,
            "seconds": 1.0,
            "country": "GB",
        } | more
        return LiveAnswer(variant, person, at=at, **given)

    answers = [
        answer("before", "2026-01-01"),
        answer("control", "2026-01-03"),
        answer("treated", "2026-01-03", "deep"),
        answer("in both experiments", "2026-01-04", "deep+wide"),
        answer("in the other one", "2026-01-04", "wide"),
        answer("of another country", "2026-01-04", country="FR"),
        answer("without an id", "2026-01-04", is_assigned=False),
        answer("moved", "2026-01-03"),
        answer("moved", "2026-01-05", "deep"),
    ]
    scope = ExperimentScope("deep", ("GB",), "2026-01-02")
    rows = compare_variants(answers, [scope])
    assert (row(rows, "deep", "A").people, row(rows, "deep", "B").people) == (2, 2)


def test_nothing_is_said_without_answers() -> None:
    assert advise(compared([])) == []
    assert all(one.mean.value is None for one in compared([]))


def test_answers_are_read_from_the_store_with_their_thumbs(tmp_path: Path) -> None:
    with closing(open_copy(tmp_path)) as store:
        for number in range(3):
            question = Question(text="How?", asker=Person(id=f"p{number}", country="GB"))
            trace = Trace(variant="deep" if number else "", price=0.25, seconds={"total": 2.0})
            outcome = "denied" if number == 2 else "full"
            add_turn(
                store, question, Answer(id=f"a{number}", outcome=outcome, text="", trace=trace)
            )
        rate_answer(store, "a1", "p1", -1, "no")
        rate_answer(store, "a1", "p1", 1, "yes after all")
        rate_answer(store, "a1", "p7", 1)
        rate_answer(store, "a0", "p0", 1)
        rate_answer(store, "a0", "p5", -1)
        with pytest.raises(NotFound):
            rate_answer(store, "zzz", "p0", 1)
        assert [one.comment for one in list_feedback(store) if one.rater == "p1"] == [
            "yes after all"
        ]
        # Even votes say nothing.
        assert read_thumbs(store) == {"a1": 1}
        found = list(live_answers(store))
        assert [(one.variant, one.person, one.outcome, one.thumb) for one in found] == [
            ("", "p0", "answered", None),
            ("deep", "p1", "answered", 1),
            ("deep", "p2", "not found", None),
        ]
        assert (found[0].price, found[0].seconds) == (0.25, 2.0)
        assert list(live_answers(store, country="FR")) == []
