"""The broader question behind the question."""

from ombud.retrieve.strategies.strategy import Rewritten, StrategyParts, same_for_both, tidy_text
from ombud.types import Plan, Query, Question


async def by_stepback(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """The broader question: Zheng et al., Take a Step Back, ICLR 2024."""
    broader = (await parts.model.write("stepback", Rewritten, question)).question
    text = tidy_text(broader)
    own = question.text if plan.stepback_with_question else ""
    if text and own:
        text = f"{own}\n{text}"
    return same_for_both("stepback", text)
