"""What each part is worth: the whole against the whole without it, on the same cases."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ombud.errors import LabError
from ombud.lab.report.comparing import Contrast, compare_runs
from ombud.lab.runs.sweeping import part
from ombud.lab.statistics import holm
from ombud.lab.tuning.searching import Tuning, ask_cell
from ombud.settings import merge_plan
from ombud.types import Case

STEPS: dict[str, dict[str, Any]] = {
    "several search texts": {"plan.strategies": ["standard"]},
    "sparse leg": {"plan.mode": "dense"},
    "dense leg": {"plan.mode": "sparse"},
    "late interaction": {"plan.late": 0},
    "glossary": {"plan.glossary": False},
    "reranker": {"plan.reranker": "none"},
    "graph": {"plan.graph": False},
    "adaptation to the question": {"plan.adaptive": False},
    "repair": {"plan.refine": False},
    "refusal below a confidence": {"plan.abstain": 0},
    "reading budget": {"plan.budget_tokens": 100_000},
}
"""Step of the pipeline -> the plan without it."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """One part left out."""

    part: str
    changed: Mapping[str, Any]
    contrast: Contrast
    """Without it, minus the whole; `adjusted` over all parts and metrics of the table."""


async def ablate(
    tuning: Tuning, cases: Sequence[Case], parts: Mapping[str, Mapping[str, Any]]
) -> tuple[Ablation, ...]:
    """Every part that is on left out by itself; rows by part, then objective.

    parts: name -> what to set. Raises LabError where none of them is on.
    """
    parts = await asyncio.to_thread(_that_are_on, tuning, parts)
    whole = await ask_cell(tuning, {}, cases, "whole ")
    found: list[tuple[str, Mapping[str, Any], Contrast]] = []
    for number, (name, changed) in enumerate(parts.items()):
        tuning.on_progress("ablate", number, len(parts))
        without = await ask_cell(tuning, changed, cases, "without ")
        for contrast in compare_runs(whole, without, by=["overall"], metrics=tuning.objectives):
            found.append((name, changed, contrast))
    tuning.on_progress("ablate", len(parts), len(parts))
    ps: dict[int, float] = {}
    for number, (_, _, contrast) in enumerate(found):
        if contrast.comparison.p is not None:
            ps[number] = contrast.comparison.p
    corrected = holm(ps)
    rows: list[Ablation] = []
    for number, (name, changed, contrast) in enumerate(found):
        rows.append(Ablation(name, changed, replace(contrast, adjusted=corrected.get(number))))
    return tuple(rows)


def _that_are_on(
    tuning: Tuning, parts: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Those whose settings differ from the present ones: the rest would be asked for nothing."""
    present = merge_plan(tuning.target.describe().get("plan", {}), tuning.options.plan)
    on: dict[str, Mapping[str, Any]] = {}
    for name, changed in parts.items():
        if merge_plan(part(changed, "plan"), base=present) != present:
            on[name] = changed
    if not on:
        raise LabError(
            "None of these parts is on.", hint="Turn one on with --plan, such as --plan graph=true."
        )
    return on
