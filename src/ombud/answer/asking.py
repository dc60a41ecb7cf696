"""The ask flow of a resolved question: triage, search, assess, compose, finish."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence

from ombud.answer.assessing import Assessment, assess_evidence
from ombud.answer.bodies import (
    Body,
    clarify_body,
    handoff_body,
    listening_remark,
    not_stated_body,
    not_sure_body,
    outside_body,
    person_body,
    pleasantry_body,
    quoted_body,
    which_country_body,
    whole_text,
    with_own_record,
    with_own_rules,
    written_body,
)
from ombud.answer.clarify import NOWHERE, is_vague, rules_elsewhere
from ombud.answer.compose.composing import CompositionRequest, compose_answer, reason
from ombud.answer.compose.memory import memory_body
from ombud.answer.compose.streaming import ClaimStream, OnEvent
from ombud.answer.confidence import ConfidenceWeights, load_weights
from ombud.answer.contacts import most_alike, topic_of
from ombud.answer.languages.foreign import foreign_body, is_understood
from ombud.answer.parts import AnswerParts
from ombud.answer.sources import sources_of
from ombud.answer.timing import StepTimer, rounded
from ombud.answer.triage import UNNAMED, Refined, TriageResult, own_record, refine
from ombud.answer.triage.phrases import wants_anonymity
from ombud.answer.triage.privacy import guard, refining_knowledge
from ombud.answer.triage.sensitive import Matter
from ombud.errors import ModelError
from ombud.index import Filter
from ombud.models import Chat
from ombud.retrieve import (
    SearchResult,
    Translation,
    check_plan,
    search,
    unread_language,
)
from ombud.types import (
    Answer,
    Contact,
    HandoffReason,
    Hit,
    Outcome,
    Plan,
    Question,
    ResolvedQuestion,
    Trace,
)

MOST_SHOWN = 3
"""Best hits that count as shown where an answer cites none."""
ANNOUNCED = ("search", "compose")
"""Stages that a listener hears of, whether or not an earlier one has decided."""


class AskRun:
    """One question on its way to its answer. Each stage reads what the ones before it left; one
    that sets `body` has decided, and the rest of them are left out."""

    def __init__(
        self,
        resolved: ResolvedQuestion,
        plan: Plan,
        where: Filter,
        parts: AnswerParts,
        on_event: OnEvent | None = None,
    ) -> None:
        check_plan(plan)
        self.resolved = resolved
        self.question = resolved.for_search()
        """What models and the index see of it: redacted where `models.sensitive` wants that."""
        self.language = resolved.language
        self.plan = plan
        self.where = where
        self.parts = parts
        self.on_event = on_event
        self.claims = ClaimStream(on_event) if on_event else None
        self.timer = StepTimer()
        self.privacy: tuple[str, ...] = ()
        self.triaged = TriageResult()
        self.refined = Refined(self.triaged)
        self.index_version = parts.knowledge.engine.version()
        self.found = SearchResult(plan=plan)
        self.elsewhere = NOWHERE
        self.assessment = Assessment()
        self.body: Body | None = None

    async def answer(self) -> Answer:
        for stage in (self.triage, self.search, self.assess, self.compose):
            self._announce(stage.__name__)
            if self.body is None:
                await stage()
        return self.finish(self._decision)

    @property
    def reasoning(self) -> str:
        """What the model thought before it answered, which no answer and no trace holds."""
        return self._decision.reasoning

    @property
    def _decision(self) -> Body:
        if self.body is None:
            raise AssertionError("composing always gives a body")
        return self.body

    async def triage(self) -> None:
        """Decide where no passage could change the answer."""
        self.triaged = await asyncio.to_thread(self._triaged)
        self.timer.rest("triage")
        matter = self.triaged.matter
        label = self.triaged.label
        if label == "sensitive" and matter and not self.parts.settings.answer.sensitive_quotes:
            self.body = handoff_body(self.question, matter, (), self.parts)
        elif label == "ordinary":
            self.body = pleasantry_body(self.resolved.typed, self.parts)
        elif self.triaged.injected and not self._is_unread():
            self.body = outside_body(self.parts, self.language)

    async def search(self) -> None:
        """What the documents say; with k = 0 what the chat model says without any."""
        chat = self.parts.chat
        if self.plan.k == 0 and chat and not self.triaged.matter:
            self.body = await memory_body(self.question, self.resolved.as_of, chat, self.parts)
            return
        knowledge = self.parts.knowledge
        self.found = await search(self._search_question(), self.plan, self.where, knowledge)
        self.timer.add(self.found.seconds)
        if any(note.startswith("dense") for note in self.found.degraded):
            # What failed once is not asked again.
            self.parts = self.parts._replace(knowledge=knowledge._replace(embedder=None))
        self.elsewhere = await asyncio.to_thread(
            rules_elsewhere, self.question, self.found, self.where, self.parts
        )

    def _search_question(self) -> Question:
        """Return the question, for a sensitive matter together with its name: who tells what
        happened rarely uses the words of the policy."""
        matter = self.triaged.matter
        if matter is None:
            return self.question
        subject = matter.topic if matter.name == UNNAMED else matter.name
        aim = "helpline and counselling" if matter.distress else "support and how to report it"
        text = f"{self.question.text}\n{subject}: {aim}"
        return self.question.model_copy(update={"text": text})

    async def assess(self) -> None:
        """What triage makes of the question with the evidence beside it. Decides where a person
        should help; a chat model decides for itself whether the documents answer, so what the
        evidence is worth is measured only where nobody else tells."""
        knowledge = refining_knowledge(self.parts)
        self.refined = await refine(self.triaged, self.question, self.found, knowledge)
        self.triaged = self.refined.triaged
        self.timer.add(self.refined.seconds)
        if self.triaged.label == "person":
            self.body = person_body(self.language)
        elif self._model_decides():
            self.body = await self._asked_back()
        else:
            await self._measure()
            self.body = await asyncio.to_thread(self._decided)
        self.timer.rest("signals")

    async def compose(self) -> None:
        """The answer: by the chat model where there is one, else in quotes."""
        chat = self.parts.chat
        if chat:
            body = await self._written(chat)
        else:
            body = await asyncio.to_thread(self._quoted)
        body = with_own_record(body, self.question, self.parts.contacts)
        self.body = with_own_rules(body, self.elsewhere, self.language)

    def finish(self, body: Body) -> Answer:
        """The answer with contacts, sources and its trace; claims not yet told are told."""
        contacts = self._contacts(body)
        self.timer.rest("compose")
        composed = body.composed
        evidence = self.found.evidence
        helps = self.triaged.shows_helplines
        opening = listening_remark(self.resolved, self.parts) if helps else ""
        text = whole_text(body, contacts, self.resolved, opening)
        if self.claims:
            self.claims.show_all(composed.claims, composed.citations)
        return Answer(
            id=str(uuid.uuid4()),
            question_id=str(uuid.uuid4()),
            outcome=body.outcome,
            action=body.action,
            text=text.strip(),
            claims=composed.claims,
            citations=composed.citations,
            missing=body.missing,
            conditions=body.conditions,
            sources=sources_of(composed.claims, composed.citations, body.covers, evidence.hits),
            contacts=contacts,
            suggestions=body.suggestions,
            offer=self._offer(body),
            topic=self._topic(body),
            trace=self._trace(body, self.timer.total()),
        )

    # What the stages ask ----------------------------------------------------------------------

    def _announce(self, stage: str) -> None:
        if self.on_event and stage in ANNOUNCED:
            self.on_event("status", {"step": stage})

    def _triaged(self) -> TriageResult:
        """Return the judgement of triage, and let question and models be those that may meet."""
        triaged = self.parts.triage.question(self.resolved)
        is_private = self.resolved.is_private or triaged.matter is not None
        is_private = is_private or triaged.offers_person
        guarded = guard(self.question, self.parts, is_private=is_private)
        self.question, self.parts, self.privacy = guarded
        return triaged

    def _is_unread(self) -> bool:
        """Whether nobody here knows the language of the question, nor what in it looks like an
        injection."""
        knowledge = self.parts.knowledge
        unread = unread_language(self.question.text, knowledge.engine, knowledge.embedder)
        return bool(unread) and self.parts.chat is None

    @property
    def _weights(self) -> ConfidenceWeights:
        return load_weights(basis=self.assessment.basis)

    @property
    def _confidence(self) -> float:
        return self.assessment.signals["confidence"]

    @property
    def _threshold(self) -> float:
        """Least confidence to answer."""
        return self._weights.answer if self.plan.abstain is None else self.plan.abstain

    def _model_decides(self) -> bool:
        is_ordinary = self.triaged.label == "ordinary"
        return self.parts.chat is not None and is_ordinary

    async def _asked_back(self) -> Body | None:
        """A question back, where the country is missing or a model could not tell what is asked."""
        if self.elsewhere.decide(sure=True):
            return which_country_body(self.elsewhere, self.language)
        understood = self.found.understood
        if understood is None or understood.triage != "vague":
            return None
        return await asyncio.to_thread(self._clarified, understood.choices)

    def _clarified(self, choices: Sequence[str] = ()) -> Body:
        return clarify_body(self.question, self.found, self.where, self.parts, choices)

    async def _measure(self) -> None:
        """What the evidence is worth without a model."""
        self.assessment = await asyncio.to_thread(
            assess_evidence, self.question, self.found, self.where, self.parts, plan=self.plan
        )

    def _decided(self) -> Body | None:
        """What is said in place of an answer, if that is already clear."""
        if self.triaged.label == "sensitive" and self.triaged.matter:
            return self._handed_over(self.triaged.matter)
        if self.parts.chat:
            return outside_body(self.parts, self.language) if self._looks_outside() else None
        return self._decided_alone()

    def _decided_alone(self) -> Body | None:
        """The same where no model tells whether the documents answer."""
        if self.found.translation and self.parts.chat is None:
            return self._foreign(self.found.translation)
        if self._is_vague():
            return self._clarified()
        if self._looks_outside():
            return outside_body(self.parts, self.language)
        is_sure = self._confidence >= self._threshold and bool(self.assessment.spans)
        if self.elsewhere.decide(sure=is_sure):
            return which_country_body(self.elsewhere, self.language)
        return None if is_sure else self._not_sure() or self._unanswered()

    def _looks_outside(self) -> bool:
        """Tell whether triage and the search agree that no document speaks of it."""
        is_outside = self.triaged.label == "out_of_scope"
        return is_outside and self._is_far() and self._confidence < self._least_in_scope()

    def _is_far(self) -> bool:
        signal = "cosine" if "dense" in self.found.best else "coverage_all"
        return self.assessment.signals[signal] < self._weights.on_topic

    def _is_vague(self) -> bool:
        if self.resolved.follows:
            return False
        own_terms = int(self.assessment.signals["own_terms"])
        asked = self.found.question or self.question
        return is_vague(asked, own_terms, self._confidence, self._weights.closest)

    def _handed_over(self, matter: Matter) -> Body:
        """Offer a person, and show the fitting passages however sure the search is of them."""
        quotes = self.parts.settings.answer.sensitive_quotes
        spans = self.assessment.spans if quotes else ()
        is_read = is_understood(self.found.translation)
        return handoff_body(self.question, matter, spans, self.parts, is_read=is_read)

    def _foreign(self, translation: Translation) -> Body:
        return foreign_body(
            self.question,
            translation,
            self.assessment.spans,
            self.parts,
            near=self._confidence >= min(self._weights.closest, self._threshold),
            sure=self._confidence >= max(self._weights.full, self._threshold),
            alarming=self.triaged.offers_person,
        )

    def _not_sure(self) -> Body | None:
        """The closest passages, where they are near enough to be of use."""
        least = min(self._weights.closest, self._threshold)
        if self._confidence < least or not self.assessment.spans:
            return None
        return not_sure_body(self.question, self.assessment.spans, self.parts)

    def _least_in_scope(self) -> float:
        """Least confidence to answer what triage takes for out of scope. An organisation that asks
        for less certainty asks triage for no more."""
        least = self._weights.in_scope
        return least if self.plan.abstain is None else min(least, self._threshold)

    def _unanswered(self) -> Body:
        return not_stated_body(self.question, self.found, self.parts)

    async def _written(self, chat: Chat) -> Body:
        """By the chat model; in quotes where it fails."""
        parts = self.parts
        request = CompositionRequest(
            question=self._reply_question(),
            evidence=self.found.evidence,
            plan=self.found.plan,
            chat=chat,
            verifier=parts.verifier,
            stored=parts.stored,
            persona=parts.personas[self.plan.persona],
            organisation=parts.settings.general.name,
            day=self.resolved.as_of,
            seconds=parts.settings.models.timeout_seconds,
            prompts=parts.knowledge.prompts,
            on_claim=self.claims.show if self.claims else None,
        )
        try:
            written = await compose_answer(request)
        except ModelError as failed:
            body = await self._without_model()
            return body._replace(degraded=(f"model: {reason(failed)}",))
        if written.nothing_held:
            body = await self._without_model()
            return body._replace(spent=written.spent, notes=written.notes)
        if written.vague:
            body = self._clarified(written.suggestions)
            return body._replace(spent=written.spent, is_written=True)
        body = written_body(written, self.found, self.language)
        if written.outcome != "denied":
            return body
        unsaid = not_stated_body(self.question, self.found, parts)
        return body._replace(
            action=unsaid.action, composed=unsaid.composed, suggestions=(), covers={}
        )

    def _reply_question(self) -> Question:
        """Return the question in its own words behind the turns that it continues."""
        if self.question.history:
            return self.question.model_copy(update={"text": self.resolved.text})
        return self.question

    async def _without_model(self) -> Body:
        """What people get where there is no model: the passages themselves, if they answer."""
        if not self.assessment.signals:
            await self._measure()
        decided = await asyncio.to_thread(self._decided_alone)
        if decided is not None:
            return decided
        return await asyncio.to_thread(self._quoted)

    def _quoted(self) -> Body:
        outcome: Outcome = "full" if self._confidence >= self._weights.full else "partial"
        quoted = quoted_body(
            self.question,
            self.assessment.spans,
            outcome,
            self.parts,
        )
        return quoted or not_stated_body(self.question, self.found, self.parts)

    def _contacts(self, body: Body) -> tuple[Contact, ...]:
        """Of the matter, of one's own record, or of the topic of what is shown."""
        if body.outcome == "denied" and body.action == "none":
            return ()
        contacts = self.parts.contacts
        country = self.question.asker.country
        matter = self.triaged.matter
        if matter:
            return contacts.of_matter(matter.topic, country, anonymous=self._wants_anonymity())
        record = own_record(self.question.text)
        named = contacts.named(record.topic, country) if record else ()
        return named or contacts.find(self._topic(body), country)

    def _topic(self, body: Body) -> str:
        matter = self.triaged.matter
        return matter.topic if matter else topic_of(self._shown_hits(body))

    def _offer(self, body: Body) -> HandoffReason | None:
        if body.action == "handoff":
            return "sensitive" if self.triaged.matter else "asked"
        return "complex" if self.triaged.offers_person else None

    def _wants_anonymity(self) -> bool:
        return wants_anonymity(self.resolved.typed)

    def _shown_hits(self, body: Body) -> Sequence[Hit]:
        """The hits that the answer cites, else the best ones."""
        hits = self.found.evidence.hits
        cited = body.composed.cited_chunks
        shown: Sequence[Hit] = [hit for hit in hits if hit.chunk.id in cited]
        if not shown:
            shown = hits[:MOST_SHOWN]
        return most_alike(shown) if body.action == "clarify" else shown

    def _trace(self, body: Body, seconds: Mapping[str, float]) -> Trace:
        found = self.found
        evidence = tuple(hit.chunk.id for hit in found.evidence.hits)
        signals = {**self.assessment.signals, **found.signals, **self.triaged.signals}
        matter = self.triaged.matter
        if matter and matter.danger and body.action == "handoff":
            signals["emergency"] = 1.0
        degraded = (
            *self.privacy,
            *found.degraded,
            *self.refined.degraded,
            *body.degraded,
        )
        spent = found.spent.plus(self.refined.spent).plus(body.spent)
        return Trace(
            plan=found.plan,
            queries=found.queries,
            rankings=found.rankings,
            evidence=evidence if body.evidence is None else body.evidence,
            signals=rounded(signals),
            prompts=spent.prompts,
            model=spent.model,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            price=spent.price,
            seconds=rounded(seconds),
            index_version=self.index_version,
            degraded=degraded,
            notes=body.notes,
        )
