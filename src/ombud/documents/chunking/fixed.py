"""The chunker `fixed`: windows of so many tokens, whatever they cut through, but between words.

In scripts without spaces each character is a word. One word that is longer than a chunk is cut
between characters."""

import re
from collections.abc import Callable, Iterator

from ombud.documents.chunking.cuts import TokenLimit, fit
from ombud.documents.chunking.outline import ChunkBounds, Count, Embed
from ombud.documents.chunking.packing import Packer
from ombud.settings import IndexSettings
from ombud.types import Document

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[^\s{_CJK}]+|[{_CJK}][、。！？」』）]*")


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    """Windows in reading order, each beginning with the last words of the one before."""
    return _Windows(document, settings, count).bounds()


class _Windows:
    def __init__(self, document: Document, settings: IndexSettings, count: Count) -> None:
        self._text = document.text
        self._language = document.language
        self._most = settings.size
        self._overlap = settings.overlap
        self._count = count
        self._packer = Packer(document, settings.size, count)
        self._words = [word.span() for word in _WORD.finditer(document.text)]

    def bounds(self) -> Iterator[ChunkBounds]:
        begin = done = 0
        usual = shared = 1
        while done < len(self._words):
            taken = self._taken(begin, usual)
            if begin < done and begin + taken <= done:
                # The trail here is longer: less of the last chunk finds room.
                begin += -(-(done - begin) // 2)
                continue
            if taken == 0:
                yield from self._cut_word(begin)
                begin = done = begin + 1
                continue
            usual = taken
            done = begin + taken
            start, _ = self._words[begin]
            _, end = self._words[done - 1]
            yield self._packer.cut(start, end)
            shared = self._shared(done, taken - 1, shared)
            begin = done - shared

    def _taken(self, begin: int, guess: int) -> int:
        """How many words from `begin` fit a chunk."""
        start, _ = self._words[begin]
        above = self._packer.above(start).text

        def size(number: int) -> int:
            _, end = self._words[begin + number - 1]
            return self._count(above + self._text[start:end])

        return _reach(size, len(self._words) - begin, self._most, guess)

    def _shared(self, done: int, available: int, guess: int) -> int:
        """How many of the words before `done` the next chunk repeats."""
        _, end = self._words[done - 1]

        def size(number: int) -> int:
            start, _ = self._words[done - number]
            return self._count(self._text[start:end])

        return _reach(size, available, self._overlap, guess)

    def _cut_word(self, number: int) -> Iterator[ChunkBounds]:
        """The chunks of a word that is longer than a chunk."""
        start, end = self._words[number]
        room = self._packer.room(start)
        limit = TokenLimit(room, self._count, self._language)
        for span in fit(self._text, start, end, limit):
            yield self._packer.cut(span.start, span.end)


def _reach(size: Callable[[int], int], available: int, most: int, guess: int) -> int:
    """How many fit: the number n up to `available` with size(n) <= most and size(n + 1) > most; 0
    when none does.

    From a guess by the rule of three, for sizes are nearly proportional; by halves where they are
    not."""
    low = 0
    high = available
    tries = 0
    while low < high:
        guess = min(max(guess, low + 1), high)
        tokens = size(guess)
        if tokens <= most:
            low = guess
        else:
            high = guess - 1
        tries += 1
        in_proportion = guess * most // max(1, tokens)
        doubled = min(high, 2 * low + 1)
        halfway = (low + doubled + 1) // 2
        guess = in_proportion if tries % 8 else halfway
    return low
