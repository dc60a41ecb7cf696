"""Whether the names, quotations and addresses of a claim stand in its passages."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ombud.text import (
    MONTHS,
    CitedPassage,
    analyse,
    named_countries,
    plain_sentence,
    read_passage,
    units_named,
)

CURRENCIES = {"pound": "gbp", "euro": "eur", "dollar": "usd"}
_NAME = r"(?:[A-Z]{2,}|[A-Z]\d+|\w+[A-Z]\w*|[A-Z][^\W\d_]{2,})"
NAMES = re.compile(
    rf"(?<=[\w,;:)'\"] )[\"(]?{_NAME}\b(?: {_NAME}\b)*|\b(?:[A-Z]{{2,}}|[A-Z]\d+|\w+[A-Z]\w*)\b(?: {_NAME}\b)*"
)
"""Words in capitals or with a number, and capitals inside a sentence; several in a row are one
name."""
_MONTH = "|".join(
    [*(m.capitalize() for m in MONTHS), *(m[:3].capitalize() for m in MONTHS), "Sept"]
)
DATED = re.compile(
    rf"(?<=\d )(?:of )?(?:{_MONTH})\b\.?|(?<=\d[snrt][tdh] )(?:of )?(?:{_MONTH})\b|\b(?:{_MONTH})(?= \d)"
)
ALSO = {"UK": "GB", "USA": "US", "Britain": "GB", "America": "US"}
QUOTED = re.compile(r'"([^"]{2,300})"')
ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[a-z][a-z+.-]*:/{0,2}|www\.)(?=\w)[^\s)\]>\"]+"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^\s)\]>\"]*|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|example)\b"
)
CODES = frozenset({"EUR", "GBP", "USD", "CHF"})
"""Looked at with their amounts."""
WORD = re.compile(r"[^\W_]+")


class PassageVocabulary(NamedTuple):
    """What passages say, as one."""

    low: str
    """All of it in one case, headings included; not what speaks to the assistant."""
    stems: frozenset[str]
    initials: frozenset[str]
    """What "Performance Improvement Plan" may be shortened to."""
    pairs: frozenset[tuple[str, str]]
    """Words side by side."""
    terms: frozenset[str]
    """Index terms."""
    countries: frozenset[str]


@lru_cache(maxsize=256)
def vocabulary(passages: tuple[CitedPassage, ...], language: str) -> PassageVocabulary:
    whole = "\n".join(
        [
            *(plain_sentence(p.above) for p in passages),
            *(s.text for p in passages for s in read_passage(p)),
        ]
    )
    words = WORD.findall(whole)
    run, first = [_stem(word) for word in words], [word[0].casefold() for word in words]
    named = units_named(whole)
    return PassageVocabulary(
        whole.casefold(),
        frozenset(run) | {CURRENCIES[unit] for unit in named if unit in CURRENCIES},
        frozenset(
            "".join(first[at : at + size])
            for size in (3, 4, 5)
            for at in range(len(first) - size + 1)
        ),
        frozenset(pairwise(run)),
        frozenset(analyse(whole, language)),
        frozenset(code for passage in passages for code in passage.countries)
        | set(named_countries(whole)),
    )


def objections(claim: str, known: PassageVocabulary, language: str) -> Iterator[str]:
    """Names in capitals and inside sentences, quoted words and addresses that the passages do not
    have.

    claim: as `plain` makes it.
    """
    for match in NAMES.finditer(DATED.sub(" ", claim)):  # months of dates are looked at as dates
        if language != "de" or match[0].isupper():  # every noun has a capital there
            yield from _missing(match[0], known)
    for quoted in QUOTED.findall(claim):
        if quoted.strip(" .,;:!?").casefold() not in known.low:
            yield "it quotes what the cited text does not say"
    for address in ADDRESS.findall(claim):
        if address.rstrip(".,;").casefold() not in known.low:
            yield "it gives an address that is not in the cited text"  # not repeated: it may carry what was asked out


def _missing(name: str, known: PassageVocabulary) -> Iterator[str]:
    words = [word for word in WORD.findall(name) if word not in CODES]
    together = "".join(word if word.isupper() else word[0] for word in words).casefold()
    if (
        len(together) > 2 and together in known.stems
    ):  # HR Business Partner, where the passage says HRBP
        return
    missing = [
        w for w in words if _stem(w) not in known.stems and w.casefold() not in known.initials
    ]
    missing = [word for word in missing if not known.countries & _countries(word)]
    yield from (f"`{word.casefold()}` is not in the cited text" for word in missing)
    if not missing and not all(pair in known.pairs for pair in pairwise(map(_stem, words))):
        yield f"`{name}` is not in the cited text"


@lru_cache(maxsize=1024)
def _countries(word: str) -> frozenset[str]:
    """Codes of the country that a word names: Britain, British, UK."""
    return frozenset(
        {
            ALSO.get(word, word),
            *named_countries(f"in {word}"),
            *named_countries(f"the {word} office"),
        }
    )


def _stem(word: str) -> str:
    word = word.casefold()
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
