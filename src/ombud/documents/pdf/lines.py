"""Words become lines in reading order; what repeats on the edge of pages goes."""

import itertools
import re
import statistics
from collections import Counter
from dataclasses import dataclass, field

from ombud.documents.blocks import tidy
from ombud.documents.pdf.words import Edge, PdfPage, PdfWord, is_rtl

EDGE = 0.1
"""Share of a page's height, above and below, where running headers and footers stand."""
_PAGE_NUMBER = re.compile(r"(?:page|seite|página|p\.?)?\s*[-–—|(\[]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—|)\]]?"
                          r"(?:\s*(?:of|von|de|/)\s*\d{1,4})?", re.IGNORECASE)  # fmt: skip


@dataclass
class PdfLine:
    words: list[PdfWord]
    text: str = ""
    x0: float = 0
    x1: float = 0
    top: float = 0
    bottom: float = 0
    size: float = 0
    bold: bool = False
    italic: bool = False
    segments: list[tuple[float, float, str]] = field(default_factory=list)
    """(x0, x1, text) of parts set apart by more than a word space."""

    def __post_init__(self) -> None:
        words = self.words
        self.text = _said(words)
        self.x0, self.x1 = words[0].x0, max(word.x1 for word in words)
        self.top, self.bottom = min(word.top for word in words), max(word.bottom for word in words)
        weight: Counter[float] = Counter()
        for word in words:
            weight[word.size] += len(word.text)
        self.size = weight.most_common(1)[0][0]
        self.bold = all(word.bold for word in words if any(c.isalnum() for c in word.text))
        self.italic = all(word.italic for word in words if any(c.isalnum() for c in word.text))
        self.segments = _segments(words, self.size)


def _segments(words: list[PdfWord], size: float) -> list[tuple[float, float, str]]:
    gap = max(7.0, 0.9 * size)
    groups = [[words[0]]]
    for before, word in itertools.pairwise(words):
        if word.x0 - before.x1 > gap:
            groups.append([word])
        else:
            groups[-1].append(word)
    return [(group[0].x0, group[-1].x1, _said(group)) for group in groups]


def _said(words: list[PdfWord]) -> str:
    """The words, which stand from left to right, as they are read: where most run to the left, from
    the right, and only what runs to the right among them as it stands."""
    leftwards = [is_rtl(word.text) for word in words]
    if 2 * sum(leftwards) > len(words):
        runs = [
            list(run)
            for _, run in itertools.groupby(
                zip(leftwards, words, strict=True), key=lambda pair: pair[0]
            )
        ]
        words = [
            word for run in reversed(runs) for _, word in (reversed(run) if run[0][0] else run)
        ]
    return tidy(" ".join(word.text for word in words))


def lines_of(words: list[PdfWord]) -> list[PdfLine]:
    """Lines from top to bottom, words from left to right; a lone full stop is what a typesetter
    left over."""
    rows: list[list[PdfWord]] = []
    for word in sorted(words, key=lambda w: (w.middle, w.x0)):
        if rows and abs(rows[-1][0].middle - word.middle) <= max(
            2.0, 0.35 * (word.bottom - word.top)
        ):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [
        PdfLine(sorted(row, key=lambda w: w.x0))
        for row in rows
        if any(word.text.strip(".,;:") for word in row)
    ]


def without_running(pages: list[PdfPage], boxes: dict[int, list[Edge]]) -> None:
    """Take headers, footers and page numbers, known by their repetition, out of the pages; never
    from a single page.

    boxes: where tables stand on each page, by its number; their rows repeat too, and stay.
    """
    if len(pages) < 2:
        return
    margins = [_margins(page, boxes.get(page.number, [])) for page in pages]
    seen: Counter[tuple[str, int]] = Counter()
    for sides in margins:
        seen.update({key for side in sides for line in side for key in _keys(line)})
    often = max(2, 0.4 * len(pages)) if len(pages) > 3 else 2
    for page, sides in zip(pages, margins, strict=True):
        running: set[int] = set()
        for side in sides:
            # From the edge inwards: what stands within the text is text.
            for line in itertools.takewhile(lambda line: _is_running(line, seen, often), side):
                running |= {id(word) for word in line.words}
        page.words = [word for word in page.words if id(word) not in running]


def _margins(page: PdfPage, boxes: list[Edge]) -> tuple[list[PdfLine], list[PdfLine]]:
    """Lines in the upper and the lower margin, each from the edge of the page inwards."""
    free = [word for word in page.words if not any(is_inside(word, box) for box in boxes)]
    upper = lines_of([word for word in free if word.top < EDGE * page.height])
    lower = lines_of([word for word in free if word.bottom > (1 - EDGE) * page.height])
    return upper, lower[::-1]


def is_inside(word: PdfWord, box: Edge) -> bool:
    x0, top, x1, bottom = box
    return x0 - 1 <= (word.x0 + word.x1) / 2 <= x1 + 1 and top - 1 <= word.middle <= bottom + 1


def _keys(line: PdfLine) -> list[tuple[str, int]]:
    """What a line is recognised by on other pages: its words with digits blanked, at about the same
    height."""
    words = re.sub(r"\d+", "#", line.text)
    if sum(1 for c in words if c.isalpha()) < 3:
        return []
    # Two overlapping grids, so that a height next to a grid line is found again.
    return [(words, round(line.top / 6)), (words, -1 - round(line.top / 6 + 0.5))]


def _is_running(line: PdfLine, seen: Counter[tuple[str, int]], often: float) -> bool:
    is_number = len(line.words) <= 4 and bool(_PAGE_NUMBER.fullmatch(line.text))
    return is_number or any(seen[key] >= often for key in _keys(line))


def columns(page: PdfPage) -> list[list[PdfWord]]:
    """The words of each text column in reading order; one list for the usual page."""
    return _split(page.words, page.width, 3)


def _split(words: list[PdfWord], width: float, depth: int) -> list[list[PdfWord]]:
    gutter = _gutter(words, width) if depth else None
    if gutter is None:
        return [words]
    left = [w for w in words if w.x1 <= gutter]
    right = [w for w in words if w.x0 >= gutter]
    sides = [lines_of(left), lines_of(right)]
    # In a short paragraph spaces may stand above each other by chance; a table's cells are short.
    if any(
        len(side) < 8 or statistics.median(len(line.text) for line in side) <= 28 for side in sides
    ):
        return [words]
    across = [w for w in words if w.x0 < gutter < w.x1]
    first = min(line.top for side in sides for line in side)
    inner = [*_split(left, width, depth - 1), *_split(right, width, depth - 1)]
    return [[w for w in across if w.top < first], *inner, [w for w in across if w.top >= first]]


def _gutter(words: list[PdfWord], width: float) -> float | None:
    """An x that almost no word comes near, with a good part of the words on both sides."""
    if len(words) < 80:
        return None
    low, high = min(w.x0 for w in words), max(w.x1 for w in words)
    if high - low < 0.4 * width:
        return None
    best: tuple[int, float] | None = None
    for x in range(int(low + (high - low) * 0.25), int(low + (high - low) * 0.75), 3):
        crossing = sum(1 for w in words if w.x0 < x + 3 and w.x1 > x - 3)
        left = sum(1 for w in words if w.x1 <= x - 3)
        balanced = min(left, len(words) - left - crossing) > 0.2 * len(words)
        if crossing <= 0.01 * len(words) and balanced and (best is None or crossing < best[0]):
            best = (crossing, float(x))
    return best[1] if best else None


def spacing(lines: list[PdfLine]) -> float:
    """The usual gap between the lines of a paragraph, in points: wide where text is set with double
    spacing."""
    if len(lines) < 8:
        return 0.0
    full = 0.7 * (max(line.x1 for line in lines) - min(line.x0 for line in lines))
    long = [(a, b) for a, b in itertools.pairwise(lines) if a.x1 - a.x0 > full and b.size == a.size]
    return (
        statistics.median(b.top - a.bottom for a, b in long) if len(long) > len(lines) / 3 else 0.0
    )
