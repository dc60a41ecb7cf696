"""A paragraph as policies have it, which would answer the question, in place of the question."""

from pydantic import BaseModel

from ombud.retrieve.strategies.own_words import standard_query
from ombud.retrieve.strategies.strategy import StrategyParts, tidy_text
from ombud.types import Plan, Query, Question


class Paragraph(BaseModel):
    passage: str


async def by_hyde(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """A hypothetical policy paragraph that would answer: Gao et al., HyDE, ACL 2023."""
    if parts.shared:
        passage = (await parts.model.understand(question)).passage
    else:
        passage = (await parts.model.write("hyde", Paragraph, question)).passage
    passage = tidy_text(passage)
    if not passage:
        return []
    own = standard_query(question, parts.glossary)
    return [
        Query(
            strategy="hyde",
            text=own.text if plan.hyde_for == "dense" else passage,
            passage=own.passage if plan.hyde_for == "sparse" else passage,
        )
    ]
