"""Whether the names, quotations and addresses of a claim stand in its passages."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from ombud.text import (
    MONTHS,
    evidence_spans,
    find_addresses,
    named_countries,
    plain_sentence,
    remembered,
    split_words,
)
from ombud.types import Chunk

CAPITAL = r"(?:[A-Z]{2,}|[A-Z]\d+|\w+[A-Z]\w*|[A-Z][^\W\d_]{2,})"
NAME = re.compile(
    rf"(?<=[\w,;:)'\"] )[\"(]?{CAPITAL}\b(?: {CAPITAL}\b)*"
    rf"|\b(?:[A-Z]{{2,}}|[A-Z]\d+|\w+[A-Z]\w*)\b(?: {CAPITAL}\b)*"
)
GRADES = re.compile(r"\b([A-Z])(\d)\s?(?:-|–|TO|to|through)\s?([A-Z]?)(\d)\b")
SHORTEST_PLURAL = 4
QUOTATION = re.compile(r'"([^"]{2,300})"')
CURRENCIES = {"£": "gbp", "€": "eur", "$": "usd"}
COUNTRY_CODES = {"UK": "GB", "USA": "US", "Britain": "GB", "America": "US"}
INITIALS = (3, 4, 5)
"""Letters of an abbreviation."""
EMPLOYER = "Company Employer"
"""Names for the organisation that its pages need not use."""


class EvidenceText(NamedTuple):
    """The text of a passage, hashable for the cache."""

    above: str
    """Title, headings, the dates between which it is in force and a repeated table header."""
    text: str
    language: str
    countries: tuple[str, ...]


class PassageVocabulary(NamedTuple):
    """Words of passages, by which names are looked up."""

    folded: str
    """All of it in one case, headings included; not what speaks to a machine."""
    stems: frozenset[str]
    initials: frozenset[str]
    """What "Performance Improvement Plan" may be shortened to."""
    pairs: frozenset[tuple[str, str]]
    """Words side by side."""
    countries: frozenset[str]


def vocabulary_of(passages: Sequence[EvidenceText]) -> PassageVocabulary:
    """Return the words of several passages as those of one."""
    each = list(map(_vocabulary, passages))
    return PassageVocabulary(
        folded="\n".join(one.folded for one in each),
        stems=frozenset[str]().union(*(one.stems for one in each)),
        initials=frozenset[str]().union(*(one.initials for one in each)),
        pairs=frozenset[tuple[str, str]]().union(*(one.pairs for one in each)),
        countries=frozenset[str]().union(*(one.countries for one in each)),
    )


def evidence_of(chunk: Chunk) -> EvidenceText:
    days = [day.isoformat() for day in (chunk.effective_from, chunk.effective_to) if day]
    return EvidenceText(
        above="\n".join([chunk.title, *chunk.trail, *days, chunk.header]),
        text=chunk.text,
        language=chunk.language,
        countries=chunk.countries,
    )


@remembered(512)
def evidence_text(evidence: EvidenceText) -> str:
    """Return a passage below what stands above it, without what speaks to a machine."""
    lines = [plain_sentence(line) for line in evidence.above.splitlines()]
    for start, end in evidence_spans(evidence.text, evidence.language):
        lines.append(plain_sentence(evidence.text[start:end]))
    return "\n".join(lines)


@remembered(512)
def _vocabulary(evidence: EvidenceText) -> PassageVocabulary:
    text = evidence_text(evidence)
    words = split_words(text)
    stems = list(map(word_stem, words))
    currencies = [code for sign, code in CURRENCIES.items() if sign in text]
    return PassageVocabulary(
        folded=text.casefold(),
        stems=frozenset((*stems, *currencies, *grades_between(text))),
        initials=initials_of(words),
        pairs=frozenset(pairwise(stems)),
        countries=frozenset((*named_countries(text), *evidence.countries)),
    )


def initials_of(words: Sequence[str]) -> frozenset[str]:
    # Of "HR Business Partner" both letters of HR count.
    first_letters = [word if word.isupper() and len(word) == 2 else word[0] for word in words]
    letters = "".join(first_letters).casefold()
    initials: set[str] = set()
    for size in INITIALS:
        for end in range(size, len(letters) + 1):
            start = end - size
            initials.add(letters[start:end])
    return frozenset(initials)


def missing_names(
    claim: str, vocabulary: PassageVocabulary, language: str, own: str = ""
) -> Iterator[str]:
    """Yield names of a claim that its passages do not have.

    claim: as `plain_sentence` makes it. own: the question and the organisation's name, whose names
    may be repeated."""
    repeatable = set(map(word_stem, split_words(f"{own} {EMPLOYER}")))
    for name in find_names(claim):
        words = split_words(name)
        # Every German noun has a capital.
        is_noun = language == "de" and not name.isupper()
        if is_noun or repeatable.issuperset(map(word_stem, words)):
            continue
        yield from missing_words(name, words, vocabulary)


def has_unknown_quotation(claim: str, vocabulary: PassageVocabulary) -> bool:
    """Tell whether a claim puts words between quotation marks that the passages do not have."""
    quotations = [quotation.strip(" .,;:!?") for quotation in QUOTATION.findall(claim)]
    return any(quotation.casefold() not in vocabulary.folded for quotation in quotations)


def has_unknown_address(claim: str, vocabulary: PassageVocabulary) -> bool:
    """Tell whether a claim gives an address of mail or the web that the passages do not have."""
    return any(address.casefold() not in vocabulary.folded for address in find_addresses(claim))


def missing_words(name: str, words: Sequence[str], vocabulary: PassageVocabulary) -> Iterator[str]:
    if is_abbreviated(words, vocabulary):
        return
    missing = [word for word in words if not has_word(word, vocabulary)]
    yield from missing
    pairs = pairwise(map(word_stem, words))
    if not missing and not vocabulary.pairs.issuperset(pairs):
        yield name


def is_abbreviated(words: Sequence[str], vocabulary: PassageVocabulary) -> bool:
    """Tell whether the passages shorten the name: HRBP for "HR Business Partner"."""
    short = "".join(word if word.isupper() else word[0] for word in words).casefold()
    return len(short) > 2 and short in vocabulary.stems


def has_word(word: str, vocabulary: PassageVocabulary) -> bool:
    if word_stem(word) in vocabulary.stems or word.casefold() in vocabulary.initials:
        return True
    return not vocabulary.countries.isdisjoint(countries_of_word(word))


@lru_cache(maxsize=1024)
def countries_of_word(word: str) -> frozenset[str]:
    """Return codes of the country that a word names: Britain, British, UK."""
    codes = {COUNTRY_CODES.get(word, word)}
    codes.update(named_countries(f"in {word}"))
    codes.update(named_countries(f"the {word} office"))
    return frozenset(codes)


def find_names(text: str) -> Iterator[str]:
    """Find words in capitals, words with a number and capitals inside a sentence; adjacent ones
    form one name. Months of dates are left out."""
    for match in NAME.finditer(_month_of_date().sub(" ", text)):
        yield match[0]


def word_stem(word: str) -> str:
    """Fold case and strip the plural s; names are not stemmed further."""
    folded = word.casefold()
    if len(folded) < SHORTEST_PLURAL:
        return folded
    return folded.removesuffix("s")


def grades_between(text: str) -> frozenset[str]:
    """Expand ranges of grades: g5, g6 and g7 of "G5-G7"."""
    grades: set[str] = set()
    for letter, first, other, last in GRADES.findall(text):
        if other in ("", letter):
            grades.update(
                f"{letter}{grade}".casefold() for grade in range(int(first), int(last) + 1)
            )
    return frozenset(grades)


@cache
def _month_of_date() -> re.Pattern[str]:
    names = [month.capitalize() for month in MONTHS]
    month = "|".join([*names, *(name[:3] for name in names), "Sept"])
    return re.compile(
        rf"(?<=\d )(?:of )?(?:{month})\b\.?|(?<=\d[snrt][tdh] )(?:of )?(?:{month})\b"
        rf"|\b(?:{month})(?= \d)"
    )
