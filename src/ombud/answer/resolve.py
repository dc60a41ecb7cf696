"""Makes one frozen question of what somebody types and what they asked before."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from babel.dates import format_date

from ombud.answer import wording
from ombud.answer.quoting.meant_for.groups import group_words
from ombud.answer.triage.persons import asks_for_person
from ombud.answer.triage.phrases import pleasantry_of
from ombud.errors import BadRequest
from ombud.index import Filter
from ombud.retrieve import Vocabularies
from ombud.text import (
    Calendar,
    Corrected,
    Period,
    Phrases,
    analyse,
    country_names,
    find_period,
    fold,
    message_language,
    named_countries,
    phrase_tables,
    read_country,
    split_words,
)
from ombud.types import Message, Question, ResolvedQuestion

MOST_TURNS = 5
"""Earlier turns that are looked at."""
LONGEST_TURN = 600
"""Characters that are read of an earlier turn: a pasted mail is no question."""
FEW_TERMS = 3
"""Content words up to which a turn may depend on the one before without a word that says so."""
END = " ?.!,;"
FollowUpModel = Callable[[Sequence[str], str], float | None]
"""(earlier questions, turn) -> probability that the turn continues them; None where it cannot
tell."""
LEAST_PROBABILITY = 0.5
LEAST_IF_LIKELY = 0.1
"""The same of a turn whose words show it, or that names a country or a group of people."""


class ResolveParts(NamedTuple):
    """What resolving needs of the workspace."""

    calendar: Calendar
    countries: Collection[str] = ()
    """ISO codes of those for which there are documents."""
    known_words: Vocabularies | None = None
    """None: spelling is not corrected."""
    follow_ups: FollowUpModel | None = None
    """None: follow-ups are recognised by their words alone."""


def resolve_question(
    question: Question, parts: ResolveParts, *, is_private: bool = False
) -> ResolvedQuestion:
    """Return the question as it is meant: spelling, subject, country, day.

    A follow-up takes the subject of the asker's last question, never words of an answer. A country
    that a follow-up names, or that the asker says they work in, holds for the rest of the
    conversation."""
    corrected = _corrected(question, parts.known_words)
    text = corrected.text
    conversation = _Conversation(parts, question.asker.country or "")
    for earlier in earlier_questions(question.history):
        conversation.add(earlier)
    conversation.add(text)
    topic = conversation.topic
    language = message_language(" ".join((*topic, text)))
    period = conversation.period(language)
    today = parts.calendar.today
    as_of = question.as_of or (period.day_nearest(today) if period else today)
    standalone = _with_day(conversation.standalone(text), period, language)
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
        is_private=is_private,
    )


def earlier_questions(history: Sequence[Message]) -> list[str]:
    """Return what the asker asked before, oldest first.

    Greetings and thanks are left out, and so is what was handed to a person or called outside."""
    questions: list[str] = []
    for message in history:
        content = message.content[:LONGEST_TURN].strip()
        if message.role == "user" and content and not _is_no_subject(content):
            questions.append(content)
        elif message.role == "assistant" and wording.is_turned_away(message.content):
            del questions[-1:]
    return questions[-MOST_TURNS:]


def _is_no_subject(text: str) -> bool:
    return pleasantry_of(text) is not None or asks_for_person(text)


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

    @property
    def topic(self) -> tuple[str, ...]:
        """Return the turns of the subject before the last one."""
        return tuple(self._turns[:-1])

    def add(self, text: str) -> None:
        only_country = _country_alone(text, self._parts.countries)
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
        known = self._parts.countries
        others = [code for code in named if code in known or not known]
        return tuple(filter(None, dict.fromkeys((self.country, *others))))

    def _follows(self, text: str, only_country: str) -> bool:
        if only_country or asks_for_person(text):
            return True
        has_scope = _has_scope(text)
        if has_scope and (not _own_terms(text) or follows_by_words(text)):
            return True
        model = self._parts.follow_ups
        probability = model(self._turns, text) if model else None
        if probability is None:
            return follows_by_words(text)
        is_likely = has_scope or follows_by_words(text)
        return probability >= (LEAST_IF_LIKELY if is_likely else LEAST_PROBABILITY)

    def period(self, language: str) -> Period | None:
        """Return the day or period that the last turn names, else the latest of its subject."""
        for text in reversed(self._turns):
            period = find_period(text, self._parts.calendar, language)
            if period:
                return period
        return None

    def standalone(self, text: str) -> str:
        """Return the last turn together with its subject."""
        if not self.topic:
            return text
        subject = self.topic[0].rstrip(END)
        if self._is_country_alone:
            return self.topic[0]
        if _has_scope(text) or not _own_terms(text):
            return f"{subject}, {text.lstrip(END)}"
        return f"{text.rstrip(END)}? {subject}"


def follows_by_words(text: str) -> bool:
    """Tell whether the words of a turn show that it continues the one before."""
    words = split_words(fold(text))
    if not words:
        return False
    for roles in _languages().values():
        if roles["opens"].values_in(" ".join(words[:4])):
            return False
    terms = min(len(set(analyse(text, language))) for language in _languages())
    if terms > FEW_TERMS:
        return _has_scope(text) and _begins_as_follow_up(words)
    refers = any(roles["refers"].values_in(" ".join(words)) for roles in _languages().values())
    return refers or _begins_as_follow_up(words) or terms < 2


def _begins_as_follow_up(words: Sequence[str]) -> bool:
    return any(next(roles["begins"].at(words, 0), None) for roles in _languages().values())


def _has_scope(text: str) -> bool:
    """Tell whether a turn names a country or a group of people."""
    return bool(group_words(text) or named_countries(text))


def _own_terms(text: str) -> list[str]:
    """Return content words that name neither a country nor a group of people."""
    names = [*country_names(named_countries(text)), *group_words(text)]
    scope = set(analyse(" ".join(names)))
    return [term for term in analyse(text) if term not in scope]


def _country_alone(text: str, known: Collection[str]) -> str:
    """Return the country of a message that says where somebody works and nothing else."""
    words = split_words(fold(text).strip(END))
    rest = [word for word in words if word not in _place_words()]
    if len(words) == 1 and analyse(words[0]):  # "no" and "it" are words
        code = _code_of(words[0], known)
        if code:
            return code
    for code in named_countries(text) or known:
        names = [" ".join(split_words(name)) for name in country_names([code])]
        if " ".join(rest) in names:
            return code
    return ""


def _code_of(name: str, known: Collection[str]) -> str:
    """Return a country code such as "US" if there are documents for it."""
    try:
        code = read_country(name)
    except BadRequest:
        return ""
    return code if code in known else ""


def _corrected(question: Question, known_words: Vocabularies | None) -> Corrected:
    if known_words is None:
        return Corrected(question.text)
    where = Filter(countries=None, reader=question.asker)
    return known_words.correct(question.text, where)


def _with_day(text: str, period: Period | None, language: str) -> str:
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
