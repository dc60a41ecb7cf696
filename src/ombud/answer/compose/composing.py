"""Composition with a chat model: typed claims, each checked against what it cites before it is
shown."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.compose.drafts import LONGEST_CLAIM, MOST_CLAIMS, Draft, DraftClaim, Reader
from ombud.answer.compose.prompting import Told, connected, fit, labelled, tell
from ombud.answer.language import apology, asked_in, name_of, written_in
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Composed, Stored, inert, marked, number
from ombud.answer.proof.proving import TOO_MUCH, Prover
from ombud.answer.wording import BROKEN_OFF
from ombud.errors import MalformedOutput, ModelError
from ombud.models import Chat, ChatReply
from ombud.prompts import load as load_prompt
from ombud.types import Citation, Claim, Evidence, Hit, Outcome, Plan, Question

LONGEST_SUGGESTION = LONGEST_COVERS = 150
LONGEST_NOTE, MOST_NOTES = 200, 20
Show = Callable[[int, str, Sequence[Citation]], None]
"""Gets a claim that was proven: its place in the answer from 0, its text, its citations. One of the
same place takes the place of the one before. """


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
    covers: dict[str, str]
    """Chunk id -> what the model says it covers, borne out by it."""
    reasoning: str = ""


class _Task(NamedTuple):
    """What one answer is written with."""

    question: Question
    plan: Plan
    chat: Chat
    told: Told
    labels: dict[str, Hit]
    prover: Prover
    deadline: float
    prompts: Path | None
    ear: "Ear | None"

    @property
    def spoken(self) -> set[str]:
        return {hit.chunk.language for hit in self.labels.values()}


class Ear:
    """Listens while a model writes: each claim is proven as soon as it is whole, and shown when it
    is.

    proven: of the reply that got furthest.
    """

    def __init__(self, prover: Prover, show: Show) -> None:
        self._prover, self._show, self._loop = prover, show, asyncio.get_running_loop()
        self._reader, self._now = Reader(), list[DraftClaim]()
        self.proven: list[DraftClaim] = []

    def hear(self, piece: str | None) -> None:
        """From any thread. What is said after a break is not added to what came before it."""
        self._loop.call_soon_threadsafe(self._take, piece)

    def _take(self, piece: str | None) -> None:
        if piece is None:
            self._reader, self._now = Reader(), []
            return
        for claim in self._reader.read(piece):
            proof = self._prover.prove(claim)
            if proof.why_not:
                continue
            self._show(len(self._now), inert(claim.text.strip()), proof.citations)
            self._now.append(claim)
            if len(self._now) > len(self.proven):
                self.proven = list(self._now)


async def compose_answer(
    question: Question,
    evidence: Evidence,
    plan: Plan,
    chat: Chat,
    stored: Stored,
    *,
    persona: Persona,
    organisation: str,
    day: date,
    seconds: float,
    prompts: Path | None = None,
    show: Show | None = None,
) -> Written:
    """Ask the model, check, repair once; raises ModelError where it cannot answer in time or in
    form.

    A claim that still fails its check is left out and the outcome lowered. show: gets claims while
    the model writes. Where it then stops for good, what was proven until there is the answer, a
    partial one that says so."""
    kept, triplets = fit(evidence, plan.budget_tokens)
    labels = labelled(kept)
    told = tell(
        question,
        labels,
        connected(triplets, labels),
        persona,
        plan.components,
        model=chat.name,
        organisation=organisation,
        day=day,
        prompts=prompts,
    )
    prover = Prover(labels, stored, question.text)
    ear = Ear(prover, show) if show else None
    task = _Task(
        question, plan, chat, told, labels, prover, time.monotonic() + seconds, prompts, ear
    )
    try:
        first = await _ask(task, told.message)
        return await _finish(task, first)
    except ModelError as failed:
        if ear is None or not ear.proven:
            raise
        return _broken(task, ear.proven, failed)


async def _ask(task: _Task, message: str) -> ChatReply[Draft]:
    hear = task.ear.hear if task.ear else None
    left = max(0.0, task.deadline - time.monotonic())
    reply = await task.chat.reply(
        task.told.instructions,
        message,
        Draft,
        temperature=task.plan.temperature,
        seconds=left,
        hear=hear,
    )
    if reply.value.outcome != "denied" and not reply.value.claims:
        raise MalformedOutput("The model gave an answer without claims.")
    return reply


async def _finish(task: _Task, first: ChatReply[Draft]) -> Written:
    """The answer from its first draft: repaired where that is worth it, and put together."""
    replies, files, degraded = (
        [first],
        dict(task.told.prompts),
        [f"prompt: {note}" for note in task.told.notes],
    )
    draft, problems = first.value, _problems(first.value, task)
    wrong = _language_problem(draft, problems, task)
    if (problems or wrong) and task.plan.refine and task.deadline > time.monotonic():
        repair = load_prompt("repair", task.chat.name, task.prompts)
        files[repair.name] = repair.digest
        degraded += [f"prompt: {repair.note}"] if repair.note else []
        listed = [wrong] if wrong else list(dict.fromkeys(problems.values()))
        again = f"{task.told.message}\n\n=== Your answer ===\n{_echo(draft)}\n\n"
        again += repair.fill(problems="\n".join(f"- {problem}" for problem in listed))
        try:
            replies.append(await _ask(task, again))
            draft, problems = _better(draft, replies[-1].value, task, other_language=bool(wrong))
        except ModelError:
            if len(problems) == len(draft.claims):
                raise
            # What the first draft could prove is worth more than starting over.
    composed, dropped = _assemble(draft, problems, task.prover)
    if not composed.claims and _astray(draft, task):
        raise MalformedOutput(
            "What the model wrote was endless, or not in the language of the documents."
        )
    prices = [reply.price for reply in replies]
    return Written(
        replies[-1].model,
        _apologetic(composed, task),
        _outcome(draft, composed, dropped),
        _suggestions(draft, task.prover),
        files,
        sum(reply.tokens_in for reply in replies),
        sum(reply.tokens_out for reply in replies),
        None if None in prices else sum(price for price in prices if price is not None),
        tuple(task.labels.values()),
        tuple(f"claim left out: {reason[:LONGEST_NOTE]}" for reason in dropped[:MOST_NOTES]),
        tuple(degraded),
        _covers(draft, composed, task),
        draft.reasoning,
    )


def _better(
    first: Draft, second: Draft, task: _Task, *, other_language: bool
) -> tuple[Draft, dict[int, str]]:
    """The repaired draft, unless it proves less than the first, whose claims people may have read;
    and its problems.

    other_language: that was what should be repaired, so any of it that can be proven is better.
    """
    before, after = _problems(first, task), _problems(second, task)
    least = 1 if other_language else len(first.claims) - len(before)
    worse = len(second.claims) - len(after) < min(least, len(first.claims) - len(before))
    return (first, before) if worse else (second, after)


def _broken(task: _Task, proven: Sequence[DraftClaim], failed: ModelError) -> Written:
    """The answer of a model that stopped in the middle: people have read what was proven, so that
    stays."""
    composed, _ = _assemble(Draft(claims=list(proven)), {}, task.prover)
    composed = composed._replace(text=f"{composed.text}\n\n{BROKEN_OFF}")
    said = f"model: it broke off after {len(proven)} claim{'s' if len(proven) > 1 else ''}: "
    degraded = (*(f"prompt: {note}" for note in task.told.notes), said + reason(failed))
    kept = tuple(task.labels.values())
    return Written(
        task.chat.name,
        composed,
        "partial",
        (),
        task.told.prompts,
        0,
        0,
        None,
        kept,
        (),
        degraded,
        {},
    )


def reason(failed: ModelError) -> str:
    """What went wrong, without what the server sent: that may repeat the prompt, which no trace may
    hold."""
    return str(failed).partition("\n")[0].partition(" body:")[0].removesuffix(",")[:LONGEST_NOTE]


def _astray(draft: Draft, task: _Task) -> bool:
    """Whether a draft of which nothing could be proven is noise: then quotes are worth more than a
    denial."""
    text = _said(draft)
    return len(draft.claims) > MOST_CLAIMS or written_in(text, min(task.spoken)) not in task.spoken


def _said(draft: Draft) -> str:
    return " ".join(claim.text for claim in draft.claims[:MOST_CLAIMS])


def _language_problem(draft: Draft, problems: Mapping[int, str], task: _Task) -> str:
    """Why the draft should be written in another language: that of the question, or, where claims
    in it cannot be checked because no passage is in it, that of the passages."""
    asked, spoken = asked_in(task.question.text), task.spoken
    if not asked or not draft.claims:
        return ""
    written = written_in(_said(draft), asked)
    if written not in spoken and len(problems) == len(draft.claims) and asked not in spoken:
        names = " or ".join(name_of(code) for code in sorted(spoken))
        return f"it cannot be checked, for the passages are not in {name_of(written)}; write it in {names}"
    if written != asked and asked in spoken:
        return f"it is not in {name_of(asked)}, the language of the question; write all of it in {name_of(asked)}"
    return ""


def _apologetic(composed: Composed, task: _Task) -> Composed:
    """The answer, and before it that it is not in the language of the question, where it could not
    be."""
    text = " ".join(claim.text for claim in composed.claims)
    asked = asked_in(task.question.text)
    said = apology(
        "written", asked, [written_in(text, asked)] if text and asked not in task.spoken else ()
    )
    return composed._replace(text=f"{said}\n\n{composed.text}") if said else composed


def _echo(draft: Draft) -> str:
    claims = [c for c in draft.claims[:MOST_CLAIMS] if len(c.text) <= LONGEST_CLAIM]
    return draft.model_copy(update={"reasoning": "", "claims": claims}).model_dump_json()


def _problems(draft: Draft, task: _Task) -> dict[int, str]:
    """Position of each claim that fails -> why."""
    found: dict[int, str] = {}
    for place, claim in enumerate(draft.claims):
        why = TOO_MUCH if place >= MOST_CLAIMS else task.prover.prove(claim).why_not
        if why:
            found[place] = why if why == TOO_MUCH else f"“{claim.text}”: {why}"
    return found


def _assemble(
    draft: Draft, problems: Mapping[int, str], prover: Prover
) -> tuple[Composed, list[str]]:
    """The proven claims with their citations, and why the others are left out."""
    dropped = [why.split("”: ")[-1] for why in problems.values()]
    proven = [
        (inert(c.text.strip()), prover.prove(c).citations)
        for n, c in enumerate(draft.claims)
        if n not in problems
    ]
    distinct, places = number([citation for _, citations in proven for citation in citations])
    claims: list[Claim] = []
    for text, citations in proven:
        mine, places = places[: len(citations)], places[len(citations) :]
        claims.append(Claim(text=text, citations=tuple(dict.fromkeys(mine))))
    body = "\n\n".join(marked(c.text, c.citations) for c in claims)
    return Composed(tuple(claims), tuple(distinct), body), dropped


def _suggestions(draft: Draft, prover: Prover) -> tuple[str, ...]:
    """Questions that the passages bear out too: nothing a model says is shown unchecked."""
    asked = (" ".join(s.split()) for s in draft.suggestions[:3])
    return tuple(
        s
        for s in asked
        if s.endswith(("?", "？")) and len(s) <= LONGEST_SUGGESTION and prover.borne_out(s)
    )


def _covers(draft: Draft, composed: Composed, task: _Task) -> dict[str, str]:
    cited = {citation.chunk_id for citation in composed.citations}
    found: dict[str, Any] = {}
    for source in draft.sources[:MOST_CLAIMS]:
        line = " ".join(source.covers.split()).rstrip(".")
        hit = task.labels.get(source.passage)
        fits = hit and hit.chunk.id in cited and 0 < len(line) <= LONGEST_COVERS
        if hit and fits and task.prover.borne_out(line, source.passage):
            found.setdefault(hit.chunk.id, line)
    return found


def _outcome(draft: Draft, composed: Composed, dropped: list[str]) -> Outcome:
    if not composed.claims:
        return "denied"
    return "partial" if dropped or draft.outcome != "full" else "full"
