"""A message without what tells who is meant: names, addresses, numbers of people.

By patterns, so something may stay: a name in small letters that no cue stands before, or one that
is a common word at the beginning of a sentence."""

import re
from collections.abc import Iterator
from functools import cache

from ombud.text.numbers import MONTHS
from ombud.text.spelling import english_ranks

NAME, ADDRESS, NUMBER = "[name]", "[address]", "[number]"

_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[a-z][a-z+.-]*:/{0,2}|www\.)(?=\w)[^\s)\]>\"]+"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^\s)\]>\"]*"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|example)\b"
)
_PARTED = re.compile(r"(?<![\w.])\+?\(?\d[\d ()./-]{4,}\d(?!\w)")
_LEAST_DIGITS = 6
"""Of a number in parts: telephones and whole dates have more, "10 - 20" has fewer."""
_IN_A_ROW = re.compile(r"\b(?!(?:19|20)\d\d\b)\w*\d{4}\w*|\b[A-Z]+\d\w{2,}")
"""Of personnel and accounts: four digits in a row, or capitals and digits in one word. A year is
of nobody."""
_WORD = re.compile(r"[^\W\d_][^\W\d_'’-]*(?:[-'’][^\W\d_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*)[\"'(*\s-]*$")
_CUE = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr|prof|sir|madam|herr|frau|monsieur|madame|señor|señora|named|called"
    r"|name is|name['’]s|boss|manager|supervisor|teamlead|team lead|colleague|coworker|co-worker"
    r"|wife|husband|partner|son|daughter|brother|sister|mother|father|boyfriend|girlfriend|friend"
    r"|ex|director|ceo|hr person)\b\.?\s*,?\s*$",
    re.IGNORECASE,
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LEAST_ACRONYM = 2
_MOST_ACRONYM = 5
_BEFORE = 40
"""Characters before a word in which a cue is looked for."""
_RARE = 1000
"""Rank from which a word behind a cue may be a name: the commonest thousand hold "is" and "keeps",
and few names."""
_FEW = 100
"""The same at the beginning of a sentence before another capital: "Mark Jones"."""
_SURNAME = re.compile(r" [A-Z][a-z]")
_ENDINGS = ("s", "ed", "ing")


def find_addresses(text: str) -> list[str]:
    """Find e-mail and web addresses, with and without scheme."""
    return [address.rstrip(".,;") for address in _ADDRESS.findall(text)]


def redact(text: str) -> str:
    """Replace addresses, personal numbers and names by their kind."""
    for address in find_addresses(text):
        text = text.replace(address, ADDRESS)
    text = _IN_A_ROW.sub(NUMBER, _PARTED.sub(_parted, text))
    parts: list[str] = []
    last = 0
    for start, end in _names(text):
        parts += [text[last:start], NAME]
        last = end
    return "".join((*parts, text[last:]))


def _parted(match: re.Match[str]) -> str:
    digits = sum(map(str.isdigit, match.group()))
    return NUMBER if digits >= _LEAST_DIGITS else match.group()


def _names(text: str) -> Iterator[tuple[int, int]]:
    for match in _WORD.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if before.endswith("[") or is_plain(match.group()):
            continue
        if is_name(match.group(), before, text[match.end() :]):
            yield match.span()


def is_name(word: str, before: str, after: str) -> bool:
    stem = re.sub(r"['’]s?$", "", word).casefold()
    follows_cue = bool(_CUE.search(before))
    if not word[0].isupper():
        return follows_cue and not is_common(stem, _RARE)
    if follows_cue or not _SENTENCE_START.search(before):
        return True
    return not is_common(stem, _FEW if _SURNAME.match(after) else _RARE)


def is_common(word: str, most: int) -> bool:
    """Tell whether a word or its base form is one of the `most` commonest."""
    ranks = english_ranks()
    if ranks.get(word, most) < most:
        return True
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    return any(stem in ranks or f"{stem}e" in ranks for stem in stems)


def is_plain(word: str) -> bool:
    """Tell whether a capitalised word is not a person's: I, an abbreviation, a day or a month."""
    if word == "I" or word.startswith(("I'", "I’")):
        return True
    is_short = _LEAST_ACRONYM <= len(word) <= _MOST_ACRONYM
    return (word.isupper() and is_short) or word in _calendar()


@cache
def _calendar() -> frozenset[str]:
    return frozenset((*_DAYS, *(month.capitalize() for month in MONTHS)))
