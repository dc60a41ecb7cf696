"""Whether the numbers, amounts, dates and durations of a claim stand in its passages, about the
same thing."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ombud.text import (
    MONTHS,
    Quantity,
    Sentence,
    find_quantities,
    numbers_of_plain,
    plain_decimal,
    plain_quantities,
    units_named,
)

RIVAL = 0.6
"""A sentence with the claim's number counts only with this share of what the best one with such a
number shares."""
AT_MOST = frozenset({"most", "within", "by"})
AT_LEAST = frozenset({"least", "above", "after", "from", "ahead"})
MEASURES = {
    "eur": {"euro"}, "gbp": {"pound"}, "usd": {"dollar"}, "percent": {"percent"}, "working days": {"day"},
    "minutes": {"hour", "minute"}, "nights": {"night"},
}  # fmt: skip
SAID_OTHERWISE = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\ba fortnight\b", "2 weeks"),
        (r"\b(?:an?|one) year and a half\b", "18 months"),
        (r"\bhalf (?:a|the|of the) year\b", "6 months"),
        (r"\bhalf past (\w+)\b", r"\1:30"),
        (r"\bnoon\b|\bmidday\b", "12:00"),
        (r"\bmidnight\b", "00:00"),
        (r"\bone and a half\b", "1.5"),
        (r"\bthree quarters\b", "75 %"),
        (r"\b(?:a|one) quarter of\b(?! an hour)", "25 %"),
        (r"\btwo thirds\b", "66.7 %"),
        (r"\b(?:a|one) third of\b", "33.3 %"),
        (r"\bhal(?:f|ved?|ves)\b(?! an?\b| past\b|[ -]days?\b|[ -]hours?\b| grade| board)", "50 %"),
        (r"\b(?:twice|double) (?=the|your|that|their|his|her|its|base|normal|plain)", "2 times "),
        (r"\bdouble\b", "2 times the"),
        (r"\bevery (?:second|other) (day|week|month|year)\b", r"every 2 \1s"),
        (r"\b(day|week|month|year)s (\d+)(?:(?: to | ?[-–] ?| and )(\d+))?", r"\1 \2 \1 \3"),
        (r"\b(\d+) ?cents?\b", r"\1 cents"),
        (r"(?<![.,\d])(\d+) ?h\b(?! ?\d)", r"\1 hours"),
        (r"(?<![.,\d])(\d+) ?h ?(\d\d)\b", r"\1 hours \2 minutes"),
        (r"\b(day|week|month) 1 \1 (\d+)\b", r"\1 1 \1 \2 (the first \2 \1s)"),
        (r"\bround the clock\b", "24 hours a day"),
    )
]
HOURS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
PER = re.compile(
    r"\b(?<!within )(?<!than )(?<!least )(?:an?|per|each|every|any|calendar|once an?) (?:calendar |full |single )?"
    r"(?P<per>day|night|week|month|quarter|year)\b"
    r"(?! (?:off|at home|in which|later|earlier|before|after|of|or|and|old))"
    r"|\b(?P<adverb>daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)  # fmt: skip
PER_NAMED = {
    "day": r"da(?:y|ily)|night", "night": r"night|per diem|day", "week": r"week|7 days", "month": r"month",
    "quarter": r"quarter",
    "year": r"year|annual|12 months|twelve months|anniversary|52 weeks|january|april|p\.a\.",
}  # fmt: skip
ADVERBS = {
    "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
    "annually": "year",
}  # fmt: skip
LABELLED = re.compile(r"\b[^\W\d_]+\d+\w*|\b\w*\d+[^\W\d_]\w*\.\w+|[\w.+-]+@[\w.-]+")
"""M2, G7: names, no numbers."""
SINGLE = re.compile(
    r"\b(?:an?|each|every|per|one|the) (?:full |whole |single |calendar )?(?P<unit>day|week|month|year|hour|minute)\b"
)
SINGLES = {
    "day": 1.0,
    "week": 7.0,
    "month": 365.25 / 12,
    "year": 365.25,
    "hour": 60.0,
    "minute": 1.0,
}


class SentenceFigures(NamedTuple):
    """What a sentence counts."""

    typed: tuple[Quantity, ...]
    bare: frozenset[str]
    """Numbers with no unit that is known, as plain decimals; of a passage, all numbers."""
    text: str


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
        figures = read(sentence.text, claim_language)
        scored = [(s, read(s.text, language), score(sentence, s, asked)) for s in passages]
        for quantity in figures.typed:
            yield from _typed(quantity, figures.text, scored)
        for number in sorted(_loose(figures, claim_language)):
            yield from _bare(number, figures, scored)
        yield from _per(figures.text, scored)
        yield from _units(figures, scored)


def score(sentence: Sentence, other: Sentence, asked: frozenset[str] = frozenset()) -> float:
    """How much two sentences are about the same thing: terms shared, half for those of the question
    or of headings."""
    shared = sentence.terms & other.terms
    asked = (asked & other.terms) - shared
    return (
        0.1 + len(shared) + 0.5 * (len((sentence.terms & other.terms_above) - shared) + len(asked))
    )


@lru_cache(maxsize=4096)
def read(text: str, language: str = "en") -> SentenceFigures:
    said = plain_quantities(text)
    for pattern, new in SAID_OTHERWISE:
        said = pattern.sub(new, said)
    said = re.sub(rf"\b({'|'.join(HOURS)}):30", lambda m: f"{HOURS.index(m[1]) + 1:02}:30", said)
    typed = tuple(find_quantities(said, language))
    bare = frozenset(numbers_of_plain(LABELLED.sub(" ", said), language))
    return SentenceFigures(typed, bare, said)


def _loose(figures: SentenceFigures, language: str) -> set[str]:
    """Numbers of a claim outside its typed quantities, and those that count things."""
    rest = figures.text
    for quantity in reversed(figures.typed):
        if not quantity.kind.startswith("count"):
            rest = rest[: quantity.start] + " " + rest[quantity.end :]
    return numbers_of_plain(LABELLED.sub(" ", rest), language)


Scored = Sequence[tuple[Sentence, SentenceFigures, float]]


def _typed(quantity: Quantity, claim: str, scored: Scored) -> Iterator[str]:
    said = claim[quantity.start : quantity.end].strip()
    if quantity.kind.startswith("count") or (
        quantity.kind.startswith("nth") and quantity.value == 1
    ):
        return  # numbers that count things are looked at bare; "first" is an adverb as often as not
    same: list[tuple[float, Quantity | None]] = []
    best = 0.0
    for sentence, figures, about in scored:
        alike = [q for q in figures.typed if q.kind == quantity.kind]
        equal: list[Quantity | None] = [q for q in figures.typed if equals(quantity, q)]
        if not equal and _stands_bare(quantity, sentence, figures):
            equal = [None]
        same += [(about, q) for q in equal]
        if alike or equal:
            best = max(best, about)
    meant = [q for about, q in same if about >= RIVAL * best]
    if not meant:
        yield f"`{said}` is not in the cited text" + (" about this" if same else "")
    elif None not in meant and _all_against(quantity, [q for q in meant if q], claim):
        yield f"`{said}` stands in the cited text with another limit or rate"


def equals(claim: Quantity, other: Quantity) -> bool:
    """The same amount: 24 months are 2 years and 60 minutes an hour, but 5 working days are not 5
    days."""
    if claim.kind == other.kind:
        years = {claim.year, other.year} - {0}
        return abs(claim.value - other.value) < 1e-6 and len(years) < 2
    kinds = {claim.kind: claim.value, other.kind: other.value}
    if set(kinds) == {"days", "minutes"}:  # 24 hours are a day
        return abs(kinds["days"] * 1440 - kinds["minutes"]) < 1e-6
    return False


def _stands_bare(quantity: Quantity, sentence: Sentence, figures: SentenceFigures) -> bool:
    """In tables the unit often stands in the head, and "a week" has no number at all."""
    units = MEASURES.get(quantity.kind, {quantity.unit})
    counted = {_count(quantity)}
    if counted & figures.bare and not any(_count(q) in counted for q in figures.typed):
        named = units_named(f"{sentence.above}\n{sentence.text}")
        if (
            units & named
            or (quantity.kind == "times")
            or (quantity.kind == "nights" and "night" in sentence.above.lower())
        ):
            return True
    return quantity.kind in ("days", "minutes") and any(
        abs(SINGLES[m["unit"]] - quantity.value) < 1e-6
        and (m["unit"] in ("hour", "minute")) == (quantity.kind == "minutes")
        for m in SINGLE.finditer(figures.text)
    )


def _count(quantity: Quantity) -> str:
    """Its number as it was counted: 2 of "2 weeks"."""
    size = SINGLES.get(quantity.unit, 1.0) if quantity.kind in ("days", "minutes") else 1.0
    return plain_decimal(f"{quantity.value / size:.6f}") if abs(quantity.value) < 1e12 else ""


def _all_against(claim: Quantity, others: Sequence[Quantity], text: str) -> bool:
    """Whether nothing agrees with a limit that something disagrees with."""
    if all(claim.per and other.per and claim.per != other.per for other in others):
        return True
    if re.match(
        r"s?[^.;]{0,30}\b(?:before|ahead|in advance)\b", text[claim.end :]
    ):  # "no later than 2 weeks before"
        return False
    if claim.kind == "date":  # what lapses after a day has to be done by it
        return False
    for mine, against in ((AT_MOST, AT_LEAST), (AT_LEAST, AT_MOST)):
        if (
            claim.role in mine
            and not any(q.role in mine for q in others)
            and any(q.role in against for q in others)
        ):
            return True
    return False


def _bare(number: str, claim: SentenceFigures, scored: Scored) -> Iterator[str]:
    written = {number}
    if re.search(rf"\b{re.escape(number)} cents\b", claim.text) and len(number) < 4:
        written.add(plain_decimal(f"0.{number.zfill(2)}"))
    if re.fullmatch(r"20\d\d", number) and any(number in sentence.above for sentence, *_ in scored):
        return  # the year that the document is named after or in force from
    with_number = [
        (about, bool(written & figures.bare)) for _, figures, about in scored if figures.bare
    ]
    best = max((about for about, _ in with_number), default=0.0)
    if not any(held for _, held in with_number):
        yield f"`{number[:40]}` is not in the cited text"
    elif not any(held and about >= RIVAL * best for about, held in with_number):
        yield f"`{number[:40]}` is not in the cited text about this"
    else:
        roles = {q.role for q in claim.typed if q.kind.startswith("count") and _count(q) == number}
        held_roles = {
            q.role
            for _, figures, about in scored
            if about >= RIVAL * best
            for q in figures.typed
            if _count(q) == number
        }
        if (roles & AT_LEAST and held_roles and held_roles <= AT_MOST) or (
            roles & AT_MOST and held_roles and held_roles <= AT_LEAST
        ):
            yield f"`{number[:40]}` stands in the cited text with another limit"


def _per(claim: str, scored: Scored) -> Iterator[str]:
    best = max((about for *_, about in scored), default=0.0)
    near = " ".join(
        f"{s.above} {f.text}".lower() for s, f, about in scored if about >= RIVAL * best
    )
    for match in PER.finditer(claim):
        per = match["per"] or ADVERBS[match["adverb"]]
        if not re.search(PER_NAMED[per], near):
            yield f"`{match[0]}` is not in the cited text"


UNITS = {
    "day": r"da(?:y|ily)|night|24 hours|week|fortnight|date",
    "week": r"week|fortnight|\b(?:7|14|21|28) (?:calendar )?days",
    "month": rf"month|{'|'.join(MONTHS[:4] + MONTHS[5:])}|30 days|year",
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


def _units(claim: SentenceFigures, scored: Scored) -> Iterator[str]:
    """Units that nothing is counted in, such as the weeks of "five of the weeks"."""
    everything = " ".join(f"{s.above} {f.text}".lower() for s, f, _ in scored)
    for match in UNIT.finditer(claim.text):
        named = f"{match['calendar']} {match['unit']}"
        if not re.search(UNITS[match["unit"]], everything) or (
            match["calendar"] == "calendar" and named not in everything
        ):
            yield f"`{match[0]}` is not in the cited text"
