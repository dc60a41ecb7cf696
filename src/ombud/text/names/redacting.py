"""A message without what tells who is meant: names, addresses, numbers of people.

By patterns, so something may stay: a name in small letters that no cue stands before, or one that
is a common word at the beginning of a sentence."""

import re
from collections.abc import Iterator
from functools import cache

from ombud.text.dates import MONTHS
from ombud.text.names.finding import find_addresses
from ombud.text.spelling import english_ranks

NAME, ADDRESS, NUMBER = "[name]", "[address]", "[number]"

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


def redact(text: str) -> str:
    """`text` with addresses, numbers of people and names replaced by what they are."""
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
        if before.endswith("[") or _is_plain(match.group()):
            continue
        if _is_name(match.group(), before, text[match.end() :]):
            yield match.span()


def _is_name(word: str, before: str, after: str) -> bool:
    stem = re.sub(r"['’]s?$", "", word).casefold()
    follows_cue = bool(_CUE.search(before))
    if not word[0].isupper():
        return follows_cue and not _is_common(stem, _RARE)
    if follows_cue or not _SENTENCE_START.search(before):
        return True
    return not _is_common(stem, _FEW if _SURNAME.match(after) else _RARE)


def _is_common(word: str, most: int) -> bool:
    """Whether it, or the word that it is a form of, is one of the `most` commonest."""
    ranks = english_ranks()
    if ranks.get(word, most) < most:
        return True
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    return any(stem in ranks or f"{stem}e" in ranks for stem in stems)


def _is_plain(word: str) -> bool:
    """Whether a word in capitals is none of a person: I, an abbreviation, a day, a month."""
    if word == "I" or re.match(r"I['’]", word):
        return True
    is_short = _LEAST_ACRONYM <= len(word) <= _MOST_ACRONYM
    return (word.isupper() and is_short) or word in _calendar()


@cache
def _calendar() -> frozenset[str]:
    return frozenset((*_DAYS, *(month.capitalize() for month in MONTHS)))
