"""Passages that contradict each other, by a chat model; nothing is claimed without one."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from ombud.app.gaps.counted import CountedQuestion, Sources, heading_of
from ombud.app.workspace import Workspace
from ombud.errors import ModelError
from ombud.models import Chat, at_most
from ombud.prompts import load
from ombud.types import Chunk

MAX_PAIRS = 40
"""Pairs of passages that one report asks about: those that most people met."""
PAIRS_PER_CALL = 4
PASSAGES_PER_ANSWER = 3
"""The best passages of an answer, which are of one topic."""
NEEDS_MODEL = "Contradictions between documents are looked for by a chat model: set models.chat."

Pair = tuple[str, str]
"""Ids of two passages."""


class FoundContradiction(BaseModel):
    pair: int = Field(description="Number of the pair.")
    about: str = Field(max_length=200)
    first: str = Field(max_length=2000, description="A sentence of the first passage.")
    second: str = Field(max_length=2000, description="A sentence of the second passage.")


class FoundContradictions(BaseModel):
    contradictions: Annotated[list[FoundContradiction], at_most(PAIRS_PER_CALL)]


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
    for pair, reply in replies:
        first, second = (sources.chunks[chunk_id] for chunk_id in pair)
        # A sentence that its passage does not have was made up.
        if _holds(first, reply.first) and _holds(second, reply.second):
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
    people: dict[Pair, set[str]] = {}
    for question in questions:
        evidence = [chunk_id for chunk_id in question.answer.trace.evidence if chunk_id in chunks]
        for first, second in combinations(sorted(evidence[:PASSAGES_PER_ANSWER]), 2):
            if _may_contradict(chunks[first], chunks[second]):
                people.setdefault((first, second), set()).add(question.who)
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
) -> list[tuple[Pair, FoundContradiction]]:
    settings = workspace.settings
    prompt = load("contradictions", chat.name, workspace.prompts)
    instructions = prompt.fill(organisation=settings.general.name)
    found: list[tuple[Pair, FoundContradiction]] = []
    for batch in _batches(pairs):
        reply = await chat.reply(
            instructions,
            _numbered(batch, chunks),
            FoundContradictions,
            temperature=0.0,
            seconds=settings.models.timeout_seconds,
        )
        for one in reply.value.contradictions:
            if 1 <= one.pair <= len(batch):
                found.append((batch[one.pair - 1], one))
    return found


def _batches(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    left = iter(pairs)
    while batch := list(islice(left, PAIRS_PER_CALL)):
        yield batch


def _numbered(batch: Sequence[Pair], chunks: Mapping[str, Chunk]) -> str:
    blocks: list[str] = []
    for number, (first, second) in enumerate(batch, start=1):
        for name, chunk in (("first", chunks[first]), ("second", chunks[second])):
            body = "\n".join(filter(None, (heading_of(chunk), chunk.header, chunk.text)))
            harmless = body.replace("<", "‹").replace(">", "›")
            blocks.append(f'<passage pair="{number}" place="{name}">\n{harmless}\n</passage>')
    return "\n\n".join(blocks)


def _holds(chunk: Chunk, sentence: str) -> bool:
    words = " ".join(sentence.replace("‹", "<").replace("›", ">").split())
    return bool(words) and words in " ".join(chunk.text.split())


def _side(chunk: Chunk, says: str) -> dict[str, str]:
    return {"title": heading_of(chunk), "uri": chunk.uri, "says": says}
