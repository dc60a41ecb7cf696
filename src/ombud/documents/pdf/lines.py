"""Words of a page become lines."""

import itertools
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ombud.documents.blocks import tidy
from ombud.documents.pdf.page.words import PLAIN, Look, PdfWord, is_rtl
from ombud.documents.runs import plain, run


class Segment(NamedTuple):
    """A part of a line that is set apart by more than a word space."""

    x0: float
    x1: float
    text: str
    """With the marks of `ombud.documents.runs`."""


@dataclass
class PdfLine:
    words: list[PdfWord]
    text: str = ""
    marked: str = ""
    """The text with the marks of `ombud.documents.runs`."""
    x0: float = 0
    x1: float = 0
    top: float = 0
    bottom: float = 0
    size: float = 0
    bold: bool = False
    italic: bool = False
    segments: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        words = self.words
        self.marked = _reading_text(words)
        self.text = self.marked if self.marked.isascii() else plain(self.marked)
        self.x0 = words[0].x0
        self.x1 = max(word.x1 for word in words)
        self.top = min(word.top for word in words)
        self.bottom = max(word.bottom for word in words)
        self.size = _usual_size(words)
        # A bullet or dash may be set in another type.
        spoken = [word for word in words if _has_letters(word.text)]
        self.bold = all(word.bold for word in spoken)
        self.italic = all(word.italic for word in spoken)
        self.segments = _segments(words, self.size)

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """In points, at least one."""
        return max(self.bottom - self.top, 1.0)


def _has_letters(text: str) -> bool:
    """Whether a letter or digit is in it."""
    return any(map(str.isalnum, text))


def _usual_size(words: list[PdfWord]) -> float:
    """The size of type that most characters have."""
    characters: Counter[float] = Counter()
    for word in words:
        characters[word.size] += len(word.text)
    return characters.most_common(1)[0][0]


def _segments(words: list[PdfWord], size: float) -> list[Segment]:
    gap = max(7.0, 0.9 * size)
    groups = [[words[0]]]
    for before, word in itertools.pairwise(words):
        if word.x0 - before.x1 > gap:
            groups.append([word])
        else:
            groups[-1].append(word)
    return list(map(_segment, groups))


def _segment(words: list[PdfWord]) -> Segment:
    return Segment(x0=words[0].x0, x1=words[-1].x1, text=_reading_text(words))


def _reading_text(words: list[PdfWord]) -> str:
    """The words, which stand from left to right, as they are read: where most run to the left, from
    the right, and only what runs to the right among them as it stands."""
    leftwards = sum(map(_runs_left, words))
    if 2 * leftwards > len(words):
        words = _from_the_right(words)
    return tidy("".join(_runs(words)))


def _runs(words: list[PdfWord]) -> Iterator[str]:
    """The words, those that look alike together, with spaces between."""
    is_first = True
    for look, alike in itertools.groupby(words, key=_look):
        spaced = ""
        for word in alike:
            is_apart = not word.is_glued and not is_first
            if is_apart and not spaced:
                yield " "
            spaced += f" {word.text}" if is_apart and spaced else word.text
            is_first = False
        yield spaced if look == PLAIN else run(spaced, **look._asdict())


def _look(word: PdfWord) -> Look:
    return word.look


def _from_the_right(words: list[PdfWord]) -> list[PdfWord]:
    """The words from right to left; runs of those that are read to the right keep their order."""
    ordered: list[PdfWord] = []
    for runs_left, alike in itertools.groupby(reversed(words), key=_runs_left):
        run_words = list(alike)
        ordered += run_words if runs_left else reversed(run_words)
    return ordered


def _runs_left(word: PdfWord) -> bool:
    return is_rtl(word.text)


def lines_of(words: list[PdfWord]) -> list[PdfLine]:
    """Lines from top to bottom, words from left to right; a lone full stop is what a typesetter
    left over."""
    rows: list[list[PdfWord]] = []
    for word in sorted(words, key=_place):
        if rows and _is_beside(rows[-1][0], word):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [PdfLine(sorted(row, key=_left)) for row in rows if _has_words(row)]


def _place(word: PdfWord) -> tuple[float, float]:
    return word.middle, word.x0


def _left(word: PdfWord) -> float:
    return word.x0


def _is_beside(first: PdfWord, word: PdfWord) -> bool:
    """Whether a word stands in the line that another opens."""
    tolerance = max(2.0, 0.35 * word.height)
    return abs(first.middle - word.middle) <= tolerance


def _has_words(row: list[PdfWord]) -> bool:
    """Whether anything but punctuation is in it."""
    return any(word.text.strip(".,;:") for word in row)


def spacing(lines: list[PdfLine]) -> float:
    """The usual gap between the lines of a paragraph, in points: wide where text is set with double
    spacing."""
    if len(lines) < 8:
        return 0.0
    left = min(line.x0 for line in lines)
    right = max(line.x1 for line in lines)
    shortest = 0.7 * (right - left)
    gaps = []
    for above, below in itertools.pairwise(lines):
        if above.width > shortest and below.size == above.size:
            gaps.append(below.top - above.bottom)
    if len(gaps) <= len(lines) / 3:
        return 0.0
    return statistics.median(gaps)
