"""Leaving out one part at a time, and what there is to leave out."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.planted import PLANTED, PlantedTarget, tuning
from lab.scripted import cases
from ombud.errors import LabError
from ombud.lab import ablate, component_parts, plan_parts, step_parts
from ombud.settings import merge_plan
from ombud.store import Store

ALONE = {"models": {"chat": "none"}, "plan": merge_plan().model_dump(mode="json")}
"""What a workspace without a chat model says of itself."""
WITH_MODEL = {**ALONE, "models": {"chat": "openai:gpt-4.1"}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


def test_a_part_that_counts_is_told_from_one_that_does_not(store: Store) -> None:
    target = PlantedTarget()
    target.qualities[tuple(PLANTED.values())] = 0.9
    for pool in (40, 80):
        target.qualities[8, pool, "combsum", "sparse"] = 0.7
    target.qualities[8, 80, "combsum", "dense"] = 0.9
    made = tuning(store, target, plan=PLANTED)
    parts: dict[str, dict[str, Any]] = {
        "dense leg": {"plan.mode": "sparse"},
        "pool": {"plan.pool": 80},
    }
    rows = asyncio.run(ablate(made, cases(400), parts))
    # 37 n mod 100 is every remainder once in a hundred cases.
    assert [(row.part, row.changed) for row in rows] == [("dense leg", 80), ("pool", 0)]
    leg = rows[0].contrast
    unchanged = rows[1].contrast
    assert leg.first == pytest.approx(0.9)
    assert leg.comparison.difference == pytest.approx(-0.2)
    assert leg.comparison.high is not None
    assert leg.comparison.high < 0
    assert leg.better is False
    assert (unchanged.comparison.difference, unchanged.better) == (0, None)
    # Holm: the smaller of two p is doubled.
    assert leg.adjusted == pytest.approx(2 * (leg.comparison.p or 0))
    asked = len(target.asked_with)
    assert asyncio.run(ablate(made, cases(400), parts)) == rows
    assert len(target.asked_with) == asked


def test_without_a_part_there_is_nothing_to_leave_out(store: Store) -> None:
    with pytest.raises(LabError, match="nothing to leave out"):
        asyncio.run(ablate(tuning(store, PlantedTarget()), cases(3), {}))


def test_fields_of_the_plan_that_are_on() -> None:
    assert plan_parts(ALONE, {}) == {
        "weights": {"plan.weights": {"sparse": 0.5, "dense": 0.5}},
        "late": {"plan.late": 0},
        "abstain": {"plan.abstain": 0},
        "mode: sparse leg": {"plan.mode": "dense"},
        "mode: dense leg": {"plan.mode": "sparse"},
    }
    plan = {"mode": "sparse", "late": 0, "abstain": 0, "reranker": "pointwise", "graph": True}
    assert set(plan_parts(ALONE, plan)) == {"reranker", "graph"}


def test_what_only_a_chat_model_does_is_left_out_only_where_there_is_one() -> None:
    plan = {"strategies": ["hyde", "keywords"], "strategy_mode": "all"}
    added = set(plan_parts(WITH_MODEL, plan)) - set(plan_parts(ALONE, {}))
    assert added == {
        *("strategies", "strategy_mode", "refine"),
        *("strategies: hyde", "strategies: keywords"),
    }
    assert plan_parts(WITH_MODEL, plan)["strategies: hyde"] == {"plan.strategies": ["keywords"]}


def test_steps_that_the_assistant_goes_through() -> None:
    steps = step_parts(ALONE, {}, has_index=False)
    assert list(steps) == [
        *("sparse leg", "dense leg", "weights of the legs", "late interaction"),
        "refusal below a confidence",
    ]
    # Without a chat model nothing answers from memory.
    assert "search" not in step_parts(ALONE, {}, has_index=True)
    assert "sparse leg" not in step_parts(ALONE, {"mode": "dense"}, has_index=False)
    more = set(step_parts(WITH_MODEL, {"adaptive": True}, has_index=True)) - set(steps)
    assert more == {
        *("search", "adaptation to the question", "repair of claims"),
        *("headings with their passages", "tables row by row", "chunks along the structure"),
    }


def test_components_are_taken_from_those_that_are_on() -> None:
    assert component_parts(["role", "format"], WITH_MODEL, {"components": ["-answer-cue"]}) == {
        "role": {"plan.components": ["-answer-cue", "-role"]},
        "format": {"plan.components": ["-answer-cue", "-format"]},
    }
    with pytest.raises(LabError, match="No chat model"):
        component_parts(["role"], ALONE, {})
