"""Composition with a chat model: typed claims, each checked against what it cites before it is
shown.

Quoted words, figures and names are checked by rules as soon as a claim is whole; what a claim means
is checked by a model, in one call behind the last claim. A claim that fails is written again once,
and left out if it fails again."""

import asyncio
import time
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.compose.conditions import MOST_CONDITIONS, DraftFacts, checked_conditions
from ombud.answer.compose.entailing import Statement, verify
from ombud.answer.compose.evidence import join_sections
from ombud.answer.compose.prompting import PromptValues, build_prompt, connected, fit, labelled
from ombud.answer.compose.repairing import language_problem, mended, repair_prompt, with_apology
from ombud.answer.compose.streaming import OnClaim, StreamingVerifier
from ombud.answer.languages.language import written_in
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Composed, Stored, escaped, inert, marked
from ombud.answer.proof.drafts import MOST_CLAIMS, Draft, DraftClaim, DraftCondition, Repair
from ombud.answer.proof.proving import TOO_MUCH, Prover
from ombud.errors import MalformedOutput, ModelError
from ombud.messages import message
from ombud.models import Chat, ChatReply
from ombud.retrieve import ModelUsage, usage_of
from ombud.text import links_of_words, with_links
from ombud.types import (
    Annotation,
    AnswerCondition,
    Citation,
    Claim,
    Evidence,
    Hit,
    Outcome,
    Plan,
    Question,
)

LONGEST_SUGGESTION = LONGEST_COVERS = 150
MOST_SUGGESTIONS = 3
MOST_MISSING = 5
LONGEST_MISSING = 300
LONGEST_NOTE = 200
READ_AHEAD_AFTER_SECONDS = 0.02
"""Seconds after which the request for a draft has surely been sent."""
MOST_NOTES = 20


@dataclass(frozen=True)
class CompositionRequest:
    """The inputs of one written answer."""

    question: Question
    evidence: Evidence
    plan: Plan
    chat: Chat
    verifier: Chat | None
    """Compares what claims mean with their passages; None: nobody does."""
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
    missing: tuple[str, ...] = ()
    """What was asked and the documents do not say, as sentences."""
    conditions: tuple[AnswerCondition, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    covers: Mapping[str, str] = {}
    """Chunk id -> what the model says it covers, in words of it."""
    reasoning: str = ""
    vague: bool = False
    """The model could not tell what is asked; `suggestions` are what may be meant."""
    all_failed: bool = False
    """It made claims, and not one of them passed the check."""


class _Checked(NamedTuple):
    """A draft, and what is wrong with it."""

    draft: Draft
    failing: tuple[int, ...]
    """Positions of the claims that failed."""
    missing: tuple[str, ...] = ()
    """Statements of absence that were verified."""
    conditions: tuple[DraftCondition, ...] = ()
    """Those that nobody found not to be ones."""

    @property
    def supported(self) -> int:
        return len(self.draft.claims) - len(self.failing)


async def compose_answer(request: CompositionRequest) -> WrittenAnswer:
    """Ask the model, check, repair once; raises ModelError where it cannot answer in time or in
    form.

    A claim that still fails its check is left out and the outcome lowered. Where the model stops
    for good while somebody listens, what was shown until then is the answer, a partial one that
    says so."""
    composition = _Composition(request)
    try:
        return await composition.written()
    except ModelError as failed:
        stream = composition.stream
        if stream is None or not stream.shown:
            raise
        return composition.broken_off(stream.shown, failed)


class _Composition:
    """The flow from one prompt to an answer of checked claims."""

    def __init__(self, request: CompositionRequest) -> None:
        self.request = request
        self.hits, triplets = fit(request.evidence, request.plan.budget_tokens)
        sections = join_sections(self.hits, request.stored)
        self.labels = labelled([section.hit for section in sections])
        members = {section.hit.chunk.id: section.members for section in sections}
        label_of: dict[str, str] = {}
        for label, hit in self.labels.items():
            label_of.update((chunk.id, label) for chunk in members[hit.chunk.id])
        self.prompt = build_prompt(
            PromptValues(
                question=request.question,
                labels=self.labels,
                connections=connected(triplets, label_of),
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
            asker_words(request.question),
            organisation=request.organisation,
            asks=request.verifier is not None,
            members=members,
        )
        self.stream: StreamingVerifier | None = None
        if request.on_claim:
            self.stream = StreamingVerifier(self.prover, request.on_claim)
        self.deadline = time.monotonic() + request.seconds
        self.replies: list[ChatReply[Any]] = []
        self.prompt_digests = dict(self.prompt.digests)
        self.degraded = self.prompt_notes()

    async def written(self) -> WrittenAnswer:
        is_written = asyncio.Event()
        reading = asyncio.create_task(self.read_meanwhile(is_written))
        try:
            draft = await self._ask()
        finally:
            is_written.set()
            await reading
        checked = await self.check_draft(draft)
        checked = await self.repair_claims(checked)
        draft = checked.draft
        composed = self._composed(checked)
        if draft.claims and not composed.claims and self.is_noise(draft):
            raise MalformedOutput(
                "What the model wrote was endless, or not in the language of the documents."
            )
        return WrittenAnswer(
            composed=with_apology(composed, self.request.question.text),
            outcome=outcome_of(checked, composed),
            spent=self._spent(),
            evidence=self.hits,
            suggestions=supported_questions(draft.suggestions, self.prover),
            missing=checked.missing,
            conditions=self._conditions(checked.conditions),
            notes=self.failure_notes(checked),
            degraded=tuple(self.degraded),
            covers=self.covers_of(draft, composed),
            reasoning=draft.reasoning,
            vague=draft.outcome == "vague" and not draft.claims,
            all_failed=bool(draft.claims) and not composed.claims,
        )

    async def read_meanwhile(self, is_written: asyncio.Event) -> None:
        """Read what the check compares claims with while the model writes; not before it has been
        asked, for both would wait for Python's lock."""
        with suppress(TimeoutError):
            async with asyncio.timeout(READ_AHEAD_AFTER_SECONDS):
                await is_written.wait()
            return
        await asyncio.to_thread(self.prover.read)

    def broken_off(self, streamed: Sequence[DraftClaim], failed: ModelError) -> WrittenAnswer:
        """Return the answer of a model that stopped in the middle: people have read what was shown,
        so that stays."""
        composed = self._composed(_Checked(Draft(claims=list(streamed)), ()))
        notice = message("answer.broken_off", written_in(composed.text, "en"))
        composed = composed._replace(text=f"{composed.text}\n\n{notice}")
        claims = "claim" if len(streamed) == 1 else "claims"
        note = f"model: it broke off after {len(streamed)} {claims}: {reason(failed)}"
        return WrittenAnswer(
            composed=composed,
            outcome="partial",
            spent=ModelUsage(
                self.request.chat.name,
                self.prompt.digests,
                price=None,
            ),
            evidence=self.hits,
            degraded=(*self.prompt_notes(), note),
        )

    def prompt_notes(self) -> list[str]:
        return [f"prompt: {note}" for note in self.prompt.notes]

    async def _ask(self) -> Draft:
        """Return the model's draft; raises ModelError."""
        reply = await self.request.chat.reply(
            self.prompt.instructions,
            self.prompt.message,
            Draft,
            temperature=self.request.plan.temperature,
            seconds=self.seconds_left(),
            on_text=self.stream.feed if self.stream else None,
        )
        draft = reply.value
        if draft.outcome in {"full", "partial"} and not draft.claims:
            raise MalformedOutput("The model gave an answer without claims.")
        self.replies.append(reply)
        return draft

    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    async def check_draft(self, draft: Draft) -> _Checked:
        """Check every claim by rules, then ask the verifier about those that are open and about
        what the documents are said not to say."""
        claims = draft.claims[:MOST_CLAIMS]
        in_doubt = [claim for claim in claims if self.prover.prove(claim).state == "open"]
        absences = draft_absences(draft)
        conditions = draft.conditions[:MOST_CONDITIONS]
        confirmed = await self.verify_claims(in_doubt, absences, conditions)
        failing: list[int] = []
        for place, claim in enumerate(draft.claims):
            if place >= MOST_CLAIMS or self.prover.prove(claim).state == "failed":
                failing.append(place)
        return _Checked(
            draft,
            tuple(failing),
            tuple(text for text in absences if text in confirmed),
            tuple(condition for condition in conditions if condition.statement in confirmed),
        )

    async def verify_claims(
        self,
        in_doubt: Sequence[DraftClaim],
        absences: Sequence[str],
        conditions: Sequence[DraftCondition],
    ) -> Set[str]:
        """Settle open claims by the verifier's verdicts, and return the other statements that may
        be shown. Without a verdict every condition may, and no statement of absence."""
        verifier = self.request.verifier
        others = [Statement(text, tuple(self.labels)) for text in absences]
        others += [Statement(one.statement, (one.passage,)) for one in conditions]
        statements = [Statement(claim.text, tuple(claim.passages)) for claim in in_doubt]
        statements += others
        unverified = {condition.statement for condition in conditions}
        if verifier is None or not statements:
            return unverified

        def show(place: int) -> None:
            if place < len(in_doubt):
                self.prover.settle(in_doubt[place], is_supported=True)
                if self.stream:
                    self.stream.show(in_doubt[place])

        verified = await verify(
            statements,
            self.prover,
            verifier,
            question=self.request.question,
            day=self.request.day,
            seconds=self.seconds_left(),
            prompts=self.request.prompts,
            on_verdict=show,
        )
        if verified.reply is None:
            self.degraded.append("verify: no verdict, so claims were checked by their words")
            for claim in in_doubt:
                # A verifier that fails changes nothing of what people get without one.
                self.prover.settle_by_words(claim)
            return unverified
        self.replies.append(verified.reply)
        for place, claim in enumerate(in_doubt):
            problem = verified.problems.get(place, "")
            self.prover.settle(claim, is_supported=place in verified.supported, problem=problem)
        return {statements[place].text for place in verified.supported if place >= len(in_doubt)}

    async def repair_claims(self, checked: _Checked) -> _Checked:
        """Ask once for new wording of failing claims, and use it if it is no worse."""
        draft = checked.draft
        advice = self.advice_for(checked)
        if not advice or not self.request.plan.refine or not self.seconds_left():
            return checked
        try:
            repair = await self.ask_again(draft, advice)
        except ModelError:
            if not checked.supported:
                raise
            # What the first draft has is worth more than starting over.
            return checked
        unverified = mended(draft, repair, advice)
        again = await self.check_draft(
            unverified.model_copy(update={"missing": [], "conditions": []})
        )
        again = again._replace(missing=checked.missing, conditions=checked.conditions)
        # People may have read the claims of the first draft; in another language than they asked
        # for, any of the second that passes is better.
        is_translated = language_problem(draft, self.request.question.text)
        least = min(1, checked.supported) if is_translated else checked.supported
        return checked if again.supported < least else again

    def advice_for(self, checked: _Checked) -> dict[int, str]:
        """Return position -> what is wrong, of each claim that is to be written again: all of them
        where they are in the wrong language."""
        claims = checked.draft.claims[:MOST_CLAIMS]
        wrong_language = language_problem(checked.draft, self.request.question.text)
        if wrong_language:
            return dict.fromkeys(range(len(claims)), wrong_language)
        advice: dict[int, str] = {}
        for place in checked.failing:
            if place < MOST_CLAIMS and TOO_MUCH not in self.prover.prove(claims[place]).problems:
                advice[place] = self.prover.prove(claims[place]).advice
        return advice

    async def ask_again(self, draft: Draft, advice: Mapping[int, str]) -> Repair:
        request = self.request
        prompt = repair_prompt(
            draft,
            advice,
            self.prover,
            question=request.question,
            day=request.day,
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
            seconds=self.seconds_left(),
        )
        self.replies.append(reply)
        return reply.value

    def _composed(self, checked: _Checked) -> Composed:
        """Return the supported claims with their citations, and behind them what is missing."""
        citations: list[Citation] = []
        claims: list[Claim] = []
        for place, drafted in enumerate(checked.draft.claims):
            if place in checked.failing:
                continue
            proof = self.prover.prove(drafted)
            for citation in proof.citations:
                if citation not in citations:
                    citations.append(citation)
            places = [citations.index(citation) for citation in proof.citations]
            claims.append(
                Claim(
                    text=inert(drafted.text.strip()),
                    citations=tuple(dict.fromkeys(places)),
                    verdict="derived" if proof.is_derived else "supported",
                )
            )
        paragraphs = [claim_paragraph(claim, citations) for claim in claims]
        language = written_in("\n\n".join(paragraphs), "en")
        if claims:
            paragraphs += checked.missing
        if claims and checked.failing:
            paragraphs.append(message("answer.left_out", language, count=len(checked.failing)))
        return Composed(tuple(claims), tuple(citations), "\n\n".join(paragraphs))

    def _conditions(self, conditions: Sequence[DraftCondition]) -> tuple[AnswerCondition, ...]:
        facts = DraftFacts(asker_words(self.request.question))
        return checked_conditions(conditions, self.prover, facts)

    def is_noise(self, draft: Draft) -> bool:
        """Tell whether a draft of which nothing passed is noise: then quotes are worth more than a
        denial."""
        languages = {hit.chunk.language for hit in self.labels.values()}
        if len(draft.claims) > MOST_CLAIMS or not languages:
            return len(draft.claims) > MOST_CLAIMS
        return written_in(draft.claims_text, min(languages)) not in languages

    def _spent(self) -> ModelUsage:
        spent = ModelUsage()
        for reply in self.replies:
            spent = spent.plus(usage_of(reply))
        model = self.replies[-1].model
        return spent._replace(model=model, prompts=self.prompt_digests)

    def covers_of(self, draft: Draft, composed: Composed) -> dict[str, str]:
        cited = composed.cited_chunks
        covers: dict[str, str] = {}
        for source in draft.sources[:MOST_CLAIMS]:
            hit = self.labels.get(source.passage)
            chunk_id = hit.chunk.id if hit else ""
            if chunk_id not in cited or chunk_id in covers:
                continue
            line = " ".join(source.covers.split()).rstrip(".")
            fits = 0 < len(line) <= LONGEST_COVERS
            if fits and self.prover.has_words_of(line, source.passage):
                covers[chunk_id] = line
        return covers

    def failure_notes(self, checked: _Checked) -> tuple[str, ...]:
        """Return why claims were left out, without what they said."""
        notes: list[str] = []
        for place in checked.failing[:MOST_NOTES]:
            proof = self.prover.prove(checked.draft.claims[place])
            summary = proof.summary or TOO_MUCH.summary
            notes.append(f"claim left out: {summary}")
        return tuple(notes)


def claim_paragraph(claim: Claim, citations: Sequence[Citation]) -> str:
    """Return a claim with its markers and the links of the passage's words that it repeats."""
    links: list[Annotation] = []
    for place in claim.citations:
        links += links_of_words(claim.text, citations[place])
    return marked(with_links(claim.text, 0, links, escaped), claim.citations)


def reason(failed: ModelError) -> str:
    """Return what went wrong, without what the server sent: that may repeat the prompt, which no
    trace may hold."""
    first_line = str(failed).partition("\n")[0]
    return first_line.partition(" body:")[0].removesuffix(",")[:LONGEST_NOTE]


def asker_words(question: Question) -> str:
    """Return what is known of the asker: their figures may be repeated."""
    asker = question.asker
    turns = [message.content for message in question.history if message.role == "user"]
    identity = [asker.grade or "", asker.country or "", *asker.roles]
    return "\n".join([*turns, question.text, *identity])


def draft_absences(draft: Draft) -> list[str]:
    """Return what the draft says the documents do not say, as inert text."""
    absences: list[str] = []
    for text in draft.missing[:MOST_MISSING]:
        line = inert(" ".join(text.split()))
        if 0 < len(line) <= LONGEST_MISSING:
            absences.append(line)
    return absences


def supported_questions(
    offered: Sequence[str], prover: Prover, most: int = MOST_SUGGESTIONS
) -> tuple[str, ...]:
    """Return the questions whose words the passages have too: nothing that a model writes is shown
    unchecked."""
    questions: list[str] = []
    for suggestion in offered[:most]:
        line = " ".join(suggestion.split())
        is_question = line.endswith(("?", "？")) and len(line) <= LONGEST_SUGGESTION
        if is_question and prover.has_words_of(line):
            questions.append(line)
    return tuple(questions)


def outcome_of(checked: _Checked, composed: Composed) -> Outcome:
    if not composed.claims:
        return "denied"
    is_whole = checked.draft.outcome == "full" and not checked.failing and not checked.missing
    return "full" if is_whole else "partial"
