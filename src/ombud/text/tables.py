"""Markdown tables read row by row: "30 days" alone says little."""

import re
from collections.abc import Sequence
from itertools import pairwise

_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
_CELLS = re.compile(r"(?<!\\)\|")


def read_rows(text: str) -> str:
    """Markdown tables as a line a row, `column: cell; column: cell`; other lines stay."""
    lines, names, out = text.split("\n"), list[str](), list[str]()
    for line, following in pairwise([*lines, ""]):
        if not line.lstrip().startswith("|"):
            names = []
            out.append(line)
        elif _RULE.match(following) and not _RULE.match(line):
            names = _row(line)
        elif not _RULE.match(line):
            cells = _row(line)
            named = zip(_fitted(names, cells), cells, strict=True)
            out.append(
                "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
            )
    return "\n".join(out)


def _row(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line.strip().strip("|"))]


def _fitted(names: Sequence[str], cells: Sequence[str]) -> list[str]:
    return [*names, *[""] * len(cells)][: len(cells)]
