"""What an answer says, one function for each way to end: quotes, a person, a question back, no."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ombud.answer.assessing import answered_questions
from ombud.answer.clarifying import ElsewhereRules, country_choices, possible_questions
from ombud.answer.compose.composing import WrittenAnswer, supported_questions
from ombud.answer.compose.prompting import labelled
from ombud.answer.contacts import Contacts
from ombud.answer.languages import wording
from ombud.answer.languages.language import apology, question_language
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Composed
from ombud.answer.proof.proving import Prover
from ombud.answer.quoting.card import answer_card
from ombud.answer.quoting.opening import open_page
from ombud.answer.quoting.sections import RankedSection, choose_sections
from ombud.answer.quoting.spans import section_of
from ombud.answer.signals import missing_terms
from ombud.answer.triage.helplines import Helplines, helplines_for
from ombud.answer.triage.phrases import (
    own_record,
    pleasantry_of,
    tells_of_a_death,
    wants_anonymity,
)
from ombud.answer.triage.sensitive import POSSIBLE_DISTRESS, Matter
from ombud.index import Filter
from ombud.messages import format_day, message
from ombud.retrieve import ModelUsage, SearchResult, query_terms
from ombud.text import analyse, fold, message_language, named_countries
from ombud.types import (
    Action,
    AnswerCondition,
    Citation,
    Contact,
    Hit,
    Outcome,
    Question,
    ResolvedQuestion,
)

MOST_CHOICES = 4
"""Questions among which whoever wrote a vague one is asked to choose."""
LEAST_CHOICES = 2
MOST_CLOSEST = 3
"""Headings named where the documents do not answer."""
NEAR_TODAY = timedelta(days=31)
"""Days of which an answer is not told, unless its rules changed between."""
HANDOFF_QUOTES = 2
"""Passages that a handoff shows."""
PHONE_NUMBER = re.compile(r"\+?\d(?:[ ()/.-]{0,2}\d){6,14}")
FOR_MANAGERS = re.compile(
    r"\b(?:for|guide|duties|guidance|as a|pack)\b.{0,20}\b(?:line )?managers?\b"
    r"|\bmanagers?['’]?s? (?:guide|duties|pack|must|should|checklist)\b|\bfuhrungskrafte\b"
)

NOTHING = Composed((), (), "")


class Body(NamedTuple):
    """The content of an answer before contacts, ids and the trace are added."""

    outcome: Outcome
    action: Action
    composed: Composed
    suggestions: tuple[str, ...] = ()
    covers: Mapping[str, str] = {}
    """Chunk id -> what a model says it covers."""
    reasoning: str = ""
    """What the model thought, which no answer and no trace holds."""
    is_written: bool = False
    """A chat model wrote it, or decided that there is nothing to write."""
    spent: ModelUsage = ModelUsage()
    evidence: tuple[str, ...] | None = None
    """Chunk ids that stood in front of the composer, best first; None: all that were found."""
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What was asked and the documents do not say, as sentences."""
    conditions: tuple[AnswerCondition, ...] = ()
    notice: str = ""
    """Said in small type below everything else."""


def handoff_body(
    question: Question,
    matter: Matter,
    sections: Sequence[RankedSection],
    parts: AnswerParts,
    *,
    is_read: bool = True,
) -> Body:
    """Offer a person, with the helplines first in danger, and quote what the policies say.

    is_read: the search could read the question; otherwise only passages on the matter itself are
    shown."""
    language = message_language(question.text)
    calm = message("answer.handoff", language)
    lines = list_helplines(question, matter, parts, language) if matter.distress else []
    quoted = sections_on_matter(sections, matter, is_read=is_read)
    own_lines: list[RankedSection] = []
    if matter.distress:
        own_lines, quoted = split_by_phone_number(quoted)
    quoted = [*own_lines, *quoted][:HANDOFF_QUOTES]
    quotes = answer_card(quoted, question, parts.stored, folded=True)
    opening = "\n\n".join([*lines, calm])
    if not quotes.claims:
        return denied_body("handoff", opening, quotes)
    if own_lines:
        opening = "\n\n".join([*lines[:1], message("answer.policy_says", language), quotes.text])
        text = "\n\n".join([opening, *lines[1:], calm])
    else:
        text = f"{opening}\n\n{message('answer.policy_says', language)}\n\n{quotes.text}"
    return Body(
        outcome="partial",
        action="handoff",
        composed=quotes._replace(text=text),
    )


def list_helplines(
    question: Question, matter: Matter, parts: AnswerParts, language: str
) -> list[str]:
    """Return whom to call, the emergency number first: by the settings, else public ones."""
    country = question.asker.country
    emergency = parts.settings.answer.emergency
    own = emergency.get(country) if country else ""
    public = helplines_for(country, matter)
    if not matter.danger:
        listening = _listening(public, language) if public else ""
        return list(filter(None, (own or listening,)))
    if own or public is None:
        # Written by the workspace, in one language; whoever writes in another reads ours first.
        written = own or emergency.get("", "")
        general = wording.emergency("", language) if language != "en" or not written else ""
        return list(filter(None, (general, written)))
    return [
        wording.emergency(public.emergency, language),
        _listening(public, language),
    ]


def _listening(public: Helplines, language: str) -> str:
    return message("answer.helplines", language, lines="; ".join(public.lines))


def sections_on_matter(
    sections: Sequence[RankedSection], matter: Matter, *, is_read: bool
) -> list[RankedSection]:
    """Return the sections on a matter, else the likeliest; none that are for managers only."""
    for_everyone = [section for section in sections if not is_for_managers(section)]
    about = [section for section in for_everyone if is_about(section, matter)]
    return about if about or not is_read else for_everyone


def split_by_phone_number(
    sections: Sequence[RankedSection],
) -> tuple[list[RankedSection], list[RankedSection]]:
    """Return the sections with a phone number, of these the lines that have one, and the others."""
    numbered: list[RankedSection] = []
    others: list[RankedSection] = []
    for section in sections:
        lines = [span for span in section.spans if PHONE_NUMBER.search(span.text)]
        if lines:
            numbered.append(section._replace(spans=tuple(lines)))
        else:
            others.append(section)
    return numbered, others


def is_for_managers(section: RankedSection) -> bool:
    """Tell whether a section says what managers have to do."""
    chunk = section.chunk
    headings = fold(" ".join((chunk.title, *chunk.trail[:-1], section_of(section.lead))))
    return bool(FOR_MANAGERS.search(headings))


def person_body(question: Question, sections: Sequence[RankedSection], parts: AnswerParts) -> Body:
    """Reply to a request for a person; the sections, if any, answer what else was asked."""
    language = message_language(question.text)
    opening = message("answer.person", language)
    quotes = answer_card(sections[:HANDOFF_QUOTES], question, parts.stored, folded=True)
    if not quotes.claims:
        return denied_body("handoff", opening)
    text = "\n\n".join([opening, message("answer.policy_says", language), quotes.text])
    return Body(outcome="partial", action="handoff", composed=quotes._replace(text=text))


def pleasantry_body(text: str, parts: AnswerParts) -> Body | None:
    """Reply to a greeting, thanks or goodbye that contains nothing else."""
    pleasantry = pleasantry_of(text)
    if pleasantry is None:
        return None
    organisation = parts.settings.general.name or "your organisation"
    reply = message(
        "answer.pleasantry_" + pleasantry.kind, pleasantry.language, organisation=organisation
    )
    return Body(outcome="full", action="none", composed=NOTHING._replace(text=reply))


def listening_remark(resolved: ResolvedQuestion, parts: AnswerParts) -> str:
    """Return whom to call, before an answer to somebody who may be in distress."""
    lines = list_helplines(resolved.for_search(), POSSIBLE_DISTRESS, parts, resolved.language)
    return "\n\n".join(lines)


def whole_text(
    body: Body,
    contacts: Sequence[Contact],
    resolved: ResolvedQuestion,
    opening: str = "",
) -> str:
    """Return what the body says, with the remarks before and behind it. opening: comes first."""
    text = body.composed.text
    language = resolved.language
    if body.action == "contact":
        closing = message("answer.contact" if contacts else "answer.no_contact", language)
        text = f"{text.rstrip()}\n\n{closing}" if text.endswith("\n") else f"{text} {closing}"
    elif body.action == "handoff":
        anonymous = wants_anonymity(resolved.typed)
        text = f"{text}{fallback_contacts(contacts, language, anonymous=anonymous)}"
    is_answer = body.action != "handoff" and bool(body.composed.claims)
    if is_answer or body.action == "contact":
        remarks = list_remarks(resolved, body.composed.citations)
        text = "\n\n".join(filter(None, [opening, *remarks, text]))
    if resolved.corrections and body.action != "handoff":
        pairs = [(change.typed, change.meant) for change in resolved.corrections]
        text = f"{text.rstrip()}\n\n{wording.read_as(pairs, language)}"
    return f"{text.rstrip()}\n\n_{body.notice}_" if body.notice else text


def list_remarks(resolved: ResolvedQuestion, citations: Sequence[Citation]) -> list[str]:
    """Return what stands before an answer: condolence, and the day that its rules are of."""
    remarks: list[str] = []
    if tells_of_a_death(resolved.typed):
        remarks.append(message("answer.condolence", resolved.language))
    day, today = resolved.as_of, resolved.asked_on
    is_far = abs(day - today) > NEAR_TODAY
    is_other = any(_is_changed_between(citation, day, today) for citation in citations)
    if resolved.period and (is_far or is_other or _is_coming_day(resolved)):
        written = format_day(day, "full", resolved.language)
        remarks.append(message("answer.as_of", resolved.language, day=written))
    return remarks


def _is_coming_day(resolved: ResolvedQuestion) -> bool:
    """Tell whether a single day after today is asked about."""
    if resolved.period is None:
        return False
    first, last = resolved.period
    return first is not None and first == last and first > resolved.asked_on


def _is_changed_between(citation: Citation, day: date, today: date) -> bool:
    """Tell whether a cited document began or ended to apply between two days."""
    first, last = sorted((day, today))
    begins, ends = citation.effective_from, citation.effective_to
    return bool((begins and first < begins <= last) or (ends and first <= ends < last))


def fallback_contacts(contacts: Sequence[Contact], language: str, *, anonymous: bool) -> str:
    """Return whom to turn to where no contact is named, and what an e-mail reveals of a reporter
    who wants to stay anonymous."""
    sentences: list[str] = []
    if not contacts:
        sentences.append(message("answer.turn_to", language))
    if anonymous:
        names = [contact.name for contact in contacts if contact.anonymous]
        sentences.append(wording.staying_unknown(names[0] if names else "", language))
    return "".join(f"\n\n{sentence}" for sentence in sentences)


def is_about(section: RankedSection, matter: Matter) -> bool:
    """Tell whether a section is on a matter, or on wellbeing if somebody is in distress: by its
    topic, or where documents have none by its title and headings."""
    chunk = section.chunk
    topics = [matter.topic, POSSIBLE_DISTRESS.topic] if matter.distress else [matter.topic]
    if chunk.topic:
        return chunk.topic in topics
    headings = set(analyse(" ".join((chunk.title, *chunk.trail)), chunk.language))
    matter_words = " ".join((matter.name, *topics)).replace("-", " ")
    return not headings.isdisjoint(analyse(matter_words, "en"))


def outside_body(parts: AnswerParts, language: str = "en") -> Body:
    """Refuse a question that is not about the organisation's policies."""
    return denied_body(
        "none", message("answer.outside", language, organisation=parts.settings.general.name)
    )


def clarify_body(
    question: Question,
    results: SearchResult,
    where: Filter,
    parts: AnswerParts,
    offered: Sequence[str] = (),
) -> Body:
    """Ask back about a vague question, or refuse it if the settings say so.

    offered: choices that a chat model wrote; those that the passages do not support are replaced by
    questions that the documents answer."""
    language = message_language(question.text)
    if parts.settings.answer.vague == "deny":
        return denied_body("none", message("answer.too_vague", language))
    prover = Prover(labelled(results.evidence.hits), parts.stored)
    choices = list(supported_questions(offered, prover, MOST_CHOICES))
    if len(choices) < LEAST_CHOICES:
        choices = answered_questions(
            possible_questions(question.text), question, where, parts, results.plan
        )
    choices = choices[:MOST_CHOICES]
    return denied_body("clarify", wording.clarify(choices, language))._replace(
        suggestions=tuple(choices)
    )


def page_body(
    question: Question, results: SearchResult, where: Filter, parts: AnswerParts
) -> Body | None:
    """Open the page that a single word names, and suggest questions that the documents answer. None
    if no title has the word, or the settings refuse vague questions."""
    if parts.settings.answer.vague == "deny" or named_countries(question.text):
        return None
    terms = set(query_terms(question.text, parts.knowledge.engine))
    composed = open_page(terms, results.evidence.hits, parts.stored)
    if composed is None:
        return None
    possible = possible_questions(question.text)
    answered = answered_questions(possible, question, where, parts, results.plan)
    return Body(
        outcome="full",
        action="none",
        composed=composed,
        suggestions=tuple(answered[:MOST_CHOICES]),
    )


def which_country_body(elsewhere: ElsewhereRules, language: str) -> Body:
    """Ask for the country before quoting a rule that may not apply to the asker."""
    names = country_choices(elsewhere, language)
    return denied_body("clarify", wording.which_country(names, language))._replace(
        suggestions=names
    )


def with_own_rules(body: Body, elsewhere: ElsewhereRules, language: str) -> Body:
    """Add to an answer from global documents that countries may have rules of their own."""
    if body.outcome == "denied" or not elsewhere.is_worth_saying:
        return body
    text = f"{body.composed.text.rstrip()}\n\n{message('answer.own_rules', language)}"
    return body._replace(
        composed=body.composed._replace(text=text),
        suggestions=body.suggestions or country_choices(elsewhere, language),
    )


def not_stated_body(question: Question, results: SearchResult, parts: AnswerParts) -> Body:
    """Say which terms no passage has, and name the closest passages."""
    closest = list_headings(results)[:MOST_CLOSEST]
    language = message_language(question.text)
    missing = missing_terms(question.text, results.evidence.hits, parts.knowledge.engine)
    page = title_on_subject(question, results.evidence.hits)
    return denied_body("contact", wording.not_stated(missing, closest, language, page))


def title_on_subject(question: Question, hits: Sequence[Hit]) -> str:
    """Return the title of the closest page, if it shares a word with the question; else empty."""
    if not hits:
        return ""
    chunk = hits[0].chunk
    shared = {*analyse(question.text, chunk.language)} & {*analyse(chunk.title, chunk.language)}
    return chunk.title if shared else ""


def not_sure_body(
    question: Question, sections: Sequence[RankedSection], parts: AnswerParts
) -> Body | None:
    """Quote the closest sections without calling them the answer. None if the stored text supports
    none of them."""
    body = quoted_body(question, choose_sections(sections), "partial", parts)
    if body is None:
        return None
    language = message_language(question.text)
    hits = [section.lead.hit for section in sections]
    missing = missing_terms(question.text, hits, parts.knowledge.engine)
    opening = wording.not_sure(language, missing, title_on_subject(question, hits))
    composed = body.composed
    return Body(
        outcome="denied",
        action="contact",
        composed=composed._replace(text=f"{opening}\n\n{composed.text}\n\n"),
    )


def quoted_body(
    question: Question,
    sections: Sequence[RankedSection],
    outcome: Outcome,
    parts: AnswerParts,
    *,
    apologise: bool = True,
) -> Body | None:
    """Quote sections verbatim, the leading one first. None if the stored text supports none of
    them.

    apologise: say so if they are not in the language of the question."""
    composed = answer_card(sections, question, parts.stored)
    if not composed.claims:
        return None
    languages: set[str] = set()
    for section in sections:
        if section.chunk.id in composed.cited_chunks:
            languages.add(section.chunk.language)
    sorry = apology("quoted", question_language(question.text), languages)
    if sorry and apologise:
        composed = composed._replace(text=f"{sorry}\n\n{composed.text}")
    return Body(outcome=outcome, action="none", composed=composed)


def written_body(written: WrittenAnswer, results: SearchResult, language: str) -> Body:
    """Return what a chat model wrote and the check left of it, with the conditions that decide.

    Where a condition is not known, the first one is asked for."""
    read = {hit.chunk.id for hit in written.evidence}
    evidence: list[str] = []
    for hit in results.evidence.hits:
        if hit.chunk.id in read:
            evidence.append(hit.chunk.id)
    body = Body(
        outcome=written.outcome,
        action="none",
        composed=written.composed,
        suggestions=written.suggestions,
        missing=written.missing,
        conditions=written.conditions,
        covers=written.covers,
        reasoning=written.reasoning,
        is_written=True,
        spent=written.spent,
        evidence=tuple(evidence),
        notes=written.notes,
        degraded=written.degraded,
    )
    return with_conditions(body, language) if body.composed.claims else body


def with_conditions(body: Body, language: str) -> Body:
    """Show a checklist of the conditions; the first unknown one that can be asked for is, unless
    another is not met."""
    if not body.conditions:
        return body
    is_decided = any(one.state == "not_met" for one in body.conditions)
    unknown = next((one for one in body.conditions if one.question and not is_decided), None)
    question = unknown.question if unknown else ""
    checklist = wording.conditions(body.conditions, language)
    text = "\n\n".join(filter(None, (body.composed.text, checklist, question)))
    body = body._replace(composed=body.composed._replace(text=text))
    if unknown is None:
        return body
    return body._replace(outcome="partial", action="clarify", suggestions=unknown.choices)


def with_own_record(body: Body, question: Question, contacts: Contacts) -> Body:
    """Say to somebody who asks for a figure of their own that the documents have the policy
    only."""
    record = own_record(question.text)
    if record is None or (body.outcome == "denied" and body.action != "contact"):
        return body
    has_contact = bool(contacts.named(record.topic, question.asker.country))
    sentence = wording.own_record(record.topic, has_contact, message_language(question.text))
    text = f"{sentence}\n\n{body.composed.text}"
    composed = body.composed._replace(text=text.strip())
    outcome: Outcome = "denied" if body.outcome == "denied" else "partial"
    return body._replace(outcome=outcome, composed=composed)


def denied_body(action: Action, text: str, composed: Composed = NOTHING) -> Body:
    return Body(outcome="denied", action=action, composed=composed._replace(text=text))


def list_headings(results: SearchResult) -> tuple[str, ...]:
    """Return the headings of the best passages, best first, without repetition."""
    headings: dict[str, None] = {}
    for hit in results.evidence.hits:
        chunk = hit.chunk
        place = dict.fromkeys((chunk.title, *chunk.trail[-1:]))
        headings[" · ".join(place)] = None
    return tuple(headings)
