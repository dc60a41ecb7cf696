"""Questions put to the index as it is and to the one with the drafts."""

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
    """What one side said to a question."""

    answer: Answer | None = None
    error: str = ""
    """Why there is no answer."""


class BothAnswers(NamedTuple):
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
    """In the order of the questions; what cannot be answered carries its error."""
    done = 0
    gate = asyncio.Semaphore(concurrency)

    async def both(item: CheckQuestion) -> BothAnswers:
        nonlocal done
        async with gate:
            now = await _ask(live, item.question)
            then = await _ask(shadow, item.question)
        done += 1
        on_progress("ask", done, len(questions))
        return BothAnswers(item, now, then)

    return list(await asyncio.gather(*map(both, questions)))


async def _ask(workspace: Workspace, question: Question) -> SideAnswer:
    try:
        return SideAnswer(await asking.ask(workspace, question, keep=False))
    except OmbudError as failed:
        return SideAnswer(error=f"{failed} {failed.hint}".strip())
