"""The chat model as one question's strategies see it: typed texts, counted, each call once."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from ombud.errors import ModelUnavailable
from ombud.models import Chat, ChatReply, at_most, lean_form
from ombud.prompts import Prompt
from ombud.prompts import load as load_prompt
from ombud.types import Plan, Question

T = TypeVar("T", bound=BaseModel)
TURNS = 6
LONGEST = 2000
"""Earlier turns that a prompt shows, and characters of each: a pasted mail is not the question."""
MOST_KEYWORDS = 12
"""Keywords taken: more is noise, or an attack on the index."""
MOST_SUBQUESTIONS = 4
MOST_CHOICES = 4


class Understanding(BaseModel):
    """All that one call can say of a question."""

    model_config = ConfigDict(json_schema_extra=lean_form())

    standalone: str
    passage: str = ""
    keywords: Annotated[list[str], at_most(MOST_KEYWORDS)] = []
    subquestions: Annotated[list[str], at_most(MOST_SUBQUESTIONS)] = []
    """What one must find out to settle a question that needs several passages."""
    contexts: int = 1
    """Passages that are needed: 0, 1, 2, or 3 for three and more."""
    triage: Literal["ordinary", "sensitive", "out_of_scope", "vague"] = "ordinary"
    choices: Annotated[list[str], at_most(MOST_CHOICES)] = []
    """What a vague question may mean."""


class ModelUsage(NamedTuple):
    """The usage of model calls; `price` is None if the price of one call is unknown."""

    model: str = ""
    """Of all that were asked, parted by commas."""
    prompts: dict[str, str] = {}  # noqa: RUF012 - never written to
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        names = dict.fromkeys((*self.model.split(", "), other.model))
        price = None
        if self.price is not None and other.price is not None:
            price = self.price + other.price
        return ModelUsage(
            model=", ".join(name for name in names if name),
            prompts=self.prompts | other.prompts,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            price=price,
        )


def usage_of(reply: ChatReply[T], *prompts: Prompt) -> ModelUsage:
    """Return the usage of one call, with the digests of its prompts."""
    return ModelUsage(
        model=reply.model,
        prompts={prompt.name: prompt.digest for prompt in prompts},
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        price=reply.price,
    )


class StrategyModel:
    """The chat model of one question's strategies.

    chat: None where there is none; every call then raises ModelUnavailable. seconds: deadline of
    all calls together."""

    def __init__(
        self, chat: Chat | None, plan: Plan, organisation: str, seconds: float, prompts: Path | None
    ) -> None:
        self.chat = chat
        self._plan = plan
        self._organisation = organisation
        self._prompts = prompts
        self._deadline = time.monotonic() + seconds
        self._understanding: asyncio.Task[Understanding] | None = None
        self.understood: Understanding | None = None
        """What `understand` found out, once it has."""
        self.spent = ModelUsage()
        self.notes: dict[str, None] = {}
        """Prompts of the workspace that cannot be used, and why."""

    async def write(self, task: str, kind: type[T], question: Question, **more: str) -> T:
        """Return the typed reply to prompt `task`; raises ModelError."""
        if self.chat is None:
            raise ModelUnavailable("There is no chat model.", hint="Set models.chat.")
        rules = load_prompt(task, self.chat.name, self._prompts)
        form = load_prompt("situation", self.chat.name, self._prompts)
        for prompt in (rules, form):
            if prompt.note:
                self.notes[f"prompt: {prompt.note}"] = None
        reply = await self.chat.reply(
            rules.fill(organisation=self._organisation, **more),
            form.fill(**_fields(question)),
            kind,
            temperature=self._plan.temperature,
            seconds=max(0.001, self._deadline - time.monotonic()),
        )
        self.spent = self.spent.plus(usage_of(reply, rules, form))
        return reply.value

    async def understand(self, question: Question) -> Understanding:
        """Call the model once, however often this is awaited."""
        if self._understanding is None:
            call = self.write("understand", Understanding, question)
            self._understanding = asyncio.create_task(call)
        self.understood = await asyncio.shield(self._understanding)
        return self.understood


def _fields(question: Question) -> dict[str, str]:
    turns: list[str] = []
    for turn in question.history[-TURNS:]:
        turns.append(f"{turn.role}: {turn.content[:LONGEST]}")
    return {
        "country": question.asker.country or "not given",
        "history": "\n".join(turns) or "(none)",
        "question": question.text,
    }
