"""Resolves what somebody types, and what they asked before, to one frozen question."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from babel.dates import format_date

from ombud.answer.languages import wording
from ombud.answer.quoting.groups import group_words
from ombud.answer.triage.phrases import pleasantry_of
from ombud.index import Filter
from ombud.retrieve import Vocabularies
from ombud.text import (
    Calendar,
    Corrected,
    Period,
    Phrases,
    analyse,
    clauses_of,
    country_names,
    find_first_day,
    find_period,
    find_service,
    fold,
    message_language,
    moved,
    named_countries,
    phrase_tables,
    split_words,
)
from ombud.types import Message, Question, ResolvedQuestion

MOST_TURNS = 5
"""Earlier turns that are looked at."""
MOST_MESSAGES = 4 * MOST_TURNS
"""Messages among which these are looked for; half of them are answers."""
LONGEST_TURN = 600
"""Characters that are read of an earlier turn: a pasted mail is no question."""
FEW_TERMS = 3
"""Content words up to which a turn may be a follow-up without a word that says so."""
END = " ?.!,;"
FollowUpModel = Callable[[Sequence[str], str], float | None]
"""(earlier questions, turn) -> probability that the turn continues them; None where it cannot
tell."""
LEAST_PROBABILITY = 0.5
LEAST_IF_LIKELY = 0.1
"""For a turn whose words show that it follows, or that names a country or a group of people."""


class ResolveParts(NamedTuple):
    """The parts of the workspace that resolving needs."""

    calendar: Calendar
    countries: Collection[str] = ()
    """ISO codes of those for which there are documents."""
    vocabularies: Vocabularies | None = None
    """None: spelling is not corrected."""
    follow_ups: FollowUpModel | None = None
    """None: follow-ups are recognised by their words alone."""
    asks_for_person: Callable[[str], bool] = lambda text: False


def resolve_question(
    question: Question, parts: ResolveParts, *, is_private: bool = False
) -> ResolvedQuestion:
    """Resolve a follow-up question: its spelling, subject, country and day.

    A follow-up takes the subject of the asker's last question, never words of an answer. A country
    that a follow-up names, or that the asker says they work in, holds for the rest of the
    conversation."""
    corrected = Corrected(question.text)
    if parts.vocabularies:
        where = Filter(countries=None, reader=question.asker)
        corrected = parts.vocabularies.correct(question.text, where)
    text = corrected.text
    conversation = _Conversation(parts, question.asker.country or "")
    for earlier in earlier_questions(question.history, parts.asks_for_person):
        conversation.add(earlier)
    conversation.add(text)
    topic = conversation.topic
    language = message_language(" ".join((*topic, text)))
    period = conversation.period(language)
    began = conversation.first_day()
    today = parts.calendar.today
    as_of = question.as_of or (period.day_nearest(today) if period else today)
    standalone = with_day(conversation.standalone(text), period, language)
    return ResolvedQuestion(
        typed=question.text,
        text=text,
        corrections=corrected.corrections,
        language=language,
        standalone=standalone,
        follows=topic[0] if topic else "",
        earlier=topic,
        asker=question.asker.model_copy(update={"country": conversation.country or None}),
        countries=conversation.countries,
        as_of=as_of,
        period=(period.start, period.end) if period else None,
        asked_on=today,
        began=(began.start, began.end) if began else None,
        facts=conversation.facts,
        is_private=is_private,
    )


def earlier_questions(
    history: Sequence[Message], asks_for_person: Callable[[str], bool]
) -> list[str]:
    """Return what the asker asked before, oldest first.

    Greetings and thanks are left out, and so is what was handed to a person or called outside."""
    questions: list[str] = []
    is_turned_away = False
    for message in reversed(history[-MOST_MESSAGES:]):
        content = message.content[:LONGEST_TURN].strip()
        if message.role == "assistant":
            is_turned_away = wording.is_turned_away(message.content)
        elif message.role == "user" and content and not is_turned_away:
            if pleasantry_of(content) is None and not asks_for_person(content):
                questions.append(content)
            if len(questions) == MOST_TURNS:
                break
    return questions[::-1]


class _Conversation:
    """Subject, country and day of a conversation, turn by turn."""

    def __init__(self, parts: ResolveParts, own_country: str) -> None:
        self._parts = parts
        self.country = own_country
        """The country that applies to what was asked last."""
        self._turns: list[str] = []
        """The turn that opened the subject, and those that follow it."""
        self._is_country_alone = False
        """The last turn answers in which country the asker works."""
        self.countries: tuple[str, ...] = ()
        self.began: Period | None = None
        """When the asker began to work here, as they said last."""
        self.facts = ""
        self._service: tuple[int, str] | None = None

    @property
    def topic(self) -> tuple[str, ...]:
        """Return the turns of the subject before the last one."""
        return tuple(self._turns[:-1])

    def add(self, text: str) -> None:
        """Add the next turn of the asker."""
        first_day = find_first_day(text, self._parts.calendar)
        self._service = None if first_day else find_service(text)
        if first_day:
            self.began = first_day
            self.facts = ", ".join(filter(self._is_fact, clauses_of(text)))
        only_country = country_alone(text, self._parts.countries)
        named = (only_country,) if only_country else named_countries(text)
        self._is_country_alone = bool(only_country) and not self.country
        follows = bool(self._turns) and self._follows(text, only_country)
        self._turns = [*self._turns, text] if follows else [text]
        if named and (follows or only_country):
            self.country = named[0]
            self.countries = named
        elif not follows:
            self.countries = self._with_own_country(named)

    def _with_own_country(self, named: Sequence[str]) -> tuple[str, ...]:
        countries = self._parts.countries
        others = [code for code in named if code in countries or not countries]
        return tuple(filter(None, dict.fromkeys((self.country, *others))))

    def _follows(self, text: str, only_country: str) -> bool:
        """Tell whether a turn continues the subject."""
        if only_country or self._parts.asks_for_person(text) or self._is_fact(text):
            return True
        has_scope, is_likely = names_scope(text), follows_by_words(text)
        if has_scope and (is_likely or not subject_terms(text)):
            return True
        model = self._parts.follow_ups
        probability = model(self._turns, text) if model else None
        if probability is None:
            return is_likely
        return probability >= (LEAST_IF_LIKELY if has_scope or is_likely else LEAST_PROBABILITY)

    def _is_fact(self, text: str) -> bool:
        """Tell whether a text only says how long the asker has worked here, or replies to what we
        asked about them."""
        terms = {term for term in analyse(text) if not term.isdigit()}
        asks = text.rstrip().endswith("?") or len(terms) > FEW_TERMS
        is_service = not asks and find_first_day(text, self._parts.calendar) is not None
        return is_service or wording.is_reply(text)

    def _without_facts(self, text: str) -> str:
        """Return the clauses that ask something: rules speak of service in other words."""
        clauses = clauses_of(text)
        asking = [clause for clause in clauses if not self._is_fact(clause)]
        return " ".join(asking) if len(asking) < len(clauses) and asking else text

    def period(self, language: str) -> Period | None:
        """Return the day or period that the last turn names, else the latest of its subject."""
        for text in reversed(self._turns):
            period = find_period(text, self._parts.calendar, language)
            if period:
                return period
        return None

    def first_day(self) -> Period | None:
        """Return when the asker began to work here; "after 2 years" is meant for one turn alone."""
        if self._service is None:
            return self.began
        count, unit = self._service
        day = moved(self._parts.calendar.today, unit, -count)
        return Period(day, day)

    def standalone(self, text: str) -> str:
        """Return the last turn together with its subject."""
        is_fact = self._is_fact(text)
        text = self._without_facts(text)
        if not self.topic:
            return text
        subject = self._without_facts(self.topic[0])
        if self._is_country_alone or is_fact:
            return subject
        subject = subject.rstrip(END)
        if names_scope(text) or not subject_terms(text):
            return f"{subject}, {text.lstrip(END)}"
        return f"{text.rstrip(END)}? {subject}"


def follows_by_words(text: str) -> bool:
    """Tell whether the words of a turn show that it continues the one before."""
    words = split_words(fold(text))
    if not words:
        return False
    terms = min(len(set(analyse(text, language))) for language in _languages())
    if terms > FEW_TERMS:
        return names_scope(text) and begins_as_follow_up(words)
    refers = any(roles["refers"].values_in(" ".join(words)) for roles in _languages().values())
    return refers or begins_as_follow_up(words) or terms < 2


def begins_as_follow_up(words: Sequence[str]) -> bool:
    return any(next(roles["begins"].at(words, 0), None) for roles in _languages().values())


def names_scope(text: str) -> bool:
    """Tell whether a turn names a country or a group of people."""
    return bool(group_words(text) or named_countries(text))


def subject_terms(text: str) -> list[str]:
    """Return content words that name neither a country nor a group of people."""
    names = [*country_names(named_countries(text)), *group_words(text)]
    scope = set(analyse(" ".join(names)))
    return [term for term in analyse(text) if term not in scope]


def country_alone(text: str, countries: Collection[str]) -> str:
    """Return the country of a message that says where somebody works and nothing else."""
    code = text.strip(END).upper()
    if code in countries and analyse(code):  # "no" and "it" are words
        return code
    rest = [word for word in split_words(fold(text)) if word not in _place_words()]
    for code in named_countries(text) or countries:
        names = [" ".join(split_words(name)) for name in country_names([code])]
        if " ".join(rest) in names:
            return code
    return ""


def with_day(text: str, period: Period | None, language: str) -> str:
    """Add the date of a day that is named by its place in the week or year."""
    if period is None or not period.is_day or period.start is None:
        return text
    written = format_date(period.start, "d MMMM y", locale=language)
    return text if written in text else f"{text.rstrip(END)} ({written})?"


@cache
def _languages() -> Mapping[str, Mapping[str, Phrases[str]]]:
    return phrase_tables(_content())


@cache
def _place_words() -> frozenset[str]:
    words = [word for roles in _content().values() for word in roles["place"]]
    return frozenset(split_words(" ".join(words)))


@cache
def _content() -> Mapping[str, Mapping[str, Sequence[str]]]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
