"""Whether the numbers, amounts, dates and durations of a claim stand in its passages, about the
same thing."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.text import (
    MONTHS,
    Quantity,
    Sentence,
    SentenceFigures,
    numbers_beside_quantities,
    plain_decimal,
    read_figures,
    units_named,
)

RIVAL = 0.6
"""A sentence with the claim's number counts only with this share of what the best one with such a
number shares."""
AT_MOST = frozenset({"most", "within", "by"})
AT_LEAST = frozenset({"least", "above", "after", "from", "ahead"})
MEASURES = {
    "eur": {"euro"},
    "gbp": {"pound"},
    "usd": {"dollar"},
    "percent": {"percent"},
    "working days": {"day"},
    "minutes": {"hour", "minute"},
    "nights": {"night"},
}
"""Kind of a quantity -> units that may stand in a table's head."""
RATE = re.compile(
    r"\b(?<!within )(?<!than )(?<!least )(?:an?|per|each|every|any|calendar|once an?) "
    r"(?:calendar |full |single )?(?P<per>day|night|week|month|quarter|year)\b"
    r"(?! (?:off|at home|in which|later|earlier|before|after|of|or|and|old))"
    r"|\b(?P<adverb>daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)
RATE_ADVERBS = {
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
}
RATE_NAMED = {
    "day": r"da(?:y|ily)|night",
    "night": r"night|per diem|day",
    "week": r"week|7 days",
    "month": r"month",
    "quarter": r"quarter",
    "year": r"year|annual|12 months|twelve months|anniversary|52 weeks|january|april|p\.a\.",
}
"""What bears out that something is per such a time."""
SINGLE = re.compile(
    r"\b(?:an?|each|every|per|one|the) (?:full |whole |single |calendar )?"
    r"(?P<unit>day|week|month|year|hour|minute)\b"
)
SIZES = {
    "day": 1.0,
    "week": 7.0,
    "month": 365.25 / 12,
    "year": 365.25,
    "hour": 60.0,
    "minute": 1.0,
}
"""Of units of time: in days, and of an hour and a minute in minutes."""
UNITS = {
    "day": r"da(?:y|ily)|night|24 hours|week|fortnight|date",
    "week": r"week|fortnight|\b(?:7|14|21|28) (?:calendar )?days",
    "month": rf"month|{'|'.join(month for month in MONTHS if month != 'may')}|30 days|year",
    "year": r"year|annual|months|anniversar|20\d\d",
    "hour": r"hour|hourly|\d:\d\d|minutes|\d ?h\b",
    "minute": r"minute|hour",
    "litre": r"lit(?:re|er)",
    "gallon": r"gallon",
    "mile": r"mile",
    "kilometre": r"kilomet|km\b",
    "kilo": r"kilo|kg\b",
}
"""What bears out that something is counted in a unit."""
UNIT = re.compile(
    rf"\b(?:(?P<calendar>calendar|working|business) )?(?P<unit>{'|'.join(UNITS)})s?\b"
)
YEAR = re.compile(r"20\d\d")
LEAD_TIME = re.compile(r"s?[^.;]{0,30}\b(?:before|ahead|in advance)\b")
SHOWN = 40
"""Characters of a number in an objection."""
NEARLY_ZERO = 1e-6
DAY = 1440
"""Minutes."""


class ScoredSentence(NamedTuple):
    """A sentence of a passage beside one of the claim."""

    sentence: Sentence
    figures: SentenceFigures
    score: float
    """How much the two are about the same thing."""


def objections(
    claim: Sequence[Sentence],
    passages: Sequence[Sentence],
    asked: frozenset[str] = frozenset(),
    *,
    claim_language: str = "en",
    language: str = "en",
) -> Iterator[str]:
    """Every figure of the claim that no sentence about the same thing bears out.

    asked: terms of the question; "Three months." is about what was asked. claim_language, language:
    how the numbers of the claim and of the passages are read.
    """
    for sentence in claim:
        figures = read_figures(sentence.text, claim_language)
        scored = [_scored(sentence, other, asked, language) for other in passages]
        for quantity in figures.quantities:
            yield from _quantity_objections(quantity, figures.text, scored)
        for number in sorted(numbers_beside_quantities(figures, claim_language)):
            yield from _number_objections(number, figures, scored)
        yield from _rate_objections(figures.text, scored)
        yield from _unit_objections(figures, scored)


def _scored(
    sentence: Sentence, other: Sentence, asked: frozenset[str], language: str
) -> ScoredSentence:
    """Terms shared count one, those of the question or of headings half."""
    shared = sentence.terms & other.terms
    only_asked = (asked & other.terms) - shared
    above = (sentence.terms & other.terms_above) - shared
    score = 0.1 + len(shared) + 0.5 * (len(above) + len(only_asked))
    return ScoredSentence(other, read_figures(other.text, language), score)


# Quantities with a unit ---------------------------------------------------------------------------


class _Support(NamedTuple):
    """Where the claim's quantity stands in the passages."""

    score: float
    quantity: Quantity | None
    """None where only its number stands there, and its unit in the head of a table."""


def _quantity_objections(
    quantity: Quantity, claim: str, scored: Sequence[ScoredSentence]
) -> Iterator[str]:
    if quantity.kind.startswith("count"):
        return  # looked at as a number
    if quantity.kind.startswith("nth") and quantity.value == 1:
        return  # "first" is an adverb as often as not
    support: list[_Support] = []
    best = 0.0
    for other in scored:
        held = _support(quantity, other)
        support += held
        if held or any(q.kind == quantity.kind for q in other.figures.quantities):
            best = max(best, other.score)
    meant = [held.quantity for held in support if held.score >= RIVAL * best]
    wording = claim[quantity.start : quantity.end].strip()
    if not meant:
        yield f"`{wording}` is not in the cited text" + (" about this" if support else "")
        return
    limits = [held for held in meant if held is not None]
    if len(limits) == len(meant) and _contradict(quantity, limits, claim):
        yield f"`{wording}` stands in the cited text with another limit or rate"


def _support(quantity: Quantity, other: ScoredSentence) -> list[_Support]:
    equal = [q for q in other.figures.quantities if equals(quantity, q)]
    if equal:
        return [_Support(other.score, q) for q in equal]
    if _stands_in_table(quantity, other) or _stands_as_single(quantity, other.figures):
        return [_Support(other.score, None)]
    return []


def equals(claim: Quantity, other: Quantity) -> bool:
    """The same amount: 24 months are 2 years and 60 minutes an hour, but 5 working days are not 5
    days."""
    if claim.kind == other.kind:
        years = {claim.year, other.year} - {0}
        return abs(claim.value - other.value) < NEARLY_ZERO and len(years) < 2
    values = {claim.kind: claim.value, other.kind: other.value}
    if values.keys() == {"days", "minutes"}:  # 24 hours are a day
        return abs(values["days"] * DAY - values["minutes"]) < NEARLY_ZERO
    return False


def _stands_in_table(quantity: Quantity, other: ScoredSentence) -> bool:
    """In tables the unit often stands in the head."""
    count = _count(quantity)
    if count not in other.figures.numbers:
        return False
    if any(_count(q) == count for q in other.figures.quantities):
        return False
    if quantity.kind == "times":
        return True
    above = other.sentence.above
    if quantity.kind == "nights" and "night" in above.lower():
        return True
    units = MEASURES.get(quantity.kind, {quantity.unit})
    return not units.isdisjoint(units_named(f"{above}\n{other.sentence.text}"))


def _stands_as_single(quantity: Quantity, figures: SentenceFigures) -> bool:
    """ "A week" has no number at all."""
    if quantity.kind not in ("days", "minutes"):
        return False
    for match in SINGLE.finditer(figures.text):
        unit = match["unit"]
        kind = "minutes" if unit in ("hour", "minute") else "days"
        if kind == quantity.kind and abs(SIZES[unit] - quantity.value) < NEARLY_ZERO:
            return True
    return False


def _count(quantity: Quantity) -> str:
    """Its number as it was counted: 2 of "2 weeks"; empty where it is beyond all reason."""
    if abs(quantity.value) >= 1e12:
        return ""
    size = 1.0
    if quantity.kind in ("days", "minutes"):
        size = SIZES.get(quantity.unit, 1.0)
    return plain_decimal(f"{quantity.value / size:.6f}")


def _contradict(claim: Quantity, others: Sequence[Quantity], text: str) -> bool:
    """Whether nothing agrees with a limit or rate that something disagrees with."""
    if all(claim.per and other.per and claim.per != other.per for other in others):
        return True
    if LEAD_TIME.match(text[claim.end :]):  # "no later than 2 weeks before"
        return False
    if claim.kind == "date":  # what lapses after a day has to be done by it
        return False
    roles = {other.role for other in others}
    if claim.role in AT_MOST:
        return not roles & AT_MOST and bool(roles & AT_LEAST)
    if claim.role in AT_LEAST:
        return not roles & AT_LEAST and bool(roles & AT_MOST)
    return False


# Numbers ------------------------------------------------------------------------------------------


def _number_objections(
    number: str, claim: SentenceFigures, scored: Sequence[ScoredSentence]
) -> Iterator[str]:
    if YEAR.fullmatch(number) and any(number in other.sentence.above for other in scored):
        return  # the year that the document is named after or in force from
    same = {number, *_as_euros(number, claim)}
    with_numbers = [other for other in scored if other.figures.numbers]
    holding = [other for other in with_numbers if same & other.figures.numbers]
    best = max((other.score for other in with_numbers), default=0.0)
    shown = number[:SHOWN]
    if not holding:
        yield f"`{shown}` is not in the cited text"
    elif not any(other.score >= RIVAL * best for other in holding):
        yield f"`{shown}` is not in the cited text about this"
    elif _limits_differ(number, claim, [o for o in scored if o.score >= RIVAL * best]):
        yield f"`{shown}` stands in the cited text with another limit"


def _as_euros(number: str, claim: SentenceFigures) -> Iterator[str]:
    """0.30 of "30 cents"."""
    if len(number) < 4 and re.search(rf"\b{re.escape(number)} cents\b", claim.text):
        yield plain_decimal(f"0.{number.zfill(2)}")


def _limits_differ(number: str, claim: SentenceFigures, scored: Sequence[ScoredSentence]) -> bool:
    """Whether the claim limits a count to the one side and the passages only to the other."""
    roles = {
        quantity.role
        for quantity in claim.quantities
        if quantity.kind.startswith("count") and _count(quantity) == number
    }
    held_roles: set[str] = set()
    for other in scored:
        held_roles.update(q.role for q in other.figures.quantities if _count(q) == number)
    if not held_roles:
        return False
    if roles & AT_LEAST and held_roles <= AT_MOST:
        return True
    return bool(roles & AT_MOST) and held_roles <= AT_LEAST


# Rates and units ----------------------------------------------------------------------------------


def _rate_objections(claim: str, scored: Sequence[ScoredSentence]) -> Iterator[str]:
    best = max((other.score for other in scored), default=0.0)
    near = _read_text([other for other in scored if other.score >= RIVAL * best])
    for match in RATE.finditer(claim):
        per = match["per"] or RATE_ADVERBS[match["adverb"]]
        if not re.search(RATE_NAMED[per], near):
            yield f"`{match[0]}` is not in the cited text"


def _unit_objections(claim: SentenceFigures, scored: Sequence[ScoredSentence]) -> Iterator[str]:
    """Units that nothing is counted in, such as the weeks of "five of the weeks"."""
    passages = _read_text(scored)
    for match in UNIT.finditer(claim.text):
        unit = match["unit"]
        named = bool(re.search(UNITS[unit], passages))
        if match["calendar"] == "calendar" and f"calendar {unit}" not in passages:
            named = False
        if not named:
            yield f"`{match[0]}` is not in the cited text"


def _read_text(scored: Sequence[ScoredSentence]) -> str:
    texts = (f"{other.sentence.above} {other.figures.text}".lower() for other in scored)
    return " ".join(texts)
