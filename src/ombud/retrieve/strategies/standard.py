"""The question itself, and a story also in the words of policies."""

from ombud.models import beside
from ombud.retrieve.strategies.own_words import standard_query
from ombud.retrieve.strategies.stories import policy_words
from ombud.retrieve.strategies.strategy import StrategyParts
from ombud.types import Plan, Query, Question


async def by_standard(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    del plan
    queries = [standard_query(question, parts.glossary)]
    text = question.text
    story = await beside(parts.embedder, [text], lambda: policy_words(text, parts.embedder))
    if story:
        queries.append(story)
    return queries
