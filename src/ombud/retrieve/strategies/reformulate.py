"""The question in more formal words."""

from ombud.retrieve.strategies.strategy import Rewritten, StrategyParts, same_for_both, tidy_text
from ombud.types import Plan, Query, Question


async def by_reformulate(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """A more formal, specific question (Wombat)."""
    del plan
    formal = await parts.model.write("reformulate", Rewritten, question)
    return same_for_both("reformulate", tidy_text(formal.question))
