"""How search texts are made: strategies of one shape, and what happens when one fails.

Rewritten texts replace the question, they are not added to it: fused in at equal weight it lost .10
of recall."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ombud.errors import ModelError
from ombud.models import Embedder
from ombud.registry import find, names
from ombud.retrieve.model import StrategyModel
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.standard import by_standard
from ombud.retrieve.strategies.strategy import Strategy, StrategyParts
from ombud.types import Plan, Query, Question

BY_DEFAULT = ("understand", "standard")


class StrategyQueries(NamedTuple):
    queries: tuple[Query, ...]
    degraded: tuple[str, ...] = ()


class _Attempt(NamedTuple):
    queries: list[Query]
    why_not: str = ""
    """For the trace; empty where there are queries."""


async def make_queries(
    question: Question,
    plan: Plan,
    model: StrategyModel,
    glossary: Glossary,
    embedder: Embedder | None = None,
) -> StrategyQueries:
    """What to search for; `standard` where nothing else works, and `degraded` then says so."""
    names = plan.strategies or (BY_DEFAULT if model.chat else ("standard",))
    parts = StrategyParts(
        model=model,
        glossary=glossary if plan.glossary else None,
        embedder=embedder if plan.glossary and plan.mode != "sparse" else None,
        shared="understand" in names,
    )
    if plan.strategy_mode == "all":
        return await _all_together(names, question, plan, parts)
    return await _first_that_works(names, question, plan, parts)


async def _first_that_works(
    names: Sequence[str], question: Question, plan: Plan, parts: StrategyParts
) -> StrategyQueries:
    failed: list[str] = []
    for name in dict.fromkeys((*names, "standard")):
        attempt = await _attempt(name, question, plan, parts)
        if attempt.queries:
            return StrategyQueries(tuple(attempt.queries), tuple(failed))
        failed.append(attempt.why_not)
    raise AssertionError("standard always has a query")


async def _all_together(
    names: Sequence[str], question: Question, plan: Plan, parts: StrategyParts
) -> StrategyQueries:
    distinct = dict.fromkeys(names)
    attempts = await asyncio.gather(*(_attempt(name, question, plan, parts) for name in distinct))
    queries: list[Query] = []
    failed: list[str] = []
    for attempt in attempts:
        queries += attempt.queries
        if attempt.why_not:
            failed.append(attempt.why_not)
    if not queries:
        queries = await by_standard(question, plan, parts)
    return StrategyQueries(tuple(queries), tuple(failed))


async def _attempt(name: str, question: Question, plan: Plan, parts: StrategyParts) -> _Attempt:
    try:
        queries = await strategy_of(name)(question, plan, parts)
    except ModelError as failed:
        return _failed(name, failed)
    except Exception as failed:
        if name in STRATEGIES:
            raise
        # What a package of somebody else does wrong costs no question.
        return _failed(name, failed)
    if not _are_queries(queries):
        return _Attempt([], f"strategy: {name} gave nothing usable, searched without it")
    return _Attempt(queries)


def _failed(name: str, failed: Exception) -> _Attempt:
    kind = type(failed).__name__
    return _Attempt([], f"strategy: {name} failed ({kind}), searched without it")


def _are_queries(queries: object) -> bool:
    if not isinstance(queries, list) or not queries:
        return False
    return all(isinstance(query, Query) for query in queries)


@cache
def strategy_of(name: str) -> Strategy:
    """One of STRATEGIES, or of a plugin under the entry point group `ombud.strategy`; raises
    UnknownName. Kept, for every question asks."""
    found: Strategy = find("strategy", name, STRATEGIES)
    return found


STRATEGIES: Mapping[str, str] = {
    "standard": "ombud.retrieve.strategies.standard:by_standard",
    "feedback": "ombud.retrieve.strategies.feedback:by_feedback",
    "understand": "ombud.retrieve.strategies.understand:by_understand",
    "keywords": "ombud.retrieve.strategies.keywords:by_keywords",
    "hyde": "ombud.retrieve.strategies.hyde:by_hyde",
    "stepback": "ombud.retrieve.strategies.stepback:by_stepback",
    "rewrite": "ombud.retrieve.strategies.rewrite:by_rewrite",
    "reformulate": "ombud.retrieve.strategies.reformulate:by_reformulate",
    "multi": "ombud.retrieve.strategies.multi:by_multi",
}
"""Name in `plan.strategies` -> its function."""


def strategy_names() -> tuple[str, ...]:
    """Ours and those of installed plugins."""
    return names("strategy", STRATEGIES)
