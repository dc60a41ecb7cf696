"""Several questions in place of one."""

from typing import Annotated

from pydantic import BaseModel

from ombud.models import at_most
from ombud.retrieve.strategies.strategy import StrategyParts, tidy_text
from ombud.types import Plan, Query, Question

MOST_REWRITES = 20
"""What plan.rewrites may be."""


class Several(BaseModel):
    questions: Annotated[list[str], at_most(MOST_REWRITES)]


async def by_multi(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """plan.rewrites rewrites or sub-questions (HyPA-RAG). The sparse side has them as one text,
    which beats fusing their rankings by .13; the dense side has one vector each."""
    rewrites = str(plan.rewrites)
    several = await parts.model.write(
        "multi",
        Several,
        question,
        rewrites=rewrites,
    )
    distinct = dict.fromkeys(map(tidy_text, several.questions))
    distinct.pop("", None)
    passages = list(distinct)[: plan.rewrites]
    queries: list[Query] = []
    for passage in passages:
        text = "" if queries else "\n".join(passages)
        queries.append(
            Query(
                strategy="multi",
                text=text,
                passage=passage,
            )
        )
    return queries
