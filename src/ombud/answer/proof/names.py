"""Whether the names, quotations and addresses of a claim stand in its passages."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ombud.text import (
    evidence_spans,
    find_addresses,
    find_names,
    find_quotations,
    grades_between,
    named_countries,
    plain_sentence,
    remembered,
    split_words,
    word_stem,
)
from ombud.types import Chunk

CURRENCIES = {"£": "gbp", "€": "eur", "$": "usd"}
COUNTRY_CODES = {"UK": "GB", "USA": "US", "Britain": "GB", "America": "US"}
INITIALS = (3, 4, 5)
"""Letters of an abbreviation."""
EMPLOYER = "Company Employer"
"""Names for the organisation that its pages need not use."""


class EvidenceText(NamedTuple):
    """What a passage says, as it can be remembered."""

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
        initials=_initials(words),
        pairs=frozenset(pairwise(stems)),
        countries=frozenset((*named_countries(text), *evidence.countries)),
    )


def _initials(words: Sequence[str]) -> frozenset[str]:
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
    claim: str, known: PassageVocabulary, language: str, own: str = ""
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
        yield from _missing_words(name, words, known)


def has_unknown_quotation(claim: str, known: PassageVocabulary) -> bool:
    """Tell whether a claim puts words between quotation marks that the passages do not have."""
    quotations = [quotation.strip(" .,;:!?") for quotation in find_quotations(claim)]
    return any(quotation.casefold() not in known.folded for quotation in quotations)


def has_unknown_address(claim: str, known: PassageVocabulary) -> bool:
    """Tell whether a claim gives an address of mail or the web that the passages do not have."""
    return any(address.casefold() not in known.folded for address in find_addresses(claim))


def _missing_words(name: str, words: Sequence[str], known: PassageVocabulary) -> Iterator[str]:
    if _is_abbreviated(words, known):
        return
    missing = [word for word in words if not _is_known(word, known)]
    yield from missing
    pairs = pairwise(map(word_stem, words))
    if not missing and not known.pairs.issuperset(pairs):
        yield name


def _is_abbreviated(words: Sequence[str], known: PassageVocabulary) -> bool:
    """Tell whether the passages shorten the name: HRBP for "HR Business Partner"."""
    short = "".join(word if word.isupper() else word[0] for word in words).casefold()
    return len(short) > 2 and short in known.stems


def _is_known(word: str, known: PassageVocabulary) -> bool:
    if word_stem(word) in known.stems or word.casefold() in known.initials:
        return True
    return not known.countries.isdisjoint(_countries(word))


@lru_cache(maxsize=1024)
def _countries(word: str) -> frozenset[str]:
    """Return codes of the country that a word names: Britain, British, UK."""
    codes = {COUNTRY_CODES.get(word, word)}
    codes.update(named_countries(f"in {word}"))
    codes.update(named_countries(f"the {word} office"))
    return frozenset(codes)
