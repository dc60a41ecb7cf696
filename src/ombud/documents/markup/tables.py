"""Tables of HTML: which of them only arrange the page, and where the cells of the others stand."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

_WIDEST = 200
"""Columns a cell may span; a hostile page says a thousand million."""


class TableCell(NamedTuple):
    node: LexborNode
    text: str


def own_rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of a table, not those of tables inside."""
    for part in table.iter():
        if part.tag == "tr":
            yield part
        elif part.tag in {"thead", "tbody", "tfoot"}:
            yield from (row for row in part.iter() if row.tag == "tr")


def is_layout(table: LexborNode) -> bool:
    """Tell whether a table only arranges the page: it has one column, or holds sections or tables
    and nothing that tables of data have, such as a header or a border."""
    attributes = table.attributes
    if attributes.get("role") in {"presentation", "none"}:
        return True
    rows = [list(row.iter()) for row in own_rows(table)]
    if max(map(len, rows), default=0) < 2 or table.css_first("h1"):
        return True
    parts = {part.tag for part in table.iter()}
    has_names = any(cell.tag == "th" for row in rows for cell in row)
    if (
        attributes.get("border") not in {None, "", "0"}
        or has_names
        or not parts.isdisjoint({"caption", "thead"})
    ):
        return False
    # A heading that is all that its cell holds is the name of a row or column.
    headings = table.css("h2, h3")
    names = table.css(":is(td, th) > :is(h2, h3):only-child")
    return len(headings) > len(names) or len(table.css("table")) > 1


def spread(rows: Sequence[Sequence[TableCell]]) -> list[list[str]]:
    """The texts by row; a cell that spans columns or rows is written into each of them."""
    below: dict[int, tuple[str, int]] = {}
    return [_row(cells, below) for cells in rows]


def _row(cells: Sequence[TableCell], below: dict[int, tuple[str, int]]) -> list[str]:
    """The cells of one row. below: column -> text from above, and in how many rows it still
    stands."""
    row: list[str] = []
    waiting = deque(cells)
    while waiting or len(row) in below:
        column = len(row)
        if column in below:
            text, left = below.pop(column)
            if left > 1:
                below[column] = (text, left - 1)
            row.append(text)
            continue
        cell = waiting.popleft()
        across = _span(cell.node, "colspan")
        down = _span(cell.node, "rowspan")
        if down > 1:
            spanned = range(column, column + across)
            below.update(dict.fromkeys(spanned, (cell.text, down - 1)))
        row += [cell.text] * across
    return row


def _span(cell: LexborNode, name: str) -> int:
    number = cell.attributes.get(name) or "1"
    if not re.fullmatch(r"[0-9]{1,9}", number):
        return 1
    return max(1, min(int(number), _WIDEST))
