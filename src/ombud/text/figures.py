"""All that a sentence counts, with what says the same in other words: "a fortnight", "half"."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from ombud.text.numbers import NUMBER_WORDS, SMALL_NUMBERS, numbers_of_plain
from ombud.text.phrases import holds_any
from ombud.text.quantities import ORDINALS, Quantity, find_quantities, plain_quantities

_EQUIVALENTS = (
    (("fortnight",), r"\ba fortnight\b", "2 weeks"),
    (("year and a half",), r"\b(?:an?|one) year and a half\b", "18 months"),
    (("half ",), r"\bhalf (?:a|the|of the) year\b", "6 months"),
    (("half past ",), r"\bhalf past (\w+)\b", r"\1:30"),
    (("noon", "midday"), r"\bnoon\b|\bmidday\b", "12:00"),
    (("midnight",), r"\bmidnight\b", "00:00"),
    (("one and a half",), r"\bone and a half\b", "1.5"),
    (("three quarters",), r"\bthree quarters\b", "75 %"),
    (("quarter of",), r"\b(?:a|one) quarter of\b(?! an hour)", "25 %"),
    (("two thirds",), r"\btwo thirds\b", "66.7 %"),
    (("third of",), r"\b(?:a|one) third of\b", "33.3 %"),
    (
        ("hal",),
        r"\bhal(?:f|ved?|ves)\b(?! an?\b| past\b|[ -]days?\b|[ -]hours?\b| grade| board)",
        "50 %",
    ),
    (
        ("twice", "double"),
        r"\b(?:twice|double) (?=the|your|that|their|his|her|its|base|normal|plain)",
        "2 times ",
    ),
    (("double",), r"\bdouble\b", "2 times the"),
    (("every ",), r"\bevery (?:second|other) (day|week|month|year)\b", r"every 2 \1s"),
    (
        ("days ", "weeks ", "months ", "years "),
        r"\b(day|week|month|year)s (\d+)(?:(?: to | ?[-–] ?| and )(\d+))?",
        r"\1 \2 \1 \3",
    ),
    (("cent",), r"\b(\d+) ?cents?\b", r"\1 cents"),
    (("h",), r"(?<![.,\d])(\d+) ?h\b(?! ?\d)", r"\1 hours"),
    (("h",), r"(?<![.,\d])(\d+) ?h ?(\d\d)\b", r"\1 hours \2 minutes"),
    (
        ("day 1 ", "week 1 ", "month 1 "),
        r"\b(day|week|month) 1 \1 (\d+)\b",
        r"\1 1 \1 \2 (the first \2 \1s)",
    ),
    (("afternoon", "evening"), r"\b(\d+) in the (?:afternoon|evening)\b", r"\1 pm"),
    (("morning",), r"\b(\d+) in the morning\b", r"\1 am"),
    (("round the clock",), r"\bround the clock\b", "24 hours a day"),
)
"""(what a text has at least one of, pattern, how it is read), in this order."""
_LABEL = re.compile(r"\b[^\W\d_]+\d+\w*|\b\w*\d+[^\W\d_]\w*\.\w+")
"""M2, G7: names, no numbers."""
_LABEL_OR_ADDRESS = re.compile(rf"{_LABEL.pattern}|[\w.+-]+@[\w.-]+")
"""Addresses too: looking for them takes ten times as long."""


class SentenceFigures(NamedTuple):
    """What a sentence counts."""

    quantities: tuple[Quantity, ...]
    numbers: frozenset[str]
    """All numbers as plain decimals, those of the quantities among them; not those of labels."""
    text: str
    """What was read, in which the quantities have their places."""


def read_figures(text: str, language: str = "en") -> SentenceFigures:
    return _read_plain(_plain(text), language)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return plain_quantities(text)


@lru_cache(maxsize=4096)
def _read_plain(plain: str, language: str) -> SentenceFigures:
    if not _counting().search(plain):
        return SentenceFigures((), frozenset(), plain)
    for marks, pattern, replacement in _equivalents():
        if holds_any(plain, marks):
            plain = pattern.sub(replacement, plain)
    plain = _spelt_half_hour().sub(_half_hour, plain)
    quantities = tuple(find_quantities(plain, language))
    return SentenceFigures(
        quantities=quantities,
        numbers=_numbers(plain, language),
        text=plain,
    )


def numbers_beside_quantities(figures: SentenceFigures, language: str = "en") -> frozenset[str]:
    """Numbers outside of quantities, and those that count things."""
    parts: list[str] = []
    end = 0
    for quantity in figures.quantities:
        if quantity.kind.startswith("count"):
            continue
        parts.append(figures.text[end : quantity.start])
        end = quantity.end
    parts.append(figures.text[end:])
    return _numbers(" ".join(parts), language)


@lru_cache(maxsize=8192)
def _numbers(plain: str, language: str) -> frozenset[str]:
    label = _LABEL_OR_ADDRESS if "@" in plain else _LABEL
    without_labels = label.sub(" ", plain)
    return frozenset(numbers_of_plain(without_labels, language))


def _half_hour(match: re.Match[str]) -> str:
    return f"{SMALL_NUMBERS.index(match[1]):02}:30"


@cache
def _spelt_half_hour() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(SMALL_NUMBERS[1:13])}):30")


@cache
def _counting() -> re.Pattern[str]:
    """What every sentence has that counts anything."""
    words = "|".join(NUMBER_WORDS)
    return re.compile(
        rf"\d|\b(?:{words}|{'|'.join(ORDINALS)})\b|half|halv|fortnight|noon|midday|midnight|quarter"
        r"|third|twice|double|every (?:second|other)|round the clock|\ban? (?:night|hour|minute|day"
        r"|week|month|year)|per ?cent|%"
    )


@cache
def _equivalents() -> tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]:
    compiled: list[tuple[tuple[str, ...], re.Pattern[str], str]] = []
    for marks, pattern, replacement in _EQUIVALENTS:
        compiled.append((marks, re.compile(pattern), replacement))
    return tuple(compiled)
