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
    page_body,
    person_body,
    pleasantry_body,
    quoted_body,
    which_country_body,
    whole_text,
    with_own_record,
    with_own_rules,
    written_body,
)
from ombud.answer.clarifying import NOWHERE, is_vague, rules_elsewhere
from ombud.answer.compose.composing import CompositionRequest, compose_answer, reason
from ombud.answer.compose.evidence import search_unaided, with_sections
from ombud.answer.compose.streaming import ClaimStream, OnEvent
from ombud.answer.contacts import hits_of_named_topic, most_alike, topic_of
from ombud.answer.eligibility import with_eligibility
from ombud.answer.foreign import foreign_body, is_understood
from ombud.answer.memory import memory_body
from ombud.answer.parts import AnswerParts, StepTimer, rounded
from ombud.answer.privacy import guard, refining_knowledge
from ombud.answer.quoting.sections import choose_sections
from ombud.answer.several import missing_codes, several_body, with_missing
from ombud.answer.sources import sources_of
from ombud.answer.triage.checking import TriageResult
from ombud.answer.triage.phrases import own_record, wants_anonymity
from ombud.answer.triage.refining import Refined, refine
from ombud.answer.triage.sensitive import POSSIBLE_DISTRESS, UNNAMED, Matter
from ombud.deadlines import seconds_left, within
from ombud.errors import BudgetSpent, ModelError
from ombud.index import Filter
from ombud.messages import message
from ombud.models import Chat
from ombud.retrieve import SearchResult, Translation, check_plan, search, unread_language
from ombud.text import named_countries
from ombud.types import (
    Answer,
    Contact,
    HandoffReason,
    Hit,
    Plan,
    Question,
    ResolvedQuestion,
    Trace,
)

MOST_UNCITED = 3
"""Best hits that count as shown where an answer cites none."""
ANNOUNCED = ("search", "compose")
"""Stages that a listener hears of, whether or not an earlier one has decided."""


class AskRun:
    """The flow of one question to its answer. A stage that sets `body` has decided, and the stages
    after it are skipped."""

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
        self.results = SearchResult(plan=plan)
        self.elsewhere = NOWHERE
        self.assessment = Assessment()
        self.body: Body | None = None

    async def answer(self) -> Answer:
        for stage in (self.triage, self.search, self.assess, self.compose):
            if self.on_event and stage.__name__ in ANNOUNCED:
                self.on_event("status", {"step": stage.__name__})
            if self.body is None:
                await stage()
        return self.finish(self._decision)

    @property
    def reasoning(self) -> str:
        """Return the model's reasoning, which is part of no answer and no trace."""
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
        matter, label = self.triaged.matter, self.triaged.label
        if label == "sensitive" and matter and not self.parts.settings.answer.sensitive_quotes:
            self.body = handoff_body(self.question, matter, (), self.parts)
        elif label == "ordinary":
            self.body = pleasantry_body(self.resolved.typed, self.parts)
        elif self.triaged.injected and not self._is_unread():
            self.body = outside_body(self.parts, self.language)

    async def search(self) -> None:
        """Search the documents; with k = 0 ask the chat model without any."""
        chat = self.parts.chat
        if self.plan.k == 0 and chat and not self.triaged.matter:
            self.body = await memory_body(self.question, self.resolved.as_of, chat, self.parts)
            return
        knowledge = self.parts.knowledge
        self.results = await search(self._search_question(), self.plan, self.where, knowledge)
        self.timer.add(self.results.seconds)
        if any(note.startswith("dense") for note in self.results.degraded):
            # What failed once is not asked again.
            self.parts = self.parts._replace(knowledge=knowledge._replace(embedder=None))
        self.elsewhere = await asyncio.to_thread(
            rules_elsewhere, self.question, self.results, self.where, self.parts
        )

    def _search_question(self) -> Question:
        """Return the question with the name of its matter: stories rarely use a policy's words. A
        chat model finds these itself."""
        matter = self.triaged.matter
        if matter is None or self.triaged.label == "person" or self.parts.knowledge.chat:
            return self.question
        subject = matter.topic if matter.name == UNNAMED else matter.name
        aim = "wellbeing helpline" if matter.distress else "support and how to report it"
        return self.question.model_copy(update={"text": f"{self.question.text}\n{subject}: {aim}"})

    async def assess(self) -> None:
        """Refine triage by the evidence, and decide where a person should help. Confidence is
        measured only without a chat model, which decides for itself whether the documents
        answer."""
        knowledge = refining_knowledge(self.parts)
        self.refined = await refine(self.triaged, self.question, self.results, knowledge)
        self.triaged = self.refined.triaged
        self.timer.add(self.refined.seconds)
        if self.parts.chat and self.triaged.label == "ordinary":
            self.body = await self._ask_back()
        else:
            await self._measure()
            self.body = await asyncio.to_thread(self._decided)
            is_unanswered = self.body is not None and self.body.outcome == "denied"
            if is_unanswered and self.triaged.shows_helplines and not self.parts.chat:
                self.body = await self._search_for_help()
        self.timer.rest("signals")

    async def _search_for_help(self) -> Body:
        """Hand over with passages on help: somebody may be in distress, and nothing answers."""
        self.triaged = self.triaged._replace(label="sensitive", matter=POSSIBLE_DISTRESS)
        await self.search()
        await self._measure()
        return await asyncio.to_thread(self._handed_over, POSSIBLE_DISTRESS)

    async def compose(self) -> None:
        """Compose the answer by the chat model where there is one, else from quotes."""
        if self.parts.chat:
            body = await self._written(self.parts.chat)
        else:
            body = await asyncio.to_thread(self._quoted)
        body = with_own_record(body, self.question, self.parts.contacts)
        self.body = with_own_rules(body, self.elsewhere, self.language)

    def finish(self, body: Body) -> Answer:
        """Return the answer with its contacts, sources and trace, and emit the claims not yet
        streamed."""
        contacts = self._contacts(body)
        self.timer.rest("compose")
        composed = body.composed
        evidence = self.results.evidence
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

    def _triaged(self) -> TriageResult:
        """Return the judgement of triage, and let question and models be those that may meet."""
        triaged = self.parts.triage.question(self.resolved)
        needs_person = triaged.matter or triaged.offers_person or triaged.shows_helplines
        is_private = self.resolved.is_private or bool(needs_person)
        guarded = guard(self.question, self.parts, is_private=is_private)
        self.question, self.parts, self.privacy = guarded
        return triaged

    def _is_unread(self) -> bool:
        """Tell whether the index cannot read the question's language and no chat model can either:
        then nobody can judge whether it is an injection."""
        knowledge = self.parts.knowledge
        unread = unread_language(self.question.text, knowledge.engine, knowledge.embedder)
        return bool(unread) and self.parts.chat is None

    async def _ask_back(self) -> Body | None:
        """Ask back if the country is missing or the model could not tell what the question is
        about."""
        if self.elsewhere.decide(sure=True):
            return which_country_body(self.elsewhere, self.language)
        understood = self.results.understood
        if understood is None or understood.triage != "vague":
            return None
        return await asyncio.to_thread(self._clarified, understood.choices)

    def _clarified(self, choices: Sequence[str] = ()) -> Body:
        """Return the page that a single word names, a question back, or the closest passages."""
        if not choices:
            page = page_body(self.question, self.results, self.where, self.parts)
            if page:
                return page
        body = clarify_body(self.question, self.results, self.where, self.parts, choices)
        is_subject = body.action == "clarify" and not named_countries(self.question.text)
        may_show = is_subject and self.assessment.signals and not body.suggestions
        return (self._not_sure() if may_show else None) or body

    async def _measure(self) -> None:
        """Assess the evidence without a model."""
        with within(self.parts.knowledge.seconds):
            self.assessment = await asyncio.to_thread(
                assess_evidence, self.question, self.results, self.where, self.parts, plan=self.plan
            )

    def _decided(self) -> Body | None:
        """Return the reply that replaces an answer, if that is already clear."""
        if self.triaged.label == "person":
            has_quotes = self.assessment.is_sure and not self.resolved.follows
            sections = self.assessment.sections if has_quotes else ()
            return person_body(self.question, sections, self.parts)
        if self.triaged.label == "sensitive" and self.triaged.matter:
            return self._handed_over(self.triaged.matter)
        if self.parts.chat:
            return outside_body(self.parts, self.language) if self._looks_outside() else None
        return self._decided_alone()

    def _decided_alone(self) -> Body | None:
        """Return the reply that replaces an answer where no model judges the evidence."""
        if self.results.translation and self.parts.chat is None:
            return self._foreign(self.results.translation)
        question = self.results.question or self.question
        if not self.resolved.follows and is_vague(question, self.assessment):
            return self._clarified()
        if self._looks_outside():
            return outside_body(self.parts, self.language)
        several = several_body(question, self.where, self.parts, self.results.plan, self.language)
        if several:
            return several
        if self.elsewhere.decide(sure=self.assessment.is_sure):
            return which_country_body(self.elsewhere, self.language)
        if self.assessment.is_sure:
            return None
        return self._not_sure() or not_stated_body(self.question, self.results, self.parts)

    def _looks_outside(self) -> bool:
        """Tell whether triage and the search agree that no document speaks of it."""
        if self.triaged.label != "out_of_scope":
            return False
        weights, signals = self.assessment.weights, self.assessment.signals
        nearness = signals["cosine" if "dense" in self.results.best else "coverage_all"]
        # Triage asks for no more certainty than the organisation does.
        least = min(weights.answer, self.assessment.least)
        return nearness < weights.on_topic and self.assessment.confidence < least

    def _handed_over(self, matter: Matter) -> Body:
        """Offer a person, and show the fitting passages however sure the search is of them."""
        quotes = self.parts.settings.answer.sensitive_quotes
        sections = self.assessment.sections if quotes else ()
        is_read = is_understood(self.results.translation)
        return handoff_body(self.question, matter, sections, self.parts, is_read=is_read)

    def _foreign(self, translation: Translation) -> Body:
        return foreign_body(
            self.question,
            translation,
            self.assessment.sections,
            self.parts,
            near=self._is_near(),
            sure=self.assessment.confidence >= self.assessment.least,
            alarming=self.triaged.offers_person,
        )

    def _is_near(self) -> bool:
        """Tell whether the closest passages are near enough to be of use."""
        least = min(self.assessment.weights.closest, self.assessment.least)
        return self.assessment.confidence >= least

    def _not_sure(self) -> Body | None:
        """Return the closest passages, if they are near enough to be of use."""
        if not self._is_near() or not self.assessment.sections:
            return None
        return not_sure_body(self.question, self.assessment.sections, self.parts)

    async def _written(self, chat: Chat) -> Body:
        """Return the chat model's answer, or quotes if the model fails."""
        parts = self.parts
        plan = self.results.plan
        evidence = self.results.evidence
        if plan.evidence == "section":
            evidence = await with_sections(evidence, parts.knowledge.engine, plan.budget_tokens)
        request = CompositionRequest(
            question=self._reply_question(),
            evidence=evidence,
            plan=plan,
            chat=chat,
            verifier=parts.verifier,
            stored=parts.stored,
            persona=parts.personas[self.plan.persona],
            organisation=parts.settings.general.name,
            day=self.resolved.as_of,
            seconds=seconds_left(parts.settings.models.timeout_seconds),
            prompts=parts.knowledge.prompts,
            on_claim=self.claims.show if self.claims else None,
        )
        try:
            written = await compose_answer(request)
        except ModelError as failed:
            body = await self._without_model()
            is_spent = isinstance(failed, BudgetSpent)
            key = "answer.budget_spent" if is_spent else "answer.model_away"
            notice = message(key, self.language)
            return body._replace(notice=notice, degraded=(f"model: {reason(failed)}",))
        if written.all_failed:
            body = await self._without_model()
            return body._replace(spent=written.spent, notes=written.notes)
        if written.vague:
            body = self._clarified(written.suggestions)
            return body._replace(spent=written.spent, is_written=True)
        self.results = self.results._replace(evidence=evidence)
        body = written_body(written, self.results, self.language)
        if written.outcome != "denied":
            return body
        refusal = not_stated_body(self.question, self.results, parts)
        return body._replace(
            action=refusal.action, composed=refusal.composed, suggestions=(), covers={}
        )

    def _reply_question(self) -> Question:
        """Return the question in its own words behind the turns that it continues."""
        is_redacted = self.question.text != self.resolved.standalone
        if self.question.history or (self.question.began and not is_redacted):
            return self.question.model_copy(update={"text": self.resolved.text})
        return self.question

    async def _without_model(self) -> Body:
        """Answer from the passages alone. The asker's own words are searched for, because the
        model's search texts may be of no use either."""
        question = self._search_question()
        knowledge = self.parts.knowledge
        self.results = await search_unaided(self.results, question, self.where, knowledge)
        if not self.assessment.signals:
            await self._measure()
        decided = await asyncio.to_thread(self._decided_alone)
        if decided is not None:
            return decided
        return await asyncio.to_thread(self._quoted)

    def _quoted(self) -> Body:
        sections = choose_sections(self.assessment.sections)
        quoted = quoted_body(self.question, sections, "full", self.parts)
        if quoted is None:
            return not_stated_body(self.question, self.results, self.parts)
        missing = missing_codes(self.question, quoted.composed)
        if missing:
            return with_missing(quoted, missing, self.language)
        return with_eligibility(quoted, sections[0], self.resolved, self.parts.stored)

    def _contacts(self, body: Body) -> tuple[Contact, ...]:
        """Return the contacts of the sensitive matter, of a personal record or of the answer's
        topic."""
        if body.outcome == "denied" and body.action == "none":
            return ()
        contacts = self.parts.contacts
        country = self.question.asker.country
        matter = self.triaged.matter
        if matter:
            anonymous = wants_anonymity(self.resolved.typed)
            return contacts.of_matter(matter.topic, country, anonymous=anonymous)
        record = own_record(self.question.text)
        named = contacts.named(record.topic, country) if record else ()
        return named or contacts.find(self._topic(body), country)

    def _topic(self, body: Body) -> str:
        if self.triaged.matter:
            return self.triaged.matter.topic
        hits = self._answer_hits(body)
        if self.triaged.label == "person" and not (
            self.assessment.is_sure or self.resolved.follows
        ):
            # What the search finds for "can I talk to someone" is no subject, unless it is named.
            hits = hits_of_named_topic(hits, self.question.text)
        return topic_of(hits)

    def _offer(self, body: Body) -> HandoffReason | None:
        if body.action == "handoff":
            return "sensitive" if self.triaged.matter else "asked"
        return "complex" if self.triaged.offers_person else None

    def _answer_hits(self, body: Body) -> Sequence[Hit]:
        """Return the hits that the answer cites, else the best ones."""
        hits = self.results.evidence.hits
        cited = body.composed.cited_chunks
        cited_hits: Sequence[Hit] = [hit for hit in hits if hit.chunk.id in cited]
        if not cited_hits:
            cited_hits = hits[:MOST_UNCITED]
        return most_alike(cited_hits) if body.action == "clarify" else cited_hits

    def _trace(self, body: Body, seconds: Mapping[str, float]) -> Trace:
        results = self.results
        evidence = tuple(hit.chunk.id for hit in results.evidence.hits)
        signals = {**self.assessment.signals, **results.signals, **self.triaged.signals}
        matter = self.triaged.matter
        if matter and matter.danger and body.action == "handoff":
            signals["emergency"] = 1.0
        degraded = (
            *self.privacy,
            *results.degraded,
            *self.refined.degraded,
            *body.degraded,
        )
        spent = results.spent.plus(self.refined.spent).plus(body.spent)
        return Trace(
            plan=results.plan,
            queries=results.queries,
            rankings=results.rankings,
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
