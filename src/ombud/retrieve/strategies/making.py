"""How search texts are made: nine strategies of one shape, and what happens when one fails.

Rewritten texts replace the question, they are not added to it: fused in at equal weight it lost .10
of recall."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel

from ombud.errors import ModelError, UnknownName
from ombud.models import Embedder, at_most
from ombud.retrieve.model import MOST_KEYWORDS, Model
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.own_words import both_ways, standard_query, with_history
from ombud.retrieve.strategies.stories import policy_words
from ombud.types import Plan, Query, Question

LONGEST, MOST_REWRITES = 3000, 20
"""Characters of any text that a model wrote, and what plan.rewrites may be."""
BY_DEFAULT = ("understand", "standard")


class StrategyParts(NamedTuple):
    model: Model
    glossary: Glossary | None
    embedder: Embedder | None = None
    """Tells stories; None where there is none, or nothing is to be added."""
    shared: bool = False
    """`understand` is asked for this question too, so that the others are views of it."""


class StrategyQueries(NamedTuple):
    queries: tuple[Query, ...]
    degraded: tuple[str, ...] = ()


Strategy = Callable[[Question, Plan, StrategyParts], Awaitable[list[Query]]]
"""Queries of one strategy; none, or ModelError, where it has nothing usable. An empty text or
passage leaves that leg out. """


async def make_queries(
    question: Question,
    plan: Plan,
    model: Model,
    glossary: Glossary,
    embedder: Embedder | None = None,
) -> StrategyQueries:
    """What to search for; `standard` where nothing else works, and `degraded` then says so."""
    names = plan.strategies or (BY_DEFAULT if model.chat else ("standard",))
    words, stories = (glossary, embedder) if plan.glossary else (None, None)
    tools = StrategyParts(
        model, words, stories if plan.mode != "sparse" else None, "understand" in names
    )
    if plan.strategy_mode == "all":
        return await _all(names, question, plan, tools)
    failed: list[str] = []
    for name in dict.fromkeys((*names, "standard")):
        queries, why = await _try(name, question, plan, tools)
        if queries:
            return StrategyQueries(tuple(queries), tuple(failed))
        failed.append(why)
    raise AssertionError("standard always has a query")


async def _all(
    names: Sequence[str], question: Question, plan: Plan, tools: StrategyParts
) -> StrategyQueries:
    tried = await asyncio.gather(
        *(_try(name, question, plan, tools) for name in dict.fromkeys(names))
    )
    queries = [query for found, _ in tried for query in found]
    failed = tuple(why for _, why in tried if why)
    return StrategyQueries(tuple(queries or await by_standard(question, plan, tools)), failed)


async def _try(
    name: str, question: Question, plan: Plan, tools: StrategyParts
) -> tuple[list[Query], str]:
    try:
        queries = await strategy_of(name)(question, plan, tools)
    except ModelError as failed:
        return [], f"strategy: {name} failed ({type(failed).__name__}), searched without it"
    return queries, "" if queries else f"strategy: {name} gave nothing usable, searched without it"


def strategy_of(name: str) -> Strategy:
    if name not in STRATEGIES:
        raise UnknownName(
            f"No strategy is called `{name}`.", hint=f"Known: {', '.join(sorted(STRATEGIES))}."
        )
    return STRATEGIES[name]


# The strategies -----------------------------------------------------------------------------------


async def by_standard(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    del plan
    story = await asyncio.to_thread(policy_words, question.text, tools.embedder)
    return [*both_ways(question, tools.glossary), *([story] if story else [])]


async def by_feedback(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """`standard`; the search itself takes words and vectors from its first hits (`feedback.py`)."""
    return [
        query.model_copy(update={"strategy": "feedback"})
        for query in await by_standard(question, plan, tools)
    ]


async def by_understand(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """Sparse: standalone question, keywords and hypothetical paragraph as one text; dense: a vector
    of the paragraph and one of the standalone question, fused (dev, recorded: quote recall@5 .957;
    with the paragraph alone .900, HyDE .893)."""
    del plan
    found = await tools.model.understand(question)
    alone, passage = _text(found.standalone), _text(found.passage)
    if not alone:
        return []
    words = "\n".join(
        filter(None, (_glossed(alone, question, tools), *_keywords(found.keywords), passage))
    )
    first = _query("understand", words, passage or alone)
    return [first, _query("understand", "", alone)] if passage else [first]


class Keywords(BaseModel):
    keywords: Annotated[list[str], at_most(MOST_KEYWORDS)]


async def by_keywords(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """5 to 10 keywords or phrases likely to stand in the passages (Wombat)."""
    del plan
    if tools.shared:
        found = _keywords((await tools.model.understand(question)).keywords)
    else:
        found = _keywords((await tools.model.write("keywords", Keywords, question)).keywords)
    return [_query("keywords", ", ".join(found), ", ".join(found))] if found else []


class Paragraph(BaseModel):
    passage: str


async def by_hyde(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """A hypothetical policy paragraph that would answer: Gao et al., HyDE, ACL 2023."""
    if tools.shared:
        passage = _text((await tools.model.understand(question)).passage)
    else:
        passage = _text((await tools.model.write("hyde", Paragraph, question)).passage)
    if not passage:
        return []
    own = standard_query(question, tools.glossary)
    text = own.text if plan.hyde_for == "dense" else passage
    return [_query("hyde", text, own.passage if plan.hyde_for == "sparse" else passage)]


class Rewritten(BaseModel):
    question: str


async def by_stepback(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """The broader question: Zheng et al., Take a Step Back, ICLR 2024."""
    if tools.shared:
        broader = _text((await tools.model.understand(question)).broader)
    else:
        broader = _text((await tools.model.write("stepback", Rewritten, question)).question)
    if not broader:
        return []
    beside = with_history(question) if plan.stepback_with_question else ""
    return [
        _query(
            "stepback",
            "\n".join(filter(None, (beside, broader))),
            "\n".join(filter(None, (beside, broader))),
        )
    ]


async def by_rewrite(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """Standalone, abbreviations spelt out, the field's context added (Eva)."""
    del plan
    if tools.shared:
        alone = _text((await tools.model.understand(question)).standalone)
    else:
        alone = _text((await tools.model.write("rewrite", Rewritten, question)).question)
    return [_query("rewrite", _glossed(alone, question, tools), alone)] if alone else []


async def by_reformulate(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """A more formal, specific question (Wombat)."""
    del plan
    formal = _text((await tools.model.write("reformulate", Rewritten, question)).question)
    return [_query("reformulate", formal, formal)] if formal else []


class Several(BaseModel):
    questions: Annotated[list[str], at_most(MOST_REWRITES)]


async def by_multi(question: Question, plan: Plan, tools: StrategyParts) -> list[Query]:
    """plan.rewrites rewrites or sub-questions (HyPA-RAG). The sparse side has them as one text,
    which beats fusing their rankings by .13; the dense side has one vector each."""
    found = (
        await tools.model.write("multi", Several, question, rewrites=str(plan.rewrites))
    ).questions
    texts = list(dict.fromkeys(text for one in found if (text := _text(one))))[: plan.rewrites]
    return [
        _query("multi", "\n".join(texts) if n == 0 else "", text) for n, text in enumerate(texts)
    ]


def _query(strategy: str, text: str, passage: str) -> Query:
    return Query(strategy=strategy, text=text, passage=passage)


def _glossed(text: str, question: Question, tools: StrategyParts) -> str:
    more = tools.glossary.expansions(text, question.asker.country) if tools.glossary else []
    return "\n".join([text, *more])


def _keywords(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(word for one in words if (word := _text(one))))[:MOST_KEYWORDS]


def _text(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


STRATEGIES: dict[str, Strategy] = {
    "standard": by_standard,
    "feedback": by_feedback,
    "understand": by_understand,
    "keywords": by_keywords,
    "hyde": by_hyde,
    "stepback": by_stepback,
    "rewrite": by_rewrite,
    "reformulate": by_reformulate,
    "multi": by_multi,
}
