"""Composition with a chat model: typed claims, each checked against what it cites before it is shown."""

import re
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ombud.answer.citing import Composed, Stored, cite, inert, marked, number
from ombud.answer.extract import coverage, words_in
from ombud.answer.passages import evidence
from ombud.answer.verify import check_claim
from ombud.errors import MalformedOutput, ModelError
from ombud.index import analyse, numbers
from ombud.models import Chat, detect_language
from ombud.prompts import load as load_prompt
from ombud.types import Citation, Claim, Evidence, Hit, Outcome, Plan, Question

TAG = re.compile(r"<\s*(/?\s*passage)", re.IGNORECASE)
"""What would open or close a passage of ours inside one."""
MOST_CLAIMS, LONGEST_CLAIM = 40, 2000
"""Beyond is noise, and proving it would take seconds."""
LABEL = re.compile(r"[A-Z]\d{1,3}")
LONGEST_SUGGESTION = 150
LONGEST_NOTE, MOST_NOTES = 200, 20


class DraftClaim(BaseModel):
    text: str = Field(description="One or two plain sentences.")
    passages: list[str] = Field(description="Labels of the passages that say it, such as L1 or G2.")


class Draft(BaseModel):
    reasoning: str = Field(default="", description="Your working; never shown.")
    claims: list[DraftClaim] = Field(default=[], description="The answer, in order.")
    outcome: Literal["full", "partial", "denied"] = "full"
    suggestions: list[str] = Field(default=[], description="Up to three short follow-up questions.")


class Written(NamedTuple):
    model: str
    """The one that answered."""
    composed: Composed
    outcome: Outcome
    suggestions: tuple[str, ...]
    prompts: dict[str, str]
    tokens_in: int
    tokens_out: int
    price: float | None
    evidence: tuple[Hit, ...]
    notes: tuple[str, ...]
    degraded: tuple[str, ...]


async def compose(
    question: Question,
    evidence: Evidence,
    plan: Plan,
    chat: Chat,
    stored: Stored,
    *,
    organisation: str,
    day: date,
    seconds: float,
    prompts: Path | None = None,
) -> Written:
    """Ask the model, check, repair once; raises ModelError where it cannot answer in time or in form.

    A claim that still fails its check is left out and the outcome lowered.
    """
    deadline = time.monotonic() + seconds
    kept = _fit(evidence, plan.budget_tokens)
    labels = _labels(kept)
    rules, form = load_prompt("compose", chat.name, prompts), load_prompt("question", chat.name, prompts)
    instructions = rules.fill(organisation=organisation)
    prompt = form.fill(**_fields(question, labels, day))
    sent = [rules, form]
    reply = await chat.reply(instructions, prompt, Draft, temperature=plan.temperature, seconds=seconds)
    replies = [reply]
    problems = _problems(reply.value, labels, question.text)
    left = deadline - time.monotonic()
    if problems and plan.refine and left > 0:
        repair = load_prompt("repair", chat.name, prompts)
        sent.append(repair)
        again = f"{prompt}\n\n=== Your answer ===\n{_echo(reply.value)}\n\n"
        again += repair.fill(problems="\n".join(f"- {p}" for p in dict.fromkeys(problems.values())))
        try:
            second = await chat.reply(instructions, again, Draft, temperature=plan.temperature, seconds=left)
            problems = _problems(second.value, labels, question.text)
            replies.append(second)
        except ModelError:
            if len(problems) == len(reply.value.claims):
                raise
            # What the first draft could prove is worth more than starting over.
    reply = replies[-1]
    composed, dropped = _assemble(reply.value, labels, problems, stored)
    if not composed.claims and _astray(reply.value, labels):
        raise MalformedOutput("What the model wrote was endless, or not in the language of the documents.")
    outcome = _outcome(reply.value, composed, dropped)
    prices = [r.price for r in replies]
    return Written(
        reply.model,
        composed,
        outcome,
        _suggestions(reply.value, labels),
        {prompt.name: prompt.digest for prompt in sent},
        sum(r.tokens_in for r in replies),
        sum(r.tokens_out for r in replies),
        None if None in prices else sum(p for p in prices if p is not None),
        kept,
        tuple(f"claim left out: {reason[:LONGEST_NOTE]}" for reason in dropped[:MOST_NOTES]),
        tuple(f"prompt: {prompt.note}" for prompt in sent if prompt.note),
    )


def _astray(draft: Draft, labels: dict[str, Hit]) -> bool:
    """Whether a draft of which nothing could be proven is noise: then quotes are worth more than a denial."""
    spoken = {hit.chunk.language for hit in labels.values()}
    text = " ".join(claim.text for claim in draft.claims[:MOST_CLAIMS])
    return len(draft.claims) > MOST_CLAIMS or detect_language(text, min(spoken)) not in spoken


def _echo(draft: Draft) -> str:
    claims = [c for c in draft.claims[:MOST_CLAIMS] if len(c.text) <= LONGEST_CLAIM]
    return draft.model_copy(update={"reasoning": "", "claims": claims}).model_dump_json()


def _fit(evidence: Evidence, budget: int) -> tuple[Hit, ...]:
    """Hits from the top while they fit the budget, in estimated tokens (words x 4/3); whole chunks only."""
    kept: list[Hit] = []
    spent = 0.0
    for hit in evidence.hits:
        spent += words_in(f"{hit.chunk.header} {hit.chunk.text}") * 4 / 3
        if kept and spent > budget:
            break
        kept.append(hit)
    return tuple(kept)


def _labels(hits: Sequence[Hit]) -> dict[str, Hit]:
    local = [h for h in hits if h.chunk.countries]
    shared = [h for h in hits if not h.chunk.countries]
    return {f"{letter}{i}": h for letter, hs in (("L", local), ("G", shared)) for i, h in enumerate(hs, start=1)}


def _fields(question: Question, labels: dict[str, Hit], day: date) -> dict[str, str]:
    def section(letter: str) -> str:
        return "\n\n".join(_passage(label, h) for label, h in labels.items() if label[0] == letter) or "(none)"

    asker = question.asker
    return {
        "date": day.isoformat(),
        "country": asker.country or "not given",
        "roles": ", ".join(asker.roles) or "none",
        "grade": asker.grade or "not given",
        "local": section("L"),
        "shared": section("G"),
        "history": "\n".join(f"{m.role}: {m.content}" for m in question.history[-6:]) or "(nothing)",
        "question": question.text,
    }


def _passage(label: str, hit: Hit) -> str:
    chunk = hit.chunk
    mark = " MANDATORY" if chunk.mandatory else ""
    body = TAG.sub(r"< \1", f"{chunk.header}\n{chunk.text}".strip())
    title = TAG.sub(r"< \1", " > ".join(chunk.trail)).replace('"', "'")
    return f'<passage label="{label}"{mark} title="{title}">\n{body}\n</passage>'


def _problems(draft: Draft, labels: dict[str, Hit], question: str) -> dict[int, str]:
    """Position of each claim that fails -> why."""
    if draft.outcome != "denied" and not draft.claims:
        raise MalformedOutput("The model gave an answer without claims.")
    found: dict[int, str] = {}
    for i, claim in enumerate(draft.claims):
        if i >= MOST_CLAIMS or len(claim.text) > LONGEST_CLAIM:
            found[i] = "it is more than an answer may say"
            continue
        unknown = [p for p in claim.passages if p not in labels]
        cited = [labels[p].chunk for p in claim.passages if p in labels]
        said = [f"there is no passage {p if LABEL.fullmatch(p) else 'of that label'}" for p in unknown]
        said += check_claim(claim.text, cited, question)
        if said:
            found[i] = f"“{claim.text}”: {'; '.join(said)}"
    return found


def _assemble(
    draft: Draft, labels: dict[str, Hit], problems: dict[int, str], stored: Stored
) -> tuple[Composed, list[str]]:
    citations: list[Citation] = []
    parts: list[tuple[str, int]] = []
    dropped = [reason.split("”: ")[-1] for reason in problems.values()]
    for i, claim in enumerate(draft.claims):
        proofs = [p for label in claim.passages if label in labels and (p := _proof(claim.text, labels[label], stored))]
        if i in problems or not proofs:
            dropped += [] if i in problems else ["what it cites is no longer stored as it was"]
            continue
        parts.append((inert(claim.text.strip()), len(proofs)))
        citations += proofs
    distinct, places = number(citations)
    claims: list[Claim] = []
    for text, count in parts:
        mine, places = places[:count], places[count:]
        claims.append(Claim(text=text, citations=tuple(dict.fromkeys(mine))))
    body = "\n\n".join(marked(c.text, c.citations) for c in claims)
    return Composed(tuple(claims), tuple(distinct), body), dropped


def _proof(claim: str, hit: Hit, stored: Stored) -> Citation | None:
    """The sentence of the passage that bears the claim out best, by its terms and its numbers, cited word for word."""
    chunk = hit.chunk
    weights = dict.fromkeys(analyse(claim, chunk.language), 1.0)
    counted = numbers(claim)

    def borne_out(span: tuple[int, int]) -> float:
        text = chunk.text[slice(*span)]
        figures = len(counted & numbers(text)) / len(counted) if counted else 0.0
        return coverage(weights, set(analyse(text, chunk.language))) + figures

    spans = [(s, e) for s, e in evidence(chunk.text, chunk.language) if chunk.text[s:e].strip()]
    if not spans:
        return None
    start, end = max(spans, key=borne_out)
    return cite(hit, chunk.start + start, chunk.start + end, stored)


def _suggestions(draft: Draft, labels: dict[str, Hit]) -> tuple[str, ...]:
    """Questions that the passages bear out too: nothing a model says is shown unchecked."""
    passages = [hit.chunk for hit in labels.values()]
    asked = (" ".join(s.split()) for s in draft.suggestions[:3])
    questions = [s for s in asked if s.endswith(("?", "？")) and len(s) <= LONGEST_SUGGESTION]
    return tuple(s for s in questions if not check_claim(s, passages))


def _outcome(draft: Draft, composed: Composed, dropped: list[str]) -> Outcome:
    if not composed.claims:
        return "denied"
    return "partial" if dropped or draft.outcome != "full" else "full"
