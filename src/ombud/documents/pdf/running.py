"""Headers, footers and page numbers, known by their repetition, are no part of the text."""

import re
from collections import Counter

from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.page.placing import Edge
from ombud.documents.pdf.page.words import PdfPage

EDGE = 0.1
"""Share of a page's height, above and below, where running headers and footers stand."""
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|p\.?)?\s*[-–—|(\[]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—|)\]]?"
    r"(?:\s*(?:of|von|de|/)\s*\d{1,4})?",
    re.IGNORECASE,
)
Margins = tuple[list[PdfLine], list[PdfLine]]
"""Lines in the upper and the lower margin, each from the edge of the page inwards."""
LineKey = tuple[str, int]
"""Words with digits blanked, and about the height at which they stand."""


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
            for line in side:
                if not _is_running(line, repeated):
                    break
                running.update(map(id, line.words))
        page.words = [word for word in page.words if id(word) not in running]


def _margins(page: PdfPage, boxes: list[Edge]) -> Margins:
    upper = []
    lower = []
    for word in page.words:
        if word.is_in_any(boxes):
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
        keys: set[LineKey] = set()
        for line in (*upper, *lower):
            keys.update(_keys(line))
        seen.update(keys)
    often = 2.0
    if len(margins) > 3:
        often = max(often, 0.4 * len(margins))
    return {key for key, pages in seen.items() if pages >= often}


def _keys(line: PdfLine) -> list[LineKey]:
    """What a line is recognised by on other pages: its words with digits blanked, at about the same
    height."""
    words = re.sub(r"\d+", "#", line.text)
    letters = sum(map(str.isalpha, words))
    if letters < 3:
        return []
    # Two overlapping grids, so that a height next to a grid line is found again.
    step = line.top / 6
    return [(words, round(step)), (words, -1 - round(step + 0.5))]


def _is_running(line: PdfLine, repeated: set[LineKey]) -> bool:
    if len(line.words) <= 4 and _PAGE_NUMBER.fullmatch(line.text):
        return True
    return not repeated.isdisjoint(_keys(line))
