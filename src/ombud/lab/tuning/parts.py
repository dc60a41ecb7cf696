"""What can be left out of an assistant: fields of its plan that are on, steps of the pipeline,
components of the prompt."""

from collections.abc import Iterable, Mapping
from typing import Any

from ombud.errors import LabError
from ombud.lab.runs.sweeping import Cell

OFF: dict[str, Any] = {
    "strategies": ["standard"],
    "strategy_mode": "first",
    "weights": {"sparse": 0.5, "dense": 0.5},
    "late": 0,
    "reranker": "none",
    "adaptive": False,
    "graph": False,
    "sources": [],
    "abstain": 0,
    "persona": "employee",
    "refine": False,
}
"""Field of the plan -> what it is without it. Numbers such as k have no off: `lab sweep` varies
them."""
STEPS: dict[str, Cell] = {
    "search": {"plan.k": 0},
    "several search texts": {"plan.strategies": ["standard"]},
    "sparse leg": {"plan.mode": "dense"},
    "dense leg": {"plan.mode": "sparse"},
    "weights of the legs": {"plan.weights": OFF["weights"]},
    "late interaction": {"plan.late": 0},
    "reranker": {"plan.reranker": "none"},
    "adaptation to the question": {"plan.adaptive": False},
    "graph": {"plan.graph": False},
    "refusal below a confidence": {"plan.abstain": 0},
    "repair of claims": {"plan.refine": False},
}
"""Step of the pipeline -> the plan without it."""
INDEX_STEPS: dict[str, Cell] = {
    "headings with their passages": {"index.header": False},
    "tables row by row": {"index.tables": "markdown"},
    "chunks along the structure": {"index.chunker": "fixed", "index.chunk_tokens": 256},
}
"""Step of indexing -> the index without it, of the same size of chunks."""
WITH_A_MODEL = {"k", "strategies", "strategy_mode", "refine", "persona"}
"""Fields that do nothing where no chat model is set up."""
Parts = Mapping[str, Cell]


def plan_parts(described: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Cell]:
    """List the enabled plan fields with what to set without each. described: what the target says
    of itself; plan: what is set beside it. Of several search strategies each is a part."""
    now = {**described.get("plan", {}), **plan}
    parts: dict[str, Cell] = {}
    for field, off in OFF.items():
        if _is_on(field, off, now, described):
            parts[field] = {f"plan.{field}": off}
    mode = now.get("mode")
    if mode == "hybrid":
        parts["mode: sparse leg"] = {"plan.mode": "dense"}
        parts["mode: dense leg"] = {"plan.mode": "sparse"}
    strategies = list(now.get("strategies") or ())
    for name in strategies if len(strategies) > 1 else ():
        others = [other for other in strategies if other != name]
        parts[f"strategies: {name}"] = {"plan.strategies": others}
    return parts


def step_parts(
    described: Mapping[str, Any], plan: Mapping[str, Any], *, has_index: bool
) -> dict[str, Cell]:
    """List the steps that this assistant goes through. has_index: whether the target can be indexed
    in another way."""
    now = {**described.get("plan", {}), **plan}
    parts: dict[str, Cell] = {}
    for name, cell in STEPS.items():
        (key, off), *_ = cell.items()
        field = key.removeprefix("plan.")
        has_legs = field != "mode" or now.get("mode") == "hybrid"
        if has_legs and _is_on(field, off, now, described):
            parts[name] = cell
    if has_index:
        parts |= INDEX_STEPS
    return parts


def component_parts(
    names: Iterable[str], described: Mapping[str, Any], plan: Mapping[str, Any]
) -> dict[str, Cell]:
    """names: components that are on. Raises LabError where no chat model reads them."""
    if not _has_model(described):
        raise LabError(
            "No chat model is set up, so no component of a prompt changes anything.",
            hint="Set models.chat in ombud.toml, or ablate --over plan or steps.",
        )
    now = {**described.get("plan", {}), **plan}
    present = list(now.get("components") or ())
    return {name: {"plan.components": [*present, f"-{name}"]} for name in names}


def _is_on(field: str, off: Any, now: Mapping[str, Any], described: Mapping[str, Any]) -> bool:
    value = now.get(field)
    if isinstance(value, tuple):
        value = list(value)
    if field in WITH_A_MODEL and not _has_model(described):
        return False
    if field == "weights" and now.get("mode") != "hybrid":
        return False
    is_empty = value in (None, [], ()) and field != "abstain"
    return field in now and not is_empty and value != off


def _has_model(described: Mapping[str, Any]) -> bool:
    return bool(described.get("models", {}).get("chat", "none") != "none")
