import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ombud.text import Phrases, fold, plain_wording

ASKING = "?"
"""Opens a line of a foreign language on how people ask."""
SHORT = 3
"""Letters of a word that may well be of another language."""
_UMLAUT = re.compile("([aou])e")
"""As German is typed where there are no umlauts."""
_INNER_SPACE = r"(?:\s+|-)"


class EnglishWords(NamedTuple):
    """The English words of one entry for a place in a message."""

    start: int
    end: int
    """Characters of the folded message."""
    words: str
    asks: bool = False
    """How people ask ("wie lange": how long), which is no idea by itself."""


class _ForeignEntry(NamedTuple):
    pattern: re.Pattern[str]
    words: str
    asks: bool


def policy_words(text: str, language: str = "en") -> list[str]:
    """Return the words that policies use for the subject of `text`; empty if the language has no
    list."""
    places = _everyday(language).values_in(plain_wording(text))
    lines = _lines(language) if places else []
    return [lines[place][1] for place in sorted(places)]


def folded(text: str, language: str) -> str:
    """Fold a text for the lookup of entries in a foreign language."""
    plain = fold(plain_wording(text))
    return _UMLAUT.sub(r"\1", plain) if language == "de" else plain


def english_words(text: str, language: str) -> list[EnglishWords]:
    """Return English policy terms for a message in `language`, in its order. Of overlapping entries
    the longest counts, and on a tie the first of the file."""
    message = folded(text, language)
    entries: list[EnglishWords] = []
    for foreign, words, asks in foreign_entries(language):
        for match in foreign.finditer(message):
            entries.append(
                EnglishWords(
                    start=match.start(),
                    end=match.end(),
                    words=words,
                    asks=asks,
                )
            )
    longest_first = sorted(entries, key=lambda entry: entry.start - entry.end)
    longest: list[EnglishWords] = []
    for entry in longest_first:
        if not any(_overlap(entry, other) for other in longest):
            longest.append(entry)
    return sorted(longest)


@lru_cache
def policy_vocabulary() -> frozenset[str]:
    """Return the English words, from four letters, that entries of other languages map to."""
    vocabulary: set[str] = set()
    for path in Path(__file__).parent.glob("??.txt"):
        for _, words in _lines(path.stem):
            vocabulary.update(word for word in fold(words).split() if len(word) > SHORT)
    return frozenset(vocabulary)


@lru_cache
def everyday_words() -> frozenset[str]:
    """Return the single everyday English words with an entry: they are no typos."""
    words: set[str] = set()
    for terms, _ in _lines("en"):
        for term in terms:
            words.update(word for word in term.lower().split() if word.isalpha())
    return frozenset(words)


def _overlap(one: EnglishWords, other: EnglishWords) -> bool:
    return one.start < other.end and other.start < one.end


@lru_cache
def _everyday(language: str) -> Phrases[int]:
    """Return the terms of a language's file, each with the place of its line."""
    phrases: list[tuple[str, int]] = []
    for place, (terms, _) in enumerate(_lines(language)):
        phrases += [(plain_wording(term), place) for term in terms]
    return Phrases(phrases)


@lru_cache
def foreign_entries(language: str) -> tuple[_ForeignEntry, ...]:
    if language == "en":
        return ()
    entries: list[_ForeignEntry] = []
    for terms, words in _lines(language):
        first = terms[0].removeprefix(ASKING)
        asks = first != terms[0]
        alternatives = "|".join(_alternative(term, language) for term in [first, *terms[1:]])
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")
        entries.append(_ForeignEntry(pattern, words, asks))
    return tuple(entries)


def _alternative(term: str, language: str) -> str:
    """Turn a term into a pattern; * stands for any letters."""
    words = list(map(re.escape, folded(term, language).split()))
    return _INNER_SPACE.join(words).replace(r"\*", r"\w*")


@lru_cache
def _lines(language: str) -> list[tuple[list[str], str]]:
    """Read the terms of a language's file and the words for them."""
    path = Path(__file__).parent / f"{language}.txt"
    if not path.is_file():
        return []
    lines: list[tuple[list[str], str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        everyday, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            terms = [term.strip() for term in everyday.split(",")]
            lines.append((terms, words.strip()))
    return lines
