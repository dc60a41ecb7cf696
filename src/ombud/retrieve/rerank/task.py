"""What a reranker gets: the pool of one question, and what it may ask about it."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from ombud.errors import ModelUnavailable
from ombud.models import Chat, Reranker
from ombud.prompts import load as load_prompt
from ombud.retrieve.model import ModelUsage, usage_of
from ombud.types import Hit, Plan

T = TypeVar("T", bound=BaseModel)
LONGEST = 2000
"""Characters of a question or a passage that a chat model reads here: a chunk of 256 tokens has
about 1,200."""
TAG = re.compile(r"<\s*(/?\s*(?:passage|question))", re.IGNORECASE)
"""What would open or close a passage of ours inside one."""


class RerankParts(NamedTuple):
    """The parts of the workspace that a reranker needs."""

    chat: Chat | None
    cross_encoder: Reranker | None
    seconds: float
    """Wall clock of the whole reranking, however many calls it makes."""
    organisation: str
    prompts: Path | None


class RerankTask:
    """The pool of one question, its budget of calls and their usage."""

    def __init__(self, question: str, hits: Sequence[Hit], plan: Plan, index: RerankParts) -> None:
        self.question = question
        self.hits = hits
        self.plan = plan
        self.index = index
        self._deadline = time.monotonic() + index.seconds
        self.spent = ModelUsage()
        self.notes: dict[str, None] = {}
        """What the trace should say, each once."""

    @property
    def left(self) -> float:
        """Return the remaining seconds of the whole reranking."""
        return self._deadline - time.monotonic()

    def note(self, what: str) -> None:
        self.notes[what] = None

    async def ask(self, prompt: str, kind: type[T], passages: str, **more: str) -> T:
        """Return the chat model's typed reply to prompt file `prompt`; raises ModelError."""
        chat = self.index.chat
        if chat is None:
            raise ModelUnavailable("There is no chat model.", hint="Set models.chat.")
        rules = load_prompt(prompt, chat.name, self.index.prompts)
        if rules.note:
            self.note(f"prompt: {rules.note}")
        reply = await chat.reply(
            rules.fill(organisation=self.index.organisation, **more),
            f"<question>\n{as_data(self.question)}\n</question>\n\n{passages}",
            kind,
            temperature=self.plan.temperature,
            seconds=max(0.001, self.left),
        )
        self.spent = self.spent.plus(usage_of(reply, rules))
        return reply.value

    def by_scores(self, scores: Sequence[float]) -> list[int]:
        """Return the places of the hits, best score first. On a tie local comes before global, then
        the old order counts."""

        def rank(place: int) -> tuple[float, bool, int]:
            chunk = self.hits[place].chunk
            return -scores[place], not chunk.countries, place

        return sorted(range(len(self.hits)), key=rank)


RerankOrder = Callable[[RerankTask], Awaitable[list[int]]]
"""Places of task.hits, each once, best first; raises ModelError or EngineError where it has
none."""


def passage_text(hit: Hit, number: int | None = None) -> str:
    """Return a passage as data that cannot close its delimiter, delimited as for the answer
    (`answer/compose/prompting.py`)."""
    chunk = hit.chunk
    label = "" if number is None else f' number="{number}"'
    scope = "local" if chunk.countries else "global"
    title = as_data(" > ".join(chunk.trail)).replace('"', "'")
    body = as_data(f"{chunk.header}\n{chunk.text}")
    return f'<passage{label} scope="{scope}" title="{title}">\n{body}\n</passage>'


def as_data(text: str) -> str:
    return TAG.sub(r"< \1", text.strip()[:LONGEST])
