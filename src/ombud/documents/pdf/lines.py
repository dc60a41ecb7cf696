"""Join the words of a PDF page into lines."""

import itertools
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from ombud.documents.blocks import tidy
from ombud.documents.pdf.page.words import PLAIN, PdfWord, is_rtl
from ombud.documents.runs import plain, run

_FEWEST_SPACED = 5
"""Least letters of a word set with wide spaces; fewer may be names of grades."""


class Segment(NamedTuple):
    """A part of a line that is separated by more than a word space."""

    x0: float
    x1: float
    text: str
    """Its text with the marks of `ombud.documents.runs`."""


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
        self.marked = reading_text(words)
        self.text = self.marked if self.marked.isascii() else plain(self.marked)
        self.x0 = words[0].x0
        self.x1 = max(word.x1 for word in words)
        self.top = min(word.top for word in words)
        self.bottom = max(word.bottom for word in words)
        self.size = usual_size(words)
        # A bullet or dash may be set in another type.
        lettered = [word for word in words if any(map(str.isalnum, word.text))]
        self.bold = all(word.bold for word in lettered)
        self.italic = all(word.italic for word in lettered)
        self.segments = split_segments(words, self.size, self.marked)

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height in points, at least one."""
        return max(self.bottom - self.top, 1.0)


def usual_size(words: list[PdfWord]) -> float:
    """Return the size of type of most characters."""
    characters: Counter[float] = Counter()
    for word in words:
        characters[word.size] += len(word.text)
    return characters.most_common(1)[0][0]


def split_segments(words: list[PdfWord], size: float, text: str) -> list[Segment]:
    """Split a line with that text into segments."""
    gap = max(7.0, 0.9 * size)
    groups = [[words[0]]]
    for before, word in itertools.pairwise(words):
        if word.x0 - before.x1 > gap:
            groups.append([word])
        else:
            groups[-1].append(word)
    if len(groups) == 1:
        return [Segment(words[0].x0, words[-1].x1, text)]
    return [Segment(group[0].x0, group[-1].x1, reading_text(group)) for group in groups]


def reading_text(words: list[PdfWord]) -> str:
    """Join words, which are ordered from left to right, in reading order: if most run to the left,
    from the right, except for runs to the right among them."""
    leftwards = sum(is_rtl(word.text) for word in words)
    if 2 * leftwards > len(words):
        words = from_the_right(words)
    if any(word.is_glued or word.look is not PLAIN for word in words):
        return tidy("".join(join_looks(words)))
    return tidy(" ".join([word.text for word in words]))


def join_looks(words: list[PdfWord]) -> Iterator[str]:
    """Yield the words, those of one look together, with spaces between."""
    is_first = True
    for look, alike in itertools.groupby(words, key=attrgetter("look")):
        spaced = ""
        for word in alike:
            is_apart = not word.is_glued and not is_first
            if is_apart and not spaced:
                yield " "
            spaced += f" {word.text}" if is_apart and spaced else word.text
            is_first = False
        yield spaced if look == PLAIN else run(spaced, **look._asdict())


def from_the_right(words: list[PdfWord]) -> list[PdfWord]:
    """Order words from right to left; runs that are read to the right keep their order."""
    ordered: list[PdfWord] = []
    for runs_left, alike in itertools.groupby(reversed(words), key=lambda word: is_rtl(word.text)):
        run_words = list(alike)
        ordered += run_words if runs_left else reversed(run_words)
    return ordered


def lines_of(words: list[PdfWord]) -> list[PdfLine]:
    """Join words into lines from top to bottom; lines of nothing but punctuation are dropped."""
    rows: list[list[PdfWord]] = []
    first = 0.0
    for word in sorted(words, key=attrgetter("middle", "x0")):
        # The middle of the word that opens the line.
        middle = word.middle
        if rows and abs(first - middle) <= max(2.0, 0.35 * word.height):
            rows[-1].append(word)
        else:
            rows.append([word])
            first = middle
    lines = []
    for row in rows:
        if any(word.text.strip(".,;:") for word in row):
            ordered = sorted(row, key=attrgetter("x0"))
            join_spaced_letters(ordered)
            lines.append(PdfLine(ordered))
    return lines


def join_spaced_letters(row: list[PdfWord]) -> None:
    """Join the letters of a line of single letters, which are spaced out for effect."""
    is_spaced = len(row) >= _FEWEST_SPACED and all(
        len(word.text) == 1 and not word.text.isdigit() for word in row
    )
    gaps = [word.x0 - before.x1 for before, word in itertools.pairwise(row)]
    usual = statistics.median(gaps) if is_spaced else 0.0
    # Letters further apart are the names of columns.
    if 0 < usual < row[0].size:
        for gap, word in zip(gaps, row[1:], strict=True):
            word.is_glued = gap < 1.5 * usual


def spacing(lines: list[PdfLine]) -> float:
    """Return the usual gap between the lines of a paragraph, in points, which is wide in
    double-spaced text."""
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
