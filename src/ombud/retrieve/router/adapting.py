"""How much a question needs: its complexity class sets what the plan leaves open (HyPA-RAG)."""

from collections.abc import Mapping
from typing import get_args

from ombud.errors import BadSetting
from ombud.retrieve.router import Router, class_of, classify
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
    """The plan for this question, and what was seen in it: `complexity`, the class, and
    `complexity_p`, how sure.

    contexts: passages that the question needs, where a model has counted them; the router is then
    not asked. What a request pinned stays. Raises BadSetting as `check_mapping` does."""
    names = adaptive(plan)
    if not names:
        return plan, {}
    if contexts is None:
        label, probabilities = router(text, plan.classes)
        sure = probabilities[label]
    else:
        label = class_of(contexts, plan.classes)
        sure = 1.0
    chosen: dict[str, int] = {
        name: mapped(plan, name)[label] for name in names if name not in plan.pinned
    }
    signals = {"complexity": float(label), "complexity_p": float(sure)}
    return merge_plan(chosen, base=plan), signals


def check_mapping(plan: Plan) -> None:
    """Raises BadSetting for a mapping that has not one value a class, or one that the field cannot
    have."""
    for name in plan.mapping:
        for value in mapped(plan, name):
            merge_plan({name: value}, base=plan)


def adaptive(plan: Plan) -> tuple[Parameter, ...]:
    """The fields that the question's class sets; pinned ones among them."""
    if isinstance(plan.adaptive, bool):
        return PARAMETERS if plan.adaptive else ()
    return plan.adaptive


def mapped(plan: Plan, name: Parameter) -> tuple[int, ...]:
    """Value of a field per class: the plan's own mapping, else the paper's."""
    found = plan.mapping.get(name, TABLE[plan.classes][name])
    if len(found) != plan.classes:
        raise BadSetting(
            f"plan.mapping.{name} has {len(found)} values for {plan.classes} classes.",
            hint=f"Give one a class, such as {name} = {list(TABLE[plan.classes][name])}.",
        )
    return found
