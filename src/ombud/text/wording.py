"""Finding terms as people write them: whole words in any case, any white space and any
apostrophe."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

FEW = 4
"""Texts after which all terms of a search are compiled: one command asks a single question."""
_NOTHING = re.compile(r"(?!)")
_APOSTROPHES = str.maketrans("’`", "''")
_QUOTES = str.maketrans({**dict.fromkeys("“”„‟″«»", '"'), **dict.fromkeys("‘’‚‛′", "'")})


class _Term(NamedTuple):
    first_word: str
    pattern: str


class TermSearch:
    """Looks for any of `terms` in plain texts. In the first few only for those whose first word is
    there: compiling some two thousand terms takes longer (.06 s) than reading a message."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = list(map(read_term, terms))
        self._texts = 0

    def search(self, text: str) -> re.Match[str] | None:
        return self._pattern_for(text).search(text)

    def findall(self, text: str) -> list[str]:
        return self._pattern_for(text).findall(text)

    def _pattern_for(self, text: str) -> re.Pattern[str]:
        if self._texts >= FEW:
            return self._whole
        self._texts += 1
        return any_of([term.pattern for term in self._terms if term.first_word in text])

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return any_of([term.pattern for term in self._terms])


def plain_wording(text: str) -> str:
    """Normalise a text for term lookups: lower case, straight apostrophes."""
    return text.lower().translate(_APOSTROPHES)


def straight_quotes(text: str) -> str:
    """Return a text in normal form, with straight quotation marks."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def term_pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of `terms` in plain text; a term ending in * also matches longer words."""
    return any_of([read_term(term).pattern for term in terms])


def read_term(term: str) -> _Term:
    closed = term.rstrip("*")
    words = plain_wording(closed).split()
    pattern = r"\s+".join(map(re.escape, words))
    if term.endswith("*"):
        pattern += r"\w*"
    return _Term(words[0] if words else "", pattern)


def any_of(patterns: list[str]) -> re.Pattern[str]:
    if not patterns:
        return _NOTHING
    any_of_them = "|".join(patterns)
    return re.compile(rf"\b{beginning(patterns)}(?:{any_of_them})(?!\w)")


def beginning(alternatives: Iterable[str]) -> str:
    """Return a lookahead for the first letters of these patterns, which rules out most places
    quickly. Empty if one begins with something else than a letter."""
    letters = {alternative[:1] for alternative in alternatives}
    return f"(?=[{''.join(sorted(letters))}])" if all(map(str.isalpha, letters)) else ""
