"""What an answer says, one function for each way to end: quotes, a person, a question back, no."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from babel.dates import format_date

from ombud.answer import wording
from ombud.answer.clarify import (
    ElsewhereRules,
    clarifying_questions,
    country_choices,
)
from ombud.answer.compose.composing import WrittenAnswer, shown_questions
from ombud.answer.compose.prompting import labelled
from ombud.answer.contacts import Contacts
from ombud.answer.languages.language import apology, asked_in
from ombud.answer.parts import AnswerParts
from ombud.answer.proof.citing import Composed
from ombud.answer.proof.proving import Prover
from ombud.answer.quoting.applying import applying_first, applying_rows, facts_of
from ombud.answer.quoting.choosing import choose
from ombud.answer.quoting.completing import completed, opened
from ombud.answer.quoting.quotes import quote_spans
from ombud.answer.quoting.runs import in_page_order
from ombud.answer.quoting.spans import AnswerSpan, section_of, with_short_end
from ombud.answer.signals import unheard
from ombud.answer.triage import own_record
from ombud.answer.triage.helplines import helplines_for
from ombud.answer.triage.phrases import pleasantry_of, tells_of_a_death, wants_anonymity
from ombud.answer.triage.sensitive import UNNAMED, Matter
from ombud.index import Filter
from ombud.retrieve import ModelUsage, SearchResult
from ombud.text import analyse, fold, message_language
from ombud.types import (
    Action,
    AnswerCondition,
    Citation,
    Contact,
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
    """What an answer says, before contacts, ids and the trace are added."""

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


def handoff_body(
    question: Question,
    matter: Matter,
    spans: Sequence[AnswerSpan],
    parts: AnswerParts,
    *,
    is_read: bool = True,
) -> Body:
    """For what a person should help with; spans, if any, are what policies say on it. is_read: the
    search could read the question; otherwise only passages on the matter itself are shown.

    In danger, emergency numbers and helplines come first, the documents' own before public ones."""
    language = message_language(question.text)
    calm = wording.handoff(language)
    lines = _helplines(question, matter, parts, language) if matter.distress else []
    shown = _fitting_spans(spans, matter, is_read=is_read)
    own_lines = [span for span in shown if matter.distress and PHONE_NUMBER.search(span.text)]
    likeliest = sorted(shown, key=lambda span: (span not in own_lines, -span.score))
    quotes = quote_spans(likeliest[:HANDOFF_QUOTES], spans, parts.stored)
    opening = "\n\n".join([*lines, calm])
    if not quotes.claims:
        return _denied("handoff", opening, quotes)
    if own_lines:
        opening = "\n\n".join([*lines[:1], wording.policy_says(language), quotes.text])
        text = "\n\n".join([opening, *lines[1:], calm])
    else:
        text = f"{opening}\n\n{wording.policy_says(language)}\n\n{quotes.text}"
    return Body(
        outcome="partial",
        action="handoff",
        composed=quotes._replace(text=text),
    )


def _helplines(question: Question, matter: Matter, parts: AnswerParts, language: str) -> list[str]:
    """Return whom to call, the emergency number first: by the settings, else public ones."""
    country = question.asker.country
    emergency = parts.settings.answer.emergency
    own = emergency.get(country) if country else ""
    public = helplines_for(country, matter)
    if not matter.danger:
        listening = wording.helplines(public.lines, language) if public else ""
        return list(filter(None, (own or listening,)))
    if own:
        return list(filter(None, (wording.emergency("", language), own)))
    if public is None:
        return list(filter(None, (wording.emergency("", language), emergency.get(""))))
    return [
        wording.emergency(public.emergency, language),
        wording.helplines(public.lines, language),
    ]


def _fitting_spans(
    spans: Sequence[AnswerSpan], matter: Matter, *, is_read: bool
) -> list[AnswerSpan]:
    """Return the passages on a matter, else the likeliest; none that are for managers only."""
    for_everyone = [span for span in spans if not is_for_managers(span)]
    about = [span for span in for_everyone if is_about(span, matter)]
    return about if about or not is_read else for_everyone


def is_for_managers(span: AnswerSpan) -> bool:
    """Tell whether a section says what managers have to do."""
    chunk = span.hit.chunk
    headings = fold(" ".join((chunk.title, *chunk.trail[:-1], section_of(span))))
    return bool(FOR_MANAGERS.search(headings))


def person_body(language: str) -> Body:
    """For who asks for a person and nothing else."""
    return _denied("handoff", wording.person(language))


def pleasantry_body(text: str, parts: AnswerParts) -> Body | None:
    """For who says hello, thank you or goodbye, and nothing else."""
    pleasantry = pleasantry_of(text)
    if pleasantry is None:
        return None
    organisation = parts.settings.general.name
    reply = wording.pleasantry(pleasantry.kind, organisation, pleasantry.language)
    return Body(outcome="full", action="none", composed=NOTHING._replace(text=reply))


def listening_remark(resolved: ResolvedQuestion, parts: AnswerParts) -> str:
    """Return whom to call, before an answer to somebody who may be in distress."""
    matter = Matter(UNNAMED, "wellbeing", danger=False)
    lines = _helplines(resolved.for_search(), matter, parts, resolved.language)
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
        closing = wording.closing(body.action, bool(contacts), language)
        text = f"{text.rstrip()}\n\n{closing}" if text.endswith("\n") else f"{text} {closing}"
    elif body.action == "handoff":
        anonymous = wants_anonymity(resolved.typed)
        text = f"{text}{_whom_to_turn_to(contacts, anonymous=anonymous)}"
    is_answer = body.action != "handoff" and bool(body.composed.claims)
    if is_answer or body.action == "contact":
        remarks = _remarks(resolved, body.composed.citations)
        text = "\n\n".join(filter(None, [opening, *remarks, text]))
    if resolved.corrections and body.action != "handoff":
        pairs = [(change.typed, change.meant) for change in resolved.corrections]
        text = f"{text.rstrip()}\n\n{wording.read_as(pairs)}"
    return text


def _remarks(resolved: ResolvedQuestion, citations: Sequence[Citation]) -> list[str]:
    """Return what stands before an answer: condolence, and the day that its rules are of."""
    remarks: list[str] = []
    if tells_of_a_death(resolved.typed):
        remarks.append(wording.condolence(resolved.language))
    day, today = resolved.as_of, resolved.asked_on
    is_far = abs(day - today) > NEAR_TODAY
    is_other = any(_is_changed_between(citation, day, today) for citation in citations)
    if resolved.period and (is_far or is_other or _is_coming_day(resolved)):
        remarks.append(wording.as_of(_written_day(day, resolved.language), resolved.language))
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


def _written_day(day: date, language: str) -> str:
    locale = language if language in ("de", "fr", "es") else "en_GB"
    return format_date(day, "full", locale=locale)


def _whom_to_turn_to(contacts: Sequence[Contact], *, anonymous: bool) -> str:
    """Below a hand-over: someone to turn to where nobody is named, and what an e-mail tells of who
    wants to stay unknown."""
    sentences: list[str] = []
    if not contacts:
        sentences.append(wording.turn_to())
    if anonymous:
        names = [contact.name for contact in contacts if contact.anonymous]
        sentences.append(wording.staying_unknown(names[0] if names else ""))
    return "".join(f"\n\n{sentence}" for sentence in sentences)


def is_about(span: AnswerSpan, matter: Matter) -> bool:
    """Whether a passage is on the matter that was told: by its topic, or where documents have none
    by its title and headings."""
    chunk = span.hit.chunk
    if chunk.topic:
        return chunk.topic == matter.topic
    headings = set(analyse(" ".join((chunk.title, *chunk.trail)), chunk.language))
    matter_words = f"{matter.name} {matter.topic.replace('-', ' ')}"
    return not headings.isdisjoint(analyse(matter_words, "en"))


def outside_body(parts: AnswerParts, language: str = "en") -> Body:
    """For what is no question about the organisation's policies."""
    return _denied("none", wording.off_topic(parts.settings.general.name, language))


def clarify_body(
    question: Question,
    found: SearchResult,
    where: Filter,
    parts: AnswerParts,
    offered: Sequence[str] = (),
) -> Body:
    """For what is too vague: a question back, or a denial where the settings say so.

    offered: choices that a chat model wrote; of these only what the passages bear out is shown."""
    if parts.settings.answer.vague == "deny":
        return _denied("none", wording.TOO_VAGUE)
    prover = Prover(labelled(found.evidence.hits), parts.stored)
    choices = shown_questions(offered, prover, MOST_CHOICES)
    if len(choices) < LEAST_CHOICES:
        choices = clarifying_questions(question, found, where, parts.knowledge, MOST_CHOICES)
    return _denied("clarify", wording.clarify(choices))._replace(suggestions=choices)


def which_country_body(elsewhere: ElsewhereRules, language: str) -> Body:
    """Asks for the country, before a rule that may be of no use to the asker is said."""
    names = country_choices(elsewhere)
    return _denied("clarify", wording.which_country(names, language))._replace(suggestions=names)


def with_own_rules(body: Body, elsewhere: ElsewhereRules, language: str) -> Body:
    """An answer out of what holds everywhere, and beside it that countries may have rules of their
    own where their documents speak of it, too."""
    if body.outcome == "denied" or not elsewhere.is_worth_saying:
        return body
    text = f"{body.composed.text.rstrip()}\n\n{wording.own_rules(language)}"
    return body._replace(
        composed=body.composed._replace(text=text),
        suggestions=body.suggestions or country_choices(elsewhere),
    )


def not_stated_body(question: Question, found: SearchResult, parts: AnswerParts) -> Body:
    """Says what was looked for in vain and where the closest passages stand."""
    closest = _headings(found)[:MOST_CLOSEST]
    language = message_language(question.text)
    missing = unheard(question.text, found.evidence.hits, parts.knowledge.engine)
    return _denied("contact", wording.not_stated(missing, closest, language))


def not_sure_body(
    question: Question, spans: Sequence[AnswerSpan], parts: AnswerParts
) -> Body | None:
    """The closest passages, without calling them the answer; None where the stored text bears out
    none of the spans."""
    body = quoted_body(question, spans, "partial", parts, sure=False)
    if body is None:
        return None
    composed = body.composed
    opening = wording.not_sure(message_language(question.text))
    return Body(
        outcome="denied",
        action="contact",
        composed=composed._replace(text=f"{opening}\n\n{composed.text}\n\n"),
    )


def quoted_body(
    question: Question,
    spans: Sequence[AnswerSpan],
    outcome: Outcome,
    parts: AnswerParts,
    *,
    apologise: bool = True,
    sure: bool = True,
) -> Body | None:
    """Passages word for word; None where the stored text bears out none of the spans.

    apologise: say so where the passages are in another language than the question. sure: whether
    they answer."""
    spans = list(map(with_short_end, spans))
    chosen = opened(choose(spans, parts.knowledge.embedder, sure=sure), spans)
    chosen = in_page_order(completed(chosen, spans))
    applying = applying_rows(chosen, spans, facts_of(question))
    chosen = applying_first(chosen, spans, applying)
    composed = quote_spans(chosen, spans, parts.stored, applying)
    if not composed.claims:
        return None
    languages: set[str] = set()
    for span in spans:
        chunk = span.hit.chunk
        if chunk.id in composed.cited_chunks:
            languages.add(chunk.language)
    sorry = apology("quoted", asked_in(question.text), languages)
    if sorry and apologise:
        composed = composed._replace(text=f"{sorry}\n\n{composed.text}")
    return Body(
        outcome=outcome,
        action="none",
        composed=composed,
    )


def written_body(written: WrittenAnswer, found: SearchResult, language: str) -> Body:
    """Return what a chat model wrote and the check left of it, with the conditions that decide.

    Where a condition is not known, the first one is asked for."""
    read = {hit.chunk.id for hit in written.evidence}
    evidence: list[str] = []
    for hit in found.evidence.hits:
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
    return _with_conditions(body, language) if body.composed.claims else body


def _with_conditions(body: Body, language: str) -> Body:
    """Show a checklist of the conditions; the first unknown one that can be asked for is."""
    if not body.conditions:
        return body
    unknown = next((one for one in body.conditions if one.question), None)
    question = unknown.question if unknown else ""
    checklist = wording.conditions(body.conditions, language)
    text = "\n\n".join(filter(None, (body.composed.text, checklist, question)))
    body = body._replace(composed=body.composed._replace(text=text))
    if unknown is None:
        return body
    return body._replace(outcome="partial", action="clarify", suggestions=unknown.choices)


def with_own_record(body: Body, question: Question, contacts: Contacts) -> Body:
    """Of who asks for a figure of their own: the policy answers in part; the figure itself is
    nowhere in the documents."""
    record = own_record(question.text)
    if record is None or (body.outcome == "denied" and body.action != "contact"):
        return body
    shown_below = bool(contacts.named(record.topic, question.asker.country))
    sentence = wording.own_record(record.name, shown_below)
    text = f"{sentence}\n\n{body.composed.text}"
    composed = body.composed._replace(text=text.strip())
    outcome: Outcome = "denied" if body.outcome == "denied" else "partial"
    return body._replace(outcome=outcome, composed=composed)


def _denied(action: Action, text: str, composed: Composed = NOTHING) -> Body:
    return Body(
        outcome="denied",
        action=action,
        composed=composed._replace(text=text),
    )


def _headings(found: SearchResult) -> tuple[str, ...]:
    """Where the best passages stand, best first, each place once."""
    headings: dict[str, None] = {}
    for hit in found.evidence.hits:
        chunk = hit.chunk
        place = dict.fromkeys((chunk.title, *chunk.trail[-1:]))
        headings[" · ".join(place)] = None
    return tuple(headings)
