"""Triplets by a chat model: one typed call for a few passages, several at once; one more that says
which names mean the same."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.graph.phrases import StatedTriplet
from ombud.models import Chat, at_most
from ombud.prompts import load
from ombud.text import display_name, entity_key, entity_stems
from ombud.types import Chunk

T = TypeVar("T", bound=BaseModel)
CALLS = 8
"""Calls at the same time."""
PASSAGES = 6
"""Passages of one call: the instructions are as long as two passages, and a reply that breaks off
loses no more than these."""
PATIENCE = 8
"""Calls in a row without an answer after which the model is taken for gone."""
MOST_NAMES = 150
"""Names in the one call that merges entities."""
MOST_TRIPLETS = 40
"""Of one passage, which has about ten sentences."""
GROUNDED = 0.5
"""Share of a name's stems that its passage must hold."""
MARK = re.compile(r"<\s*(/?\s*passage)", re.IGNORECASE)
"""What would open or close a passage of ours inside one."""
ALIKE = 0.5
SPELT_ALIKE = 0.88
"""Share of common words, or of common characters, from which two names may be one."""


class ModelTriplet(BaseModel):
    subject: str = Field(max_length=300)
    predicate: str = Field(max_length=120)
    object: str = Field(max_length=600)


class PassageTriplets(BaseModel):
    number: int = Field(description="Of the passage.")
    triplets: Annotated[list[ModelTriplet], at_most(MOST_TRIPLETS)]


class ModelTriplets(BaseModel):
    passages: Annotated[list[PassageTriplets], at_most(PASSAGES)]


class EntityGroups(BaseModel):
    groups: list[list[str]]


class ModelReading(NamedTuple):
    stated: Mapping[str, list[StatedTriplet]]
    """Chunk id -> what it says; chunks that could not be read are not there."""
    errors: Sequence[ModelError]


class ModelAway(Exception):
    """The model does not answer at all; `why` is its last error."""

    def __init__(self, why: ModelError) -> None:
        super().__init__(str(why))
        self.why = why


class ModelExtractor:
    """A chat model as a reader of passages.

    seconds: most of one call; prompts: a folder of the workspace's own."""

    def __init__(self, chat: Chat, organisation: str, seconds: float, prompts: Path | None) -> None:
        self.chat = chat
        self._seconds = seconds
        self._organisation = organisation
        self._triplets_prompt = load("triplets", chat.name, prompts)
        self._entities_prompt = load("entities", chat.name, prompts)
        self._slots = asyncio.Semaphore(CALLS)
        self._unanswered = 0

    @property
    def recipe(self) -> tuple[str, ...]:
        return (self.chat.name, self._triplets_prompt.digest)

    async def read(self, chunks: Sequence[Chunk]) -> ModelReading:
        """What the passages say; raises ModelAway."""
        batches = [chunks[start : start + PASSAGES] for start in range(0, len(chunks), PASSAGES)]
        readings = await asyncio.gather(*(self._read_batch(batch) for batch in batches))
        left_out: list[Chunk] = []
        for batch, reading in zip(batches, readings, strict=True):
            if len(batch) > 1:
                left_out += [chunk for chunk in batch if chunk.id not in reading.stated]
        # What a reply left out, or that came in one that could not be read, is read alone.
        readings += await asyncio.gather(*(self._read_batch([chunk]) for chunk in left_out))
        return _joined(readings, chunks)

    async def same_entities(
        self, pairs: Sequence[tuple[str, str]], names: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        """Those of the pairs of keys whose names the model puts into one group; raises
        ModelError."""
        keys = list(dict.fromkeys(chain.from_iterable(pairs)))[:MOST_NAMES]
        if len(keys) < 2:
            return []
        instructions = self._entities_prompt.fill(organisation=self._organisation)
        listed = "\n".join(names[key] for key in keys)
        reply = await self._ask(instructions, listed, EntityGroups)
        group_of: dict[str, int] = {}
        for number, group in enumerate(reply.groups):
            for name in group:
                group_of[entity_key(name)] = number
        same: list[tuple[str, str]] = []
        for key, other in pairs:
            if key in group_of and group_of[key] == group_of.get(other):
                same.append((key, other))
        return same

    async def _read_batch(self, chunks: Sequence[Chunk]) -> ModelReading:
        async with self._slots:
            instructions = self._triplets_prompt.fill(organisation=self._organisation)
            try:
                reply = await self._ask(instructions, numbered_passages(chunks), ModelTriplets)
            except ModelUnavailable as away:
                self._unanswered += 1
                if self._unanswered >= PATIENCE:
                    raise ModelAway(away) from away
                return ModelReading({}, [away])
            except ModelError as failed:
                return ModelReading({}, [failed])
            self._unanswered = 0
            return ModelReading(_by_chunk(reply.passages, chunks), [])

    async def _ask(self, instructions: str, prompt: str, kind: type[T]) -> T:
        reply = await self.chat.reply(
            instructions,
            prompt,
            kind,
            temperature=0.0,
            seconds=self._seconds,
        )
        return reply.value


def passage_text(chunk: Chunk) -> str:
    """A passage as a model sees it: the headings above it, a table's header, the text."""
    parts = (" > ".join(chunk.trail), chunk.header, chunk.text)
    return "\n".join(filter(None, parts))


def numbered_passages(chunks: Sequence[Chunk]) -> str:
    """Several passages, each between marks with its number, from 1."""
    passages: list[str] = []
    for number, chunk in enumerate(chunks, start=1):
        body = MARK.sub(r"< \1", passage_text(chunk))
        passages.append(f'<passage number="{number}">\n{body}\n</passage>')
    return "\n\n".join(passages)


def _by_chunk(
    passages: Iterable[PassageTriplets], chunks: Sequence[Chunk]
) -> dict[str, list[StatedTriplet]]:
    stated: dict[str, list[StatedTriplet]] = {}
    for passage in passages:
        if 1 <= passage.number <= len(chunks):
            chunk = chunks[passage.number - 1]
            stated.setdefault(chunk.id, []).extend(_grounded(passage.triplets, chunk))
    return stated


def _joined(readings: Sequence[ModelReading], chunks: Sequence[Chunk]) -> ModelReading:
    """All that was read; an error for each passage that nothing was said of."""
    stated: dict[str, list[StatedTriplet]] = {}
    errors: list[ModelError] = []
    for reading in readings:
        stated.update(reading.stated)
        errors += reading.errors
    unread = [chunk for chunk in chunks if chunk.id not in stated]
    if unread and not errors:
        errors.append(MalformedOutput("The model said nothing of a passage."))
    return ModelReading(stated, errors[-1:] * len(unread))


def near_pairs(new_keys: Iterable[str], keys: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of keys, one of them new, that share most of their words or characters, the likest
    first."""
    by_word: dict[str, set[str]] = {}
    for key in keys:
        for word in key.split():
            by_word.setdefault(word, set()).add(key)
    likenesses: dict[tuple[str, str], float] = {}
    for key in new_keys:
        others: set[str] = set()
        for word in key.split():
            others |= by_word.get(word, set())
        for other in others - {key}:
            likeness = _likeness(key, other)
            if likeness:
                likenesses[min(key, other), max(key, other)] = likeness
    return sorted(likenesses, key=lambda pair: (-likenesses[pair], pair))


def _likeness(key: str, other: str) -> float:
    words = set(key.split())
    other_words = set(other.split())
    # Figures decide: "4 weeks" and "6 weeks", "section 5" and "section 6".
    if _with_digits(words) != _with_digits(other_words):
        return 0.0
    shared = len(words & other_words) / len(words | other_words)
    spelt = SequenceMatcher(None, key, other).ratio()
    if shared >= ALIKE or spelt >= SPELT_ALIKE:
        return max(shared, spelt)
    return 0.0


def _with_digits(words: Iterable[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}


def _grounded(triplets: Iterable[ModelTriplet], chunk: Chunk) -> Iterator[StatedTriplet]:
    """Without those whose subject or object is not of the passage, and without empty ones."""
    passage_stems = set(entity_stems(passage_text(chunk), chunk.language))
    for triplet in triplets:
        stated = StatedTriplet(
            subject=display_name(triplet.subject),
            predicate=" ".join(triplet.predicate.split()),
            object=display_name(triplet.object),
        )
        if not all(stated):
            continue
        if not _is_held(stated.subject, passage_stems, chunk.language):
            continue
        if _is_held(stated.object, passage_stems, chunk.language):
            yield stated


def _is_held(text: str, passage_stems: set[str], language: str) -> bool:
    stems = entity_stems(text, language)
    held = sum(stem in passage_stems for stem in stems)
    return not stems or held >= GROUNDED * len(stems)
