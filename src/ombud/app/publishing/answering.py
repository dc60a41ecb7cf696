"""The same questions to the index as it is and to the one with the drafts; and every passage of a
draft beside what else there is, whatever is asked."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ombud.app import asking
from ombud.app.publishing.questions import (
    CheckQuestion,
    DraftPassages,
    countries_of,
    reader_of,
)
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.retrieve import CONTRADICTING, find_contradictions
from ombud.types import Answer, Chunk, Contradiction, Evidence, Hit, Question

OnProgress = Callable[[str, int, int], None]
OWN_WORDS = {"strategies": ("standard",)}
"""No model is asked how to look a passage up."""
SEARCHED_WORDS = 60
"""Words of a passage that it is looked up by, behind its headings."""


class Disagreement(NamedTuple):
    """A contradiction with the documents that it stands in."""

    found: Contradiction
    first: Chunk
    second: Chunk


class SideAnswer(NamedTuple):
    """What one side said to a question."""

    answer: Answer | None = None
    error: str = ""
    """Why there is no answer."""
    disagreements: tuple[Disagreement, ...] = ()


class BothAnswers(NamedTuple):
    asked: CheckQuestion
    live: SideAnswer
    draft: SideAnswer


class LookedUp(NamedTuple):
    """What disagrees with the drafts, and with what they replace, for people of one country."""

    country: str
    live: tuple[Disagreement, ...]
    draft: tuple[Disagreement, ...]


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


async def look_up(
    live: Workspace,
    shadow: Workspace,
    passages: Sequence[DraftPassages],
    only: Sequence[str],
    on_progress: OnProgress,
) -> list[LookedUp]:
    """Each passage of the drafts is searched for, for every country concerned, so that a
    contradiction is found that no question met."""
    found: list[LookedUp] = []
    for number, item in enumerate(passages, start=1):
        old_audience = item.draft.replaces.audience if item.draft.replaces else {}
        for country in countries_of(live, item.draft, only):
            new = Question(
                text="",
                asker=reader_of(item.draft.metadata.get("audience", {}), country),
                as_of=item.draft.begins,
            )
            old = new.model_copy(update={"asker": reader_of(old_audience, country)})
            found.append(
                LookedUp(
                    country=country,
                    live=await _beside(live, item.old, old),
                    draft=await _beside(shadow, item.new, new),
                )
            )
        on_progress("look up", number, len(passages))
    return found


async def _ask(workspace: Workspace, question: Question) -> SideAnswer:
    try:
        answer = await asking.ask(workspace, question, keep=False)
        return SideAnswer(answer, disagreements=await _met(workspace, answer))
    except OmbudError as failed:
        return SideAnswer(error=f"{failed} {failed.hint}".strip())


async def _met(workspace: Workspace, answer: Answer) -> tuple[Disagreement, ...]:
    """Where passages of its evidence contradict each other."""
    if not any(note.endswith(CONTRADICTING) for note in answer.trace.notes):
        return ()
    chunks = await workspace.engine.get(answer.trace.evidence)
    local: list[Hit] = []
    shared: list[Hit] = []
    for chunk_id in answer.trace.evidence:
        if chunk_id in chunks:
            hit = Hit(chunk=chunks[chunk_id], score=0)
            (local if hit.chunk.countries else shared).append(hit)
    found = find_contradictions(Evidence(local=tuple(local), shared=tuple(shared)))
    return _with_chunks(found, chunks)


async def _beside(
    workspace: Workspace, chunks: Sequence[Chunk], template: Question
) -> tuple[Disagreement, ...]:
    found: list[Disagreement] = []
    for chunk in chunks:
        words = " ".join(chunk.text.split()[:SEARCHED_WORDS])
        text = " ".join((*chunk.trail[-1:], words))
        evidence, _ = await asking.search(
            workspace, text, template.asker, as_of=template.as_of, plan=OWN_WORDS
        )
        known = {hit.chunk.id: hit.chunk for hit in evidence.hits}
        found += _with_chunks(evidence.contradictions, known)
    return tuple(found)


def _with_chunks(
    found: Sequence[Contradiction], chunks: dict[str, Chunk]
) -> tuple[Disagreement, ...]:
    disagreements: list[Disagreement] = []
    for one in found:
        disagreements.append(Disagreement(one, chunks[one.first], chunks[one.second]))
    return tuple(disagreements)
