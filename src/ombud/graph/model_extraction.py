"""Extract triplets with a chat model: one typed call for a few passages, several calls at a time,
and one call that groups the names of the same entity."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from ombud.errors import BudgetSpent, MalformedOutput, ModelError, ModelUnavailable
from ombud.models import Chat, at_most
from ombud.prompts import load
from ombud.text import display_name, entity_key, entity_stems
from ombud.types import Chunk

T = TypeVar("T", bound=BaseModel)
PARALLEL_CALLS = 8
PASSAGES_PER_CALL = 6
"""The instructions are as long as two passages, and a reply that breaks off loses all passages of
its call."""
MAX_UNANSWERED_CALLS = 8
"""Calls in a row without a reply after which extraction stops."""
MAX_MERGED_NAMES = 150
"""Names in the one call that merges entities."""
MAX_TRIPLETS = 40
"""Triplets of one passage, which has about ten sentences."""
MIN_GROUNDED_STEMS = 0.5
"""Share of a name's stems that its passage must contain."""
PASSAGE_TAG = re.compile(r"<\s*(/?\s*passage)", re.IGNORECASE)
"""Text of a passage that the model might take for one of our passage tags."""
MIN_SHARED_WORDS = 0.5
MIN_SPELLING_RATIO = 0.88
"""Share of common words, or of common characters, from which two names may mean one entity."""


class ModelTriplet(BaseModel):  # These four classes are the schema of replies.
    subject: str = Field(max_length=300)
    predicate: str = Field(max_length=120)
    object: str = Field(max_length=600)


class PassageTriplets(BaseModel):
    number: int = Field(description="Of the passage.")
    triplets: Annotated[list[ModelTriplet], at_most(MAX_TRIPLETS)]


class ModelTriplets(BaseModel):
    passages: Annotated[list[PassageTriplets], at_most(PASSAGES_PER_CALL)]


class EntityGroups(BaseModel):
    groups: list[list[str]]


class StatedTriplet(NamedTuple):
    """A triplet in the words of its passage, before its ends are entities."""

    subject: str
    predicate: str
    object: str


class ModelReading(NamedTuple):
    stated: Mapping[str, list[StatedTriplet]]
    """Chunk id -> its triplets; chunks that could not be read are missing."""
    errors: Sequence[ModelError]


class ModelAway(Exception):
    """Raised when the model answers no calls at all; `why` is its last error."""

    def __init__(self, why: ModelError) -> None:
        super().__init__(str(why))
        self.why = why


class ModelExtractor:
    """A chat model that extracts triplets from passages.

    seconds: time limit of one call. prompts: folder of the workspace's own prompts."""

    def __init__(self, chat: Chat, organisation: str, seconds: float, prompts: Path | None) -> None:
        self.chat = chat
        self._seconds = seconds
        self._organisation = organisation
        self._triplets_prompt = load("triplets", chat.name, prompts)
        self._entities_prompt = load("entities", chat.name, prompts)
        self._slots = asyncio.Semaphore(PARALLEL_CALLS)
        self._unanswered = 0

    @property
    def recipe(self) -> tuple[str, ...]:
        """Model and prompt, which decide the triplets of a passage."""
        return (self.chat.name, self._triplets_prompt.digest)

    async def read(self, chunks: Sequence[Chunk]) -> ModelReading:
        """Extract the triplets of passages; raises ModelAway."""
        starts = range(0, len(chunks), PASSAGES_PER_CALL)
        batches = [chunks[start : start + PASSAGES_PER_CALL] for start in starts]
        readings = await asyncio.gather(*(self._read_batch(batch) for batch in batches))
        left_out: list[Chunk] = []
        for batch, reading in zip(batches, readings, strict=True):
            if len(batch) > 1:
                left_out += [chunk for chunk in batch if chunk.id not in reading.stated]
        # Passages that a reply left out, or whose reply was malformed, get a call of their own.
        readings += await asyncio.gather(*(self._read_batch([chunk]) for chunk in left_out))
        return join_readings(readings, chunks)

    async def same_entities(
        self, pairs: Sequence[tuple[str, str]], names: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        """Select the pairs of keys whose names the model puts into one group; raises ModelError."""
        keys = list(dict.fromkeys(chain.from_iterable(pairs)))[:MAX_MERGED_NAMES]
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
            except (BudgetSpent, ModelUnavailable) as away:
                self._unanswered += 1
                if self._unanswered >= MAX_UNANSWERED_CALLS:
                    raise ModelAway(away) from away
                return ModelReading({}, [away])
            except ModelError as failed:
                return ModelReading({}, [failed])
            self._unanswered = 0
            stated: dict[str, list[StatedTriplet]] = {}
            for passage in reply.passages:
                if 1 <= passage.number <= len(chunks):
                    chunk = chunks[passage.number - 1]
                    stated.setdefault(chunk.id, []).extend(grounded(passage.triplets, chunk))
            return ModelReading(stated, [])

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
    """Write a passage as a model reads it: the headings above it, a table's header, the text."""
    parts = (" > ".join(chunk.trail), chunk.header, chunk.text)
    return "\n".join(filter(None, parts))


def numbered_passages(chunks: Sequence[Chunk]) -> str:
    """Write passages between tags that number them from 1."""
    passages: list[str] = []
    for number, chunk in enumerate(chunks, start=1):
        body = PASSAGE_TAG.sub(r"< \1", passage_text(chunk))
        passages.append(f'<passage number="{number}">\n{body}\n</passage>')
    return "\n\n".join(passages)


def join_readings(readings: Sequence[ModelReading], chunks: Sequence[Chunk]) -> ModelReading:
    """Merge readings, with one error for each passage that no reply mentions."""
    stated: dict[str, list[StatedTriplet]] = {}
    errors: list[ModelError] = []
    for reading in readings:
        stated.update(reading.stated)
        errors += reading.errors
    unread = [chunk for chunk in chunks if chunk.id not in stated]
    if unread and not errors:
        errors.append(MalformedOutput("The model's reply left out a passage."))
    return ModelReading(stated, errors[-1:] * len(unread))


def near_pairs(new_keys: Iterable[str], keys: Iterable[str]) -> list[tuple[str, str]]:
    """Pair each new key with the keys that share most of its words or characters, most similar
    pairs first."""
    by_word: dict[str, set[str]] = {}
    for key in keys:
        for word in key.split():
            by_word.setdefault(word, set()).add(key)
    similarities: dict[tuple[str, str], float] = {}
    for key in new_keys:
        others: set[str] = set()
        for word in key.split():
            others |= by_word.get(word, set())
        for other in others - {key}:
            similarity = name_similarity(key, other)
            if similarity:
                similarities[min(key, other), max(key, other)] = similarity
    return sorted(similarities, key=lambda pair: (-similarities[pair], pair))


def name_similarity(key: str, other: str) -> float:
    """Compare two keys by words and by spelling; 0 if they are too different or hold different
    figures, as "4 weeks" and "6 weeks" do."""
    words = set(key.split())
    other_words = set(other.split())
    if any(any(map(str.isdigit, word)) for word in words ^ other_words):
        return 0.0
    shared = len(words & other_words) / len(words | other_words)
    spelling = SequenceMatcher(None, key, other).ratio()
    if shared >= MIN_SHARED_WORDS or spelling >= MIN_SPELLING_RATIO:
        return max(shared, spelling)
    return 0.0


def grounded(triplets: Iterable[ModelTriplet], chunk: Chunk) -> Iterator[StatedTriplet]:
    """Yield the complete triplets whose subject and object occur in the passage."""
    passage_stems = set(entity_stems(passage_text(chunk), chunk.language))
    for triplet in triplets:
        stated = StatedTriplet(
            subject=display_name(triplet.subject),
            predicate=" ".join(triplet.predicate.split()),
            object=display_name(triplet.object),
        )
        if not all(stated):
            continue
        if not is_grounded(stated.subject, passage_stems, chunk.language):
            continue
        if is_grounded(stated.object, passage_stems, chunk.language):
            yield stated


def is_grounded(name: str, passage_stems: set[str], language: str) -> bool:
    """Tell whether a passage contains enough of a name's stems."""
    stems = entity_stems(name, language)
    contained = sum(stem in passage_stems for stem in stems)
    return not stems or contained >= MIN_GROUNDED_STEMS * len(stems)
