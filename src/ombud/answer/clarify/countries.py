"""In which country does the asker work, where nobody has said so and the rules are of countries."""

from typing import NamedTuple

from ombud.answer.parts import AnswerParts
from ombud.index import Filter
from ombud.retrieve import SearchResult, find_passages
from ombud.text import country_list
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


def country_choices(elsewhere: ElsewhereRules) -> tuple[str, ...]:
    """Their names, to choose from."""
    names = country_list()
    return tuple(names.get(code, code) for code in elsewhere.countries)
