"""Tables of HTML: tell layout tables from data tables, and place the cells of the latter."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from ombud.documents.office.numbering import whole

_WIDEST = 200
"""Columns that a cell may span; a hostile page claims a thousand million."""


class TableCell(NamedTuple):
    node: LexborNode
    text: str


def own_rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yield the rows of a table, not those of inner tables."""
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
    # A heading that is alone in its cell is the name of a row or column.
    headings = table.css("h2, h3")
    names = table.css(":is(td, th) > :is(h2, h3):only-child")
    return len(headings) > len(names) or len(table.css("table")) > 1


def spread(rows: Sequence[Sequence[TableCell]]) -> list[list[str]]:
    """Return the texts by row; a cell that spans columns or rows is written into each of them."""
    below: dict[int, tuple[str, int]] = {}
    return [spread_row(cells, below) for cells in rows]


def spread_row(cells: Sequence[TableCell], below: dict[int, tuple[str, int]]) -> list[str]:
    """Place the cells of one row. below: column -> text of a cell above, and the number of further
    rows that it spans."""
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
        attributes = cell.node.attributes
        across = limit_span(attributes.get("colspan"))
        down = limit_span(attributes.get("rowspan"))
        if down > 1:
            spanned = range(column, column + across)
            below.update(dict.fromkeys(spanned, (cell.text, down - 1)))
        row += [cell.text] * across
    return row


def limit_span(number: str | None) -> int:
    return max(1, min(whole(number) or 1, _WIDEST))
