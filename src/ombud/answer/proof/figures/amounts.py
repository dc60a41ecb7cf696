"""Whether the numbers, amounts, dates and durations of a claim stand in its passages, about the
same thing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ombud.answer.proof.figures.derived import Derivation
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

RIVAL = 0.4
"""A sentence with the claim's number counts only with this share of what the best one with such a
number shares."""
LEAST = 0.1
"""What a sentence scores that shares nothing."""
INDIRECT = 0.5
"""What a term scores that is the question's or shared with the headings; one of the sentences' own
is 1."""
AT_MOST = frozenset({"most", "within", "by"})
AT_LEAST = frozenset({"least", "above", "after", "from", "ahead"})
EXTENDING = frozenset({"least"})
"""More than the passage says, where that gives one amount."""
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
    r"(?<!\d )(?<!days )(?<!hours )(?<!times )(?<!\d\) )"
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
IN_CONDITION = re.compile(r"\bif\b[^.;:]*\bnot more than $")
INSTEAD = re.compile(r"\b(?:instead of|rather than)\b[^,;.\d]{0,20}$", re.IGNORECASE)
CENTS_LENGTH = 3
"""Digits of a number of cents."""
SHOWN = 40
"""Characters of a number in an objection."""
NEARLY_ZERO = 1e-6
BEYOND_REASON = 1e12
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
    derivation: Derivation | None = None,
    claim_language: str = "en",
    language: str = "en",
) -> Iterator[str]:
    """Every figure of the claim that no sentence about the same thing bears out.

    asked: terms of the question; "Three months." is about what was asked. claim_language, language:
    how the numbers of the claim and of the passages are read.
    """
    for sentence, figures in _counting_sentences(claim, claim_language):
        scored = [_scored(sentence, other, asked, language) for other in passages]
        for quantity in filter(_is_measured, figures.quantities):
            if derivation is None or not _is_derived(quantity, scored, derivation):
                yield from _quantity_objections(quantity, figures.text, scored)
        for number in sorted(numbers_beside_quantities(figures, claim_language)):
            if _holds_number(number, scored) or derivation is None or not derivation.allows(number):
                yield from _number_objections(number, figures, scored)
        yield from _rate_objections(figures.text, scored)
        yield from _unit_objections(figures, scored)


def _counting_sentences(
    claim: Sequence[Sentence], language: str
) -> Iterator[tuple[Sentence, SentenceFigures]]:
    """Those in which there is anything to be looked for."""
    for sentence in claim:
        figures = read_figures(sentence.text, language)
        counts = figures.numbers or figures.quantities
        if counts or UNIT.search(figures.text) or RATE.search(figures.text):
            yield sentence, figures


def _is_derived(
    quantity: Quantity, scored: Sequence[ScoredSentence], derivation: Derivation
) -> bool:
    """Whether no passage has it, but it is the asker's own or follows from both."""
    if any(_supports(quantity, other) for other in scored):
        return False
    if any(equals(quantity, other) for other in derivation.asked):
        return derivation.allows_own()
    if quantity.kind == "date":
        return derivation.allows_date(quantity)
    return derivation.allows(_count(quantity))


def _holds_number(number: str, scored: Sequence[ScoredSentence]) -> bool:
    return any(number in other.figures.numbers for other in scored)


def _scored(
    sentence: Sentence, other: Sentence, asked: frozenset[str], language: str
) -> ScoredSentence:
    shared = sentence.terms & other.terms
    only_above = (sentence.terms & other.terms_above) - shared
    only_asked = (asked & other.terms) - shared
    score = LEAST + len(shared)
    score += INDIRECT * (len(only_above) + len(only_asked))
    return ScoredSentence(
        sentence=other,
        figures=read_figures(other.text, language),
        score=score,
    )


def _best_score(scored: Iterable[ScoredSentence]) -> float:
    return max((other.score for other in scored), default=0.0)


def _rivals(scored: Iterable[ScoredSentence], best: float) -> list[ScoredSentence]:
    """Those that are about the same thing nearly as much as the best one."""
    return [other for other in scored if other.score >= RIVAL * best]


# Quantities with a unit ---------------------------------------------------------------------------


class _Support(NamedTuple):
    """Where the claim's quantity stands in the passages."""

    score: float
    quantity: Quantity | None
    """None where only its number stands there, and its unit in the head of a table."""


def _is_measured(quantity: Quantity) -> bool:
    """Not what counts things, which is looked at as a number, and not "first", an adverb as often
    as not."""
    if quantity.kind.startswith("nth"):
        return quantity.value != 1
    return not quantity.kind.startswith("count")


def _quantity_objections(
    quantity: Quantity, claim: str, scored: Sequence[ScoredSentence]
) -> Iterator[str]:
    supports: list[_Support] = []
    best = 0.0
    for other in scored:
        in_sentence = _supports(quantity, other)
        supports += in_sentence
        if in_sentence or _has_kind(quantity.kind, other.figures):
            best = max(best, other.score)
    meant = [support for support in supports if support.score >= RIVAL * best]
    wording = claim[quantity.start : quantity.end].strip()
    if not supports:
        yield f"`{wording}` is not in the cited text"
    elif not meant:
        if not names_other(claim[: quantity.start]):
            yield f"`{wording}` is not in the cited text about this"
    elif _contradict(quantity, meant, claim):
        yield f"`{wording}` stands in the cited text with another limit or rate"


def names_other(before: str) -> bool:
    """Whether what follows is named only as what does not hold here: "instead of the usual"."""
    return bool(INSTEAD.search(before))


def _has_kind(kind: str, figures: SentenceFigures) -> bool:
    return any(quantity.kind == kind for quantity in figures.quantities)


def _supports(quantity: Quantity, other: ScoredSentence) -> list[_Support]:
    supports: list[_Support] = []
    for stated in other.figures.quantities:
        if equals(quantity, stated):
            supports.append(_Support(other.score, stated))
    if supports:
        return supports
    if _stands_in_table(quantity, other) or _stands_in_words(quantity, other.figures):
        return [_Support(other.score, None)]
    return []


def _stands_in_words(quantity: Quantity, figures: SentenceFigures) -> bool:
    return _stands_as_single(quantity, figures) or _stands_in_cents(quantity, figures)


def _stands_in_cents(quantity: Quantity, figures: SentenceFigures) -> bool:
    """EUR 0.30 as "30 cents"."""
    if quantity.kind not in ("eur", "usd") or not 0 < quantity.value < 1:
        return False
    return bool(re.search(rf"\b{round(100 * quantity.value)} cents\b", figures.text))


def equals(claim: Quantity, other: Quantity) -> bool:
    """The same amount: 24 months are 2 years and 60 minutes an hour, but 5 working days are not 5
    days."""
    kinds = {claim.kind, other.kind}
    if len(kinds) == 1:
        same_value = _nearly_equal(claim.value, other.value)
        return same_value and not _differ(claim.year, other.year)
    if kinds == {"days", "minutes"}:  # 24 hours are a day
        return _nearly_equal(_in_minutes(claim), _in_minutes(other))
    return False


def _differ(first: object, second: object) -> bool:
    """Whether both are known and not the same."""
    if not first or not second:
        return False
    return first != second


def _in_minutes(duration: Quantity) -> float:
    if duration.kind == "days":
        return duration.value * DAY
    return duration.value


def _nearly_equal(first: float, second: float) -> bool:
    return abs(first - second) < NEARLY_ZERO


def _stands_in_table(quantity: Quantity, other: ScoredSentence) -> bool:
    """In tables the unit often stands in the head."""
    count = _count(quantity)
    if count not in numbers_beside_quantities(other.figures):
        return False
    if count in map(_count, other.figures.quantities):
        return False
    if quantity.kind == "times":
        return True
    above = other.sentence.above
    if quantity.kind == "nights" and "night" in above.lower():
        return True
    units = MEASURES.get(quantity.kind, {quantity.unit})
    named = units_named(f"{above}\n{other.sentence.text}")
    return not units.isdisjoint(named)


def _stands_as_single(quantity: Quantity, figures: SentenceFigures) -> bool:
    """ "A week" has no number at all."""
    if quantity.kind not in ("days", "minutes"):
        return False
    for match in SINGLE.finditer(figures.text):
        unit = match["unit"]
        kind = "minutes" if unit in ("hour", "minute") else "days"
        if kind == quantity.kind and _nearly_equal(SIZES[unit], quantity.value):
            return True
    return False


def _count(quantity: Quantity) -> str:
    """Its number as it was counted: 2 of "2 weeks"; empty where it is beyond all reason."""
    if abs(quantity.value) >= BEYOND_REASON:
        return ""
    count = quantity.value
    if quantity.kind in ("days", "minutes"):
        count /= SIZES.get(quantity.unit, 1.0)
    return plain_decimal(f"{count:.6f}")


def _contradict(claim: Quantity, supports: Sequence[_Support], text: str) -> bool:
    """Whether nothing agrees with a limit or rate that something disagrees with."""
    stated = [support.quantity for support in supports if support.quantity]
    if len(stated) < len(supports):
        return False
    if all(_differ(claim.per, other.per) for other in stated):
        return True
    if LEAD_TIME.match(text[claim.end :]):  # "no later than 2 weeks before"
        return False
    roles = {other.role for other in stated}
    return not _is_other_case(roles, text[: claim.start]) and _limited_otherwise(claim, roles)


def _is_other_case(stated_roles: set[str], before: str) -> bool:
    """ "If it is not more than 4 weeks", where more than 4 weeks change something."""
    return "above" in stated_roles and bool(IN_CONDITION.search(before))


def _limited_otherwise(claim: Quantity, stated_roles: set[str]) -> bool:
    if claim.role in EXTENDING and stated_roles == {"exact"}:
        return True
    if claim.kind == "date":  # what lapses after a day has to be done by it
        return False
    return _limits_to_other_side({claim.role}, stated_roles)


def _limits_to_other_side(roles: set[str], stated_roles: set[str]) -> bool:
    """Whether one limits from above and the other only from below, or the other way round."""
    for side, other_side in ((AT_MOST, AT_LEAST), (AT_LEAST, AT_MOST)):
        if not roles.isdisjoint(side) and stated_roles and stated_roles <= other_side:
            return True
    return False


# Numbers ------------------------------------------------------------------------------------------


def _number_objections(
    number: str, claim: SentenceFigures, scored: Sequence[ScoredSentence]
) -> Iterator[str]:
    if _is_year_of_document(number, scored):
        return
    same = {number, *_as_euros(number, claim)}
    with_numbers: list[ScoredSentence] = []
    holding: list[ScoredSentence] = []
    for other in scored:
        if other.figures.numbers:
            with_numbers.append(other)
        if not same.isdisjoint(other.figures.numbers):
            holding.append(other)
    best = _best_score(with_numbers)
    shown = number[:SHOWN]
    if not holding:
        yield f"`{shown}` is not in the cited text"
    elif not _rivals(holding, best):
        yield f"`{shown}` is not in the cited text about this"
    elif _limits_differ(number, claim, _rivals(scored, best)):
        yield f"`{shown}` stands in the cited text with another limit"


def _is_year_of_document(number: str, scored: Sequence[ScoredSentence]) -> bool:
    """Whether the document is named after the year or in force from it."""
    if not YEAR.fullmatch(number):
        return False
    return any(number in other.sentence.above for other in scored)


def _as_euros(number: str, claim: SentenceFigures) -> Iterator[str]:
    """0.30 of "30 cents"."""
    if len(number) > CENTS_LENGTH:
        return
    cents = re.escape(number) + " cents"
    if re.search(rf"\b{cents}\b", claim.text):
        decimals = number.zfill(2)
        yield plain_decimal(f"0.{decimals}")


def _limits_differ(number: str, claim: SentenceFigures, scored: Sequence[ScoredSentence]) -> bool:
    """Whether the claim limits a count to the one side and the passages only to the other."""
    counts = [quantity for quantity in claim.quantities if quantity.kind.startswith("count")]
    roles = _roles_of(number, counts)
    stated_roles: set[str] = set()
    for other in scored:
        stated_roles |= _roles_of(number, other.figures.quantities)
    if not stated_roles:
        return False
    if not roles.isdisjoint(AT_LEAST) and stated_roles <= AT_MOST:
        return True
    return not roles.isdisjoint(AT_MOST) and stated_roles <= AT_LEAST


def _roles_of(number: str, quantities: Iterable[Quantity]) -> set[str]:
    return {quantity.role for quantity in quantities if _count(quantity) == number}


# Rates and units ----------------------------------------------------------------------------------


def _rate_objections(claim: str, scored: Sequence[ScoredSentence]) -> Iterator[str]:
    best = _best_score(scored)
    rivals = _rivals(scored, best)
    passages = _read_text(rivals)
    for match in RATE.finditer(claim):
        per = match["per"]
        if not per:
            per = RATE_ADVERBS[match["adverb"]]
        named = re.search(RATE_NAMED[per], passages)
        if not named:
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
    """What the sentences say and what stands above them, in small letters."""
    texts: list[str] = []
    for other in scored:
        texts += [other.sentence.above, other.figures.text]
    return " ".join(texts).lower()
