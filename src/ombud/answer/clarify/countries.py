"""In which country does the asker work, where nobody has said so and the rules are of countries."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ombud.answer import wording
from ombud.answer.parts import AnswerParts
from ombud.errors import BadRequest
from ombud.index import Filter
from ombud.retrieve import SearchResult, find_passages
from ombud.text import country_list, country_names, fold, named_countries, read_country
from ombud.types import Evidence, Message, Question

LEAST_TURN = 2
"""Messages of a turn: what was asked, and the answer."""
MOST_COUNTRIES = 8
"""To choose from."""
WORDS_BESIDE = re.compile(
    r"\b(?:i|i['’]?m|am|we|are|in|at|from|for|the|it['’]?s|its|is|my|our|office|site|country|work"
    r"|works|working|based|employed|employee|here|please|pls|thanks"
    r"|ich|arbeite|bin|aus|den|der|je|travaille|suis|en|au|aux|yo|trabajo|estoy)\b",
    re.IGNORECASE,
)
"""Of a message that says no more than a country."""
ENGLISH_WORDS = frozenset({"no", "it", "be", "me", "so", "to", "do", "by", "as", "al", "id", "my"})
"""That are codes, too."""
LEAST_SHARE = 0.6
MOST_SHARE = 0.85
"""Of the best passages, of single countries: from the first on where the very best is one of them,
from the second on in any case, nothing else is tried. Dev without countries (n 379): .91 of those
that only a country's page answers are asked back, .22 of those that a global page answers, which
costs one click; .93 and .28 from .5 and .75 on."""
SOME_SHARE = 0.35
"""From which on an answer out of the others says that countries may have rules of their own."""
FAR_BEHIND = 0.6
"""Of the score of the best passage of a country: where few passages are found at all, shares say
little."""
LEAST_NEAR = 0.36
"""Cosine of the best passage below which no country's documents speak of it either."""


class ElsewhereRules(NamedTuple):
    """What documents of single countries say of a question whose asker has no country."""

    passages: int = 0
    """Among the best of all."""
    countries: tuple[str, ...] = ()
    """ISO codes to choose from: those that speak of it, the best passage's first, then others for
    which there are documents."""
    share: float = 0.0
    """Of the best passages."""
    leads: bool = False
    """The very best is one of them."""
    is_far_ahead: bool = False
    """No passage that holds everywhere is nearly as good."""
    is_near: bool = False
    """The best passage, whosever it is, is near the question."""

    @property
    def is_worth_saying(self) -> bool:
        """Whether who is answered out of the others should hear that there are rules of countries,
        too."""
        return self.share >= SOME_SHARE

    def decide(self, *, sure: bool) -> bool:
        """Whether to ask for the country before anything is said.

        sure: whether the documents of everywhere seem to answer."""
        many = self.share >= LEAST_SHARE or self.is_far_ahead
        leads = self.leads and (many or not sure)
        return self.is_near and (leads or self.share >= MOST_SHARE)


NOWHERE = ElsewhereRules()


def rules_elsewhere(
    question: Question, found: SearchResult, where: Filter, parts: AnswerParts
) -> ElsewhereRules:
    """Searches once more, in the documents of all countries that the asker may read. What it finds
    is counted and not shown."""
    knows_country = question.asker.country or where.countries != ()
    if knows_country or not parts.countries or not found.queries:
        return NOWHERE
    everywhere = where.model_copy(update={"countries": None})
    of_all = find_passages(found.queries, found.plan, everywhere, parts.knowledge)
    hits = of_all.evidence.hits
    codes: dict[str, None] = {}
    for hit in hits:
        codes.update(dict.fromkeys(hit.chunk.countries))
    codes.update(dict.fromkeys(parts.countries))
    passages = len(of_all.evidence.local)
    if not passages:
        return NOWHERE
    is_near = of_all.best.get("dense", 1.0) >= LEAST_NEAR
    return ElsewhereRules(
        passages=passages,
        countries=tuple(codes)[:MOST_COUNTRIES],
        share=passages / len(hits),
        leads=bool(hits[0].chunk.countries),
        is_far_ahead=_is_far_ahead(of_all.evidence),
        is_near=is_near,
    )


def _is_far_ahead(evidence: Evidence) -> bool:
    local = max((hit.score for hit in evidence.local), default=0.0)
    shared = max((hit.score for hit in evidence.shared), default=0.0)
    return shared <= FAR_BEHIND * local


def with_said_country(question: Question, known: Collection[str]) -> Question:
    """What is asked, and by whom: of who has no country and said one in a turn of its own, asked
    for it or not, that country holds as far as the history goes back.

    Such a turn asks the question before once more, and is taken out of the history: it is of no
    subject."""
    if question.asker.country or not question.history:
        return question
    history: list[Message] = []
    country = ""
    for message in (*question.history, Message(role="user", content=question.text)):
        said = _said(message, history, known)
        if said:
            country = said
            _drop_answer(history)
        else:
            history.append(message)
    asked = history.pop().content
    asker = question.asker.model_copy(update={"country": country or None})
    return question.model_copy(update={"text": asked, "history": tuple(history), "asker": asker})


def _said(message: Message, history: Sequence[Message], known: Collection[str]) -> str:
    """The country that a message says and nothing else, behind a question that names none; else
    empty."""
    asked = [turn.content for turn in history if turn.role == "user"]
    if message.role != "user" or len(history) < LEAST_TURN or not asked:
        return ""
    if named_countries(asked[-1], known):
        return ""
    words = WORDS_BESIDE.sub(" ", message.content.strip(" .!?")).split()
    rest = " ".join(words)
    for code in known:
        if fold(rest) in country_names([code]):
            return code
    is_asked = wording.is_asking_country(history[-1].content)
    return _code(rest, known, is_asked=is_asked)


def _code(word: str, known: Collection[str], *, is_asked: bool) -> str:
    """Of a code such as "US"; in small letters only where a country was asked for, and never a
    word such as "no"."""
    if word.lower() == word and (not is_asked or word in ENGLISH_WORDS):
        return ""
    try:
        code = read_country(word)
    except BadRequest:
        return ""
    return code if code in known else ""


def _drop_answer(history: list[Message]) -> None:
    """So that the question before is the last message."""
    while len(history) >= LEAST_TURN and history[-1].role != "user":
        history.pop()


def country_choices(elsewhere: ElsewhereRules) -> tuple[str, ...]:
    """Their names, to choose from."""
    names = country_list()
    return tuple(names.get(code, code) for code in elsewhere.countries)
