"""Laying plan fields over each other: the one place where a plan is made."""

import difflib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ombud.errors import BadSetting
from ombud.settings.removed import without_removed
from ombud.types import Plan

NOT_SERVED = "k = 0 asks the chat model without documents: it is for the lab, not for people"


def merge_plan(*overlays: Mapping[str, Any], base: Plan | None = None, served: bool = True) -> Plan:
    """Lay plan fields over each other, weakest first; raises BadSetting naming the nearest field.

    A preset stands for its fields; others beside it win. served: people get its answers, so that it
    must search; the lab may ask without."""
    values = (base or Plan()).model_dump()
    for layer in overlays:
        overlay = without_removed(layer, "a plan", ["plan"])
        for key in overlay:
            if key not in values:
                raise BadSetting(f"`{key}` is not a field of the plan.", hint=nearest(key, values))
        values |= {**PRESETS.get(str(overlay.get("preset", "")), {}), **overlay}
    try:
        plan = Plan.model_validate(values)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise BadSetting(
            f"plan.{path_of(first['loc'])}: {first['msg'].lower()}.", hint=choices_of(first)
        ) from wrong
    if served and plan.k == 0:
        raise BadSetting(f"plan.k: {NOT_SERVED}.", hint="Take 1 or more.")
    return plan


def nearest(word: str, names: Any) -> str:
    """Return a hint with the nearest known name, or all of them."""
    near = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    if near:
        return f"Did you mean `{near[0]}`?"
    listed = ", ".join(sorted(names))
    return f"Known: {listed}."


def path_of(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc)


def choices_of(error: Any) -> str:
    return (
        f"It takes {error['ctx']['expected']}."
        if "expected" in error.get("ctx", {})
        else "`ombud settings` lists all."
    )


_FIXED = {"adaptive": False, "graph": False, "reranker": "none"}
_REWRITTEN = {"strategies": ("standard", "multi"), "strategy_mode": "all"}
"""The question itself beside its rewrites: alone they lost what only its own words find."""
PRESETS: dict[str, dict[str, Any]] = {
    "fixed": _FIXED,
    "pa": _FIXED | _REWRITTEN | {"adaptive": ("k", "rewrites")},
    "pa+rerank": _FIXED | _REWRITTEN | {"adaptive": ("k", "rewrites"), "reranker": "cross-encoder"},
    "hypa": _FIXED | _REWRITTEN | {"adaptive": True, "graph": True},
    "hypa+rerank": _FIXED
    | _REWRITTEN
    | {"adaptive": True, "graph": True, "reranker": "cross-encoder"},
}
"""Kalra et al., HyPA-RAG, 2024: adaptive parameters (pa), the knowledge graph as well (hypa), and a
reranker."""
