"""The fused pool in a better order. Every reranker fails open: the order stays as it was, and the
trace says why."""

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, Field

from ombud.errors import EngineError, MalformedOutput, ModelError, ModelUnavailable, UnknownName
from ombud.index import Engine
from ombud.models import Call, Chat, Reranker, at_most, record
from ombud.prompts import load as load_prompt
from ombud.retrieve.model import Spent
from ombud.retrieve.rerank.diversity import likeness_of_terms, likeness_of_vectors, mmr
from ombud.retrieve.rerank.nearness import descending
from ombud.types import Hit, Plan

T = TypeVar("T", bound=BaseModel)
WINDOW, STRIDE = 10, 5
"""Passages that one listwise call orders, and how far the next window lies nearer to the front."""
GRACE = 1.0
"""Seconds over the deadline after which a reranker is cut off. Calls end at it by themselves: of
one that is cut off nobody would learn that its model is silent, and every question would wait for
it anew. """
CONCURRENT = 8
"""Pointwise calls under way at once, for one question."""
BALANCE = 0.7
"""Lambda of MMR: the share of relevance, the rest is novelty. Measured on 184 dev cases:
quote@1000w .845 -> .845 where one passage settles the question and .699 -> .706 where several do;
from .5 down both fall. """
LONGEST = 2000
"""Characters of a question or a passage that a chat model reads here: a chunk of 256 tokens has
about 1,200."""
TAG = re.compile(r"<\s*(/?\s*(?:passage|question))", re.IGNORECASE)
"""What would open or close a passage of ours inside one."""


class RerankParts(Protocol):
    """What a reranker needs of the workspace; `Index` of `search.py` has it."""

    @property
    def engine(self) -> Engine: ...
    @property
    def chat(self) -> Chat | None: ...
    @property
    def cross_encoder(self) -> Reranker | None: ...
    @property
    def seconds(self) -> float:
        """Wall clock of the whole reranking, however many calls it makes."""
        ...

    @property
    def organisation(self) -> str: ...
    @property
    def prompts(self) -> Path | None: ...


class Reranked(NamedTuple):
    hits: tuple[Hit, ...]
    """All that came in, best first."""
    degraded: tuple[str, ...] = ()
    spent: Spent = Spent()
    """Also what calls came to whose order was not taken."""


async def rerank_hits(
    question_text: str, hits: Sequence[Hit], plan: Plan, index: RerankParts
) -> Reranked:
    """The best plan.rerank_pool of `hits` (best first) in the order of plan.reranker, the others
    after them.

    Scores are handed out anew, so that whoever sorts by them gets this order: the first hit has the
    best score that came in, the second the next. They stay on the scale of the fusion, which
    confidence is calibrated on; a reranker's own scores would not. Raises UnknownName where no
    reranker has the name; any other failure leaves everything as it was and is one string in
    `degraded`. hits: only what the asker may see; texts of them go to the model."""
    order_by = reranker_of(plan.reranker)
    pool = tuple(hits[: plan.rerank_pool])
    task = Task(question_text, pool, plan, index)
    if plan.reranker == "none" or len(pool) < 2:
        return Reranked(tuple(hits))
    ordered = tuple(hits)
    try:
        async with asyncio.timeout(index.seconds + GRACE):
            order = await order_by(task)
        if order != list(range(len(pool))):
            ordered = tuple(descending([*(pool[i] for i in order), *hits[len(pool) :]]))
    except (TimeoutError, ModelError, EngineError) as failed:
        # Only what kind of error: its words may repeat what was sent, which no trace may hold.
        late = task.left <= 0 or isinstance(failed, TimeoutError)
        why = (
            f"gave no order within {index.seconds:.0f} seconds"
            if late
            else f"failed ({type(failed).__name__})"
        )
        task.note(f"rerank: {plan.reranker} {why}, kept the order")
    return Reranked(ordered, tuple(task.notes), task.spent)


def reranker_of(name: str) -> "Order":
    if name not in RERANKERS:
        raise UnknownName(
            f"No reranker is called `{name}`.", hint=f"Known: {', '.join(sorted(RERANKERS))}."
        )
    return RERANKERS[name]


class Task:
    """One question's pool, what may be asked about it, and what that came to."""

    def __init__(self, question: str, hits: Sequence[Hit], plan: Plan, index: RerankParts) -> None:
        self.question, self.hits, self.plan, self.index = question, hits, plan, index
        self._until = time.monotonic() + index.seconds
        self.spent = Spent()
        self.notes: dict[str, None] = {}
        """What the trace should say, each once."""

    @property
    def left(self) -> float:
        """Seconds of the whole reranking that are left."""
        return self._until - time.monotonic()

    def note(self, what: str) -> None:
        self.notes[what] = None

    async def ask(self, prompt: str, kind: type[T], passages: str, **more: str) -> T:
        """The typed answer of the chat model to prompt file `prompt`; raises ModelError."""
        chat = self.index.chat
        if chat is None:
            raise ModelUnavailable("There is no chat model.", hint="Set models.chat.")
        rules = load_prompt(prompt, chat.name, self.index.prompts)
        if rules.note:
            self.note(f"prompt: {rules.note}")
        reply = await chat.reply(
            rules.fill(organisation=self.index.organisation, **more),
            f"<question>\n{_data(self.question)}\n</question>\n\n{passages}",
            kind,
            temperature=self.plan.temperature,
            seconds=max(0.001, self.left),
        )
        used = {rules.name: rules.digest}
        self.spent = self.spent.plus(
            Spent(reply.model, used, reply.tokens_in, reply.tokens_out, reply.price)
        )
        return reply.value

    def by_scores(self, scores: Sequence[float]) -> list[int]:
        """Places of the hits, the best score first; at equal ones local before global, then as they
        were."""
        places = range(len(self.hits))
        return sorted(places, key=lambda i: (-scores[i], not self.hits[i].chunk.countries, i))


Order = Callable[[Task], Awaitable[list[int]]]
"""Places of task.hits, each once, best first; raises ModelError or EngineError where it has
none."""


# The rerankers ------------------------------------------------------------------------------------


async def as_they_were(task: Task) -> list[int]:
    return list(range(len(task.hits)))


async def by_mmr(task: Task) -> list[int]:
    """Maximal marginal relevance over the fused scores: no model, but fewer passages that say the
    same."""
    return await asyncio.to_thread(_mmr, task)


def _mmr(task: Task) -> list[int]:
    chunks = [hit.chunk for hit in task.hits]
    found = task.index.engine.vectors([chunk.id for chunk in chunks])
    # All or none: cosines of vectors and of words are not on one scale.
    whole = all(len(found.get(chunk.id, ())) for chunk in chunks)
    likeness = (
        likeness_of_vectors([found[c.id] for c in chunks]) if whole else likeness_of_terms(chunks)
    )
    return mmr([hit.score for hit in task.hits], likeness, BALANCE)


class Permutation(BaseModel):
    order: Annotated[list[int], at_most(WINDOW)] = Field(
        description="Numbers of the passages, the most relevant first."
    )


async def by_listwise(task: Task) -> list[int]:
    """Windows from the back to the front, so that what is good is carried forward: Sun et al.,
    RankGPT, EMNLP 2023.

    A window without a usable order keeps its own, and is noted; a call that fails ends it all.
    """
    order, all_windows = list(range(len(task.hits))), list(windows(len(task.hits)))
    unusable = 0
    for start, end in all_windows:
        window = order[start:end]
        passages = "\n\n".join(
            _passage(task.hits[place], number) for number, place in enumerate(window, start=1)
        )
        try:
            said = (await task.ask("listwise", Permutation, passages, count=str(len(window)))).order
        except MalformedOutput:
            said = []
        order[start:end] = permuted(window, said)
        unusable += not any(1 <= number <= len(window) for number in said)
    if unusable:
        which = f"{unusable} of {len(all_windows)} windows"
        task.note(f"rerank: listwise gave no usable order for {which}, which kept theirs")
    return order


def windows(count: int) -> Iterator[tuple[int, int]]:
    """(start, end) from the back to the front; the last one begins at 0, also where the stride does
    not divide."""
    end = count
    while True:
        start = max(0, end - WINDOW)
        yield start, end
        if start == 0:
            return
        end -= STRIDE


def permuted(window: Sequence[int], said: Sequence[int]) -> list[int]:
    """The window in the order of the numbers said, which count from 1; unknown and repeated ones
    are dropped, what was not said stays behind, as it was."""
    first = list(dict.fromkeys(window[number - 1] for number in said if 1 <= number <= len(window)))
    return [*first, *(place for place in window if place not in first)]


class Grade(BaseModel):
    relevance: int = Field(ge=0, le=3, description="0, 1, 2 or 3.")


async def by_pointwise(task: Task) -> list[int]:
    """A grade for each passage by itself, several at a time."""
    free = asyncio.Semaphore(CONCURRENT)

    async def grade(hit: Hit) -> float:
        async with free:
            return (await task.ask("pointwise", Grade, _passage(hit))).relevance

    asked = [asyncio.create_task(grade(hit)) for hit in task.hits]
    try:
        return task.by_scores(await asyncio.gather(*asked))
    finally:
        for one in asked:
            one.cancel()


async def by_cross_encoder(task: Task) -> list[int]:
    reranker = task.index.cross_encoder
    if reranker is None:
        raise ModelUnavailable("There is no cross-encoder.", hint="Set models.reranker.")
    chunks = [hit.chunk for hit in task.hits]
    texts = ["\n".join(filter(None, (" > ".join(c.trail), c.header, c.text))) for c in chunks]
    began = time.monotonic()
    scores = await reranker.score(task.question, texts, task.index.seconds)
    record(
        Call(
            "rerank",
            reranker.name,
            round(time.monotonic() - began, 4),
            price=reranker.price,
            attempts=1,
        )
    )
    task.spent = task.spent.plus(Spent(reranker.name, price=reranker.price))
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        raise MalformedOutput(f"The reranker `{reranker.name}` did not score every passage.")
    return task.by_scores(scores)


# What models read, and what comes of it -----------------------------------------------------------


def _passage(hit: Hit, number: int | None = None) -> str:
    """A passage as data: nothing in it can close its mark. Delimited as for the answer
    (`answer/compose/composing.py`)."""
    chunk = hit.chunk
    label = "" if number is None else f' number="{number}"'
    scope = "local" if chunk.countries else "global"
    title = _data(" > ".join(chunk.trail)).replace('"', "'")
    body = _data(f"{chunk.header}\n{chunk.text}")
    return f'<passage{label} scope="{scope}" title="{title}">\n{body}\n</passage>'


def _data(text: str) -> str:
    return TAG.sub(r"< \1", text.strip()[:LONGEST])


RERANKERS: dict[str, Order] = {
    "none": as_they_were,
    "mmr": by_mmr,
    "listwise": by_listwise,
    "pointwise": by_pointwise,
    "cross-encoder": by_cross_encoder,
}
