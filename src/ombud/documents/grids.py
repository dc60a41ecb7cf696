"""Find the tables on a sheet: cells that touch form one, and blank rows and columns separate
tables."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ombud.documents.blocks import paragraph, pipe_table, tidy
from ombud.documents.runs import plain
from ombud.errors import SourceError
from ombud.types import Block

ROWS = 500
"""Filled rows that count as one page."""
SAMPLE_ROWS = 100
"""Rows that decide whether the first one is a header."""
MAX_CELLS = 20_000_000
"""Cells of the rectangle around one table: a few cells far apart must not become a huge empty
one."""
Cells = dict[int, dict[int, str]]
"""Row -> column -> displayed text; no empty cells, rows in ascending order."""


class Region(NamedTuple):
    """A rectangle of cells."""

    left: int
    """Its first column."""
    right: int
    """Its last column."""
    rows: list[list[str]]


_YEAR = re.compile(r"(?:19|20)\d\d")
_FIGURE = re.compile(r"[-+(]?\W{0,3}\d[\d.,:/ '\u00a0\u202f-]*\W{0,3}")


def blocks(cells: Cells) -> Iterator[Block]:
    """Yield the tables of a sheet and the lines of text around them, from top to bottom and left to
    right."""
    columns_above: tuple[int, int] | None = None
    header: list[str] = []
    for region in find_regions(cells):
        notes, body = split_notes(region.rows)
        for note in notes:
            yield paragraph(tidy(note))
        if not body:
            columns_above = None
            continue
        columns = (region.left, region.right)
        if columns == columns_above and continues_header(header, body[0]):
            # A blank row inside a table separates groups; each of them needs the header.
            body = [header, *body]
        columns_above = columns
        header = body[0]
        yield Block(kind="table", text=headed(body))


def without_hidden(
    cells: Cells, hidden_rows: Iterable[int], hidden_columns: Iterable[int]
) -> tuple[Cells, int]:
    """Close the gaps of hidden rows and columns, so that they do not split a table, and count those
    that are filled."""
    rows, columns = sorted(hidden_rows), sorted(hidden_columns)
    if not rows and not columns:
        return cells, 0
    lost: set[tuple[str, int]] = set()
    visible: Cells = {}
    row_names, column_names = set(rows), set(columns)
    for number, row in cells.items():
        if number in row_names:
            lost.add(("row", number))
            continue
        lost.update(("column", column) for column in column_names & row.keys())
        seen = {
            column - bisect(columns, column): text
            for column, text in row.items()
            if column not in column_names
        }
        if seen:
            visible[number - bisect(rows, number)] = seen
    return visible, len(lost)


def headed(rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table, with a blank header if the first row is none."""
    table = pipe_table(rows)
    if not table or has_header(rows):
        return table
    # Markdown has no tables without a header.
    first, rule, *rest = table.split("\n")
    columns = rule.count("|") - 1
    blanks = "|" + "  |" * columns
    return "\n".join([blanks, rule, first, *rest])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row consists of names: it has no figure above a column of figures."""
    body = rows[1:SAMPLE_ROWS]
    for column, cell in enumerate(rows[0]):
        # Years are figures too, but often the names of columns.
        is_year = _YEAR.fullmatch(cell.strip())
        if is_figure(cell) and not is_year and is_column_of_figures(body, column):
            return False
    return True


def is_column_of_figures(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Tell whether a column contains figures and nothing else."""
    is_filled = False
    for row in rows:
        cell = row[column] if column < len(row) else ""
        if not cell.strip():
            continue
        if not is_figure(cell):
            return False
        is_filled = True
    return is_filled


def is_figure(cell: str) -> bool:
    """Tell whether a cell is a number, date or amount, as in a table's body rather than its
    header."""
    return bool(_FIGURE.fullmatch(plain(cell).strip()))


def too_many_rows(pages: int) -> SourceError:
    return SourceError(
        f"The file has more than {pages * ROWS:,} rows.",
        hint=f"Split it, or raise [documents] pages; {ROWS} rows count as a page.",
    )


def split_notes(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Separate lines above a table from the table: rows with one cell above rows with several are
    its title."""
    start = 0
    for first, *others in rows:
        if first == "" or not {"", first}.issuperset(others):
            break
        start += 1
    if start == len(rows):
        return [row[0] or max(row) for row in rows], []
    return [row[0] for row in rows[:start]], rows[start:]


def continues_header(header: Sequence[str], first: Sequence[str]) -> bool:
    if not all(header) or any(map(is_figure, header)):
        return False
    return any(map(is_figure, first))


def find_regions(cells: Cells) -> Iterator[Region]:
    """Yield the rectangles without a blank row or column."""
    waiting = [cells] if cells else []
    while waiting:
        part = waiting.pop()
        pieces = cut_pieces(part)
        if len(pieces) > 1:
            waiting.extend(reversed(pieces))
        else:
            yield make_region(part)


def cut_pieces(cells: Cells) -> list[Cells]:
    """Cut the cells in the first way that separates them; one piece if none does."""
    pieces = cut_above(cells, set(run_starts(list(cells))))
    if len(pieces) > 1:
        return pieces
    for cut in (cut_at_blank_columns, cut_at_corners):
        pieces = cut(cells)
        if len(pieces) > 1:
            return pieces
    return [cells]


def make_region(cells: Cells) -> Region:
    columns = used_columns(cells)
    left = columns[0]
    right = columns[-1]
    width = right - left + 1
    if len(cells) * width > MAX_CELLS:
        raise SourceError("The cells of a sheet lie too far apart.", hint="Remove the stray cells.")
    rows = []
    for row in cells.values():
        rows.append([row.get(column, "") for column in range(left, right + 1)])
    return Region(left, right, rows)


def used_columns(cells: Cells) -> list[int]:
    columns: set[int] = set()
    for row in cells.values():
        columns.update(row)
    return sorted(columns)


def run_starts(numbers: Sequence[int]) -> list[int]:
    """List the first numbers of runs without a gap."""
    starts = list(numbers[:1])
    for before, after in pairwise(numbers):
        if after > before + 1:
            starts.append(after)
    return starts


def cut_at_blank_columns(cells: Cells) -> list[Cells]:
    starts = run_starts(used_columns(cells))
    if len(starts) < 2:
        return [cells]
    pieces: list[Cells] = [{} for _ in starts]
    for number, row in cells.items():
        for column, text in row.items():
            piece = pieces[bisect(starts, column) - 1]
            piece.setdefault(number, {})[column] = text
    return pieces


def cut_at_corners(cells: Cells) -> list[Cells]:
    """Cut between tables that touch only at their corners: rows above share no column with rows
    below."""
    spans = [(min(row), max(row)) for row in cells.values()]
    rows_from = ranges_from_below(spans)
    starts: set[int] = set()
    above = spans[0]
    for number, span, below in zip(cells, spans, rows_from, strict=True):
        # They share no column.
        if above[1] < below[0] or below[1] < above[0]:
            starts.add(number)
            above = span
        above = unite(above, span)
    return cut_above(cells, starts)


def ranges_from_below(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Compute for each row the range of columns of it and all rows below."""
    united = [spans[-1]]
    for span in reversed(spans[:-1]):
        united.append(unite(span, united[-1]))
    united.reverse()
    return united


def unite(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(one[0], other[0]), max(one[1], other[1])


def cut_above(cells: Cells, starts: set[int]) -> list[Cells]:
    pieces: list[Cells] = [{}]
    for number, row in cells.items():
        if number in starts and pieces[-1]:
            pieces.append({})
        pieces[-1][number] = row
    return pieces
