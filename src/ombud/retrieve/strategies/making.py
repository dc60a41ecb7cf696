"""How search texts are made: strategies of one shape, and what happens when one fails.

What a model writes is searched for beside the question's own words, which weigh less: at equal
weight they cost .10 of recall, and without them a bad rewrite loses the question."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ombud.errors import ModelError
from ombud.registry import find, names
from ombud.retrieve.model import StrategyModel
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.own_words import OWN_WORDS, standard_query
from ombud.retrieve.strategies.shipped import Strategy, StrategyParts, by_standard
from ombud.types import Plan, Query, Question

BY_DEFAULT = ("understand", "standard")
UNAIDED = frozenset({"standard"})
"""Strategies that search with the question itself."""


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
) -> StrategyQueries:
    """Return the search texts; if a strategy fails, `standard` replaces it and `degraded` says
    so."""
    names = plan.strategies or (BY_DEFAULT if model.chat else ("standard",))
    parts = StrategyParts(
        model=model,
        glossary=glossary,
        shared="understand" in names,
    )
    make = all_together if plan.strategy_mode == "all" else first_that_works
    made = await make(names, question, plan, parts)
    if not plan.own_words or any(query.strategy in UNAIDED for query in made.queries):
        return made
    own = standard_query(question, parts.glossary).model_copy(update={"strategy": OWN_WORDS})
    return made._replace(queries=(*made.queries, own))


async def first_that_works(
    names: Sequence[str], question: Question, plan: Plan, parts: StrategyParts
) -> StrategyQueries:
    failed: list[str] = []
    for name in dict.fromkeys((*names, "standard")):
        attempt = await _attempt(name, question, plan, parts)
        if attempt.queries:
            return StrategyQueries(tuple(attempt.queries), tuple(failed))
        failed.append(attempt.why_not)
    raise AssertionError("standard always has a query")


async def all_together(
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
    if not are_queries(queries):
        return _Attempt([], f"strategy: {name} gave nothing usable, searched without it")
    return _Attempt(queries)


def _failed(name: str, failed: Exception) -> _Attempt:
    # What a plugin raises may repeat the question; our own errors say what happened and no more.
    is_ours = name in STRATEGIES and isinstance(failed, ModelError)
    why = str(failed).removesuffix(".") if is_ours else type(failed).__name__
    return _Attempt([], f"strategy: {name} failed ({why}), searched without it")


def are_queries(queries: object) -> bool:
    if not isinstance(queries, list) or not queries:
        return False
    return all(isinstance(query, Query) for query in queries)


@cache
def strategy_of(name: str) -> Strategy:
    """Return one of STRATEGIES or of the entry point group `ombud.strategy`; raises UnknownName. It
    is cached."""
    strategy: Strategy = find("strategy", name, STRATEGIES)
    return strategy


STRATEGIES: Mapping[str, str] = {
    "standard": "ombud.retrieve.strategies.shipped:by_standard",
    "understand": "ombud.retrieve.strategies.shipped:by_understand",
    "keywords": "ombud.retrieve.strategies.shipped:by_keywords",
    "hyde": "ombud.retrieve.strategies.shipped:by_hyde",
    "stepback": "ombud.retrieve.strategies.shipped:by_stepback",
    "rewrite": "ombud.retrieve.strategies.shipped:by_rewrite",
    "reformulate": "ombud.retrieve.strategies.shipped:by_reformulate",
    "multi": "ombud.retrieve.strategies.shipped:by_multi",
}
"""Name in `plan.strategies` -> its function."""


def strategy_names() -> tuple[str, ...]:
    """Return the names of our strategies and of installed plugins."""
    return names("strategy", STRATEGIES)
