"""Repeat the header of a table that continues after a page break."""

from collections.abc import Sequence
from itertools import pairwise

from ombud.documents.blocks import tidy
from ombud.documents.grids import is_column_of_figures, is_figure
from ombud.documents.pdf.headings import Item
from ombud.documents.pdf.lines import PdfLine
from ombud.documents.pdf.tables import Table

Rows = Sequence[Sequence[str]]


def repeat_headers(pages: Sequence[Sequence[Item]]) -> None:
    """Put the header above the part of a table at the top of a page, if one as wide ends the page
    before; one line, such as "Premiums (continued)", may be between."""
    for above, below in pairwise(pages):
        tables = [item for item in (*above[-1:], *below[:2]) if isinstance(item, Table)]
        if len(tables) < 2 or above[-1] is not tables[0]:
            continue
        first, second, *_ = tables
        is_next = second.page == first.page + 1 and len(second.rows[0]) == len(first.rows[0])
        between = below[0]
        is_same = isinstance(between, Table) or repeats_line(between, above)
        if is_next and (is_same or have_common_figures(first, second)):
            repeat_header(first, second)


def repeats_line(line: PdfLine, above: Sequence[Item]) -> bool:
    """Tell whether a line begins as one on the page before: "Premiums", "Premiums (continued)"."""
    return any(line.text.startswith(item.text) for item in above if isinstance(item, PdfLine))


def repeat_header(first: Table, second: Table) -> None:
    """Put the header of a table above its second part, unless that has one."""
    head = first.rows[0]
    # A part may open with a row of one cell: "Premiums (continued)".
    body = next((at for at, row in enumerate(second.rows) if sum(map(bool, row)) > 1), 0)
    if list(map(tidy, second.rows[body])) == list(map(tidy, head)):
        second.rows.insert(0, second.rows.pop(body))
    elif not has_own_header(first, second, body):
        second.rows.insert(0, head)
        second.has_bold_header = first.has_bold_header


def has_own_header(first: Table, second: Table, at: int) -> bool:
    """Tell whether that row of the second table is its header: it looks like one, or it has names
    above figures in a column of the first table with only names or only figures."""
    if first.has_bold_header or second.has_bold_header:
        return second.has_bold_header
    rows = second.rows[at + 1 :]
    for column, cell in enumerate(second.rows[at]):
        are_figures = {is_figure(row[column]) for row in first.rows[1:] if row[column]}
        is_name = bool(cell) and not is_figure(cell)
        if is_name and len(are_figures) < 2 and is_column_of_figures(rows, column):
            return True
    return False


def have_common_figures(first: Table, second: Table) -> bool:
    """Tell whether the same column contains only figures in both tables, below the header."""
    return any(
        is_column_of_figures(first.rows[1:], column) and is_column_of_figures(second.rows, column)
        for column in range(len(first.rows[0]))
    )
