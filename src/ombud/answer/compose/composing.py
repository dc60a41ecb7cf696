"""Composition with a chat model: typed claims, each checked against what it cites before it is
shown."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.compose.drafts import MOST_CLAIMS, Draft, DraftClaim, Repair
from ombud.answer.compose.entailing import verify
from ombud.answer.compose.languages import language_problem, with_apology
from ombud.answer.compose.leaving_out import standing_places, with_left_out
from ombud.answer.compose.prompting import PromptValues, build_prompt, connected, fit, labelled
from ombud.answer.compose.repairing import mended, repair_prompt, taken_back
from ombud.answer.compose.streaming import OnClaim, StreamingVerifier
from ombud.answer.languages.language import written_in
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Composed, Stored, escaped, inert, marked, number
from ombud.answer.proof.proving import TOO_MUCH, Proof, Prover
from ombud.answer.wording import BROKEN_OFF
from ombud.errors import MalformedOutput, ModelError
from ombud.models import Chat, ChatReply
from ombud.retrieve import ModelUsage, usage_of
from ombud.text import links_of_words, with_links
from ombud.types import Annotation, Citation, Claim, Evidence, Hit, Outcome, Plan, Question

LONGEST_SUGGESTION = LONGEST_COVERS = 150
MOST_SUGGESTIONS = 3
MANY = 4
"""Claims beside which one that falls is not asked for again."""
LONGEST_NOTE = 200
ASKED_AFTER = 0.02
"""Seconds after which the request for a draft has surely been sent."""
MOST_NOTES = 20


@dataclass(frozen=True)
class CompositionRequest:
    """What one answer is written from."""

    question: Question
    evidence: Evidence
    plan: Plan
    chat: Chat
    verifier: Chat | None
    """Of claims that the rules cannot decide."""
    stored: Stored
    persona: Persona
    organisation: str
    day: date
    seconds: float
    """Wall clock of all calls together."""
    prompts: Path | None = None
    on_claim: OnClaim | None = None
    """Gets claims while the model writes."""


class WrittenAnswer(NamedTuple):
    composed: Composed
    outcome: Outcome
    spent: ModelUsage
    evidence: tuple[Hit, ...]
    """What the model was given."""
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    covers: Mapping[str, str] = {}
    """Chunk id -> what the model says it covers, borne out by it."""
    reasoning: str = ""
    vague: bool = False
    """The model could not tell what is asked; `suggestions` are what may be meant."""
    nothing_held: bool = False
    """It made claims, and not one of them was borne out."""


class _Checked(NamedTuple):
    """A draft, and what is wrong with it."""

    draft: Draft
    problems: Mapping[int, str]
    """Position of each claim that fails -> why."""
    first_fell: bool = False
    """The claim that the answer began with was not confirmed, and nothing took its place."""

    @property
    def proven(self) -> int:
        return len(self.draft.claims) - len(self.problems)


async def compose_answer(request: CompositionRequest) -> WrittenAnswer:
    """Ask the model, check, repair once; raises ModelError where it cannot answer in time or in
    form.

    A claim that still fails its check is left out and the outcome lowered. Where the model stops
    for good while somebody listens, what was proven until then is the answer, a partial one that
    says so."""
    composition = _Composition(request)
    try:
        return await composition.written()
    except ModelError as failed:
        verifier = composition.verifier
        if verifier is None or not verifier.proven:
            raise
        return composition.broken_off(verifier.proven, failed)


class _Composition:
    """One answer on its way from its prompt to its proven claims."""

    def __init__(self, request: CompositionRequest) -> None:
        self.request = request
        hits, triplets = fit(request.evidence, request.plan.budget_tokens)
        self.labels = labelled(hits)
        self.languages = {hit.chunk.language for hit in hits}
        self.prompt = build_prompt(
            PromptValues(
                question=request.question,
                labels=self.labels,
                connections=connected(triplets, self.labels),
                persona=request.persona,
                organisation=request.organisation,
                day=request.day,
            ),
            request.plan.components,
            model=request.chat.name,
            prompts=request.prompts,
        )
        self.prover = Prover(
            self.labels,
            request.stored,
            request.question.text,
            organisation=request.organisation,
            asks=request.verifier is not None,
        )
        self.verifier: StreamingVerifier | None = None
        if request.on_claim:
            self.verifier = StreamingVerifier(self.prover, request.on_claim)
        self.deadline = time.monotonic() + request.seconds
        self.replies: list[ChatReply[Any]] = []
        self.prompt_digests = dict(self.prompt.digests)
        self.degraded = self._prompt_notes()

    async def written(self) -> WrittenAnswer:
        is_written = asyncio.Event()
        reading = asyncio.create_task(self._read_meanwhile(is_written))
        try:
            draft = await self._ask()
        finally:
            is_written.set()
            await reading
        checked = self._check(draft)
        checked = await self._verified(checked)
        checked = await self._repaired(checked)
        draft = checked.draft
        composed = self._composed(checked)
        if draft.claims and not composed.claims and self._is_noise(draft):
            raise MalformedOutput(
                "What the model wrote was endless, or not in the language of the documents."
            )
        return WrittenAnswer(
            composed=with_apology(composed, self.request.question.text, self.languages),
            outcome=_outcome(checked, composed),
            spent=self._spent(),
            evidence=tuple(self.labels.values()),
            suggestions=shown_questions(draft.suggestions, self.prover),
            notes=_notes(checked.problems),
            degraded=tuple(self.degraded),
            covers=self._covers(draft, composed),
            reasoning=draft.reasoning,
            vague=draft.outcome == "vague" and not draft.claims,
            nothing_held=bool(draft.claims) and not composed.claims,
        )

    async def _read_meanwhile(self, is_written: asyncio.Event) -> None:
        """While the model writes there is time for what its claims are compared with; not before it
        has been asked, for both would wait for Python's lock."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ASKED_AFTER):
                await is_written.wait()
            return
        await asyncio.to_thread(self.prover.read)

    def broken_off(self, proven: Sequence[DraftClaim], failed: ModelError) -> WrittenAnswer:
        """The answer of a model that stopped in the middle: people have read what was proven, so
        that stays."""
        first_fell = bool(self.verifier and self.verifier.first_fell)
        composed = self._composed(_Checked(Draft(claims=list(proven)), {}, first_fell))
        composed = composed._replace(text=f"{composed.text}\n\n{BROKEN_OFF}")
        claims = "claim" if len(proven) == 1 else "claims"
        note = f"model: it broke off after {len(proven)} {claims}: {reason(failed)}"
        return WrittenAnswer(
            composed=composed,
            outcome="partial",
            spent=ModelUsage(
                self.request.chat.name,
                self.prompt.digests,
                price=None,
            ),
            evidence=tuple(self.labels.values()),
            degraded=(*self._prompt_notes(), note),
        )

    def _prompt_notes(self) -> list[str]:
        return [f"prompt: {note}" for note in self.prompt.notes]

    async def _ask(self) -> Draft:
        """The model's draft; raises ModelError."""
        reply = await self.request.chat.reply(
            self.prompt.instructions,
            self.prompt.message,
            Draft,
            temperature=self.request.plan.temperature,
            seconds=self._seconds_left(),
            on_text=self.verifier.feed if self.verifier else None,
        )
        draft = reply.value
        if draft.outcome in {"full", "partial"} and not draft.claims:
            raise MalformedOutput("The model gave an answer without claims.")
        self.replies.append(reply)
        return draft

    def _seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _check(self, draft: Draft) -> _Checked:
        problems: dict[int, str] = {}
        for place, claim in enumerate(draft.claims):
            if place >= MOST_CLAIMS:
                problems[place] = TOO_MUCH
                continue
            why = self.prover.prove(claim).why_not
            if why:
                problems[place] = why
        return _Checked(draft, problems, first_fell=0 in problems)

    async def _verified(self, checked: _Checked) -> _Checked:
        """The same when the verifier was asked for all that the rules cannot decide."""
        verifier = self.request.verifier
        draft = checked.draft
        in_doubt = [draft.claims[place] for place in checked.problems]
        in_doubt = [claim for claim in in_doubt if self.prover.prove(claim).open]
        if verifier is None or not in_doubt:
            return checked
        verified = await verify(
            in_doubt,
            self.prover,
            verifier,
            question=self.request.question.text,
            seconds=self._seconds_left(),
            prompts=self.request.prompts,
        )
        if verified.reply:
            self.replies.append(verified.reply)
        for place, claim in enumerate(in_doubt):
            # A verifier that fails changes nothing of what people get without one.
            alone = verified.reply is None and self.prover.prove(claim).unobjected
            self.prover.settle(claim, borne_out=alone or place in verified.borne_out)
        return self._check(draft)

    async def _repaired(self, checked: _Checked) -> _Checked:
        """The draft with its failing claims written again, where that is worth a call, if the
        second is no worse."""
        draft, problems, _ = checked
        none_proven = len(problems) == len(draft.claims)
        wrong_language = language_problem(
            draft,
            self.request.question.text,
            self.languages,
            none_proven=none_proven,
        )
        failing = _worth_repair(draft, problems, wrong_language)
        if not failing or not self.request.plan.refine or not self._seconds_left():
            return checked
        try:
            repair = await self._ask_again(draft, failing)
        except ModelError:
            if none_proven:
                raise
            # What the first draft could prove is worth more than starting over.
            return checked
        again = await self._verified(self._check(mended(draft, repair, failing)))
        if taken_back(repair, failing, 0):
            again = again._replace(first_fell=True)
        # People may have read the claims of the first draft; in another language than they asked
        # for, any of the second that can be proven is better.
        least = min(1, checked.proven) if wrong_language else checked.proven
        return checked if again.proven < least else again

    async def _ask_again(self, draft: Draft, failing: Mapping[int, str]) -> Repair:
        request = self.request
        prompt = repair_prompt(
            draft,
            failing,
            self.prover,
            question=request.question.text,
            model=request.chat.name,
            prompts=request.prompts,
        )
        self.prompt_digests.update({file.name: file.digest for file in prompt.files})
        if prompt.note:
            self.degraded.append(f"prompt: {prompt.note}")
        reply = await request.chat.reply(
            prompt.instructions,
            prompt.message,
            Repair,
            temperature=request.plan.temperature,
            seconds=self._seconds_left(),
        )
        self.replies.append(reply)
        return reply.value

    def _composed(self, checked: _Checked) -> Composed:
        """The proven claims with their citations."""
        proven: list[tuple[str, Proof]] = []
        every_citation: list[Citation] = []
        drafted = checked.draft.claims
        standing = standing_places(drafted, checked.problems, first_fell=checked.first_fell)
        for place in standing:
            proof = self.prover.prove(drafted[place])
            proven.append((inert(drafted[place].text.strip()), proof))
            every_citation += proof.citations
        instead = self.prover.quoted(drafted[0]) if proven and checked.first_fell else None
        if instead and 0 not in standing:
            proven.insert(0, (inert(instead[0]), instead[1]))
            every_citation[:0] = instead[1].citations
        distinct, places = number(every_citation)
        claims: list[Claim] = []
        start = 0
        for text, proof in proven:
            end = start + len(proof.citations)
            claims.append(
                Claim(
                    text=text,
                    citations=tuple(dict.fromkeys(places[start:end])),
                    verdict="derived" if proof.derived else "supported",
                )
            )
            start = end
        paragraphs = [_paragraph(claim, distinct) for claim in claims]
        composed = Composed(tuple(claims), tuple(distinct), "\n\n".join(paragraphs))
        left_out = len(drafted) - len(standing)
        return with_left_out(composed, left_out, first=checked.first_fell)

    def _is_noise(self, draft: Draft) -> bool:
        """Whether a draft of which nothing could be proven is noise: then quotes are worth more
        than a denial."""
        if len(draft.claims) > MOST_CLAIMS:
            return True
        if not self.languages:
            return False
        return written_in(draft.claims_text, min(self.languages)) not in self.languages

    def _spent(self) -> ModelUsage:
        spent = ModelUsage()
        for reply in self.replies:
            spent = spent.plus(usage_of(reply))
        model = self.replies[-1].model
        return spent._replace(model=model, prompts=self.prompt_digests)

    def _covers(self, draft: Draft, composed: Composed) -> dict[str, str]:
        cited = composed.cited_chunks
        covers: dict[str, str] = {}
        for source in draft.sources[:MOST_CLAIMS]:
            hit = self.labels.get(source.passage)
            chunk_id = hit.chunk.id if hit else ""
            if chunk_id not in cited or chunk_id in covers:
                continue
            line = " ".join(source.covers.split()).rstrip(".")
            fits = 0 < len(line) <= LONGEST_COVERS
            if fits and self.prover.borne_out(line, source.passage):
                covers[chunk_id] = line
        return covers


def _paragraph(claim: Claim, citations: Sequence[Citation]) -> str:
    """A claim with its markers, and the links of the words that it has of what it cites."""
    links: list[Annotation] = []
    for place in claim.citations:
        links += links_of_words(claim.text, citations[place])
    return marked(with_links(claim.text, 0, links, escaped), claim.citations)


def reason(failed: ModelError) -> str:
    """What went wrong, without what the server sent: that may repeat the prompt, which no trace may
    hold."""
    first_line = str(failed).partition("\n")[0]
    return first_line.partition(" body:")[0].removesuffix(",")[:LONGEST_NOTE]


def _worth_repair(draft: Draft, problems: Mapping[int, str], wrong_language: str) -> dict[int, str]:
    """The claims that are asked for again, and why; all of them in a wrong language.

    One of many, behind the first, is worth no further call, which costs people seconds: it is left
    out, and that is said."""
    if wrong_language:
        return dict.fromkeys(range(len(draft.claims[:MOST_CLAIMS])), wrong_language)
    if 0 not in problems and MANY * len(problems) <= len(draft.claims):
        return {}
    return {place: why for place, why in problems.items() if why != TOO_MUCH}


def _notes(problems: Mapping[int, str]) -> tuple[str, ...]:
    """Why claims were left out, without what they said."""
    notes: list[str] = []
    for why in problems.values():
        notes.append(f"claim left out: {why[:LONGEST_NOTE]}")
    return tuple(notes[:MOST_NOTES])


def shown_questions(
    offered: Sequence[str], prover: Prover, most: int = MOST_SUGGESTIONS
) -> tuple[str, ...]:
    """Questions that the passages bear out too: nothing a model says is shown unchecked."""
    kept: list[str] = []
    for suggestion in offered[:most]:
        line = " ".join(suggestion.split())
        is_question = line.endswith(("?", "？")) and len(line) <= LONGEST_SUGGESTION
        if is_question and prover.borne_out(line):
            kept.append(line)
    return tuple(kept)


def _outcome(checked: _Checked, composed: Composed) -> Outcome:
    if not composed.claims:
        return "denied"
    return (
        "partial"
        if checked.problems or checked.first_fell or checked.draft.outcome != "full"
        else "full"
    )
