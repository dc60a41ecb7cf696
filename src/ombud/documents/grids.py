"""Cells on a sheet become tables: what stands together is one, what a blank row or column parts are
two."""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ombud.documents.blocks import paragraph, pipe_table, tidy
from ombud.documents.runs import plain
from ombud.errors import SourceError
from ombud.types import Block

ROWS = 500
"""Rows with something in them that count as one page."""
LOOKED_AT = 100
"""Rows that decide whether the first one is a header."""
MOST_CELLS = 20_000_000
"""Of the rectangle around one table; a few cells far apart must not become a plain of nothing."""
Cells = dict[int, dict[int, str]]
"""Row -> column -> what is shown there; no empty cells, rows in ascending order."""


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
    """The tables of a sheet with the lines of text around them, from top to bottom, from left to
    right."""
    columns_above: tuple[int, int] | None = None
    header: list[str] = []
    for region in _regions(cells):
        notes, body = _parted(region.rows)
        for note in notes:
            yield paragraph(tidy(note))
        if not body:
            columns_above = None
            continue
        columns = (region.left, region.right)
        if columns == columns_above and _goes_on(header, body[0]):
            # A blank row inside a table sets groups apart; each of them needs the header.
            body = [header, *body]
        columns_above = columns
        header = body[0]
        yield Block(kind="table", text=headed(body))


def headed(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the header is made of blanks where the first row is no header."""
    table = pipe_table(rows)
    if not table or _has_header(rows):
        return table
    # Markdown knows no table without one.
    first, rule, *rest = table.split("\n")
    columns = rule.count("|") - 1
    blanks = "|" + "  |" * columns
    return "\n".join([blanks, rule, first, *rest])


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is made of names: no figure stands in it above a column of figures."""
    body = rows[1:LOOKED_AT]
    for column, cell in enumerate(rows[0]):
        # Years are figures too, but often the names of columns.
        is_year = _YEAR.fullmatch(cell.strip())
        if _is_figure(cell) and not is_year and _is_column_of_figures(body, column):
            return False
    return True


def _is_column_of_figures(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether something stands in a column, and nothing but figures."""
    is_filled = False
    for row in rows:
        cell = row[column] if column < len(row) else ""
        if not cell.strip():
            continue
        if not _is_figure(cell):
            return False
        is_filled = True
    return is_filled


def _is_figure(cell: str) -> bool:
    """Numbers, dates, amounts: what stands in a table's body rather than in its header."""
    return bool(_FIGURE.fullmatch(plain(cell).strip()))


def too_many_rows(pages: int) -> SourceError:
    return SourceError(
        f"The file has more than {pages * ROWS:,} rows.",
        hint=f"Split it, or raise [documents] pages; {ROWS} rows count as a page.",
    )


def _parted(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """(lines above the table, table): a row with one cell, above rows with several, is its
    title."""
    start = 0
    while start < len(rows) and _is_note(rows[start]):
        start += 1
    if start == len(rows):
        return [row[0] or max(row) for row in rows], []
    return [row[0] for row in rows[:start]], rows[start:]


def _is_note(row: Sequence[str]) -> bool:
    first, *others = row
    return first != "" and {"", first}.issuperset(others)


def _goes_on(header: Sequence[str], first: Sequence[str]) -> bool:
    if not all(header) or any(map(_is_figure, header)):
        return False
    return any(map(_is_figure, first))


def _regions(cells: Cells) -> Iterator[Region]:
    """The rectangles that nothing blank runs through."""
    waiting = [cells] if cells else []
    while waiting:
        part = waiting.pop()
        pieces = _pieces(part)
        if len(pieces) > 1:
            waiting.extend(reversed(pieces))
        else:
            yield _region(part)


def _pieces(cells: Cells) -> list[Cells]:
    """The cells, cut in the first way that parts them; one piece where none does."""
    for cut in (_at_blank_rows, _at_blank_columns, _at_corners):
        pieces = cut(cells)
        if len(pieces) > 1:
            return pieces
    return [cells]


def _region(cells: Cells) -> Region:
    columns = _columns(cells)
    left = columns[0]
    right = columns[-1]
    width = right - left + 1
    if len(cells) * width > MOST_CELLS:
        raise SourceError("The cells of a sheet lie too far apart.", hint="Remove the stray cells.")
    rows = [_filled_up(row, left, right) for row in cells.values()]
    return Region(left, right, rows)


def _filled_up(row: dict[int, str], left: int, right: int) -> list[str]:
    """The cells from one column to another, blanks included."""
    return [row.get(column, "") for column in range(left, right + 1)]


def _columns(cells: Cells) -> list[int]:
    columns: set[int] = set()
    for row in cells.values():
        columns.update(row)
    return sorted(columns)


def _runs(numbers: Sequence[int]) -> list[int]:
    """First numbers of runs without a gap."""
    starts = list(numbers[:1])
    for before, after in pairwise(numbers):
        if after > before + 1:
            starts.append(after)
    return starts


def _at_blank_rows(cells: Cells) -> list[Cells]:
    return _cut_above(cells, set(_runs(list(cells))))


def _at_blank_columns(cells: Cells) -> list[Cells]:
    starts = _runs(_columns(cells))
    if len(starts) < 2:
        return [cells]
    pieces: list[Cells] = [{} for _ in starts]
    for number, row in cells.items():
        for column, text in row.items():
            piece = pieces[bisect(starts, column) - 1]
            piece.setdefault(number, {})[column] = text
    return pieces


def _at_corners(cells: Cells) -> list[Cells]:
    """Tables that touch by their corners only: rows above share no column with the rows below."""
    spans = [(min(row), max(row)) for row in cells.values()]
    rows_from = _united_from_below(spans)
    starts: set[int] = set()
    above = spans[0]
    for number, span, below in zip(cells, spans, rows_from, strict=True):
        if _are_apart(above, below):
            starts.add(number)
            above = span
        above = _united(above, span)
    return _cut_above(cells, starts)


def _united_from_below(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of each row the columns that it and all rows below it reach over."""
    united = [spans[-1]]
    for span in reversed(spans[:-1]):
        united.append(_united(span, united[-1]))
    united.reverse()
    return united


def _are_apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether they share no column."""
    left, right = one
    other_left, other_right = other
    return right < other_left or other_right < left


def _united(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    left, right = one
    other_left, other_right = other
    return min(left, other_left), max(right, other_right)


def _cut_above(cells: Cells, starts: set[int]) -> list[Cells]:
    pieces: list[Cells] = [{}]
    for number, row in cells.items():
        if number in starts and pieces[-1]:
            pieces.append({})
        pieces[-1][number] = row
    return pieces
