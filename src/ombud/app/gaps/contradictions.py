"""Finds contradicting passages with a chat model; reports nothing without one."""

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
"""Largest number of pairs in one report, those met by most people first; each pair is one call."""
NEEDS_MODEL = "Contradictions between documents are looked for by a chat model: set models.chat."

Pair = tuple[str, str]
"""Ids of two passages."""


class ComparedPassages(BaseModel):
    """Two passages that the model compared."""

    contradict: bool
    about: str = ""
    first: str = Field("", description="A sentence of the first passage, word for word.")
    second: str = Field("", description="A sentence of the second passage, word for word.")


class Contradictions(NamedTuple):
    """The contradictions of a report."""

    found: tuple[dict[str, Any], ...] = ()
    note: str = ""
    """Why nothing, or not every pair, was compared; empty if all were."""


def find_contradictions(
    workspace: Workspace, questions: Sequence[CountedQuestion], sources: Sources
) -> Contradictions:
    """Ask the model of role `verify` about passages that appeared together in answers."""
    chat = workspace.models.chat("verify")
    if chat is None:
        return Contradictions(note=NEEDS_MODEL)
    people = people_by_pair(questions, sources.chunks)
    most_met = sorted(people, key=lambda pair: (-len(people[pair]), pair))
    pairs = most_met[:MAX_PAIRS]
    note = ""
    if len(most_met) > MAX_PAIRS:
        note = f"Of {len(most_met):,} pairs of passages the {MAX_PAIRS} met most were compared."
    try:
        replies = asyncio.run(compare_pairs(workspace, chat, pairs, sources.chunks))
    except ModelError as failed:
        return Contradictions(note=f"The chat model could not be asked: {failed}")
    compared: list[dict[str, Any]] = []
    for pair, reply in zip(pairs, replies, strict=True):
        first, second = (sources.chunks[chunk_id] for chunk_id in pair)
        # The model invented a sentence that its passage lacks.
        if (
            reply.contradict
            and contains_sentence(first, reply.first)
            and contains_sentence(second, reply.second)
        ):
            count = len(people[pair])
            compared.append(
                {
                    "about": reply.about,
                    "people": count if count >= sources.group_size else None,
                    "first": side_json(first, reply.first),
                    "second": side_json(second, reply.second),
                }
            )
    return Contradictions(tuple(compared), note)


def people_by_pair(
    questions: Sequence[CountedQuestion], chunks: Mapping[str, Chunk]
) -> dict[Pair, set[str]]:
    """Collect the people behind each pair of an answer's best passage and the next one that may
    contradict it."""
    people: dict[Pair, set[str]] = {}
    for question in questions:
        evidence = [chunk_id for chunk_id in question.answer.trace.evidence if chunk_id in chunks]
        for other in evidence[1:]:
            if may_contradict(chunks[evidence[0]], chunks[other]):
                first, second = sorted((evidence[0], other))
                people.setdefault((first, second), set()).add(question.who)
                break
    return people


def may_contradict(first: Chunk, second: Chunk) -> bool:
    """Tell whether metadata leave open which of two documents takes precedence."""
    if first.document_id == second.document_id:
        return False
    if first.countries and second.countries:
        return not set(first.countries).isdisjoint(second.countries)
    if first.countries or second.countries:
        # A country's rule precedes a global one, unless that is mandatory.
        return second.mandatory if first.countries else first.mandatory
    return True


async def compare_pairs(
    workspace: Workspace, chat: Chat, pairs: Sequence[Pair], chunks: Mapping[str, Chunk]
) -> list[ComparedPassages]:
    settings = workspace.settings
    prompt = load("contradictions", chat.name, workspace.prompts)
    instructions = prompt.fill(organisation=settings.general.name)
    replies: list[ComparedPassages] = []
    for first, second in pairs:
        reply = await chat.reply(
            instructions,
            passage_text("first", chunks[first]) + "\n\n" + passage_text("second", chunks[second]),
            ComparedPassages,
            temperature=0.0,
            seconds=settings.models.timeout_seconds,
        )
        replies.append(reply.value)
    return replies


def passage_text(name: str, chunk: Chunk) -> str:
    body = "\n".join(filter(None, (heading_of(chunk), chunk.header, chunk.text)))
    harmless = body.replace("<", "‹").replace(">", "›")
    return f'<passage name="{name}">\n{harmless}\n</passage>'


def contains_sentence(chunk: Chunk, sentence: str) -> bool:
    words = " ".join(sentence.replace("‹", "<").replace("›", ">").split())
    return bool(words) and words in " ".join(chunk.text.split())


def side_json(chunk: Chunk, says: str) -> dict[str, str]:
    return {"title": heading_of(chunk), "uri": chunk.uri, "says": says}
