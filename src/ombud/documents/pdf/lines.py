"""Words become lines in reading order; what repeats on the edge of pages goes."""

import itertools
import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from ombud.documents.blocks import tidy
from ombud.documents.pdf.words import Edge, PdfPage, PdfWord, is_rtl

EDGE = 0.1
"""Share of a page's height, above and below, where running headers and footers stand."""
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|p\.?)?\s*[-–—|(\[]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—|)\]]?"
    r"(?:\s*(?:of|von|de|/)\s*\d{1,4})?",
    re.IGNORECASE,
)
FEWEST_IN_COLUMNS = 80
"""Words of a page that may be set in columns."""


class Segment(NamedTuple):
    """A part of a line that is set apart by more than a word space."""

    x0: float
    x1: float
    text: str


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
    segments: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        words = self.words
        self.text = _reading_text(words)
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
    return [Segment(group[0].x0, group[-1].x1, _reading_text(group)) for group in groups]


def _reading_text(words: list[PdfWord]) -> str:
    """The words, which stand from left to right, as they are read: where most run to the left, from
    the right, and only what runs to the right among them as it stands."""
    leftwards = sum(is_rtl(word.text) for word in words)
    if 2 * leftwards > len(words):
        words = _from_the_right(words)
    return tidy(" ".join(word.text for word in words))


def _from_the_right(words: list[PdfWord]) -> list[PdfWord]:
    """The words from right to left; runs of those that are read to the right keep their order."""
    ordered: list[PdfWord] = []
    for runs_left, run in itertools.groupby(reversed(words), key=lambda word: is_rtl(word.text)):
        run_words = list(run)
        ordered += run_words if runs_left else reversed(run_words)
    return ordered


def lines_of(words: list[PdfWord]) -> list[PdfLine]:
    """Lines from top to bottom, words from left to right; a lone full stop is what a typesetter
    left over."""
    rows: list[list[PdfWord]] = []
    for word in sorted(words, key=lambda word: (word.middle, word.x0)):
        tolerance = max(2.0, 0.35 * (word.bottom - word.top))
        if rows and abs(rows[-1][0].middle - word.middle) <= tolerance:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [PdfLine(sorted(row, key=_left)) for row in rows if _has_words(row)]


def _left(word: PdfWord) -> float:
    return word.x0


def _has_words(row: list[PdfWord]) -> bool:
    """Whether anything but punctuation is in it."""
    return any(word.text.strip(".,;:") for word in row)


def without_running(pages: list[PdfPage], boxes: dict[int, list[Edge]]) -> None:
    """Take headers, footers and page numbers, known by their repetition, out of the pages; never
    from a single page.

    boxes: where tables stand on each page, by its number; their rows repeat too, and stay.
    """
    if len(pages) < 2:
        return
    margins = [_margins(page, boxes.get(page.number, [])) for page in pages]
    repeated = _repeated_keys(margins)
    for page, sides in zip(pages, margins, strict=True):
        running: set[int] = set()
        for side in sides:
            # From the edge inwards: what stands within the text is text.
            for line in itertools.takewhile(lambda line: _is_running(line, repeated), side):
                running.update(map(id, line.words))
        page.words = [word for word in page.words if id(word) not in running]


Margins = tuple[list[PdfLine], list[PdfLine]]
"""Lines in the upper and the lower margin, each from the edge of the page inwards."""
LineKey = tuple[str, int]
"""Words with digits blanked, and about the height at which they stand."""


def _margins(page: PdfPage, boxes: list[Edge]) -> Margins:
    upper = []
    lower = []
    for word in page.words:
        if any(is_inside(word, box) for box in boxes):
            continue
        if word.top < EDGE * page.height:
            upper.append(word)
        if word.bottom > (1 - EDGE) * page.height:
            lower.append(word)
    return lines_of(upper), lines_of(lower)[::-1]


def _repeated_keys(margins: list[Margins]) -> set[LineKey]:
    """What stands in the margins of so many pages that it belongs to none of them."""
    seen: Counter[LineKey] = Counter()
    for upper, lower in margins:
        seen.update(set(itertools.chain.from_iterable(map(_keys, [*upper, *lower]))))
    often = max(2, 0.4 * len(margins)) if len(margins) > 3 else 2
    return {key for key, pages in seen.items() if pages >= often}


def is_inside(word: PdfWord, box: Edge) -> bool:
    """Whether the middle of a word is in a box, or at most a point outside."""
    x0, top, x1, bottom = box
    across = (word.x0 + word.x1) / 2
    return x0 - 1 <= across <= x1 + 1 and top - 1 <= word.middle <= bottom + 1


def _keys(line: PdfLine) -> list[LineKey]:
    """What a line is recognised by on other pages: its words with digits blanked, at about the same
    height."""
    words = re.sub(r"\d+", "#", line.text)
    letters = sum(map(str.isalpha, words))
    if letters < 3:
        return []
    # Two overlapping grids, so that a height next to a grid line is found again.
    return [(words, round(line.top / 6)), (words, -1 - round(line.top / 6 + 0.5))]


def _is_running(line: PdfLine, repeated: set[LineKey]) -> bool:
    if len(line.words) <= 4 and _PAGE_NUMBER.fullmatch(line.text):
        return True
    return not repeated.isdisjoint(_keys(line))


def columns(page: PdfPage) -> list[list[PdfWord]]:
    """The words of each text column in reading order; one list for the usual page."""
    return _split(page.words, page.width, 3)


def _split(words: list[PdfWord], width: float, depth: int) -> list[list[PdfWord]]:
    gutter = _gutter(words, width) if depth else None
    if gutter is None:
        return [words]
    left = [word for word in words if word.x1 <= gutter]
    right = [word for word in words if word.x0 >= gutter]
    left_lines = lines_of(left)
    right_lines = lines_of(right)
    if not _is_text_column(left_lines) or not _is_text_column(right_lines):
        return [words]
    first_top = min(line.top for line in (*left_lines, *right_lines))
    across = [word for word in words if word.x0 < gutter < word.x1]
    return [
        [word for word in across if word.top < first_top],
        *_split(left, width, depth - 1),
        *_split(right, width, depth - 1),
        [word for word in across if word.top >= first_top],
    ]


def _is_text_column(lines: list[PdfLine]) -> bool:
    """In a short paragraph spaces may stand above each other by chance; a table's cells are
    short."""
    if len(lines) < 8:
        return False
    return statistics.median(len(line.text) for line in lines) > 28


def _gutter(words: list[PdfWord], width: float) -> float | None:
    """An x that almost no word comes near, with a good part of the words on both sides."""
    if len(words) < FEWEST_IN_COLUMNS:
        return None
    low = min(word.x0 for word in words)
    high = max(word.x1 for word in words)
    span = high - low
    if span < 0.4 * width:
        return None
    fewest_crossing: int | None = None
    gutter: float | None = None
    for x in range(int(low + span * 0.25), int(low + span * 0.75), 3):
        crossing = sum(1 for word in words if word.x0 < x + 3 and word.x1 > x - 3)
        if crossing > 0.01 * len(words):
            continue
        left = sum(1 for word in words if word.x1 <= x - 3)
        right = len(words) - left - crossing
        if min(left, right) <= 0.2 * len(words):
            continue
        if fewest_crossing is None or crossing < fewest_crossing:
            fewest_crossing = crossing
            gutter = float(x)
    return gutter


def spacing(lines: list[PdfLine]) -> float:
    """The usual gap between the lines of a paragraph, in points: wide where text is set with double
    spacing."""
    if len(lines) < 8:
        return 0.0
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    gaps = []
    for above, below in itertools.pairwise(lines):
        is_full = above.x1 - above.x0 > 0.7 * width
        if is_full and below.size == above.size:
            gaps.append(below.top - above.bottom)
    return statistics.median(gaps) if len(gaps) > len(lines) / 3 else 0.0
