"""Searching for settings, over a target whose best ones are known."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.planted import PLANTED, PlantedTarget, tuning
from lab.scripted import cases
from ombud.errors import BadSetting, LabError
from ombud.lab import (
    FinishedSearch,
    Halves,
    Tuned,
    Tuning,
    parse_axes,
    select_split,
    split_of,
    tune_halves,
)
from ombud.lab.tuning.searching import HeldOut, search_best
from ombud.store import Store
from ombud.types import Answer, Case, Question
from seeds import seeds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


def searched(made: Tuning, count: int, trials: int, seed: int = 0) -> FinishedSearch:
    return asyncio.run(search_best(made, select_split(cases(count), "dev"), trials, seed))


def halved(made: Tuning, count: int, trials: int, **more: Any) -> Tuned:
    return asyncio.run(tune_halves(made, Halves(cases(count)), trials, 0, **more))


def plan_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("plan."): value for key, value in cell.items()}


# Axes ---------------------------------------------------------------------------------------------


def test_axes_in_ranges_lists_weights_and_models() -> None:
    assert parse_axes(["plan.k=3..5", "plan.pool=10..40..10,60"]) == {
        "plan.k": (3, 4, 5),
        "plan.pool": (10, 20, 30, 40, 60),
    }
    assert parse_axes(["plan.weights.sparse=0..1..0.25", "plan.temperature=0..0.5"]) == {
        "plan.weights.sparse": (0, 0.25, 0.5, 0.75, 1),
        "plan.temperature": (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    }
    assert parse_axes(["models.chat=openai:a,none", "plan.strategies=standard+hyde"]) == {
        "models.chat": ("openai:a", "none"),
        "plan.strategies": (["standard", "hyde"],),
    }


@pytest.mark.parametrize(
    "axis",
    [
        "plan.k=9..3",
        "plan.k=1..3..0",
        "plan.pool=1..900000",
        "plan.k=90..110",
        "models.roles=a",
        "models.chat=3",
        "plan.weights.graph=0..1",
        "plan.weights.sparse=0..2",
        "plan.weights.sparse=much",
    ],
)
def test_axes_that_cannot_be(axis: str) -> None:
    with pytest.raises((LabError, BadSetting)):
        parse_axes([axis])


def test_the_weight_of_one_leg_leaves_the_rest_to_the_other(store: Store) -> None:
    target = PlantedTarget()
    made = tuning(store, target, axes=("plan.weights.sparse=0.3",))
    searched(made, 4, 1)
    plans = [plan for _, plan in target.asked_with]
    assert {"weights": {"sparse": 0.3, "dense": 0.7}} in plans


# Searching ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(10, quick=3))
def test_a_planted_optimum_is_found_in_sixty_trials(store: Store, seed: int) -> None:
    """The one best cell of 216, in a landscape of its own for each seed."""
    made = tuning(store, PlantedTarget(seed), "price")
    search = searched(made, 2, 60, seed)
    assert search.cells == 216
    assert len(search.trials) == 61
    assert plan_of(search.front[0].cell) == PLANTED


def test_no_settings_are_asked_twice_and_a_small_grid_is_asked_whole(store: Store) -> None:
    target = PlantedTarget()
    made = tuning(store, target, axes=("plan.k=1..4", "plan.mode=sparse,dense"))
    search = searched(made, 3, 60)
    labels = [trial.label for trial in search.trials]
    # One of the eight is what the target has now: k = 8 is not among them, so all are asked.
    assert len(labels) == len(set(labels)) == 9
    assert labels[0] == "present settings"
    assert len(target.asked_with) == 9 * len(search.asked)


def test_what_the_target_has_now_is_not_proposed_again(store: Store) -> None:
    made = tuning(store, PlantedTarget(), axes=("plan.k=6..9",))
    search = searched(made, 3, 60)
    assert sorted(plan_of(trial.cell).get("k", 8) for trial in search.trials) == [6, 7, 8, 9]
    assert search.trials[0].cell == {}


def test_of_settings_that_are_as_good_the_present_ones_stay(store: Store) -> None:
    made = tuning(store, PlantedTarget(), axes=("plan.rewrites=1..5",))
    tuned = halved(made, 30, 4)
    assert tuned.search.front == (tuned.search.present,)
    assert tuned.finalists == ()


def test_a_search_that_is_stopped_goes_on_and_asks_nothing_twice(
    store: Store, tmp_path: Path
) -> None:
    class Stopping(PlantedTarget):
        async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
            if len(self.asked_with) == 200:
                raise KeyboardInterrupt
            return await super().ask(question, plan)

    with pytest.raises(KeyboardInterrupt):
        searched(tuning(store, Stopping()), 40, 20)
    target = PlantedTarget()
    gone_on = searched(tuning(store, target), 40, 20)
    with closing(open_copy(tmp_path / "other")) as other:
        undisturbed = searched(tuning(other, PlantedTarget()), 40, 20)
    assert [trial.cell for trial in gone_on.trials] == [trial.cell for trial in undisturbed.trials]
    # Up to eight were under way when it was stopped.
    assert len(target.asked_with) <= 21 * len(gone_on.asked) - 192
    again = PlantedTarget()
    searched(tuning(store, again), 40, 20)
    assert again.asked_with == []


def test_runs_that_lack_an_objective_are_made_anew(store: Store) -> None:
    axes = ("plan.k=3,8",)
    searched(tuning(store, PlantedTarget(), "mrr", axes), 20, 2)
    answered = searched(tuning(store, PlantedTarget(), "citation_recall", axes), 20, 2)
    assert None not in [trial.values[0] for trial in answered.trials]


@pytest.mark.parametrize(
    ("objectives", "why"),
    [("length", "neither more nor less"), ("latency", "what answers nothing is fastest")],
)
def test_objectives_that_are_none_are_said(store: Store, objectives: str, why: str) -> None:
    with pytest.raises(LabError, match=why):
        searched(tuning(store, PlantedTarget(), objectives), 3, 2)


# What is reported ---------------------------------------------------------------------------------


def test_what_is_reported_was_not_tuned_on(store: Store) -> None:
    target = PlantedTarget()
    tuned = halved(tuning(store, target), 150, 30)
    (finalist,) = tuned.finalists
    chosen = plan_of(finalist.trial.cell)
    splits = [split_of(f"case-{number:05}") for number, _ in target.asked_with]
    # Every question of the search comes before the first of the test split; none is sealed.
    assert splits == ["dev"] * splits.index("test") + ["test"] * splits.count("test")
    for split, (_, plan) in zip(splits, target.asked_with, strict=True):
        assert split == "dev" or plan in ({}, chosen)
    shown = {case.id for case in finalist.recorded.cases}
    assert shown == {case.id for case in select_split(cases(150), "test")}
    (contrast,) = finalist.contrasts
    assert contrast.better
    assert contrast.comparison.pairs == len(shown)
    assert contrast.comparison.low is not None


def test_held_out_cases_come_out_only_for_a_search_that_was_not_asked_them(store: Store) -> None:
    search = searched(tuning(store, PlantedTarget(), axes=("plan.k=3",)), 10, 1)
    others = select_split(cases(10), "test")
    assert HeldOut(others).reveal(search) == others
    with pytest.raises(LabError, match="nothing can be reported"):
        HeldOut(cases(10)).reveal(search)


def test_other_looks_at_the_test_split_are_counted(store: Store) -> None:
    assert halved(tuning(store, PlantedTarget(), axes=("plan.k=1..3",)), 40, 3).looks == 0
    first = halved(tuning(store, PlantedTarget(), axes=("plan.k=8,12",)), 60, 3)
    axes = ("plan.k=8", "plan.pool=40", "plan.fusion=rrf,combsum", "plan.mode=dense")
    second = halved(tuning(store, PlantedTarget(), axes=axes), 60, 3)
    assert len(second.finalists) == 1
    assert second.looks == len(first.finalists)
    third = halved(
        tuning(store, PlantedTarget(), axes=(*axes[:2], axes[3], "plan.fusion=rrf")), 60, 3
    )
    assert third.looks == second.looks + 1


def test_too_few_cases_for_two_halves() -> None:
    with pytest.raises(LabError, match="both are needed"):
        Halves(select_split(cases(30), "dev"))


class Dear(PlantedTarget):
    """The dearer, the more passages it reads."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        trace = answer.trace.model_copy(update={"price": 0.001 * plan.get("k", 50)})
        return answer.model_copy(update={"trace": trace})


def test_of_two_objectives_a_front_is_left_and_reported(store: Store) -> None:
    tuned = halved(tuning(store, Dear(), "citation_recall,price"), 120, 40)
    front = tuned.search.front
    assert len(front) > 1
    for one in front:
        for other in tuned.search.trials:
            better = (other.values[0] or 0) >= (one.values[0] or 0)
            cheaper = (other.values[1] or 0) <= (one.values[1] or 0)
            assert not (better and cheaper) or other.values == one.values
    assert [finalist.trial for finalist in tuned.finalists] == list(front)[: len(tuned.finalists)]
    assert len(tuned.finalists) <= 6
    metrics = [contrast.metric for contrast in tuned.finalists[0].contrasts]
    assert metrics == ["citation_recall", "price"]
    for contrast in tuned.finalists[0].contrasts:
        assert contrast.adjusted is not None
        assert contrast.comparison.p is not None
        assert contrast.adjusted >= contrast.comparison.p


def test_a_time_as_objective_is_taken_in_turn_over_the_finalists(store: Store) -> None:
    target = PlantedTarget()
    axes = ("plan.k=2,8", "plan.pool=40", "plan.fusion=combsum", "plan.mode=dense,sparse")
    tuned = halved(tuning(store, target, "citation_recall,latency", axes), 90, 4, timed=5)
    for finalist in tuned.finalists:
        assert [row.metric for row in finalist.contrasts] == ["citation_recall", "warm_latency"]
        assert finalist.contrasts[1].comparison.pairs == 5
    assert tuned.search.front[0].values[1] is not None


def test_sealed_cases_are_never_asked(store: Store) -> None:
    target = PlantedTarget()
    made = tuning(store, target, axes=("plan.k=3..5",))
    halved(made, 60, 3)
    sealed: list[Case] = list(select_split(cases(60), "sealed"))
    assert sealed
    asked = {f"case-{number:05}" for number, _ in target.asked_with}
    assert not asked & {case.id for case in sealed}
