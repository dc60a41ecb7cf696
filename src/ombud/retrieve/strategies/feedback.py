"""The question itself; the search takes words and vectors from its first hits as well."""

from ombud.retrieve.strategies.standard import by_standard
from ombud.retrieve.strategies.strategy import StrategyParts
from ombud.types import Plan, Query, Question


async def by_feedback(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """`standard` by another name, which the search knows (`retrieve/feedback.py`)."""
    queries = await by_standard(question, plan, parts)
    return [query.model_copy(update={"strategy": "feedback"}) for query in queries]
