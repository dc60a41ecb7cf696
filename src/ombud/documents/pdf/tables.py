"""Tables of PDF pages: ruled ones from their lines, the others from columns of words."""

from collections.abc import Iterator
from dataclasses import dataclass

from pdfplumber.table import (
    cells_to_tables,
    edges_to_intersections,
    intersections_to_cells,
    merge_edges,
)

from ombud.documents.pdf.lines import PdfLine, lines_of
from ombud.documents.pdf.words import Edge, PdfPage, PdfWord

MOST_EDGES = 4000
"""The joining of lines takes time quadratic in their number; drawings and maps have more."""
CROWDED = 0.15
"""Share of cells with several columns inside above which the drawn lines are not the table's real
ones."""


@dataclass
class Table:
    page: int
    box: Edge
    rows: list[list[str]]


def ruled(page: PdfPage) -> list[Table]:
    """Tables drawn with lines: at least two columns and two rows of cells, with words in them."""
    if not 4 <= len(page.edges) <= MOST_EDGES:
        return []
    edges = [_as_edge(edge) for edge in page.edges]
    joined = merge_edges(
        edges, snap_x_tolerance=3, snap_y_tolerance=3, join_x_tolerance=3, join_y_tolerance=3
    )
    cells = intersections_to_cells(edges_to_intersections(joined, x_tolerance=3, y_tolerance=3))
    return [table for group in cells_to_tables(cells) if (table := _filled(page, group))]


def _as_edge(edge: Edge) -> dict[str, object]:
    x0, top, x1, bottom = edge
    upright = bottom - top > x1 - x0
    if upright:
        x0 = x1 = (x0 + x1) / 2
    else:
        top = bottom = (top + bottom) / 2
    return {"x0": x0, "x1": x1, "top": top, "bottom": bottom, "width": x1 - x0, "height": bottom - top,
            "orientation": "v" if upright else "h", "object_type": "line"}  # fmt: skip


def _filled(page: PdfPage, cells: list[Edge]) -> Table | None:
    columns = sorted({round(x0, 1) for x0, _, _, _ in cells})
    tops = sorted({round(top, 1) for _, top, _, _ in cells})
    box = (
        min(c[0] for c in cells),
        min(c[1] for c in cells),
        max(c[2] for c in cells),
        max(c[3] for c in cells),
    )
    if len(columns) < 2 or len(tops) < 2:
        return None
    inside: dict[Edge, list[PdfWord]] = {cell: [] for cell in cells}
    ordered = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    for word in page.words:
        across, down = (word.x0 + word.x1) / 2, word.middle
        if not (box[0] <= across <= box[2] and box[1] <= down <= box[3]):
            continue
        home = next((c for c in ordered if c[0] <= across <= c[2] and c[1] <= down <= c[3]), None)
        if home:
            inside[home].append(word)
    rows = [[""] * len(columns) for _ in tops]
    crowded = 0
    for cell, words in inside.items():
        lines = lines_of(words)
        crowded += len(lines) > 1 and sum(1 for line in lines if len(line.segments) > 1) > 1
        text = " ".join(line.text for line in lines)
        rows[tops.index(round(cell[1], 1))][columns.index(round(cell[0], 1))] = text
    filled = [row for row in rows if any(row)]
    # A frame around text, or a form's empty boxes, is no table.
    several = sum(1 for row in filled if sum(map(bool, row)) > 1)
    # Cells that hold columns of their own: only some of the lines are drawn.
    if (
        len(filled) < 2
        or several < 2
        or several < 0.4 * len(filled)
        or crowded > CROWDED * len(cells)
    ):
        return None
    return Table(page.number, box, filled)


def aligned(number: int, lines: list[PdfLine]) -> Iterator[tuple[int, int, Table]]:
    """(first line, end, table) for runs of lines whose words stand in columns, without ruling."""
    at = 0
    while at < len(lines):
        end = at
        while (
            end < len(lines)
            and len(lines[end].segments) >= 2
            and (end == at or _is_next(lines[end - 1], lines[end]))
        ):
            end += 1
        if end - at >= 3 and (table := _columns(number, lines[at:end])):
            yield at, end, table
        at = max(end, at + 1)


def _is_next(above: PdfLine, below: PdfLine) -> bool:
    return below.top - above.bottom < 2.2 * (below.bottom - below.top)


def _columns(number: int, lines: list[PdfLine]) -> Table | None:
    intervals: list[list[float]] = []
    for x0, x1, _ in sorted(segment for line in lines for segment in line.segments):
        if intervals and x0 <= intervals[-1][1] + 1:
            intervals[-1][1] = max(intervals[-1][1], x1)
        else:
            intervals.append([x0, x1])
    filled = sum(len(line.segments) for line in lines)
    if len(intervals) < 2 or filled < 0.5 * len(intervals) * len(lines):
        return None
    rows = []
    for line in lines:
        row = [""] * len(intervals)
        for x0, x1, text in line.segments:
            column = max(
                range(len(intervals)),
                key=lambda k: min(x1, intervals[k][1]) - max(x0, intervals[k][0]),
            )
            row[column] = f"{row[column]} {text}".strip()
        rows.append(row)
    # Items with a number in front, and justified text, line up too.
    if all(len(row[0]) <= 3 for row in rows) and len(intervals) == 2:
        return None
    box = (intervals[0][0], lines[0].top, intervals[-1][1], lines[-1].bottom)
    return Table(number, box, rows)
