"""Fixed-size chunking (`fixed`): windows of a number of tokens, cut between words wherever they
end.

In scripts without spaces each character is a word. A word that is longer than a chunk is cut
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
    """Yield windows in reading order, each beginning with the last words of the one before."""
    return TokenWindows(document, settings, count).bounds()


class TokenWindows:
    """The windows of one document."""

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
            taken = self._count_fitting(begin, usual)
            if begin < done and begin + taken <= done:
                # The trail is longer here, so less of the last chunk fits.
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
            shared = self._count_repeated(done, taken - 1, shared)
            begin = done - shared

    def _count_fitting(self, begin: int, guess: int) -> int:
        """Count the words from `begin` that fit a chunk."""
        start, _ = self._words[begin]
        above = self._packer.above(start).text

        def size(number: int) -> int:
            _, end = self._words[begin + number - 1]
            return self._count(above + self._text[start:end])

        return find_reach(size, len(self._words) - begin, self._most, guess)

    def _count_repeated(self, done: int, available: int, guess: int) -> int:
        """Count the words before `done` that the next chunk repeats."""
        _, end = self._words[done - 1]

        def size(number: int) -> int:
            start, _ = self._words[done - number]
            return self._count(self._text[start:end])

        return find_reach(size, available, self._overlap, guess)

    def _cut_word(self, number: int) -> Iterator[ChunkBounds]:
        """Cut a word that is longer than a chunk."""
        start, end = self._words[number]
        room = self._packer.room(start)
        limit = TokenLimit(room, self._count, self._language)
        for span in fit(self._text, start, end, limit):
            yield self._packer.cut(span.start, span.end)


def find_reach(size: Callable[[int], int], available: int, most: int, guess: int) -> int:
    """Find how many fit: the number n up to `available` with size(n) <= most and size(n + 1) >
    most; 0 if none fits.

    Guesses in proportion, as sizes are nearly proportional, and halves where that fails."""
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
