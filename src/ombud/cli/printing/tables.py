"""Tables as people read them at a terminal: aligned columns."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align columns under their heads, the first `left` to the left, the others to the right."""
    widths = list(map(len, head))
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    lines: list[str] = []
    for row in (head, *rows):
        cells: list[str] = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cells.append(cell.ljust(width) if column < left else cell.rjust(width))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
