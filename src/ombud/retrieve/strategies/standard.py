"""The question itself, and a story also in the words of policies."""

import asyncio

from ombud.retrieve.strategies.own_words import both_ways, leaning
from ombud.retrieve.strategies.stories import policy_words
from ombud.retrieve.strategies.strategy import StrategyParts
from ombud.types import Plan, Query, Question


async def by_standard(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    del plan
    if parts.model.chat:
        # Without a model this has been decided by what the turns find.
        question = leaning(question)
    queries = both_ways(question, parts.glossary)
    story = await asyncio.to_thread(policy_words, question.text, parts.embedder)
    if story:
        queries.append(story)
    return queries
