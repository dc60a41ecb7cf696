"""Comma-separated values: one table, whatever separates them."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ombud.documents.blocks import ParsedFile, paragraph
from ombud.documents.encodings import decode
from ombud.documents.grids import LOOKED_AT, ROWS, headed, too_many_rows
from ombud.errors import SourceError
from ombud.types import Block

SEPARATORS = (",", ";", "\t", "|")


def read(data: bytes, pages: int) -> ParsedFile:
    """Lines above the table as text, then the table; a file without a header gets one of blanks.

    Raises SourceError beyond `pages` times 500 rows.
    """
    text, loss = decode(data)
    first_line, _, rest = text.partition("\n")
    marker = first_line.strip()
    if len(marker) == 5 and marker.lower().startswith("sep="):
        # How Excel is told.
        text = rest
        separator = marker[-1]
    else:
        separator = max(SEPARATORS, key=lambda candidate: _regularity(text, candidate))
    try:
        rows = _filled_rows(text, separator, pages)
    except csv.Error as error:
        raise SourceError(
            "The file is broken or no table.", hint="Save it again as CSV."
        ) from error
    return ParsedFile(list(_blocks(rows)), loss=loss)


def _filled_rows(text: str, separator: str, pages: int) -> list[list[str]]:
    rows = []
    for row in _rows(text, separator):
        if _filled(row):
            rows.append(row)
        if len(rows) > pages * ROWS:
            raise too_many_rows(pages)
    return rows


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _regularity(text: str, separator: str) -> tuple[int, int]:
    """(rows that agree on how many cells they have, cells): the right separator gives the same
    number row by row."""
    widths: Counter[int] = Counter()
    try:
        # A quote that never closes would take the whole file as one cell.
        for row in islice(_rows(text[:200_000], separator), LOOKED_AT):
            if len(row) > 1:
                widths[len(row)] += 1
    except csv.Error:
        return 0, 0
    agreements = [(rows, width) for width, rows in widths.items()]
    return max(agreements, default=(0, 0))


def _blocks(rows: list[list[str]]) -> Iterator[Block]:
    width = max(map(len, rows), default=0)
    if width < 2:
        for row in rows:
            yield paragraph(row[0])
        return
    start = 0
    while start < len(rows) - 1 and len(_filled(rows[start])) == 1:
        yield paragraph(_filled(rows[start])[0])
        start += 1
    yield Block(kind="table", text=headed(rows[start:]))


def _filled(row: list[str]) -> list[str]:
    """Cells that hold more than blanks."""
    return [cell for cell in row if cell.strip()]
