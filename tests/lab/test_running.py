"""Runs: concurrent, kept case by case, resumed after whatever stopped them."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from forks import Fork, forking
from lab.scripted import ScriptedTarget, cases
from ombud.errors import Busy, LabError, OmbudError, StoreError, Unreachable
from ombud.lab import (
    Instruments,
    RunOptions,
    parse_metrics,
    read_run,
    rescore,
    run_cases,
    time_runs,
)
from ombud.store import Store, acquire_lease, done_places, list_runs, open_store
from ombud.types import Answer, Case, Question, Run
from store.places import database, small_disk
from until import wait_for_words

METRICS = parse_metrics("recall@1,mrr,token_f1,citation_recall,outcome_accuracy")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


def run(
    store: Store,
    target: ScriptedTarget,
    asked: tuple[Case, ...],
    reuse: bool = False,
    **options: Any,
) -> Run:
    given = RunOptions(**{"metrics": METRICS, "name": "leave", "dataset": "leave.jsonl"} | options)
    return asyncio.run(run_cases(asked, target, store, given, reuse=reuse))


def values(store: Store, named: str, metric: str) -> list[float | None]:
    return [score.value for score in read_run(store, named).scores if score.metric == metric]


def test_every_case_is_asked_once_and_scored(store: Store) -> None:
    target = ScriptedTarget()
    made = run(store, target, cases(30))
    assert sorted(target.asked) == list(range(30))
    assert made.state == "done"
    # The right passage stands at rank 1, 2, 3, 1, 2, 3, …
    assert values(store, made.id, "recall@1") == [1.0, 0.0, 0.0] * 10
    assert values(store, made.id, "mrr") == [1, 1 / 2, 1 / 3] * 10
    assert values(store, made.id, "citation_recall") == [1.0] * 30
    recorded = read_run(store, made.id)
    assert [seen.case.id for seen in recorded.observations] == [case.id for case in cases(30)]
    assert recorded.observations[4].hits is not None
    assert [hit.chunk.id for hit in recorded.observations[4].hits] == ["c5", "c4"]
    assert all(seen.seconds is not None for seen in recorded.observations)
    assert made.config["config_digest"] == "scripted"


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_cases_at_once_than_allowed(store: Store, limit: int) -> None:
    target = ScriptedTarget()
    run(store, target, cases(20), concurrency=limit)
    assert target.most == limit


def test_only_what_the_metrics_read_is_asked_for(store: Store) -> None:
    target = ScriptedTarget()
    made = run(store, target, cases(5), metrics=parse_metrics("recall@3,latency"))
    assert target.asked == []
    assert read_run(store, made.id).observations[0].answer is None
    assert values(store, made.id, "latency") != [None] * 5


def stop_at(number: int, error: BaseException) -> ScriptedTarget:
    def fault(asked: int) -> None:
        if asked == number:
            raise error

    return ScriptedTarget(fault=fault)


@pytest.mark.parametrize("error", [Unreachable("It is down."), KeyboardInterrupt(), MemoryError()])
def test_a_run_that_stops_is_gone_on_with_and_asks_nothing_twice(
    store: Store, error: BaseException
) -> None:
    first, second = stop_at(13, error), ScriptedTarget()
    with pytest.raises(type(error)):
        run(store, first, cases(25))
    (begun,) = list_runs(store)
    kept = done_places(store, begun.id)
    assert begun.state == "running"
    assert len(kept) >= 10
    made = run(store, second, cases(25))
    assert made.id == begun.id
    assert not kept.keys() & set(second.asked)
    assert sorted([*kept, *second.asked]) == list(range(25))
    assert values(store, made.id, "mrr")[:3] == [1, 1 / 2, 1 / 3]


@pytest.mark.parametrize("number", range(4, 25))
def test_ctrl_c_twice_loses_only_what_was_being_asked(store: Store, number: int) -> None:
    # Raised inside a task, as a second Ctrl-C is: asyncio then cancels every task, those that wait
    # for a commit too.
    with pytest.raises(KeyboardInterrupt):
        run(store, stop_at(number, KeyboardInterrupt()), cases(25), concurrency=4)
    (begun,) = list_runs(store)
    assert len(done_places(store, begun.id)) >= number - 3


def test_a_failed_case_has_its_reason_and_is_asked_again_when_the_run_goes_on(store: Store) -> None:
    def fault(number: int) -> None:
        if number in (3, 4):
            raise LabError("The target sent no JSON.", hint="Look at it.")
        if number == 9:
            raise Unreachable("It is down.")

    with pytest.raises(Unreachable):
        run(store, ScriptedTarget(fault=fault), cases(10), concurrency=1)
    again = ScriptedTarget(fault=lambda number: fault(number) if number == 4 else None)
    made = run(store, again, cases(10), concurrency=1)
    assert again.asked == [3, 4, 9]
    recorded = read_run(store, made.id)
    assert recorded.observations[4].error == "The target sent no JSON. Look at it."
    scores = [score for score in recorded.scores if score.case_id == "case-00004"]
    assert len(scores) == len(METRICS)
    assert all(score.value is None and "no JSON" in score.reason for score in scores)


def test_a_slow_case_is_a_failed_one(store: Store) -> None:
    class Slow(ScriptedTarget):
        async def ask(self, question: Any, plan: Any) -> Any:
            if question.text.startswith("2:"):
                await asyncio.Event().wait()
            return await super().ask(question, plan)

    made = run(store, Slow(), cases(4), seconds=0.05)
    errors = [seen.error for seen in read_run(store, made.id).observations]
    assert errors == ["", "", "no answer within 0.05 seconds", ""]


def test_a_target_that_fails_everything_is_not_asked_thousands_of_times(store: Store) -> None:
    def fault(number: int) -> None:
        raise LabError("The target answered 500.")

    target = ScriptedTarget(fault=fault)
    with pytest.raises(LabError, match="first 20 cases all failed"):
        run(store, target, cases(5000))
    assert len(target.asked) < 40


@pytest.mark.slow
def test_a_disk_that_is_full_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", 900) as folder:
        with closing(open_store("", folder)) as small, pytest.raises(StoreError, match="full"):
            run(small, ScriptedTarget(), cases(2000))
        shutil.copytree(folder, tmp_path / "large")
    with closing(open_store("", tmp_path / "large")) as store:
        (begun,) = list_runs(store)
        kept = done_places(store, begun.id)
        assert 0 < len(kept) < 2000
        target = ScriptedTarget()
        made = run(store, target, cases(2000))
    assert made.id == begun.id
    assert sorted([*kept, *target.asked]) == list(range(2000))


def test_a_second_process_does_not_make_the_same_run(store: Store) -> None:
    with pytest.raises(Unreachable):
        run(store, stop_at(0, Unreachable("It is down.")), cases(3))
    (begun,) = list_runs(store)
    with acquire_lease(store, f"lab run {begun.id}"), pytest.raises(Busy):
        run(store, ScriptedTarget(), cases(3))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"plan": {"k": 3}}, False),
        ({"name": "other"}, False),
        ({"split": "dev"}, False),
    ],
)
def test_a_finished_run_is_taken_instead_of_asking_only_where_it_did_just_this(
    store: Store, change: dict[str, Any], same: bool
) -> None:
    first = run(store, ScriptedTarget(), cases(4), study="s")
    target = ScriptedTarget()
    second = run(store, target, cases(4), reuse=True, study="s", **change)
    assert (second.id == first.id) is same
    assert (target.asked == []) is same


def test_a_finished_run_is_not_overwritten_by_the_next(store: Store) -> None:
    first, second = (run(store, ScriptedTarget(), cases(4)) for _ in range(2))
    assert first.id != second.id
    assert first.digest == second.digest


def test_looks_at_the_sealed_split_are_counted_for_ever(store: Store) -> None:
    notes = [run(store, ScriptedTarget(), cases(4), split="sealed").notes[-1] for _ in range(2)]
    other = run(store, ScriptedTarget(), cases(3), split="sealed").notes[-1]
    assert notes == [f"Look {n} at the sealed split of this dataset." for n in (1, 2)]
    # A case less is no new dataset.
    assert other == "Look 3 at the sealed split of this dataset."
    assert run(store, ScriptedTarget(), cases(4), split="test").notes == ()


def test_stored_answers_are_scored_in_further_metrics_without_asking(store: Store) -> None:
    made = run(store, ScriptedTarget(), cases(6))
    assert rescore(store, made, parse_metrics("rouge_l,mrr"), Instruments()) == 6
    recorded = read_run(store, made.id)
    assert set(recorded.metrics) == {*map(str, METRICS), "rouge_l"}
    assert len(recorded.scores) == 6 * 6


def test_nothing_to_ask_is_said(store: Store) -> None:
    with pytest.raises(OmbudError, match="nothing to ask"):
        run(store, ScriptedTarget(), ())


@pytest.mark.slow
@pytest.mark.parametrize("place", ["sqlite", "postgresql"])
def test_killed_ten_times_it_ends_as_if_undisturbed_and_asks_no_stored_case_again(
    tmp_path: Path, place: str
) -> None:
    """Ten kill -9; benchmarks/quality/killed_runs.py does the same with 10,000 cases."""
    with database(place) as url, closing(open_store(url, tmp_path)) as store:
        arguments = [tmp_path, 300, *(["--postgresql"] if url else [])]
        own = {"TEST_POSTGRES_URL": url} if url else {}
        log, again, killed = tmp_path / "asked.txt", [], 0
        log.touch()
        with forking("lab.scripted", *arguments, variables=own) as origin:
            for kill in range(10):
                before = len(log.read_text().split())
                stored = {at for begun in list_runs(store) for at in done_places(store, begun.id)}
                process = Fork(origin)
                wait_for_words(process, log, before + 4 + 4 * kill)
                killed += process.kill()
                again += [int(n) for n in log.read_text().split()[before:] if int(n) in stored]
            assert Fork(origin).wait() == 0
        (made,) = list_runs(store)
        scores = read_run(store, made.id).scores
    with closing(open_copy(tmp_path / "quiet")) as quiet:
        undisturbed = read_run(
            quiet, run(quiet, ScriptedTarget(), cases(300), name="killed").id
        ).scores
    assert killed == 10
    assert again == []
    assert [score.model_dump() for score in scores] == [score.model_dump() for score in undisturbed]


class Noting(ScriptedTarget):
    """Writes down who is asked what; a number fails where it is told so."""

    def __init__(self, name: str, log: list[tuple[str, int]], failing: int = -1) -> None:
        super().__init__()
        self.called, self.noted, self.failing = name, log, failing

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        number = int(question.text.split(":")[0])
        self.noted.append((self.called, number))
        if number == self.failing:
            raise LabError("down", hint="")
        return await super().ask(question, plan)


def test_times_are_taken_in_turn_after_a_first_question_that_does_not_count(store: Store) -> None:
    options = RunOptions(parse_metrics("token_f1"), "a", "scripted")
    runs = [
        asyncio.run(run_cases(cases(6), ScriptedTarget(), store, replace(options, name=name)))
        for name in "ab"
    ]
    asked: list[tuple[str, int]] = []
    failing = {"a": -1, "b": 3}

    def set_up(made: Run) -> Noting:
        return Noting(made.name, asked, failing[made.name])

    assert asyncio.run(time_runs(runs, store, set_up)) == 5
    # The first question of each does not count.
    assert "".join(name for name, _ in asked) == "ab" + "abba" * 3
    numbers = [number for _, number in asked[2:]]
    assert numbers[::2] == numbers[1::2]
    assert sorted(numbers[::2]) == [0, 1, 2, 3, 4, 5]
    for made in runs:
        timed = read_run(store, made.id).values("warm_latency")
        assert len(timed) == 5
        assert "case-00003" not in timed
    # Scoring again leaves them alone; times of another day do not compare with them.
    rescore(store, runs[0], parse_metrics("token_f1,warm_latency"), Instruments())
    assert len(read_run(store, runs[0].id).values("warm_latency")) == 5
