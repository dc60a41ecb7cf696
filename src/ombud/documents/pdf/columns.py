"""Read text that is set in columns column by column."""

import statistics
from bisect import bisect_left, bisect_right

from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.page.words import PdfPage, PdfWord

MIN_WORDS_IN_COLUMNS = 80
"""Least words of a page that is set in columns."""
MAX_SPLITS = 3


def columns_of(page: PdfPage) -> list[list[PdfWord]]:
    """List the words of each text column in reading order; one list for a usual page."""
    return split_columns(page.words, page.width, MAX_SPLITS)


def split_columns(words: list[PdfWord], width: float, depth: int) -> list[list[PdfWord]]:
    """Split words at a gutter, and both sides again."""
    gutter = find_gutter(words, width) if depth else None
    if gutter is None:
        return [words]
    left = [word for word in words if word.x1 <= gutter]
    right = [word for word in words if word.x0 >= gutter]
    left_lines = lines_of(left)
    right_lines = lines_of(right)
    if not is_text_column(left_lines) or not is_text_column(right_lines):
        return [words]
    top = min(top_of(left_lines), top_of(right_lines))
    above, below = crossing_words(words, gutter, top)
    left_columns = split_columns(left, width, depth - 1)
    right_columns = split_columns(right, width, depth - 1)
    return [above, *left_columns, *right_columns, below]


def top_of(lines: list[PdfLine]) -> float:
    return min(line.top for line in lines)


def crossing_words(
    words: list[PdfWord], gutter: float, top: float
) -> tuple[list[PdfWord], list[PdfWord]]:
    """Find the words that cross the gutter, above the columns and further down."""
    above = []
    below = []
    for word in words:
        if not word.x0 < gutter < word.x1:
            continue
        if word.top < top:
            above.append(word)
        else:
            below.append(word)
    return above, below


def is_text_column(lines: list[PdfLine]) -> bool:
    """Tell whether lines are a text column: spaces of a short paragraph may line up by chance, and
    a table's cells are short."""
    if len(lines) < 8:
        return False
    return statistics.median(len(line.text) for line in lines) > 28


def find_gutter(words: list[PdfWord], width: float) -> float | None:
    """Find an x with almost no word near it, and a good part of the words on both sides."""
    if len(words) < MIN_WORDS_IN_COLUMNS:
        return None
    low = min(word.x0 for word in words)
    high = max(word.x1 for word in words)
    span = high - low
    if span < 0.4 * width:
        return None
    fewest_crossing: int | None = None
    gutter: float | None = None
    first = int(low + span * 0.25)
    last = int(low + span * 0.75)
    begins = sorted(word.x0 for word in words)
    ends = sorted(word.x1 for word in words)
    for x in range(first, last, 3):
        crossing = count_crossing(begins, ends, x)
        if crossing is None:
            continue
        if fewest_crossing is None or crossing < fewest_crossing:
            fewest_crossing = crossing
            gutter = float(x)
    return gutter


def count_crossing(begins: list[float], ends: list[float], x: int) -> int | None:
    """Count the words near an x; None if they are too many or nearly all on one side.

    begins, ends: of all words, in ascending order."""
    left = bisect_right(ends, x - 3)
    right = len(begins) - bisect_left(begins, x + 3)
    crossing = len(begins) - left - right
    if crossing > 0.01 * len(begins):
        return None
    return crossing if min(left, right) > 0.2 * len(begins) else None
