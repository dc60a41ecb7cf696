"""A target whose best settings are known."""

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from lab.scripted import ScriptedTarget
from ombud.lab import Instruments, RunOptions, Target, Tuning, parse_axes, parse_metrics
from ombud.store import Store
from ombud.types import Answer, Question

AXES = (
    "plan.k=2,3,5,8,12,20",
    "plan.pool=10,20,40,80",
    "plan.fusion=rrf,combsum,weighted",
    "plan.mode=sparse,dense,hybrid",
)
"""216 cells."""
PLANTED = {"k": 8, "pool": 40, "fusion": "combsum", "mode": "dense"}
PARSED = parse_axes(AXES)
ROUGH = 0.02
"""How much a cell is better or worse than its neighbours let one think."""


class PlantedTarget(ScriptedTarget):
    """Cites the right passage in the more cases, the nearer its plan is to PLANTED; which ones, the
    number of the case decides. Its price is what it falls short of 1, to the last digit.

    asked_with: (number, plan) of every question."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.asked_with: list[tuple[int, Mapping[str, Any]]] = []
        rough = random.Random(seed)
        self.qualities: dict[tuple[Any, ...], float] = {}
        for values in product(*PARSED.values()):
            cell = dict(zip(PARSED, values, strict=True))
            self.qualities[values] = smooth_quality(cell) + rough.uniform(-ROUGH, ROUGH)
        best = tuple(PLANTED.values())
        self.qualities[best] = max(self.qualities.values()) + 0.001

    def quality(self, plan: Mapping[str, Any]) -> float:
        values = tuple(plan.get(field) for field in PLANTED)
        return self.qualities.get(values, 0.5)

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        number = int(question.text.split(":")[0])
        self.asked_with.append((number, dict(plan)))
        answer = await super().ask(question, plan)
        quality = self.quality(plan)
        trace = answer.trace.model_copy(update={"price": 1 - quality})
        answer = answer.model_copy(update={"trace": trace})
        if number * 37 % 100 < 100 * quality:
            return answer
        return answer.model_copy(update={"text": "Something else.", "citations": ()})


def smooth_quality(cell: Mapping[str, Any]) -> float:
    away = 0.03 * abs(PARSED["plan.k"].index(cell["plan.k"]) - 3)
    away += 0.02 * abs(PARSED["plan.pool"].index(cell["plan.pool"]) - 2)
    away += {"rrf": 0.03, "combsum": 0, "weighted": 0.05}[cell["plan.fusion"]]
    away += {"sparse": 0.1, "dense": 0, "hybrid": 0.05}[cell["plan.mode"]]
    return float(0.95 - away)


def tuning(
    store: Store,
    target: Target,
    objectives: str = "citation_recall",
    axes: tuple[str, ...] = AXES,
    **options: Any,
) -> Tuning:
    named = tuple(objectives.split(","))
    scored = ",".join(name for name in named if name != "latency")
    given = RunOptions(parse_metrics(scored), "tuning", "planted", study="tuning", concurrency=8)
    return Tuning(
        target=target,
        store=store,
        options=replace(given, **options),
        objectives=named,
        axes=parse_axes(axes),
        instruments=lambda _: Instruments(),
    )
