"""Remove headers, footers and page numbers, recognised by their repetition; each text is written
once at most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ombud.documents.blocks import paragraph
from ombud.documents.pdf.lines import PdfLine, Segment, lines_of
from ombud.documents.pdf.page.words import PdfPage
from ombud.documents.pdf.tables import Table, find_aligned_tables
from ombud.types import Block

EDGE = 0.1
"""Share of a page's height, above and below, where running headers and footers stand."""
_PAGE_NUMBER = re.compile(
    r"""(?:^[|·•–—\[(-]?|\b(?:page|seite|página|pagina|p\.?)|\s[|·•–—-]|\[)\s*
        (?:(\d+)|[ivxlc]{1,6})
        (?:\s*(?:of|von|de|sur|di|van|/)\s*\d+)?\s*[|·•–—\])-]?$
    |^[|·•–—\[(-]?\s*(?:(\d+)|[ivxlc]{1,6})\s*[|·•–—\])-]\s""",
    re.IGNORECASE | re.VERBOSE,
)
"""A page number, which a word or sign separates from other words; "Schedule 3" has none."""
LineKey = tuple[str, int]
"""Words and their approximate distance from the edge of the page, negative from the lower one."""


class _Part(NamedTuple):
    """A part of a line in the margin, which may repeat on other pages."""

    text: str
    keys: frozenset[LineKey]


class _MarginLine(NamedTuple):
    line: PdfLine
    parts: list[list[_Part]]
    """The variants of each segment: as it is, and without the page number."""


Margins = tuple[list[_MarginLine], list[_MarginLine]]
"""Lines in the upper and lower margin, each from the edge of the page inwards."""


class Running(NamedTuple):
    """The running lines of a document."""

    texts: dict[str, int]
    """Text -> last page with it."""
    numbers: int
    """Number of lines that are only a page number."""

    def blocks(self, others: Iterable[Block]) -> Iterator[Block]:
        """Make a block of each text, unless another block of the document has it."""
        other_texts = {block.text for block in others}
        for text, page in self.texts.items():
            if text not in other_texts:
                yield paragraph(text).model_copy(update={"page": page})


def without_running(pages: list[PdfPage], tables: dict[int, list[Table]]) -> Running:
    """Remove lines from the pages that repeat at the same place on other pages, except for the page
    number.

    tables: those of each page, by its identity; their rows repeat too, and stay."""
    running = Running({}, 0)
    if len(pages) < 2:
        return running
    margins = [margin_lines(page, tables[id(page)]) for page in pages]
    repeated = repeated_keys(margins, len({page.number for page in pages}))
    numbers: set[LineKey] = set()
    for page, sides in zip(pages, margins, strict=True):
        taken: set[int] = set()
        for line, parts in running_lines(page, sides, repeated):
            taken.update(map(id, line.words))
            for part in parts:
                if part.text:
                    running.texts[part.text] = page.number
                else:
                    numbers |= part.keys & repeated
        page.words = [word for word in page.words if id(word) not in taken]
    # A key is in two grids.
    return running._replace(numbers=(len(numbers) + 1) // 2)


def running_lines(
    page: PdfPage, sides: Margins, repeated: set[LineKey]
) -> Iterator[tuple[PdfLine, list[_Part]]]:
    """Yield the lines that repeat, from the edge inwards up to the first that does not."""
    for side in sides:
        for line, segments in side:
            parts = list(filter(None, (repeated_part(ways, repeated) for ways in segments)))
            if len(parts) < len(segments) or is_table_header(page, line):
                break
            yield line, parts


def margin_lines(page: PdfPage, tables: list[Table]) -> Margins:
    boxes = [table.box for table in tables]
    words = [word for word in page.words if not word.is_in_any(boxes)]
    upper = [word for word in words if word.top < EDGE * page.height]
    lower = [word for word in words if word.bottom > (1 - EDGE) * page.height]
    above = [margin_line(page, line, line.top) for line in lines_of(upper)]
    below = [margin_line(page, line, line.bottom - page.height) for line in lines_of(lower)]
    return above, below[::-1]


def margin_line(page: PdfPage, line: PdfLine, distance: float) -> _MarginLine:
    return _MarginLine(
        line, [segment_variants(segment, page, distance) for segment in line.segments]
    )


def segment_variants(segment: Segment, page: PdfPage, distance: float) -> list[_Part]:
    """List the variants of a segment as they may repeat on other pages, at about the same
    height."""
    text = segment.text
    parts = [_Part(text, line_keys(text, distance))]
    number = _PAGE_NUMBER.search(text)
    if number:
        digits = number[1] or number[2]
        ahead = int(digits) - page.number if digits else "roman"
        rest = f"{text[: number.start()]}{text[number.end() :]}".strip(" ,;|·•–—-")
        parts.append(_Part(rest, line_keys(f"{rest} # {ahead}", distance)))
    return parts


def line_keys(words: str, distance: float) -> frozenset[LineKey]:
    # Two overlapping grids, so that a height next to a grid line matches too.
    step = distance / 6
    return frozenset(((words, round(step)), (words, -1 - round(step + 0.5))))


def repeated_keys(margins: list[Margins], pages: int) -> set[LineKey]:
    """Find the keys that are in the margins of so many pages that they are running lines."""
    seen: Counter[LineKey] = Counter()
    for sides in margins:
        keys: set[LineKey] = set()
        for side in sides:
            for _, segments in side:
                for parts in segments:
                    keys.update(*(part.keys for part in parts))
        seen.update(keys)
    least = 2.0
    if pages > 3:
        least = max(least, 0.4 * pages)
    return {key for key, times in seen.items() if times >= least}


def repeated_part(parts: list[_Part], repeated: set[LineKey]) -> _Part | None:
    for part in parts:
        if not repeated.isdisjoint(part.keys):
            return part
    return None


def is_table_header(page: PdfPage, line: PdfLine) -> bool:
    """Tell whether a line is above others in the same columns, as close as these follow each
    other."""
    if len(line.segments) < 2 or _PAGE_NUMBER.search(line.text):
        return False
    lines = lines_of(page.words)
    for start, _, table in find_aligned_tables(page.number, lines):
        _, top, _, _ = table.box
        if top == line.top:
            head, first, second = lines[start : start + 3]
            return first.top - head.top < 2 * (second.top - first.top)
    return False
