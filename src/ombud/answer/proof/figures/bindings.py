"""Whether each value of a claim stands for what it stands for in the passages: "14 days for gifts
and 30 for trips" does not bear out "30 days for gifts and 14 for trips"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import sqrt
from typing import NamedTuple

from ombud.answer.proof.aligning import ELSEWHERE, Alignment
from ombud.answer.proof.figures.amounts import names_other
from ombud.answer.proof.figures.cells import cells_of, heads_of
from ombud.text import (
    COMPANY,
    EMPLOYEE,
    NUMBER_WORDS,
    Sentence,
    SentenceFigures,
    canonical_terms,
    content_terms,
    party_spans,
    plain_decimal,
    read_figures,
)

REACH = 5.0
"""Words at which a neighbour counts half."""
PAUSE = 3.0
"""What a comma or an "and" counts, in words."""
STOP = 12.0
"""The same of a semicolon, a full stop or the edge of a table's cell."""
LABEL = 0.9
"""What a word of a row's first cell or of the column's head counts."""
ASKED = 0.3
"""The same of the question's, beside a value of the claim."""
FRAGMENT = 5
"""Words of a claim that says only with its question what it is about."""
ASKED_BY_FRAGMENT = 0.7
ASIDE = 0.15
"""What a word of another cell or of what stands above counts."""
MISPLACED = 1.4
"""A value stands for something else where another one's surroundings are so many times as like."""
CLEARLY = 0.45
"""And by so much; a rare word side by side is 0.8."""
EXCHANGED = -0.25
"""Two values of a claim are exchanged where what tells them apart correlates so with what tells
them apart in the passages: -1 is the reverse, 1 the same."""
LIKELIEST = 0.85
"""Share of the best likeness of a pair that may be meant as well."""
TOLD_APART = 0.3
"""Least difference of surroundings that tells two values apart at all."""
_TOKEN = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*|[;.|]|,|\S")
_PAUSES = frozenset({",", "and", "or", "but", "(", ")", "while", "whereas"})
_STOPS = frozenset({";", ".", "|"})
_TIMES = frozenset({"days", "working days", "minutes", "nights"})
_AGE = re.compile(r"\b(?:under|over|aged?|below|above|from|to)(?: of)? $")
_NTH = " nth"
_POINTS = frozenset({"name", "time"})
"""Only where two are exchanged."""
_MONEY = frozenset({"eur", "gbp", "usd", "chf"})
_WORDS = [word for word in NUMBER_WORDS if word != "one"]
_EXCHANGEABLE = ({"week", "month"}, {"day", "week"}, {"month", "year"}, {"hour", "minute"})
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+\w")
_NUMBER = re.compile(rf"(?<![\w.,])(?:\d+(?:[.,]\d+)*|{'|'.join(_WORDS)})(?![\w])")
_DIGITS = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
_YEAR = re.compile(r"20\d\d")
_MEASURED = frozenset({"duration", "money", "percent", "times", "number", "km", "miles"})
_GRADE = re.compile(r"\b[a-z]\d\b")
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day")


_LOW = (
    "less",
    "fewer",
    "under",
    "below",
    "younger",
    "shorter",
    "smaller",
    "lower",
    "least",
    "minimum",
)
_HIGH = (
    "more",
    "over",
    "above",
    "older",
    "longer",
    "beyond",
    "larger",
    "higher",
    "exceeding",
    "most",
)
_SIDES = dict.fromkeys(_LOW, "#low") | dict.fromkeys(_HIGH, "#high")
_SIDES |= {"before": "#before", "after": "#after", "first": "#first", "single": "#single"}


class _Span(NamedTuple):
    start: int
    end: int
    kind: str
    value: str
    unit: str = ""
    number: str = ""


class PlacedValue(NamedTuple):
    """A value with the words around it."""

    kind: str
    value: str
    unit: str
    """Of a duration, as counted."""
    number: str
    """Its number alone; empty where it has none."""
    around: Mapping[str, float]
    """Term -> how close it stands, 0 to 1."""
    sentence: Sentence
    is_other: bool = False
    """It is named only as what does not hold here: "2,000 instead of the usual 4,000"."""


def objections(
    claim: Sequence[Sentence],
    evidence: Sequence[Sentence],
    alignment: Alignment,
    asked: frozenset[str],
    language: str,
) -> Iterator[str]:
    stated: list[PlacedValue] = []
    for sentence in claim:
        is_fragment = len(sentence.terms) <= FRAGMENT
        closeness = ASKED_BY_FRAGMENT if is_fragment else ASKED
        around = dict.fromkeys(canonical_terms(asked), closeness)
        values = list(_values_of_text(sentence, sentence.text, language, around))
        if values and not stated:
            stated = [value for other in evidence for value in placed_values(other, language)]
        for value in filter(_is_bound, values):
            yield from _misplaced(value, stated, alignment)
        for first, second in combinations(values, 2):
            yield from _exchanged(first, second, stated, alignment)


def _is_bound(value: PlacedValue) -> bool:
    """Whether it stands for something that may be told from what stands around it."""
    is_point = value.kind in _POINTS or _NTH in value.value
    return bool(value.number) and not is_point and not value.is_other


@lru_cache(maxsize=4096)
def placed_values(sentence: Sentence, language: str) -> tuple[PlacedValue, ...]:
    if sentence.row:
        return tuple(_values_of_row(sentence, language))
    above = dict.fromkeys(canonical_terms(sentence.terms_above), ASIDE)
    return tuple(_values_of_text(sentence, sentence.text, language, above))


def _values_of_row(sentence: Sentence, language: str) -> Iterator[PlacedValue]:
    cells = cells_of(sentence.text)
    heads = heads_of(sentence.above, len(cells))
    label = _terms_of(cells[0]) if cells else frozenset()
    everything = canonical_terms(sentence.terms | sentence.terms_above)
    for place, cell in enumerate(cells):
        around = dict.fromkeys(everything, ASIDE)
        head = _terms_of(heads[place]) if heads else frozenset()
        around |= dict.fromkeys(label | head, LABEL)
        yield from _values_of_text(sentence, cell, language, around)


def _terms_of(cell: str) -> frozenset[str]:
    terms: set[str] = set()
    for match in _TOKEN.finditer(read_figures(cell).text):
        terms |= _context_terms(match[0])
    return frozenset(terms)


def _values_of_text(
    sentence: Sentence, text: str, language: str, given: Mapping[str, float]
) -> Iterator[PlacedValue]:
    figures = read_figures(text, language)
    spans = list(_spans(figures, language))
    positions = _positions(figures.text)
    for span in spans:
        around = dict(given)
        for token_start, position, terms in positions:
            if span.start <= token_start < span.end:
                continue
            distance = abs(position - _position_at(positions, span.start))
            closeness = 1 / (1 + distance / REACH)
            for term in terms:
                around[term] = max(around.get(term, 0.0), closeness)
        yield PlacedValue(
            kind=span.kind,
            value=span.value,
            unit=span.unit,
            number=span.number,
            around=around,
            sentence=sentence,
            is_other=names_other(figures.text[: span.start]),
        )


def _spans(figures: SentenceFigures, language: str) -> Iterator["_Span"]:
    """Of each value."""
    taken: list[tuple[int, int]] = []
    for quantity in figures.quantities:
        if quantity.kind.startswith("count"):
            continue
        written = figures.text[quantity.start : quantity.end]
        value = f"{quantity.value:g} {quantity.kind}"
        taken.append((quantity.start, quantity.end))
        yield _Span(
            start=quantity.start,
            end=quantity.end,
            kind=_kind(quantity.kind),
            value=value,
            unit=quantity.unit,
            number=_count(written, language),
        )
    for match in _DIGITS.finditer(figures.text):
        is_limit = bool(_AGE.search(figures.text[: match.start()]))
        if not is_limit and not _inside(match.start(), taken):
            count = _count(match[0], language)
            kind = "year" if _YEAR.fullmatch(count) else "number"
            yield _Span(match.start(), match.end(), kind, value=count, number=count)
    for word, start, end in _named(figures.text):
        if not _inside(start, taken):
            yield _Span(start, end, "name", value=word)


def _count(written: str, language: str) -> str:
    match = _NUMBER.search(written)
    if not match:
        return ""
    if match[0] in NUMBER_WORDS:
        return NUMBER_WORDS[match[0]]
    return plain_decimal(match[0], language)


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _ADDRESS.finditer(text):
        yield match[0], match.start(), match.end()
    for match in _WEEKDAY.finditer(text):
        yield match[0], match.start(), match.end()
    for party, start, end in party_spans(text):
        if party not in (EMPLOYEE, COMPANY):
            yield party, start, end
    for match in _GRADE.finditer(text):
        yield match[0], match.start(), match.end()


def _kind(kind: str) -> str:
    if kind in _TIMES:
        return "duration"
    return "money" if kind in _MONEY else kind


def _inside(start: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(begin <= start < end for begin, end in spans)


def _positions(text: str) -> list[tuple[int, float, frozenset[str]]]:
    """(offset, position in words, terms) of each word."""
    positions: list[tuple[int, float, frozenset[str]]] = []
    position = 0.0
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in _STOPS:
            position += STOP
        elif word in _PAUSES:
            position += PAUSE
        else:
            position += 1
            positions.append((match.start(), position, _context_terms(word)))
    return positions


@lru_cache(maxsize=20_000)
def _context_terms(word: str) -> frozenset[str]:
    """Of a word beside a value; another number tells what it stands for as well."""
    if word in _SIDES:
        return frozenset({_SIDES[word]})
    if word[0].isdigit() or word in NUMBER_WORDS:
        return frozenset({f"#{_count(word, 'en')}"})
    return canonical_terms(content_terms(word, "en"))


def _position_at(positions: Sequence[tuple[int, float, frozenset[str]]], offset: int) -> float:
    best = 0.0
    for start, position, _ in positions:
        if start > offset:
            break
        best = position
    return best


def _likeness(first: PlacedValue, second: PlacedValue, alignment: Alignment) -> float:
    likeness = 0.0
    for term, closeness in first.around.items():
        other = second.around.get(term)
        if other:
            likeness += alignment.weight(term) * min(closeness, other)
    return likeness


def _comparable(claimed: PlacedValue, stated: PlacedValue) -> bool:
    """Whether one could stand in the place of the other: in a table a number has its unit in the
    head."""
    if claimed.kind == stated.kind:
        return True
    return stated.kind == "number" and stated.sentence.row and claimed.kind in _MEASURED


def _same(first: PlacedValue, second: PlacedValue) -> bool:
    if first.value == second.value:
        return True
    return "number" in (first.kind, second.kind) and first.number == second.number != ""


def _misplaced(
    value: PlacedValue, stated: Sequence[PlacedValue], alignment: Alignment
) -> Iterator[str]:
    own = 0.0
    rival = 0.0
    for other in stated:
        if not _comparable(value, other) or _introduces(value, other.sentence):
            continue
        likeness = _likeness(value, other, alignment)
        if _same(value, other) and _is_label(value, other.sentence):
            return
        if _same(value, other):
            own = max(own, likeness)
        else:
            rival = max(rival, likeness)
    if own and rival > MISPLACED * own and rival > own + CLEARLY:
        yield f"`{value.value}` stands for {ELSEWHERE}"


def _is_label(value: PlacedValue, sentence: Sentence) -> bool:
    """Whether the value stands in the first cell of a row: there it tells which row it is."""
    if not sentence.row or not value.number:
        return False
    return value.number in read_figures(cells_of(sentence.text)[0]).numbers


def _introduces(value: PlacedValue, sentence: Sentence) -> bool:
    """Whether the line above a list or table says the value, so that it is of each item."""
    if not value.number or not sentence.above:
        return False
    return value.number in read_figures(sentence.above).numbers


def _exchanged(
    first: PlacedValue,
    second: PlacedValue,
    stated: Sequence[PlacedValue],
    alignment: Alignment,
) -> Iterator[str]:
    if not _may_be_exchanged(first, second):
        return
    firsts = [other for other in stated if _same(first, other)]
    seconds = [other for other in stated if _same(second, other)]
    claimed = _contrast(first, second)
    agreements: list[float] = []
    for one, other in _likeliest(first, second, list(product(firsts, seconds)), alignment):
        agreement = _agreement(claimed, _contrast(one, other), alignment)
        if agreement is not None:
            agreements.append(agreement)
    if agreements and max(agreements) < EXCHANGED:
        yield f"`{first.value}` and `{second.value}` are exchanged"


def _likeliest(
    first: PlacedValue,
    second: PlacedValue,
    pairs: Sequence[tuple[PlacedValue, PlacedValue]],
    alignment: Alignment,
) -> list[tuple[PlacedValue, PlacedValue]]:
    """Of the pairs that may be meant those that stand, either way round, where the claim's do."""
    beside = [pair for pair in pairs if _stand_together(*pair)]
    pairs = beside or pairs
    likeness: list[float] = []
    for one, other in pairs:
        of_first = _likeness(first, one, alignment) + _likeness(first, other, alignment)
        of_second = _likeness(second, one, alignment) + _likeness(second, other, alignment)
        likeness.append(of_first + of_second)
    least = LIKELIEST * max(likeness, default=0.0)
    ranked = zip(pairs, likeness, strict=True)
    return [pair for pair, value in ranked if value >= least]


def _stand_together(first: PlacedValue, second: PlacedValue) -> bool:
    """Whether two values stand in one sentence or one table."""
    one = first.sentence
    other = second.sentence
    return one == other or (one.row and other.row and one.above == other.above)


def _may_be_exchanged(first: PlacedValue, second: PlacedValue) -> bool:
    if first.value == second.value or first.number == second.number != "":
        return False
    if first.kind == second.kind == "name":
        # Side by side in a list nothing binds them.
        return False
    if first.unit and second.unit and {first.unit, second.unit} not in _EXCHANGEABLE:
        return first.unit == second.unit
    kinds = {first.kind, second.kind}
    return len(kinds) == 1 or ("number" in kinds and "name" not in kinds)


def _contrast(first: PlacedValue, second: PlacedValue) -> dict[str, float]:
    """Term -> how much closer it stands to the first."""
    contrast: dict[str, float] = {}
    own = {f"#{first.number}", f"#{second.number}"}
    for term in first.around.keys() | second.around.keys():
        difference = first.around.get(term, 0.0) - second.around.get(term, 0.0)
        if difference and term not in own:
            contrast[term] = difference
    return contrast


def _agreement(
    first: Mapping[str, float], second: Mapping[str, float], alignment: Alignment
) -> float | None:
    """The correlation of two contrasts over the terms that both have; None where too little tells
    the values apart."""
    shared = 0.0
    claimed = 0.0
    stated = 0.0
    for term in first.keys() & second.keys():
        weight = alignment.weight(term)
        shared += weight * first[term] * second[term]
        claimed += weight * first[term] ** 2
        stated += weight * second[term] ** 2
    if min(claimed, stated) < TOLD_APART**2:
        return None
    return shared / sqrt(claimed * stated)
