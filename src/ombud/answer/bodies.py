"""What an answer says, one function for each way to end: quotes, a person, a question back, no."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
from ombud.answer.quoting.spans import AnswerSpan, with_short_end
from ombud.answer.signals import unheard
from ombud.answer.triage import own_record
from ombud.answer.triage.anonymity import wants_anonymity
from ombud.answer.triage.persons import wants_person
from ombud.answer.triage.pleasantries import pleasantry_of
from ombud.answer.triage.sensitive import Matter
from ombud.index import Filter
from ombud.retrieve import ModelUsage, SearchResult
from ombud.text import analyse, message_language
from ombud.types import Action, Contact, Outcome, Question

MOST_CHOICES = 4
"""Questions among which whoever wrote a vague one is asked to choose."""
LEAST_CHOICES = 2
MOST_CLOSEST = 3
"""Headings named where the documents do not answer."""
HANDOFF_POOL = 24
HANDOFF_QUOTES = 2
"""Likeliest spans among which quotes for a handoff are chosen, and how many are shown."""

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


def handoff_body(
    question: Question, matter: Matter, spans: Sequence[AnswerSpan], parts: AnswerParts
) -> Body:
    """For what a person should help with; spans, if any, are what policies say on it."""
    emergency = parts.settings.answer.emergency
    language = message_language(question.text)
    opening = wording.handoff(matter, question.asker.country, emergency, language)
    if not spans:
        return _denied("handoff", opening)
    about = [span for span in spans[:HANDOFF_POOL] if is_about(span, matter)]
    likeliest = sorted(about, key=lambda span: -span.score)
    quotes = quote_spans(likeliest[:HANDOFF_QUOTES], spans, parts.stored)
    if not quotes.claims:
        return _denied("handoff", opening, quotes)
    text = f"{opening}\n\n{wording.policy_says(language)}\n\n{quotes.text}"
    return Body(
        outcome="partial",
        action="handoff",
        composed=quotes._replace(text=text),
    )


def person_body(language: str) -> Body:
    """For who asks for a person and nothing else."""
    return _denied("handoff", wording.person(language))


def spoken_to_body(text: str, parts: AnswerParts, language: str) -> Body | None:
    """For who asks for a person, or says hello, thank you or goodbye, and nothing else."""
    if wants_person(text):
        return person_body(language)
    said = pleasantry_of(text)
    if said is None:
        return None
    organisation = parts.settings.general.name
    return _denied("clarify", wording.pleasantry(said.kind, organisation, said.language))


def whole_text(body: Body, contacts: Sequence[Contact], asked: str) -> str:
    """What the body says, and whom to turn to.

    asked: as it was typed."""
    text = body.composed.text
    if body.action == "contact":
        closing = wording.closing(body.action, bool(contacts), message_language(asked))
        return f"{text.rstrip()}\n\n{closing}" if text.endswith("\n") else f"{text} {closing}"
    if body.action == "handoff":
        return f"{text}{_whom_to_turn_to(contacts, anonymous=wants_anonymity(asked))}"
    return text


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
    choices = _borne_out(offered, found, parts)
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


def _borne_out(offered: Sequence[str], found: SearchResult, parts: AnswerParts) -> tuple[str, ...]:
    prover = Prover(labelled(found.evidence.hits), parts.stored)
    return shown_questions(offered, prover, MOST_CHOICES)


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


def written_body(written: WrittenAnswer, found: SearchResult) -> Body:
    """What a chat model wrote and proof left of it."""
    read = {hit.chunk.id for hit in written.evidence}
    evidence: list[str] = []
    for hit in found.evidence.hits:
        if hit.chunk.id in read:
            evidence.append(hit.chunk.id)
    return Body(
        outcome=written.outcome,
        action="none",
        composed=written.composed,
        suggestions=written.suggestions,
        covers=written.covers,
        reasoning=written.reasoning,
        is_written=True,
        spent=written.spent,
        evidence=tuple(evidence),
        notes=written.notes,
        degraded=written.degraded,
    )


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
