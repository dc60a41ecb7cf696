"""Choices of the playground, and the complexity of a question."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import BadRequest
from ombud.retrieve import PARAMETERS, mapped, reranker_names, strategy_names
from ombud.settings import merge_plan
from ombud.store import list_runs, list_sources, page_totals
from ombud.types import Plan

LONGEST = 4_000
SAMPLES = (
    "How many days of annual leave do I get?",
    "May I work from abroad, and what must I do before?",
    "How do the rules on parental leave differ between my country and the global policy?",
    "I am moving to another country with my family in the middle of my probation: which "
    "allowances, notices and insurances change, and from when?",
    "Who approves travel above the limit?",
    "What happens to my bonus when I resign during a restructuring?",
)
"""Questions that need one passage, two, and more."""


class Choices(NamedTuple):
    """The options of the playground."""

    strategies: Sequence[str]
    rerankers: Sequence[str]
    sources: Sequence[str]
    plan: Plan
    """The plan that applies if nothing is chosen."""


def choices(workspace: Workspace) -> Choices:
    sources = {place.name for place in workspace.settings.source}
    sources |= {source.name for source in list_sources(workspace.store)}
    return Choices(
        strategies=strategy_names(),
        rerankers=reranker_names(),
        sources=sorted(sources),
        plan=workspace.flagged.plan,
    )


def route(workspace: Workspace, question: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question's complexity class with its probability, and what an adaptive plan
    changes. Raises BadRequest, BadSetting."""
    if not question.strip() or len(question) > LONGEST:
        raise BadRequest(f"A question has 1 to {LONGEST:,} characters.")
    merged = merge_plan({**workspace.flagged.plan.model_dump(exclude_defaults=True), **plan})
    routed = workspace.index.router(question, merged.classes)
    return {
        "label": routed.label,
        "classes": merged.classes,
        "probabilities": [round(one, 3) for one in routed.probabilities],
        "parameters": {name: mapped(merged, name)[routed.label] for name in PARAMETERS},
    }


def pages(workspace: Workspace, versions: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return id -> number of pages of a document (id, version), if its pages are numbered."""
    return page_totals(workspace.store, versions)


class DatasetLine(NamedTuple):
    """A dataset that runs used."""

    name: str
    digest: str
    cases: int
    runs: int


def datasets(workspace: Workspace) -> list[DatasetLine]:
    """Return the datasets that runs used, most used first."""
    lines: dict[tuple[str, str], DatasetLine] = {}
    for run in list_runs(workspace.store):
        key = (run.dataset, run.dataset_digest)
        before = lines.get(key, DatasetLine(run.dataset, run.dataset_digest, run.cases, 0))
        lines[key] = before._replace(runs=before.runs + 1)
    return sorted(lines.values(), key=lambda line: (-line.runs, line.name))
