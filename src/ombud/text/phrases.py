"""Looking for many phrases at once, word by word: a pattern of hundreds of alternatives is slow."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

Value = TypeVar("Value")
Words = tuple[str, ...]
WORD = re.compile(r"[^\W_]+")
WORD_RUN = re.compile(r"\w+")
"""A word; "part-time" is two, so that it is found however it is written."""


def split_words(text: str) -> list[str]:
    return WORD.findall(text)


def word_runs(text: str) -> list[str]:
    """Split a text into runs of letters, digits and underscores."""
    return WORD_RUN.findall(text)


def holds_any(text: str, marks: Iterable[str]) -> bool:
    """Tell whether any of the marks occurs in the text, inside words too. This skips slow patterns
    that cannot match without one."""
    return any(mark in text for mark in marks)


class Phrases(Generic[Value]):
    """Phrases, each with a value; of one that ends in `*` the last word may go on in any way."""

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._exact: dict[str, list[tuple[Words, Value]]] = defaultdict(list)
        self._open: dict[str, list[Value]] = defaultdict(list)
        self._beginnings: set[str] = set()
        longest_first = sorted(phrases, key=descending_length)
        for phrase, value in longest_first:
            self._add(phrase, value)
        lengths = set(map(len, self._open))
        self._lengths = sorted(lengths, reverse=True)

    def _add(self, phrase: str, value: Value) -> None:
        words = WORD.findall(phrase)
        first = words[0]
        self._beginnings.add(first[:2])
        is_open = phrase.endswith("*")
        if is_open and len(words) == 1:
            self._open[first].append(value)
            return
        if is_open:
            words[-1] += "*"
        self._exact[first].append((tuple(words), value))

    def at(self, words: Sequence[str], place: int) -> Iterator[tuple[int, Value]]:
        """Return (length in words, value) of the phrases that begin at `place`, longest first, open
        ends last."""
        word = words[place]
        if word[:2] not in self._beginnings:
            return
        for phrase, value in self._exact.get(word, ()):
            length = len(phrase)
            following = words[place + 1 : place + length]
            if all_same(phrase[1:], following):
                yield length, value
        for length in self._lengths:
            if length > len(word):
                continue
            for value in self._open.get(word[:length], ()):
                yield 1, value

    def values_in(self, text: str) -> frozenset[Value]:
        """Return the values of the phrases in a lower-case text; of two that begin at one word, the
        longer counts."""
        words = WORD.findall(text)
        values: set[Value] = set()
        place = 0
        while place < len(words):
            phrase = next(self.at(words, place), None)
            if phrase is None:
                place += 1
                continue
            length, value = phrase
            values.add(value)
            place += length
        return frozenset(values)


def phrase_tables(
    content: Mapping[str, Mapping[str, Sequence[str]]],
) -> dict[str, dict[str, Phrases[str]]]:
    """Return phrases by language and role, such as ["de"]["greeting"]; each is its own value."""
    tables: dict[str, dict[str, Phrases[str]]] = {}
    for language, roles in content.items():
        tables[language] = {
            role: Phrases(zip(phrases, phrases, strict=True)) for role, phrases in roles.items()
        }
    return tables


def descending_length(phrase: tuple[str, object]) -> int:
    return -len(WORD.findall(phrase[0]))


def all_same(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether words are those of a phrase, of which the last may be open."""
    if len(wanted) != len(words):
        return False
    for want, word in zip(wanted, words, strict=True):
        is_same = word.startswith(want[:-1]) if want.endswith("*") else word == want
        if not is_same:
            return False
    return True
