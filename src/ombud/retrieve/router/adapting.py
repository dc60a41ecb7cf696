"""How much a question needs: its complexity class sets what the plan leaves open (HyPA-RAG)."""

from collections.abc import Mapping
from typing import get_args

from ombud.errors import BadSetting
from ombud.retrieve.router.classifying import Router, class_of, classify
from ombud.settings import merge_plan
from ombud.types import Parameter, Plan

TABLE: Mapping[int, Mapping[Parameter, tuple[int, ...]]] = {
    2: {"k": (5, 10), "rewrites": (3, 5), "graph_keywords": (4, 5), "graph_depth": (2, 3)},
    3: {
        "k": (3, 5, 7),
        "rewrites": (3, 5, 7),
        "graph_keywords": (3, 4, 5),
        "graph_depth": (1, 2, 3),
    },
}
"""Number of classes -> parameter -> value per class: Kalra et al., HyPA-RAG, 2024."""
PARAMETERS: tuple[Parameter, ...] = get_args(Parameter)


def adapt_plan(
    plan: Plan, text: str, contexts: int | None = None, router: Router = classify
) -> tuple[Plan, dict[str, float]]:
    """Adapt the plan to the question's complexity, and return its signals `complexity` (the class)
    and `complexity_p`. Raises BadSetting.

    contexts: passages needed as counted by a model, which replaces the router."""
    names = adaptive(plan)
    if not names:
        return plan, {}
    if contexts is None:
        label, probabilities = router(text, plan.classes)
        sure = probabilities[label]
    else:
        label = class_of(contexts, plan.classes)
        sure = 1.0
    chosen: dict[str, int] = {name: mapped(plan, name)[label] for name in names}
    signals = {"complexity": float(label), "complexity_p": float(sure)}
    return merge_plan(chosen, base=plan), signals


def adaptive(plan: Plan) -> tuple[Parameter, ...]:
    """Return the fields that the question's class sets."""
    if isinstance(plan.adaptive, bool):
        return PARAMETERS if plan.adaptive else ()
    return tuple(plan.adaptive)


def mapped(plan: Plan, name: Parameter) -> tuple[int, ...]:
    """Return the value of a field for each class: the plan's own, else the paper's."""
    own = plan.adaptive if isinstance(plan.adaptive, dict) else {}
    value = own.get(name, TABLE[plan.classes][name])
    if len(value) != plan.classes:
        raise BadSetting(
            f"plan.adaptive.{name} has {len(value)} values for {plan.classes} classes.",
            hint=f"Give one a class, such as {name} = {list(TABLE[plan.classes][name])}.",
        )
    return value
