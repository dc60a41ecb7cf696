"""Parse separated values as one table, whatever the separator."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ombud.documents.blocks import ParsedFile, paragraph
from ombud.documents.encodings import decode
from ombud.documents.grids import ROWS, SAMPLE_ROWS, headed, too_many_rows
from ombud.errors import SourceError
from ombud.types import Block

SEPARATORS = (",", ";", "\t", "|")


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse lines above the table as text, then the table, with a blank header if it has none.

    Raises SourceError beyond `pages` times 500 rows."""
    text, loss = decode(data)
    first_line, _, rest = text.partition("\n")
    marker = first_line.strip()
    if len(marker) == 5 and marker.lower().startswith("sep="):
        # This line tells Excel the separator.
        text = rest
        separator = marker[-1]
    else:
        separator = max(SEPARATORS, key=lambda candidate: regularity(text, candidate))
    try:
        rows = filled_rows(text, separator, pages)
    except csv.Error as error:
        raise SourceError(
            "The file is broken or no table.", hint="Save it again as CSV."
        ) from error
    return ParsedFile(list(table_and_notes(rows)), loss=loss)


def filled_rows(text: str, separator: str, pages: int) -> list[list[str]]:
    rows = []
    for row in csv_rows(text, separator):
        if filled_cells(row):
            rows.append(row)
        if len(rows) > pages * ROWS:
            raise too_many_rows(pages)
    return rows


def csv_rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def regularity(text: str, separator: str) -> tuple[int, int]:
    """Return the most rows with the same number of cells, and that number: the right separator
    gives the same number in each row."""
    widths: Counter[int] = Counter()
    try:
        # A quote that never closes would take the whole file as one cell.
        for row in islice(csv_rows(text[:200_000], separator), SAMPLE_ROWS):
            if len(row) > 1:
                widths[len(row)] += 1
    except csv.Error:
        return 0, 0
    agreements = [(rows, width) for width, rows in widths.items()]
    return max(agreements, default=(0, 0))


def table_and_notes(rows: list[list[str]]) -> Iterator[Block]:
    width = max(map(len, rows), default=0)
    if width < 2:
        for row in rows:
            yield paragraph(row[0])
        return
    start = 0
    while start < len(rows) - 1 and len(filled_cells(rows[start])) == 1:
        yield paragraph(filled_cells(rows[start])[0])
        start += 1
    yield Block(kind="table", text=headed(rows[start:]))


def filled_cells(row: list[str]) -> list[str]:
    """Return the cells that are not blank."""
    return [cell for cell in row if cell.strip()]
