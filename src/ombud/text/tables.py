"""Markdown tables read row by row: "30 days" alone says little."""

import re
from collections.abc import Sequence
from itertools import pairwise, zip_longest

_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
_CELLS = re.compile(r"(?<!\\)\|")


def read_rows(text: str) -> str:
    """Markdown tables as a line a row, `column: cell; column: cell`; other lines stay."""
    names: list[str] = []
    read: list[str] = []
    for line, following in pairwise([*text.split("\n"), ""]):
        if not line.lstrip().startswith("|"):
            names = []
            read.append(line)
        elif _RULE.match(line):
            continue
        elif _RULE.match(following):
            names = _cells(line)
        else:
            read.append(_named_cells(names, _cells(line)))
    return "\n".join(read)


def _named_cells(names: Sequence[str], cells: Sequence[str]) -> str:
    named: list[str] = []
    columns = names[: len(cells)]
    for name, cell in zip_longest(columns, cells, fillvalue=""):
        if not cell:
            continue
        if name:
            cell = f"{name}: {cell}"
        named.append(cell)
    return "; ".join(named)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line.strip().strip("|"))]
