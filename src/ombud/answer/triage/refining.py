"""What a chat model adds to triage: it may raise what the classifier doubts, and have answered
first what no term names. It never takes back that a person is offered."""

import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ombud.answer.triage.checking import Label, TriageResult
from ombud.answer.triage.phrases import MOST_READ
from ombud.answer.triage.sensitive import UNNAMED, Matter
from ombud.errors import ModelError
from ombud.prompts import load as load_prompt
from ombud.retrieve import ModelUsage, SearchParts, SearchResult, usage_of
from ombud.types import Question

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
    triaged: TriageResult, question: Question, results: SearchResult, knowledge: SearchParts
) -> Refined:
    """Refine triage by the verdict of a chat model: that of the strategy `understand` where it ran,
    else one call of its own. A model that fails changes nothing but `degraded`."""
    chat = knowledge.chat
    if triaged.injected or triaged.label == "person":
        return Refined(triaged)
    if triaged.label == "sensitive":
        return Refined(_answered_first(triaged, results))
    if results.understood:
        return Refined(apply(triaged, ModelVerdict(label=results.understood.triage)))
    has_just_failed = any("strategy: " in note and "failed (" in note for note in results.degraded)
    if chat is None or has_just_failed:
        return Refined(triaged)
    started = time.perf_counter()
    rules = load_prompt("triage", chat.name, knowledge.prompts)
    form = load_prompt("situation", chat.name, knowledge.prompts)
    message = form.fill(
        country=question.asker.country or "not given",
        history="(not shown)",
        question=question.text[:MOST_READ],
    )
    system = rules.fill(organisation=knowledge.organisation)
    try:
        reply = await chat.reply(
            system, message, ModelVerdict, temperature=0.0, seconds=knowledge.seconds
        )
    except ModelError:
        note = "triage: the chat model gave no verdict, judged without it"
        return Refined(triaged, degraded=(note,))
    return Refined(
        triaged=apply(triaged, reply.value),
        spent=usage_of(reply, rules, form),
        seconds={"triage model": time.perf_counter() - started},
    )


def _answered_first(triaged: TriageResult, results: SearchResult) -> TriageResult:
    """Return triage that treats a question as ordinary if only the classifier sees trouble in it
    and a model does not, and offers a person beside."""
    matter = triaged.matter
    if matter is None or not matter.is_guess:
        return triaged
    if results.understood is None or results.understood.triage != "ordinary":
        return triaged
    return triaged._replace(label="ordinary", matter=None, offers_person=True)


def apply(triaged: TriageResult, verdict: ModelVerdict) -> TriageResult:
    """Return triage after a model's verdict. A model alone never hands over: what the classifier
    finds ordinary is answered, and a person is offered beside."""
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
