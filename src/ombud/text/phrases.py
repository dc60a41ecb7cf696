"""Looking for many phrases at once, word by word: a pattern of hundreds of alternatives is slow."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Value = TypeVar("Value")
WORD = re.compile(r"[^\W_]+")
"""A word; "part-time" is two, so that it is found however it is written."""


class Phrases(Generic[Value]):
    """Phrases, each with a value; of one that ends in `*` the last word may go on in any way."""

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._exact: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        self._open: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for phrase, value in sorted(phrases, key=lambda one: -len(WORD.findall(one[0]))):
            words = tuple(WORD.findall(phrase))
            single = phrase.endswith("*") and len(words) == 1
            kept = (*words[:-1], f"{words[-1]}*") if phrase.endswith("*") and not single else words
            (self._open if single else self._exact).setdefault(words[0], []).append((kept, value))
        self._lengths = sorted({len(word) for word in self._open}, reverse=True)
        self._beginnings = {word[:2] for word in (*self._exact, *self._open)}

    def at(self, words: Sequence[str], place: int) -> Iterator[tuple[int, Value]]:
        """(words long, value) of the phrases that begin at `place`, the longest first, open ends
        last."""
        word = words[place]
        if word[:2] not in self._beginnings:
            return
        for phrase, value in self._exact.get(word, ()):
            following = words[place + 1 : place + len(phrase)]
            if len(following) == len(phrase) - 1 and all(map(_same, phrase[1:], following)):
                yield len(phrase), value
        for length in self._lengths:
            for _, value in self._open.get(word[:length], ()) if length <= len(word) else ():
                yield 1, value

    def found(self, text: str) -> frozenset[Value]:
        """Values of the phrases in a text of small letters; where two begin at one word, the longer
        one counts."""
        words = WORD.findall(text)
        hits: set[Value] = set()
        place = 0
        while place < len(words):
            length, value = next(self.at(words, place), (1, None))
            if value is not None:
                hits.add(value)
            place += length
        return frozenset(hits)


def _same(wanted: str, word: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted
