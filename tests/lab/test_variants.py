"""Variants on live answers: people are the units, and advice follows what moved."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from scipy import stats

from copies import open_copy
from ombud.errors import NotFound
from ombud.lab import LiveAnswer, LiveFigure, advise, compare_variants, live_answers
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


def row(rows: list[LiveFigure], variant: str, figure: str = "answered") -> LiveFigure:
    return next(one for one in rows if (one.variant, one.figure) == (variant, figure))


def test_a_better_and_a_worse_variant_and_one_that_cannot_be_told() -> None:
    answers = [
        *people("", 300, 0.6, 1),
        *people("better", 300, 0.8, 2),
        *people("worse", 300, 0.4, 3),
        *people("same", 300, 0.6, 4),
    ]
    rows = compare_variants(answers)
    told = {one.variant: one.advice for one in advise(rows)}
    assert told == {"better": "take it over", "worse": "turn it off", "same": "keep collecting"}
    better = row(rows, "better")
    assert better.low is not None
    assert 0 < better.low < (better.difference or 0) < 0.4


def test_p_is_that_of_another_implementation() -> None:
    first, second = people("", 30, 0.5, 5), people("deep", 40, 0.8, 6)
    found = row(compare_variants([*first, *second]), "deep")
    values = [[float(a.outcome == "answered") for a in side] for side in (first, second)]

    def gap(x: list[float], y: list[float]) -> float:
        return sum(y) / len(y) - sum(x) / len(x)

    other = stats.permutation_test(values, gap, n_resamples=20_000, rng=1)
    assert found.p == pytest.approx(float(other.pvalue), abs=0.02)


def test_one_who_asks_a_hundred_times_is_one_person() -> None:
    plain = people("", 6, 0.5, 7, each=100)
    loud = [LiveAnswer("deep", "x0", "answered", 0.0, 1.0)] * 500
    rows = compare_variants([*plain, *loud, *people("deep", 5, 0.5, 8)])
    assert not row(rows, "deep").moved
    assert row(rows, "deep").people == 6
    few = compare_variants([*plain, *loud])
    assert row(few, "deep").p is None
    assert row(few, "deep").difference is None


def test_nothing_is_said_without_answers() -> None:
    assert advise(compare_variants([])) == []
    assert all(one.mean.value is None for one in compare_variants([]))


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
