"""Adaptation: the question's class sets what the plan leaves open, by the paper's table or one's
own."""

import pytest

from ombud.errors import BadSetting
from ombud.retrieve import Routed
from ombud.retrieve.router.adapting import adapt_plan
from ombud.types import Plan

PAPER = [
    (2, 0, (5, 3, 4, 2)),
    (2, 1, (10, 5, 5, 3)),
    (3, 0, (3, 3, 3, 1)),
    (3, 1, (5, 5, 4, 2)),
    (3, 2, (7, 7, 5, 3)),
]
"""HyPA-RAG: classes, label -> k, Q, K, S."""


def says(label: int, sure: float = 0.81) -> object:
    def router(question: str, classes: int) -> Routed:
        assert question == "Notice period?"
        rest = (1 - sure) / (classes - 1)
        return Routed(label, tuple(sure if n == label else rest for n in range(classes)))

    return router


def told(plan: Plan) -> tuple[int, int, int, int]:
    return plan.k, plan.rewrites, plan.graph_keywords, plan.graph_depth


@pytest.mark.parametrize(("classes", "label", "values"), PAPER)
def test_the_class_sets_all_four_as_in_the_paper(
    classes: int, label: int, values: tuple[int, ...]
) -> None:
    plan, signals = adapt_plan(
        Plan(adaptive=True, classes=classes),
        "Notice period?",
        router=says(label),  # type: ignore[arg-type]
    )
    assert told(plan) == values
    assert signals == {"complexity": float(label), "complexity_p": pytest.approx(0.81)}


def test_a_fixed_plan_stays_and_nobody_is_asked() -> None:
    def never(question: str, classes: int) -> Routed:
        raise AssertionError

    plan = Plan(k=9)
    assert adapt_plan(plan, "Notice period?", router=never) == (plan, {})
    assert adapt_plan(plan, "Notice period?", 3, never) == (plan, {})


def test_only_the_named_fields_adapt() -> None:
    plan, _ = adapt_plan(
        Plan(adaptive=("k", "graph_depth"), rewrites=9),
        "Notice period?",
        router=says(2),  # type: ignore[arg-type]
    )
    assert told(plan) == (7, 9, 4, 3)


def test_values_of_ones_own_take_the_place_of_the_papers() -> None:
    plan = Plan(adaptive={"k": (2, 4, 20)})
    adapted, _ = adapt_plan(plan, "Notice period?", router=says(2))  # type: ignore[arg-type]
    assert told(adapted) == (20, 3, 4, 2)


@pytest.mark.parametrize(
    ("contexts", "classes", "label"),
    [
        (0, 3, 0),
        (1, 3, 0),
        (2, 3, 1),
        (3, 3, 2),
        (9, 3, 2),
        (0, 2, 0),
        (1, 2, 0),
        (2, 2, 1),
        (3, 2, 1),
    ],
)
def test_a_count_of_passages_wins_over_the_router(contexts: int, classes: int, label: int) -> None:
    _, signals = adapt_plan(Plan(adaptive=True, classes=classes), "Everything on leave?", contexts)
    assert signals == {"complexity": float(label), "complexity_p": 1.0}


def test_adapting_twice_is_adapting_once() -> None:
    plan = Plan(adaptive=("k", "graph_depth"))
    first, _ = adapt_plan(plan, "Everything on leave, step by step?")
    assert (
        adapt_plan(first, "Everything on leave, step by step?", 1)[0] == adapt_plan(plan, "", 1)[0]
    )


def test_the_shipped_router_is_asked_where_nobody_counted() -> None:
    plan = Plan(adaptive=True)
    narrow, _ = adapt_plan(plan, "How many days of annual leave do I get?")
    wide, signals = adapt_plan(
        plan, "An overview of all travel rules: booking, limits, receipts and reimbursement."
    )
    assert (narrow.k, wide.k) == (3, 7)
    assert signals["complexity"] == 2.0
    assert 1 / 3 < signals["complexity_p"] <= 1


@pytest.mark.parametrize("values", [(), (3,), (3, 5), (3, 5, 7, 9)])
def test_a_table_without_one_value_a_class_is_refused_with_the_papers_as_a_hint(
    values: tuple[int, ...],
) -> None:
    plan = Plan(adaptive={"rewrites": values})
    with pytest.raises(BadSetting, match=r"plan\.adaptive\.rewrites has \d values for") as wrong:
        adapt_plan(plan, "Notice period?")
    assert "[3, 5, 7]" in wrong.value.hint
