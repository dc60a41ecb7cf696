"""Tables of PDF pages: ruled ones from their lines, the others from columns of words."""

from collections.abc import Iterator
from dataclasses import dataclass

from pdfplumber.table import (
    cells_to_tables,
    edges_to_intersections,
    intersections_to_cells,
    merge_edges,
)

from ombud.documents.pdf.lines import PdfLine, Segment, lines_of
from ombud.documents.pdf.page.placing import Edge
from ombud.documents.pdf.page.words import PdfPage, PdfWord

MOST_EDGES = 4000
"""The joining of lines takes time quadratic in their number; drawings and maps have more."""
CROWDED = 0.15
"""Share of cells with several columns inside above which the drawn lines are not the table's real
ones."""


FEWEST_LINES = 3
"""That stand in columns, for a table without ruling."""


@dataclass
class Table:
    page: int
    box: Edge
    rows: list[list[str]]


def ruled(page: PdfPage) -> list[Table]:
    """Tables drawn with lines: at least two columns and two rows of cells, with words in them."""
    if not 4 <= len(page.edges) <= MOST_EDGES:
        return []
    edges = merge_edges(
        list(map(_as_edge, page.edges)),
        snap_x_tolerance=3,
        snap_y_tolerance=3,
        join_x_tolerance=3,
        join_y_tolerance=3,
    )
    intersections = edges_to_intersections(edges, x_tolerance=3, y_tolerance=3)
    tables = []
    for cells in cells_to_tables(intersections_to_cells(intersections)):
        table = _filled(page, cells)
        if table:
            tables.append(table)
    return tables


def _as_edge(edge: Edge) -> dict[str, object]:
    """A ruling line as pdfplumber knows it, without its thickness."""
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


def _filled(page: PdfPage, cells: list[Edge]) -> Table | None:
    """The table of those cells; None for a frame around text, or a form's empty boxes."""
    lefts, upper_ends = zip(*map(_corner, cells), strict=True)
    columns = sorted(set(lefts))
    tops = sorted(set(upper_ends))
    if len(columns) < 2 or len(tops) < 2:
        return None
    box = _box_around(cells)
    rows = [[""] * len(columns) for _ in tops]
    crowded = 0
    for cell, lines in _lines_by_cell(page, cells, box):
        crowded += _holds_columns(lines)
        x0, top = _corner(cell)
        row = rows[tops.index(top)]
        row[columns.index(x0)] = " ".join(line.marked for line in lines)
    # Cells that hold columns of their own: only some of the lines are drawn.
    if crowded > CROWDED * len(cells):
        return None
    filled = list(filter(any, rows))
    return Table(page.number, box, filled) if _is_tabular(filled) else None


def _corner(cell: Edge) -> tuple[float, float]:
    """(left, top), so that cells in line have the same."""
    x0, top, _, _ = cell
    return round(x0, 1), round(top, 1)


def _box_around(cells: list[Edge]) -> Edge:
    x0, top, x1, bottom = zip(*cells, strict=True)
    return min(x0), min(top), max(x1), max(bottom)


def _lines_by_cell(
    page: PdfPage, cells: list[Edge], box: Edge
) -> Iterator[tuple[Edge, list[PdfLine]]]:
    """(cell, lines of the words whose middle is in it); of cells that overlap the upper left one
    has them."""
    inside: dict[Edge, list[PdfWord]] = {cell: [] for cell in cells}
    ordered = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    for word in page.words:
        if not _covers(box, word):
            continue
        home = next((cell for cell in ordered if _covers(cell, word)), None)
        if home:
            inside[home].append(word)
    for cell, words in inside.items():
        yield cell, lines_of(words)


def _covers(box: Edge, word: PdfWord) -> bool:
    """Whether the middle of a word is in a box."""
    x0, top, x1, bottom = box
    return x0 <= word.across <= x1 and top <= word.middle <= bottom


def _holds_columns(lines: list[PdfLine]) -> bool:
    """Whether the lines of a cell stand in columns of their own."""
    parted = 0
    for line in lines:
        if len(line.segments) > 1:
            parted += 1
    return parted > 1


def _is_tabular(rows: list[list[str]]) -> bool:
    """Whether enough of the rows have several cells with something in them."""
    several = 0
    for row in rows:
        filled_cells = sum(map(bool, row))
        if filled_cells > 1:
            several += 1
    return several >= max(2, 0.4 * len(rows))


def aligned(number: int, lines: list[PdfLine]) -> Iterator[tuple[int, int, Table]]:
    """(first line, end, table) for runs of lines whose words stand in columns, without ruling."""
    at = 0
    while at < len(lines):
        end = _end_of_run(lines, at)
        if end - at >= FEWEST_LINES:
            table = _table_of_columns(number, lines[at:end])
            if table:
                yield at, end, table
        at = max(end, at + 1)


def _end_of_run(lines: list[PdfLine], start: int) -> int:
    """End of the lines from `start` that have several parts and follow closely."""
    end = start
    above: PdfLine | None = None
    while end < len(lines):
        line = lines[end]
        if len(line.segments) < 2:
            break
        if above and not _is_next(above, line):
            break
        above = line
        end += 1
    return end


def _is_next(above: PdfLine, below: PdfLine) -> bool:
    gap = below.top - above.bottom
    return gap < 2.2 * (below.bottom - below.top)


def _table_of_columns(number: int, lines: list[PdfLine]) -> Table | None:
    """The lines as a table where their parts stand in columns that are filled well enough."""
    columns = _column_spans(lines)
    cells = len(columns) * len(lines)
    filled = sum(len(line.segments) for line in lines)
    if len(columns) < 2 or filled < 0.5 * cells:
        return None
    rows = [_row(line, columns) for line in lines]
    # Items with a number in front, and justified text, line up too.
    if len(columns) == 2 and all(len(row[0]) <= 3 for row in rows):
        return None
    left, _ = columns[0]
    _, right = columns[-1]
    box = (left, lines[0].top, right, lines[-1].bottom)
    return Table(number, box, rows)


def _column_spans(lines: list[PdfLine]) -> list[tuple[float, float]]:
    """(left, right) of each column: the parts of all lines, those that overlap as one."""
    segments: list[Segment] = []
    for line in lines:
        segments += line.segments
    columns: list[tuple[float, float]] = []
    for x0, x1, _ in sorted(segments):
        left, right = columns[-1] if columns else (x0, x1)
        if columns and x0 <= right + 1:
            columns[-1] = (left, max(right, x1))
        else:
            columns.append((x0, x1))
    return columns


def _row(line: PdfLine, columns: list[tuple[float, float]]) -> list[str]:
    """The cells of a line: each of its parts in the column that it overlaps most."""
    row = [""] * len(columns)
    for segment in line.segments:
        overlaps = [_overlap(segment, left, right) for left, right in columns]
        column = overlaps.index(max(overlaps))
        row[column] = f"{row[column]} {segment.text}".strip()
    return row


def _overlap(segment: Segment, left: float, right: float) -> float:
    return min(segment.x1, right) - max(segment.x0, left)
