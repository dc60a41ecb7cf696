"""Text set in columns is read column by column."""

import statistics

from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.page.words import PdfPage, PdfWord

FEWEST_IN_COLUMNS = 80
"""Words of a page that may be set in columns."""


def columns_of(page: PdfPage) -> list[list[PdfWord]]:
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
    top = min(_top(left_lines), _top(right_lines))
    above, below = _across(words, gutter, top)
    return [
        above,
        *_split(left, width, depth - 1),
        *_split(right, width, depth - 1),
        below,
    ]


def _top(lines: list[PdfLine]) -> float:
    return min(line.top for line in lines)


def _across(words: list[PdfWord], gutter: float, top: float) -> tuple[list[PdfWord], list[PdfWord]]:
    """Words that reach over the gutter, above the columns and further down."""
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
    first = int(low + span * 0.25)
    last = int(low + span * 0.75)
    for x in range(first, last, 3):
        crossing = _crossing(words, x)
        if crossing is None:
            continue
        if fewest_crossing is None or crossing < fewest_crossing:
            fewest_crossing = crossing
            gutter = float(x)
    return gutter


def _crossing(words: list[PdfWord], x: int) -> int | None:
    """How many words come near an x; None where those are too many or all stand on one side."""
    begin = x - 3
    end = x + 3
    crossing = 0
    left = 0
    for word in words:
        if word.x1 <= begin:
            left += 1
        elif word.x0 < end:
            crossing += 1
    if crossing > 0.01 * len(words):
        return None
    right = len(words) - left - crossing
    return crossing if min(left, right) > 0.2 * len(words) else None
