"""Triplets by a chat model: one typed call a passage, several at once; one more that says which
names mean the same."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from ombud.errors import ModelError, ModelUnavailable
from ombud.graph.phrases import StatedTriplet
from ombud.models import Chat, at_most
from ombud.prompts import load
from ombud.text import display_name, entity_key, entity_stems
from ombud.types import Chunk

T = TypeVar("T", bound=BaseModel)
CALLS = 8
"""Calls at the same time."""
PATIENCE = 8
"""Calls in a row without an answer after which the model is taken for gone."""
MOST_NAMES = 150
"""Names in the one call that merges entities."""
MOST_TRIPLETS = 40
"""Of one passage, which has about ten sentences."""
GROUNDED = 0.5
"""Share of a name's stems that its passage must hold."""
ALIKE, SPELT_ALIKE = 0.5, 0.88
"""Share of common words, or of common characters, from which two names may be one."""


class ModelTriplet(BaseModel):
    subject: str = Field(max_length=300)
    predicate: str = Field(max_length=120)
    object: str = Field(max_length=600)


class ModelTriplets(BaseModel):
    triplets: Annotated[list[ModelTriplet], at_most(MOST_TRIPLETS)]


class Groups(BaseModel):
    groups: list[list[str]]


class Read(NamedTuple):
    said: Mapping[str, list[StatedTriplet]]
    """Chunk id -> what it says; chunks that could not be read are not there."""
    failed: Sequence[ModelError]


class Away(Exception):
    """The model does not answer at all; `why` is its last error."""

    def __init__(self, why: ModelError) -> None:
        super().__init__(str(why))
        self.why = why


class Asker:
    """A chat model as a reader of passages."""

    def __init__(self, chat: Chat, organisation: str, seconds: float, prompts: Path | None) -> None:
        self.chat, self._seconds = chat, seconds
        self._triplets, self._entities = (
            load(task, chat.name, prompts) for task in ("triplets", "entities")
        )
        self._organisation = organisation
        self._slots = asyncio.Semaphore(CALLS)
        self._unanswered = 0

    @property
    def recipe(self) -> tuple[str, ...]:
        return (self.chat.name, self._triplets.digest)

    async def read(self, chunks: Sequence[Chunk]) -> Read:
        """What the passages say; raises Away."""
        answers = await asyncio.gather(*(self._one(chunk) for chunk in chunks))
        said = {
            c.id: found
            for c, found in zip(chunks, answers, strict=True)
            if not isinstance(found, ModelError)
        }
        return Read(said, [found for found in answers if isinstance(found, ModelError)])

    async def same(
        self, pairs: Iterable[tuple[str, str]], names: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        """Those of the pairs of keys whose names the model puts into one group; raises
        ModelError."""
        offered = list(pairs)
        keys = list(dict.fromkeys(key for pair in offered for key in pair))[:MOST_NAMES]
        if len(keys) < 2:
            return []
        prompt = "\n".join(names[key] for key in keys)
        reply = await self._ask(
            self._entities.fill(organisation=self._organisation), prompt, Groups
        )
        group = {
            entity_key(name): number for number, found in enumerate(reply.groups) for name in found
        }
        return [(a, b) for a, b in offered if group.get(a, -1) == group.get(b, -2)]

    async def _one(self, chunk: Chunk) -> list[StatedTriplet] | ModelError:
        async with self._slots:
            try:
                instructions = self._triplets.fill(organisation=self._organisation)
                reply = await self._ask(instructions, as_read(chunk), ModelTriplets)
            except ModelUnavailable as away:
                self._unanswered += 1
                if self._unanswered >= PATIENCE:
                    raise Away(away) from away
                return away
            except ModelError as failed:
                return failed
            self._unanswered = 0
            return list(_grounded(reply.triplets, chunk))

    async def _ask(self, instructions: str, prompt: str, kind: type[T]) -> T:
        return (
            await self.chat.reply(
                instructions, prompt, kind, temperature=0.0, seconds=self._seconds
            )
        ).value


def as_read(chunk: Chunk) -> str:
    """A passage as a model sees it: the headings above it, a table's header, the text."""
    return "\n".join(part for part in (" > ".join(chunk.trail), chunk.header, chunk.text) if part)


def near_pairs(fresh: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of keys, one of them fresh, that share most of their words or characters, the likest
    first."""
    by_word: dict[str, set[str]] = {}
    for key in known:
        for word in key.split():
            by_word.setdefault(word, set()).add(key)
    found: dict[tuple[str, str], float] = {}
    for key in fresh:
        for other in set().union(*(by_word.get(word, set()) for word in key.split())) - {key}:
            likeness = _likeness(key, other)
            if likeness:
                found[min(key, other), max(key, other)] = likeness
    return sorted(found, key=lambda pair: (-found[pair], pair))


def _likeness(one: str, other: str) -> float:
    a, b = set(one.split()), set(other.split())
    # Figures decide: "4 weeks" and "6 weeks", "section 5" and "section 6".
    if {w for w in a if any(map(str.isdigit, w))} != {w for w in b if any(map(str.isdigit, w))}:
        return 0.0
    shared = len(a & b) / len(a | b)
    spelt = SequenceMatcher(None, one, other).ratio()
    return max(shared, spelt) if shared >= ALIKE or spelt >= SPELT_ALIKE else 0.0


def _grounded(statements: Iterable[ModelTriplet], chunk: Chunk) -> Iterator[StatedTriplet]:
    """Without those whose subject or object is not of the passage, and without empty ones."""
    held = set(entity_stems(as_read(chunk), chunk.language))
    for one in statements:
        said = StatedTriplet(
            display_name(one.subject), " ".join(one.predicate.split()), display_name(one.object)
        )
        if all(said) and all(
            _is_held(part, held, chunk.language) for part in (said.subject, said.object)
        ):
            yield said


def _is_held(text: str, held: set[str], language: str) -> bool:
    parts = entity_stems(text, language)
    return not parts or sum(part in held for part in parts) >= GROUNDED * len(parts)
