"""What a chat model adds to triage: it may raise what the classifier doubts, and lowers nothing
that needs a person."""

import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ombud.answer.triage.checking import Label, TriageResult
from ombud.answer.triage.sensitive import UNNAMED, Matter
from ombud.errors import ModelError
from ombud.models import Chat, ChatReply
from ombud.prompts import Prompt
from ombud.prompts import load as load_prompt
from ombud.retrieve import ModelUsage, SearchParts, SearchResult, usage_of
from ombud.types import Question

LONGEST = 4000
"""Characters of the message that a model reads: the same as the classifier."""
Verdict = Literal["ordinary", "sensitive", "out_of_scope", "vague"]


class ModelVerdict(BaseModel):
    label: Verdict
    danger: bool | None = Field(
        default=None, description="Somebody may come to harm soon; null: cannot be told."
    )


class Refined(NamedTuple):
    triaged: TriageResult
    spent: ModelUsage = ModelUsage()
    degraded: tuple[str, ...] = ()
    seconds: Mapping[str, float] = {}


async def refine(
    triaged: TriageResult, question: Question, found: SearchResult, knowledge: SearchParts
) -> Refined:
    """Triage with a model's word on it: that of the strategy `understand` where it ran, else one
    call of its own.

    A model that fails changes nothing but `degraded`.
    """
    if triaged.injected or triaged.label in ("sensitive", "person"):
        return Refined(triaged)
    if found.understood:
        return Refined(apply(triaged, ModelVerdict(label=found.understood.triage)))
    if knowledge.chat is None or _has_failed(found):
        return Refined(triaged)
    started = time.perf_counter()
    try:
        reply, prompts = await _ask(question, knowledge.chat, knowledge)
    except ModelError:
        note = "triage: the chat model gave no verdict, judged without it"
        return Refined(triaged, degraded=(note,))
    return Refined(
        triaged=apply(triaged, reply.value),
        spent=usage_of(reply, *prompts),
        seconds={"triage model": time.perf_counter() - started},
    )


def _has_failed(found: SearchResult) -> bool:
    """Whether the chat model failed a moment ago, when it should have written search texts."""
    return any(note.startswith("strategy: ") and "failed (" in note for note in found.degraded)


async def _ask(
    question: Question, chat: Chat, knowledge: SearchParts
) -> tuple[ChatReply[ModelVerdict], tuple[Prompt, ...]]:
    """The verdict, and the prompts that it was asked for with; raises ModelError."""
    rules = load_prompt("triage", chat.name, knowledge.prompts)
    form = load_prompt("situation", chat.name, knowledge.prompts)
    message = form.fill(
        country=question.asker.country or "not given",
        history="(not shown)",
        question=question.text[:LONGEST],
    )
    reply = await chat.reply(
        rules.fill(organisation=knowledge.organisation),
        message,
        ModelVerdict,
        temperature=0.0,
        seconds=knowledge.seconds,
    )
    return reply, (rules, form)


def apply(triaged: TriageResult, verdict: ModelVerdict) -> TriageResult:
    """Return `triaged` after a model's verdict.

    A model alone hands nothing over: what the classifier finds ordinary is answered, and a person
    is offered beside. Nothing that the classifier finds sensitive is taken back."""
    if triaged.label in ("sensitive", "person"):
        return triaged
    is_alarming = verdict.label == "sensitive" or bool(verdict.danger)
    if is_alarming and triaged.offers_person:
        matter = Matter(UNNAMED, triaged.scores.topic, danger=False)
        return triaged._replace(label="sensitive", matter=matter)
    if is_alarming:
        return triaged._replace(label="ordinary", offers_person=True)
    label: Label = "out_of_scope" if verdict.label == "out_of_scope" else "ordinary"
    return triaged._replace(label=label)
