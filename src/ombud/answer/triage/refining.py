"""What a chat model adds to triage. It may raise anything; it may lower only what no term and no
certainty holds up."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ombud.answer.triage.classifying import TriageResult
from ombud.answer.triage.sensitive import Matter
from ombud.errors import ModelError
from ombud.models import Chat
from ombud.prompts import load as load_prompt
from ombud.retrieve import ModelUsage, SearchResult
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
    seen: TriageResult
    spent: ModelUsage = ModelUsage()
    degraded: tuple[str, ...] = ()
    seconds: Mapping[str, float] = {}


async def refine(
    seen: TriageResult,
    question: Question,
    found: SearchResult,
    chat: Chat | None,
    *,
    organisation: str,
    seconds: float,
    prompts: Path | None = None,
) -> Refined:
    """Triage with a model's word on it: that of the strategy `understand` where it ran, else one
    call of its own.

    A model that fails changes nothing but `degraded`.
    """
    if seen.settled and not seen.matter:
        return Refined(seen)
    if found.understood:
        return Refined(apply(seen, ModelVerdict(label=found.understood.triage)))
    down = any(said.startswith("strategy: ") and "failed (" in said for said in found.degraded)
    if chat is None or down:  # it failed a moment ago
        return Refined(seen)
    started = time.perf_counter()
    rules, form = (
        load_prompt("triage", chat.name, prompts),
        load_prompt("situation", chat.name, prompts),
    )
    text = question.text[:LONGEST]
    message = form.fill(
        country=question.asker.country or "not given", history="(not shown)", question=text
    )
    try:
        reply = await chat.reply(
            rules.fill(organisation=organisation),
            message,
            ModelVerdict,
            temperature=0.0,
            seconds=seconds,
        )
    except ModelError:
        return Refined(
            seen, degraded=("triage: the chat model gave no verdict, judged without it",)
        )
    used = {rules.name: rules.digest, form.name: form.digest}
    spent = ModelUsage(reply.model, used, reply.tokens_in, reply.tokens_out, reply.price)
    return Refined(
        apply(seen, reply.value), spent, (), {"triage model": time.perf_counter() - started}
    )


def apply(seen: TriageResult, said: ModelVerdict) -> TriageResult:
    """`seen` after a model's verdict."""
    if seen.matter:
        if said.label == "sensitive":
            return seen._replace(
                matter=seen.matter._replace(danger=seen.matter.danger or bool(said.danger))
            )
        if seen.settled or said.danger:
            return seen
        return seen._replace(
            label="out_of_scope" if said.label == "out_of_scope" else "ordinary", matter=None
        )
    if said.label == "sensitive" or said.danger:
        danger = seen.risky if said.danger is None else said.danger
        return seen._replace(label="sensitive", matter=Matter("told", seen.topic, danger=danger))
    if seen.settled:
        return seen
    return seen._replace(label="out_of_scope" if said.label == "out_of_scope" else "ordinary")
