"""Comma-separated values: one table, whatever separates them."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ombud.documents.blocks import ParsedFile
from ombud.documents.grids import LOOKED_AT, ROWS, headed, too_many_rows
from ombud.documents.plain import decode
from ombud.errors import SourceError
from ombud.types import Block

SEPARATORS = (",", ";", "\t", "|")


def read(data: bytes, pages: int) -> ParsedFile:
    """Lines above the table as text, then the table; a file without a header gets one of blanks.

    Raises SourceError beyond `pages` times 500 rows.
    """
    text = decode(data)
    first, _, rest = text.partition("\n")
    if first.strip().lower().startswith("sep=") and len(first.strip()) == 5:
        # How Excel is told.
        text, separator = rest, first.strip()[-1]
    else:
        separator = max(SEPARATORS, key=lambda one: _regularity(text, one))
    rows = []
    try:
        for row in _rows(text, separator):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > pages * ROWS:
                raise too_many_rows(pages)
    except csv.Error as wrong:
        raise SourceError(
            "The file is broken or no table.", hint="Save it again as CSV."
        ) from wrong
    return ParsedFile(list(_blocks(rows)))


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _regularity(text: str, separator: str) -> tuple[int, int]:
    """(rows that agree on how many cells they have, cells): the right separator gives the same
    number row by row."""
    try:
        # A quote that never closes would take the whole file as one cell.
        lengths = Counter(
            len(row) for row in islice(_rows(text[:200_000], separator), LOOKED_AT) if len(row) > 1
        )
    except csv.Error:
        return 0, 0
    width, rows = max(lengths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows, width


def _blocks(rows: list[list[str]]) -> Iterator[Block]:
    width = max(map(len, rows), default=0)
    start = 0
    while (
        width > 1 and start < len(rows) - 1 and sum(1 for cell in rows[start] if cell.strip()) == 1
    ):
        yield Block(kind="text", text=next(cell for cell in rows[start] if cell.strip()))
        start += 1
    body = rows[start:]
    if width < 2:
        yield from (Block(kind="text", text=row[0]) for row in body)
        return
    yield Block(kind="table", text=headed(body))
