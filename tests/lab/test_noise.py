"""How much of a figure is noise: components of variance against published and hand-made figures, and
runs whose target or judge wavers on purpose."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.judging import judge
from lab.planted import tuning
from lab.scripted import ScriptedTarget, cases
from ombud.errors import LabError
from ombud.lab import (
    Judge,
    MetricNoise,
    RecordedRun,
    Tuning,
    measure_noise,
    parse_metrics,
    read_run,
    run_cases,
    variance_of,
)
from ombud.store import Store
from ombud.types import Answer, Question

MOSQUITOES = {
    "cage 1": [[58.5, 59.5], [77.8, 80.9], [84.0, 83.6], [70.1, 68.3]],
    "cage 2": [[69.8, 69.8], [56.0, 54.5], [50.7, 49.3], [63.8, 65.8]],
    "cage 3": [[56.6, 57.5], [77.8, 79.2], [69.9, 69.2], [62.1, 64.5]],
}
"""Sokal & Rohlf, Biometry, box 10.1: left wings of four females in each of three cages, measured
twice."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


# The split of a variance --------------------------------------------------------------------------


def test_the_split_is_that_of_a_textbook() -> None:
    found = variance_of(MOSQUITOES)
    assert found
    assert found.judge == pytest.approx(1.30, abs=0.005)
    assert found.answer == pytest.approx(94.94, abs=0.005)
    assert found.case == pytest.approx(17.71, abs=0.005)
    assert found.shares == pytest.approx((0.155, 0.833, 0.011), abs=0.001)
    assert (found.cases, found.answers, found.values) == (3, 12, 24)


def test_unequal_numbers_of_answers_and_judgements_by_hand() -> None:
    found = variance_of({"a": [[1, 3], [5]], "b": [[7], [9]]})
    assert found
    # Within: (1 + 1) / (5 - 4) = 2. Answers: (2 x 1 + 4 + 1 + 1) / (4 - 2) = 4, which has the
    # answers' component (5 - 5/3 - 1) / 2 = 7/6 times. Cases: 3 x 4 + 2 x 9 = 30, which has it
    # 8/3 - 7/5 = 19/15 times, and that of cases 5 - 13/5 = 12/5 times.
    assert found.judge == pytest.approx(2)
    assert found.answer == pytest.approx(2 * 6 / 7)
    assert found.case == pytest.approx((30 - 2 - 19 / 15 * 12 / 7) / (12 / 5))


def test_answers_that_differ_less_than_judges_do_have_no_variance_of_their_own() -> None:
    found = variance_of({"a": [[1, 3], [3, 1]], "b": [[5, 7], [7, 5]]})
    assert found
    assert found.answer == 0
    assert found.judge == pytest.approx(2)


def test_one_judgement_each_leaves_answers_and_cases() -> None:
    found = variance_of({"a": [[1], [3]], "b": [[5], [7]]})
    assert found
    # Answers: 4 / 2 = 2. Cases: (2 x 4 + 2 x 4) / 1 = 16, less 2, by 2.
    assert found.judge is None
    assert (found.answer, found.case) == pytest.approx((2, 7))
    # Of the mean of two cases: the root of 2 / 2.
    assert found.noise_of_mean == pytest.approx(1)


def test_what_does_not_vary_has_no_noise_and_too_little_says_nothing() -> None:
    same = variance_of({"a": [[1], [1]], "b": [[0], [0]]})
    assert same
    assert (same.answer, same.noise_of_mean) == (0, 0)
    assert same.case == pytest.approx(0.5)
    still = variance_of({"a": [[1], [1]], "b": [[1], [1]]})
    assert still
    assert still.shares == pytest.approx((0, 0, 0))
    assert variance_of({"a": [[1], [1]]}) is None
    assert variance_of({"a": [[1]], "b": [[0]]}) is None
    assert variance_of({}) is None


# Runs asked again ---------------------------------------------------------------------------------


class Wavering(ScriptedTarget):
    """Every fourth question is answered rightly every other time only, the first time wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.plans: list[Mapping[str, Any]] = []

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        self.plans.append(plan)
        number = self.asked[-1]
        if number % 4 == 0 and self.asked.count(number) % 2 == 1:
            return answer.model_copy(update={"text": "Something else.", "citations": ()})
        return answer


def first_run(made: Tuning, count: int) -> RecordedRun:
    work = run_cases(
        cases(count),
        made.target,
        made.store,
        replace(made.options, study=""),
        judge_of=made.judge_of,
    )
    return read_run(made.store, asyncio.run(work).id)


def noise(
    made: Tuning, first: RecordedRun, repeats: int, judged: int = 1
) -> dict[str, MetricNoise]:
    found = asyncio.run(measure_noise(made, first, repeats, judged))
    return {one.metric: one for one in found}


def test_answers_that_waver_are_told_from_cases_that_differ(store: Store) -> None:
    made = tuning(store, Wavering(), plan={"k": 5})
    first = first_run(made, 8)
    found = noise(made, first, 3)["citation_recall"]
    # Cases 0 and 4 go 0, 1, 0, 1; six are always right.
    assert found.means == pytest.approx((0.75, 1, 0.75, 1))
    assert set(found.wavering) == {"case-00000", "case-00004"}
    # Between answers: 2 x 1 / (8 x 3). Cases: 2 x 4 x (3/8)^2 + 6 x 4 x (1/8)^2 = 1.5, over 7.
    assert found.variance.answer == pytest.approx(2 / 24)
    assert found.variance.case == pytest.approx((1.5 / 7 - 2 / 24) / 4)
    assert found.histogram == {}
    assert isinstance(made.target, Wavering)
    assert made.target.plans == [{"k": 5}] * 32


def test_a_repeat_that_was_stopped_goes_on(store: Store) -> None:
    class Stopping(Wavering):
        async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
            if len(self.asked) == 20:
                raise KeyboardInterrupt
            return await super().ask(question, plan)

    made = tuning(store, Stopping(), concurrency=1)
    first = first_run(made, 8)
    with pytest.raises(KeyboardInterrupt):
        noise(made, first, 2)
    target = Wavering()
    noise(replace(made, target=target, variants={}), first, 2)
    assert len(target.asked) == 8 * 3 - 20


def test_what_changed_is_no_noise(store: Store) -> None:
    class Renewed(ScriptedTarget):
        def describe(self) -> dict[str, Any]:
            return {**super().describe(), "index_version": "2"}

    first = first_run(tuning(store, ScriptedTarget()), 4)
    with pytest.raises(LabError, match=r"has changed since .*index_version"):
        noise(tuning(store, Renewed()), first, 1)


def test_nothing_repeated_says_nothing(store: Store) -> None:
    made = tuning(store, ScriptedTarget())
    with pytest.raises(LabError, match="Nothing is repeated"):
        noise(made, first_run(made, 4), 0)


def judged_by(made: Tuning, grades: Mapping[str, tuple[int, ...]]) -> Tuning:
    """With a judge who grades what is said of an office by these, one after the other."""
    told: Counter[str] = Counter()

    def say(prompt: str) -> dict[str, Any]:
        office = prompt.partition("Staff in office ")[2].partition(" ")[0]
        grade = grades[office][told[office] % len(grades[office])]
        told[office] += 1
        return {"reason": "as it is", "grade": grade}

    one = judge(say)

    def of_run(run_id: str) -> Judge:
        del run_id
        return one

    metrics = parse_metrics("citation_recall,natwest.fluency")
    return replace(made, judge_of=of_run, options=replace(made.options, metrics=metrics))


def test_a_judge_who_wavers_is_told_from_answers_that_do_not(store: Store) -> None:
    grades = {"0": (2, 4), "1": (3, 5), "2": (1, 3)}
    made = judged_by(tuning(store, ScriptedTarget()), grades)
    found = noise(made, first_run(made, 3), 1, judged=2)
    assert found["citation_recall"].variance.noise_of_mean == 0
    fluency = found["natwest.fluency"]
    assert fluency.is_judged
    assert fluency.variance.answer == 0
    assert fluency.variance.judge == pytest.approx(2)
    # Each of three cases has two answers with both of its grades.
    assert fluency.histogram == {1: 2, 2: 2, 3: 4, 4: 2, 5: 2}


def test_one_judgement_an_answer_says_nothing_of_the_judge(store: Store) -> None:
    made = judged_by(tuning(store, ScriptedTarget()), {"0": (3,), "1": (5,)})
    assert noise(made, first_run(made, 2), 1)["natwest.fluency"].variance.judge is None
