"""Find the tables of PDF pages: ruled ones by their lines, others by columns of words."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, compress

from pdfplumber.table import (
    cells_to_tables,
    edges_to_intersections,
    intersections_to_cells,
    merge_edges,
)

from ombud.documents.pdf.hyphens import BrokenWords
from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.page.placing import Edge, box_around
from ombud.documents.pdf.page.words import PdfPage, PdfWord

MAX_EDGES = 4000
"""Joining lines takes time quadratic in their number; drawings and maps have more."""
CROWDED = 0.15
"""Share of cells with several columns inside above which the drawn lines are not those of the
table."""
MIN_LINES = 3
"""Least aligned lines of a table without ruling."""


@dataclass
class Table:
    page: int
    box: Edge
    rows: list[list[str]]
    has_bold_header: bool = False
    """True if the first row is bold and not all others are."""

    def __post_init__(self) -> None:
        filled = [any(column) for column in zip(*self.rows, strict=True)]
        self.rows = [list(compress(row, filled)) for row in self.rows]


def find_ruled_tables(page: PdfPage, broken: BrokenWords) -> list[Table]:
    """Find tables drawn with lines: at least two columns and two rows of cells with words."""
    if not 4 <= len(page.edges) <= MAX_EDGES:
        return []
    edges = merge_edges(
        list(map(pdfplumber_edge, page.edges)),
        snap_x_tolerance=3,
        snap_y_tolerance=3,
        join_x_tolerance=3,
        join_y_tolerance=3,
    )
    intersections = edges_to_intersections(edges, x_tolerance=3, y_tolerance=3)
    tables = []
    for cells in cells_to_tables(intersections_to_cells(intersections)):
        table = fill_table(page, cells, broken)
        if table:
            tables.append(table)
    return tables


def pdfplumber_edge(edge: Edge) -> dict[str, object]:
    """Convert a ruling line to pdfplumber's form, without its thickness."""
    x0, top, x1, bottom = edge
    is_upright = bottom - top > x1 - x0
    if is_upright:
        x0 = x1 = (x0 + x1) / 2
    else:
        top = bottom = (top + bottom) / 2
    return {
        "x0": x0,
        "x1": x1,
        "top": top,
        "bottom": bottom,
        "width": x1 - x0,
        "height": bottom - top,
        "orientation": "v" if is_upright else "h",
        "object_type": "line",
    }


def fill_table(page: PdfPage, cells: list[Edge], broken: BrokenWords) -> Table | None:
    """Make the table of those cells; None for a frame around text, or a form's empty boxes."""
    lefts, upper_ends = zip(*map(corner_of, cells), strict=True)
    columns = sorted(set(lefts))
    tops = sorted(set(upper_ends))
    if len(columns) < 2 or len(tops) < 2:
        return None
    box = box_around(cells)
    rows = [[""] * len(columns) for _ in tops]
    lines_of_rows: list[list[PdfLine]] = [[] for _ in tops]
    merged: list[tuple[int, int, str]] = []
    crowded = 0
    for cell, lines in lines_by_cell(page, cells, box):
        crowded += sum(len(line.segments) > 1 for line in lines) > 1
        x0, top = corner_of(cell)
        first, column = tops.index(top), columns.index(x0)
        rows[first][column] = text = broken.flowing(lines)
        lines_of_rows[first] += lines
        end = bisect_left(tops, cell[3] - 1) if len(lines) == 1 else 0
        merged += ((number, column, text) for number in range(first + 1, end))
    fill_merged(rows, merged)
    # Cells with columns inside: only some of the lines are drawn.
    if crowded > CROWDED * len(cells):
        return None
    filled = list(filter(any, rows))
    if not is_tabular(filled):
        return None
    return Table(page.number, box, filled, is_header_bold(list(filter(None, lines_of_rows))))


def fill_merged(rows: list[list[str]], merged: list[tuple[int, int, str]]) -> None:
    """Repeat cells that are merged over rows in each row. A row with fewer cells of its own than
    merged ones continues the row above instead.

    merged: row, column, and text of the cell above."""
    own = [sum(map(bool, row)) for row in rows]
    more = Counter(number for number, _, _ in merged)
    for number, column, text in merged:
        if more[number] <= own[number]:
            rows[number][column] = text


def is_header_bold(rows: list[list[PdfLine]]) -> bool:
    """Tell whether the lines of the first row are bold, and not those of all others."""
    head, *others = rows
    return all(line.bold for line in head) and not all(line.bold for line in chain(*others))


def corner_of(cell: Edge) -> tuple[float, float]:
    """Return (left, top), rounded so that aligned cells have the same."""
    x0, top, _, _ = cell
    return round(x0, 1), round(top, 1)


def lines_by_cell(
    page: PdfPage, cells: list[Edge], box: Edge
) -> Iterator[tuple[Edge, list[PdfLine]]]:
    """Yield each cell with the lines of words whose middle is in it; of overlapping cells the upper
    left one gets them."""
    inside: dict[Edge, list[PdfWord]] = {cell: [] for cell in cells}
    ordered = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    for word in page.words:
        if not covers(box, word):
            continue
        home = next((cell for cell in ordered if covers(cell, word)), None)
        if home:
            inside[home].append(word)
    for cell, words in inside.items():
        yield cell, lines_of(words)


def covers(box: Edge, word: PdfWord) -> bool:
    """Tell whether the middle of a word is in a box."""
    x0, top, x1, bottom = box
    return x0 <= word.across <= x1 and top <= word.middle <= bottom


def is_tabular(rows: list[list[str]]) -> bool:
    """Tell whether enough of the rows have several filled cells."""
    several = sum(sum(map(bool, row)) > 1 for row in rows)
    return several >= max(2, 0.4 * len(rows))


def find_aligned_tables(number: int, lines: list[PdfLine]) -> Iterator[tuple[int, int, Table]]:
    """Yield (first line, end, table) of runs of lines whose words are aligned in columns."""
    at = 0
    while at < len(lines):
        end = end_of_run(lines, at)
        if end - at >= MIN_LINES:
            table = table_of_columns(number, lines[at:end])
            if table:
                yield at, end, table
        at = max(end, at + 1)


def end_of_run(lines: list[PdfLine], start: int) -> int:
    """Return the end of the lines from `start` that have several parts and follow closely."""
    end = start
    while end < len(lines) and len(lines[end].segments) > 1:
        above, below = lines[end - 1], lines[end]
        if end > start and below.top - above.bottom >= 2.2 * (below.bottom - below.top):
            break
        end += 1
    return end


def table_of_columns(number: int, lines: list[PdfLine]) -> Table | None:
    """Make a table of lines whose parts are in columns; None if too few cells are filled."""
    columns = column_spans(lines)
    cells = len(columns) * len(lines)
    filled = sum(len(line.segments) for line in lines)
    if len(columns) < 2 or filled < 0.5 * cells:
        return None
    rows = [row_cells(line, columns) for line in lines]
    # Items with a number in front, and justified text, line up too.
    if len(columns) == 2 and all(len(row[0]) <= 3 for row in rows):
        return None
    left, _ = columns[0]
    _, right = columns[-1]
    box = (left, lines[0].top, right, lines[-1].bottom)
    return Table(number, box, rows, is_header_bold([[line] for line in lines]))


def column_spans(lines: list[PdfLine]) -> list[tuple[float, float]]:
    """Return (left, right) of each column, uniting overlapping parts of all lines."""
    columns: list[tuple[float, float]] = []
    for x0, x1, _ in sorted(segment for line in lines for segment in line.segments):
        left, right = columns[-1] if columns else (x0, x1)
        if columns and x0 <= right + 1:
            columns[-1] = (left, max(right, x1))
        else:
            columns.append((x0, x1))
    return columns


def row_cells(line: PdfLine, columns: list[tuple[float, float]]) -> list[str]:
    """Put each part of a line into the column that it overlaps most."""
    row = [""] * len(columns)
    for segment in line.segments:
        x0, x1, _ = segment
        overlaps = [min(x1, right) - max(x0, left) for left, right in columns]
        column = overlaps.index(max(overlaps))
        row[column] = f"{row[column]} {segment.text}".strip()
    return row
