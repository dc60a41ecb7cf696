"""A chat model grades each passage by itself."""

import asyncio

from pydantic import BaseModel, Field

from ombud.retrieve.rerank.task import RerankTask, passage_text
from ombud.types import Hit

CONCURRENT = 8
"""Pointwise calls under way at once, for one question."""


class Grade(BaseModel):
    relevance: int = Field(
        ge=0,
        le=3,
        description="0, 1, 2 or 3.",
    )


async def by_pointwise(task: RerankTask) -> list[int]:
    """Grade each passage by itself, several concurrently."""
    free = asyncio.Semaphore(CONCURRENT)

    async def grade(hit: Hit) -> float:
        async with free:
            graded = await task.ask("pointwise", Grade, passage_text(hit))
        return graded.relevance

    calls = [asyncio.create_task(grade(hit)) for hit in task.hits]
    try:
        return task.by_scores(await asyncio.gather(*calls))
    finally:
        for call in calls:
            call.cancel()
