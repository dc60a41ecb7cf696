"""The chunker `fixed`: windows of so many tokens, whatever they cut through, but between words.

In scripts without spaces each character is a word. One word that is longer than a chunk is cut
between characters."""

import re
from collections.abc import Callable, Iterator

from ombud.documents.chunking.cuts import fit
from ombud.documents.chunking.packing import Packer
from ombud.documents.outline import ChunkBounds, Count, Embed
from ombud.settings import IndexSettings
from ombud.types import Document

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[^\s{_CJK}]+|[{_CJK}][、。！？」』）]*")


def cut(
    document: Document, settings: IndexSettings, count: Count, embed: Embed | None = None
) -> Iterator[ChunkBounds]:
    text, packer = document.text, Packer(document, settings.size, count)
    words = [word.span() for word in _WORD.finditer(text)]
    begin = done = 0
    usual = shared = 1
    while done < len(words):
        first = words[begin][0]
        above = packer.above(first).text

        def size(number: int, begin: int = begin, above: str = above) -> int:
            return count(above + text[words[begin][0] : words[begin + number - 1][1]])

        taken = _reach(size, len(words) - begin, settings.size, usual)
        if (
            begin < done and begin + taken <= done
        ):  # the trail here is longer: less of the last chunk finds room
            begin += -(-(done - begin) // 2)
            continue
        if not taken:
            for span in fit(text, *words[begin], packer.room(first), count, document.language):
                yield packer.cut(span.start, span.end)
            begin = done = begin + 1
            continue
        usual, done = taken, begin + taken
        yield packer.cut(first, words[done - 1][1])

        def tail(number: int, done: int = done) -> int:
            return count(text[words[done - number][0] : words[done - 1][1]])

        shared = _reach(tail, taken - 1, settings.overlap, shared)
        begin = done - shared


def _reach(size: Callable[[int], int], available: int, most: int, guess: int) -> int:
    """How many fit: the number n up to `available` with size(n) <= most and size(n + 1) > most; 0
    when none does.

    From a guess by the rule of three, for sizes are nearly proportional; by halves where they are
    not."""
    low, high, tries = 0, available, 0
    while low < high:
        guess = min(max(guess, low + 1), high)
        tokens = size(guess)
        if tokens <= most:
            low = guess
        else:
            high = guess - 1
        tries += 1
        guess = (
            guess * most // max(1, tokens) if tries % 8 else (low + min(high, 2 * low + 1) + 1) // 2
        )
    return low
