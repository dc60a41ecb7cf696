"""Cells on a sheet become tables: what stands together is one, what a blank row or column parts are
two."""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ombud.documents.blocks import pipe_table, tidy
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
_YEAR = re.compile(r"(?:19|20)\d\d")
_FIGURE = re.compile(r"[-+(]?\W{0,3}\d[\d.,:/ '\u00a0\u202f-]*\W{0,3}")


def blocks(cells: Cells) -> Iterator[Block]:
    """The tables of a sheet with the lines of text around them, from top to bottom, from left to
    right."""
    above: tuple[int, int, list[str]] | None = None
    for left, right, rows in _regions(cells):
        notes, body = _parted(rows)
        for note in notes:
            yield Block(kind="text", text=tidy(note))
        if not body:
            above = None
            continue
        if above and above[:2] == (left, right) and _goes_on(above[2], body[0]):
            # A blank row inside a table sets groups apart; each of them needs the header.
            body = [above[2], *body]
        above = left, right, body[0]
        yield Block(kind="table", text=headed(body))


def headed(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the header is made of blanks where the first row is no header."""
    table = pipe_table(rows)
    if not table or _has_header(rows):
        return table
    # Markdown knows no table without one.
    first, rule, *rest = table.split("\n")
    return "\n".join(["|" + "  |" * (rule.count("|") - 1), rule, first, *rest])


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is made of names: no figure stands in it above a column of figures."""
    for column, cell in enumerate(rows[0]):
        below = [
            row[column] for row in rows[1:LOOKED_AT] if column < len(row) and row[column].strip()
        ]
        # Years are figures too, but often the names of columns.
        if (
            _is_figure(cell)
            and not _YEAR.fullmatch(cell.strip())
            and below
            and all(map(_is_figure, below))
        ):
            return False
    return True


def _is_figure(cell: str) -> bool:
    """Numbers, dates, amounts: what stands in a table's body rather than in its header."""
    return bool(_FIGURE.fullmatch(cell.strip()))


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
    return bool(row[0]) and not set(row[1:]) - {"", row[0]}


def _goes_on(header: Sequence[str], first: Sequence[str]) -> bool:
    return all(header) and not any(map(_is_figure, header)) and any(map(_is_figure, first))


def _regions(cells: Cells) -> Iterator[tuple[int, int, list[list[str]]]]:
    """(first column, last column, rows) of each rectangle that nothing blank runs through."""
    waiting = [cells] if cells else []
    while waiting:
        part = waiting.pop()
        for cut in (_at_blank_rows, _at_blank_columns, _at_corners):
            pieces = cut(part)
            if len(pieces) > 1:
                waiting.extend(reversed(pieces))
                break
        else:
            columns = _columns(part)
            left, right = columns[0], columns[-1]
            if len(part) * (right - left + 1) > MOST_CELLS:
                raise SourceError(
                    "The cells of a sheet lie too far apart.", hint="Remove the stray cells."
                )
            yield (
                left,
                right,
                [
                    [row.get(column, "") for column in range(left, right + 1)]
                    for row in part.values()
                ],
            )


def _columns(cells: Cells) -> list[int]:
    return sorted({column for row in cells.values() for column in row})


def _runs(numbers: Sequence[int]) -> list[int]:
    """First numbers of runs without a gap."""
    return [*numbers[:1], *(after for before, after in pairwise(numbers) if after > before + 1)]


def _at_blank_rows(cells: Cells) -> list[Cells]:
    return _cut_above(cells, set(_runs(list(cells))))


def _at_blank_columns(cells: Cells) -> list[Cells]:
    starts = _runs(_columns(cells))
    if len(starts) < 2:
        return [cells]
    pieces: list[Cells] = [{} for _ in starts]
    for number, row in cells.items():
        for column, text in row.items():
            pieces[bisect(starts, column) - 1].setdefault(number, {})[column] = text
    return pieces


def _at_corners(cells: Cells) -> list[Cells]:
    """Tables that touch by their corners only: rows above share no column with the rows below."""
    spans = [(min(row), max(row)) for row in cells.values()]
    below = [spans[-1]]
    for low, high in reversed(spans[:-1]):
        below.append((min(low, below[-1][0]), max(high, below[-1][1])))
    below.reverse()
    starts: set[int] = set()
    low, high = spans[0]
    for position, number in enumerate(cells):
        if position and (below[position][0] > high or below[position][1] < low):
            starts.add(number)
            low, high = spans[position]
        low, high = min(low, spans[position][0]), max(high, spans[position][1])
    return _cut_above(cells, starts)


def _cut_above(cells: Cells, starts: set[int]) -> list[Cells]:
    pieces: list[Cells] = [{}]
    for number, row in cells.items():
        if number in starts and pieces[-1]:
            pieces.append({})
        pieces[-1][number] = row
    return pieces
