"""How much a question needs: its complexity class sets what the plan leaves open (HyPA-RAG)."""

from collections.abc import Mapping
from typing import get_args

from ombud.errors import UnknownName
from ombud.types import Parameter, Plan

TABLE: Mapping[int, Mapping[Parameter, tuple[int, ...]]] = {
    2: {"k": (5, 10), "rewrites": (3, 5), "graph_keywords": (4, 5), "graph_depth": (2, 3)},
    3: {"k": (3, 5, 7), "rewrites": (3, 5, 7), "graph_keywords": (3, 4, 5), "graph_depth": (1, 2, 3)},
}
"""Number of classes -> parameter -> value per class: Kalra et al., HyPA-RAG, 2024."""


def adapt(plan: Plan, text: str, contexts: int | None = None) -> tuple[Plan, dict[str, float]]:
    """The plan for this question, and what was seen in it.

    contexts: passages that the question needs, where a model has counted them; the classifier is then not asked.
    Raises UnknownName for a mapping that has not one value a class.
    """
    if not plan.adaptive:
        return plan, {}
    if contexts is None:
        from ombud.retrieve.router import classify

        routed = classify(text, plan.classes)
        label, sure = routed.label, max(routed.probabilities)
    else:
        label, sure = min(max(contexts, 1), plan.classes) - 1, 1.0
    names: tuple[Parameter, ...] = get_args(Parameter) if isinstance(plan.adaptive, bool) else plan.adaptive
    values: dict[str, int] = {name: _value(plan, name, label) for name in names if name not in plan.pinned}
    return plan.model_copy(update=values), {"complexity": float(label), "complexity_p": float(sure)}


def _value(plan: Plan, name: Parameter, label: int) -> int:
    values = plan.mapping.get(name, TABLE[plan.classes][name])
    if len(values) != plan.classes:
        raise UnknownName(
            f"plan.mapping.{name} has {len(values)} values for {plan.classes} classes.", hint="Give one a class."
        )
    return values[label]
