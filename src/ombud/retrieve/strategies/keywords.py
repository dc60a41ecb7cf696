"""Keywords that likely stand in the passages."""

from typing import Annotated

from pydantic import BaseModel

from ombud.models import at_most
from ombud.retrieve.model import MOST_KEYWORDS
from ombud.retrieve.strategies.strategy import StrategyParts, same_for_both, tidy_keywords
from ombud.types import Plan, Query, Question


class Keywords(BaseModel):
    keywords: Annotated[list[str], at_most(MOST_KEYWORDS)]


async def by_keywords(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """5 to 10 keywords or phrases likely to stand in the passages (Wombat)."""
    del plan
    if parts.shared:
        words = (await parts.model.understand(question)).keywords
    else:
        words = (await parts.model.write("keywords", Keywords, question)).keywords
    return same_for_both("keywords", ", ".join(tidy_keywords(words)))
