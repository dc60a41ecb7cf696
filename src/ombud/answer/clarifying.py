"""What is asked back: by a message that is too vague, or in which country the asker works, where
nobody has said so and the rules are of countries."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.assessing import Assessment
from ombud.answer.parts import AnswerParts
from ombud.index import Filter
from ombud.messages import country_name
from ombud.retrieve import SearchResult, find_passages
from ombud.text import term_pattern
from ombud.types import Evidence, Question

MOST_COUNTRIES = 8
"""To choose from."""
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
MOST_TRIED = 8
"""Questions of each kind that are tried."""
LEAST_TERMS = 2
"""Content words below which a message without history may be too vague to answer."""
ASKS = re.compile(
    r"\b(?:who|whom|whose|when|where|why|how (?:much|many|long|often|far|do|does|can|should)|can i"
    r"|may i|do i|am i|what (?:is|are|does|do|happens|if|time))\b",
    re.IGNORECASE,
)
"""What makes one content word a question: "when do I get paid", "what is BEM"."""


def possible_questions(text: str) -> list[str]:
    """Return what people ask about a word of the message."""
    return listed_questions(text)[:MOST_TRIED]


def is_vague(question: Question, assessment: Assessment) -> bool:
    """Tell whether a first message names a subject and asks nothing about it, such as "leave?"."""
    terms = assessment.signals["own_terms"]
    if question.history or terms >= LEAST_TERMS:
        return False
    if ASKS.search(question.text) and terms:
        return False
    is_near = assessment.confidence >= assessment.weights.closest
    return not terms or bool(listed_questions(question.text)) or is_near


def listed_questions(text: str) -> list[str]:
    """Return the questions listed for subjects that the message names."""
    message = text.lower()
    questions: dict[str, None] = {}
    for pattern, listed in subject_patterns():
        if pattern.search(message):
            questions.update(dict.fromkeys(listed))
    return list(questions)


@cache
def subject_patterns() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    subjects: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
    for row in _content()["subject"]:
        subjects.append((term_pattern(row["words"]), tuple(row["questions"])))
    return tuple(subjects)


@cache
def _content() -> dict[str, Any]:
    path = Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


class ElsewhereRules(NamedTuple):
    """The rules of single countries on a question whose asker has no country."""

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
        """Tell whether an answer from global documents should mention that countries have rules,
        too."""
        return self.share >= SOME_SHARE

    def decide(self, *, sure: bool) -> bool:
        """Tell whether to ask for the country before answering.

        sure: whether global documents seem to answer."""
        many = self.share >= LEAST_SHARE or self.is_far_ahead
        leads = self.leads and (many or not sure)
        return self.is_near and (leads or self.share >= MOST_SHARE)


NOWHERE = ElsewhereRules()


def rules_elsewhere(
    question: Question, results: SearchResult, where: Filter, parts: AnswerParts
) -> ElsewhereRules:
    """Search the documents of all countries that the asker may read. The hits are counted and never
    shown."""
    knows_country = question.asker.country or where.countries != ()
    if knows_country or not parts.countries or not results.queries:
        return NOWHERE
    everywhere = where.model_copy(update={"countries": None})
    of_all = find_passages(results.queries, results.plan, everywhere, parts.knowledge)
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


def country_choices(elsewhere: ElsewhereRules, language: str) -> tuple[str, ...]:
    """Return the countries' names as choices."""
    return tuple(country_name(code, language) for code in elsewhere.countries)
