"""Passages that contradict each other, by a chat model; nothing is claimed without one."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from ombud.app.gaps.counted import CountedQuestion, Sources, heading_of
from ombud.app.workspace import Workspace
from ombud.errors import ModelError
from ombud.models import Chat
from ombud.prompts import load
from ombud.types import Chunk

MAX_PAIRS = 20
"""Pairs of passages that one report asks about, one call each: those that most people met."""
NEEDS_MODEL = "Contradictions between documents are looked for by a chat model: set models.chat."

Pair = tuple[str, str]
"""Ids of two passages."""


class ComparedPassages(BaseModel):
    contradict: bool
    about: str = ""
    first: str = Field("", description="A sentence of the first passage, word for word.")
    second: str = Field("", description="A sentence of the second passage, word for word.")


class Contradictions(NamedTuple):
    found: tuple[dict[str, Any], ...] = ()
    note: str = ""
    """Why nothing, or not everything, was looked at; empty where all pairs were."""


def find_contradictions(
    workspace: Workspace, questions: Sequence[CountedQuestion], sources: Sources
) -> Contradictions:
    """Ask the model of role `verify` about passages that stood beside each other in answers."""
    chat = workspace.models.chat("verify")
    if chat is None:
        return Contradictions(note=NEEDS_MODEL)
    people = _people_by_pair(questions, sources.chunks)
    most_met = sorted(people, key=lambda pair: (-len(people[pair]), pair))
    pairs = most_met[:MAX_PAIRS]
    note = ""
    if len(most_met) > MAX_PAIRS:
        note = f"Of {len(most_met):,} pairs of passages the {MAX_PAIRS} met most were compared."
    try:
        replies = asyncio.run(_ask(workspace, chat, pairs, sources.chunks))
    except ModelError as failed:
        return Contradictions(note=f"The chat model could not be asked: {failed}")
    found: list[dict[str, Any]] = []
    for pair, reply in zip(pairs, replies, strict=True):
        first, second = (sources.chunks[chunk_id] for chunk_id in pair)
        # A sentence that its passage does not have was made up.
        if reply.contradict and _holds(first, reply.first) and _holds(second, reply.second):
            count = len(people[pair])
            found.append(
                {
                    "about": reply.about,
                    "people": count if count >= sources.group_size else None,
                    "first": _side(first, reply.first),
                    "second": _side(second, reply.second),
                }
            )
    return Contradictions(tuple(found), note)


def _people_by_pair(
    questions: Sequence[CountedQuestion], chunks: Mapping[str, Chunk]
) -> dict[Pair, set[str]]:
    """Pairs of the best passage of an answer and the next one that may say otherwise."""
    people: dict[Pair, set[str]] = {}
    for question in questions:
        evidence = [chunk_id for chunk_id in question.answer.trace.evidence if chunk_id in chunks]
        for other in evidence[1:]:
            if _may_contradict(chunks[evidence[0]], chunks[other]):
                first, second = sorted((evidence[0], other))
                people.setdefault((first, second), set()).add(question.who)
                break
    return people


def _may_contradict(first: Chunk, second: Chunk) -> bool:
    """Whether metadata leave open which of two documents counts."""
    if first.document_id == second.document_id:
        return False
    if first.countries and second.countries:
        return not set(first.countries).isdisjoint(second.countries)
    if first.countries or second.countries:
        # A country's rule counts before a global one, unless that is mandatory.
        return second.mandatory if first.countries else first.mandatory
    return True


async def _ask(
    workspace: Workspace, chat: Chat, pairs: Sequence[Pair], chunks: Mapping[str, Chunk]
) -> list[ComparedPassages]:
    settings = workspace.settings
    prompt = load("contradictions", chat.name, workspace.prompts)
    instructions = prompt.fill(organisation=settings.general.name)
    replies: list[ComparedPassages] = []
    for first, second in pairs:
        reply = await chat.reply(
            instructions,
            _passage("first", chunks[first]) + "\n\n" + _passage("second", chunks[second]),
            ComparedPassages,
            temperature=0.0,
            seconds=settings.models.timeout_seconds,
        )
        replies.append(reply.value)
    return replies


def _passage(name: str, chunk: Chunk) -> str:
    body = "\n".join(filter(None, (heading_of(chunk), chunk.header, chunk.text)))
    harmless = body.replace("<", "‹").replace(">", "›")
    return f'<passage name="{name}">\n{harmless}\n</passage>'


def _holds(chunk: Chunk, sentence: str) -> bool:
    words = " ".join(sentence.replace("‹", "<").replace("›", ">").split())
    return bool(words) and words in " ".join(chunk.text.split())


def _side(chunk: Chunk, says: str) -> dict[str, str]:
    return {"title": heading_of(chunk), "uri": chunk.uri, "says": says}
