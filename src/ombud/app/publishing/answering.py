"""Asks the same questions of the live index and of the one with the drafts."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.app import asking
from ombud.app.publishing.questions import CheckQuestion
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.types import Answer, Question

OnProgress = Callable[[str, int, int], None]


class SideAnswer(NamedTuple):
    """The answer of one side."""

    answer: Answer | None = None
    error: str = ""
    """Why there is no answer."""


class BothAnswers(NamedTuple):
    """A question with the answers of both sides."""

    asked: CheckQuestion
    live: SideAnswer
    draft: SideAnswer


async def ask_both(
    live: Workspace,
    shadow: Workspace,
    questions: Sequence[CheckQuestion],
    concurrency: int,
    on_progress: OnProgress,
) -> list[BothAnswers]:
    """Answer each question on both sides, in their order; failures carry their error."""
    done = 0
    gate = asyncio.Semaphore(concurrency)

    async def both(item: CheckQuestion) -> BothAnswers:
        nonlocal done
        async with gate:
            now = await ask_side(live, item.question)
            then = await ask_side(shadow, item.question)
        done += 1
        on_progress("ask", done, len(questions))
        return BothAnswers(item, now, then)

    return list(await asyncio.gather(*map(both, questions)))


async def ask_side(workspace: Workspace, question: Question) -> SideAnswer:
    try:
        return SideAnswer(await asking.ask(workspace, question, keep=False))
    except OmbudError as failed:
        return SideAnswer(error=f"{failed} {failed.hint}".strip())
