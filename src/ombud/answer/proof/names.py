"""Whether the names, quotations and addresses of a claim stand in its passages."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ombud.text import (
    COMPANY,
    CitedPassage,
    analyse,
    find_addresses,
    find_names,
    find_quotations,
    grades_between,
    named_countries,
    parties_in,
    plain_sentence,
    read_passage,
    remembered,
    split_words,
    units_named,
    word_stem,
)

QUOTED = "it quotes what the cited text does not say"
ADDRESS = "it gives an address that is not in the cited text"
CURRENCIES = {"pound": "gbp", "euro": "eur", "dollar": "usd"}
COUNTRY_CODES = {"UK": "GB", "USA": "US", "Britain": "GB", "America": "US"}
CURRENCY_CODES = frozenset({"EUR", "GBP", "USD", "CHF"})
"""Looked at with their amounts."""
INITIALS = (3, 4, 5)
"""Letters of an abbreviation."""


class PassageVocabulary(NamedTuple):
    """What passages say, as one."""

    folded: str
    """All of it in one case, headings included; not what speaks to the assistant."""
    stems: frozenset[str]
    initials: frozenset[str]
    """What "Performance Improvement Plan" may be shortened to."""
    pairs: frozenset[tuple[str, str]]
    """Words side by side."""
    terms: frozenset[str]
    """Index terms."""
    countries: frozenset[str]


def vocabulary(passages: Sequence[CitedPassage], language: str) -> PassageVocabulary:
    each = [_vocabulary(passage, language) for passage in passages]
    if len(each) == 1:
        return each[0]
    return PassageVocabulary(
        folded="\n".join(one.folded for one in each),
        stems=frozenset[str]().union(*(one.stems for one in each)),
        initials=frozenset[str]().union(*(one.initials for one in each)),
        pairs=frozenset[tuple[str, str]]().union(*(one.pairs for one in each)),
        terms=frozenset[str]().union(*(one.terms for one in each)),
        countries=frozenset[str]().union(*(one.countries for one in each)),
    )


@remembered(512)
def _vocabulary(passage: CitedPassage, language: str) -> PassageVocabulary:
    texts = [plain_sentence(passage.above)]
    for sentence in read_passage(passage):
        texts.append(sentence.text)
    text = "\n".join(texts)
    words = split_words(text)
    stems = list(map(word_stem, words))
    return PassageVocabulary(
        folded=text.casefold(),
        stems=frozenset(stems) | _named_currencies(text) | grades_between(text),
        initials=_initials(words),
        pairs=frozenset(pairwise(stems)),
        terms=frozenset(analyse(text, language)),
        countries=frozenset((*named_countries(text), *passage.countries)),
    )


def _named_currencies(text: str) -> frozenset[str]:
    codes: set[str] = set()
    for unit in units_named(text):
        if unit in CURRENCIES:
            codes.add(CURRENCIES[unit])
    return frozenset(codes)


def _initials(words: list[str]) -> frozenset[str]:
    # Of "HR Business Partner" both letters of HR count.
    first_letters = [word if word.isupper() and len(word) == 2 else word[0] for word in words]
    letters = "".join(first_letters).casefold()
    initials: set[str] = set()
    for size in INITIALS:
        for end in range(size, len(letters) + 1):
            start = end - size
            initials.add(letters[start:end])
    return frozenset(initials)


def objections(claim: str, known: PassageVocabulary, language: str, own: str = "") -> Iterator[str]:
    """Names in capitals and inside sentences, quoted words and addresses that the passages do not
    have.

    claim: as `plain_sentence` makes it. own: the question and the organisation's name, whose names
    may be said again.
    """
    asked = set(map(word_stem, split_words(own)))
    for name in find_names(claim):
        if asked.issuperset(map(word_stem, split_words(name))):
            continue
        if language != "de" or name.isupper():  # every noun has a capital there
            yield from _missing(name, known)
    for quotation in find_quotations(claim):
        if quotation.strip(" .,;:!?").casefold() not in known.folded:
            yield QUOTED
    for address in find_addresses(claim):
        if address.casefold() not in known.folded:
            # Not repeated: it may carry what was asked out.
            yield ADDRESS


def _missing(name: str, known: PassageVocabulary) -> Iterator[str]:
    words = [word for word in split_words(name) if word not in CURRENCY_CODES]
    if _is_abbreviated(words, known) or _is_company(name):
        return
    all_known = True
    for word in words:
        if not _is_known(word, known):
            all_known = False
            yield f"`{word.casefold()}` is not in the cited text"
    pairs = pairwise(map(word_stem, words))
    if all_known and not known.pairs.issuperset(pairs):
        yield f"`{name}` is not in the cited text"


def _is_company(name: str) -> bool:
    """Whether it is the organisation, whose pages need not name it."""
    return parties_in(name.lower()) == {COMPANY}


def _is_abbreviated(words: list[str], known: PassageVocabulary) -> bool:
    """Whether the passages shorten the name: HRBP for "HR Business Partner"."""
    short = ""
    for word in words:
        short += word if word.isupper() else word[0]
    short = short.casefold()
    return len(short) > 2 and short in known.stems


def _is_known(word: str, known: PassageVocabulary) -> bool:
    if word_stem(word) in known.stems or word.casefold() in known.initials:
        return True
    return not known.countries.isdisjoint(_countries(word))


@lru_cache(maxsize=1024)
def _countries(word: str) -> frozenset[str]:
    """Codes of the country that a word names: Britain, British, UK."""
    codes = {COUNTRY_CODES.get(word, word)}
    codes.update(named_countries(f"in {word}"))
    codes.update(named_countries(f"the {word} office"))
    return frozenset(codes)
