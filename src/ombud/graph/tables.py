"""Rows of Markdown tables as triplets: what the row is of, the head of the column, the cell."""

import re
from collections.abc import Iterator

from ombud.graph.phrases import StatedTriplet
from ombud.types import Chunk

COLUMNS = 8
LONGEST = 160
"""Characters of a cell."""
_RULE = re.compile(r"\|?(?:\s*:?-{3,}:?\s*\|)+\s*:?-*:?\s*\|?\s*\Z")
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "tbd", "tbc"})
_BARE = re.compile(r"(?:[\W\d_]*|(?:EUR|USD|GBP|CHF)[\W\d_]*|[\W\d_]*(?:EUR|USD|GBP|CHF))\Z")
"""Cells without a word."""
_DAY = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.? \d{1,2}\Z", re.IGNORECASE
)
"""A cell that is no name of a column: the table has no head."""
_NUMBERING = re.compile(r"(?:#|no\.?|nr\.?|number|version|date)\Z", re.IGNORECASE)
"""First columns that only count the rows."""


def table_rows(chunk: Chunk) -> Iterator[StatedTriplet]:
    """Cells of tables whose head has a name for every column but the first; others are not
    understood, so left out."""
    head: list[str] = []
    before: list[str] = []
    is_first = False
    for line in f"{chunk.header}\n{chunk.text}".split("\n"):
        row = line.strip()
        if not row.startswith("|"):
            head = before = []
            continue
        if _RULE.match(row):
            head = before if _is_head(before) else []
            is_first = True
            continue
        cells = _cells(row)
        if not head:
            before = cells
        elif is_first and _continues_head(cells, head):
            head = _joined(head, cells)
        else:
            is_first = False
            yield from _of_row(head, cells)


def _joined(head: list[str], cells: list[str]) -> list[str]:
    """The head with what the row below it adds."""
    names: list[str] = []
    for name, more in zip(head, cells, strict=True):
        names.append(f"{name} {more}".strip())
    return names


def _continues_head(cells: list[str], head: list[str]) -> bool:
    """A head may go on in the row below it, which then has no name and no figure."""
    if cells[0] or len(cells) != len(head):
        return False
    return not any(map(str.isdigit, "".join(cells)))


def _of_row(head: list[str], cells: list[str]) -> Iterator[StatedTriplet]:
    if len(cells) != len(head) or cells == head:
        return
    subject = cells[0]
    if _BARE.match(subject) or len(subject) > LONGEST:
        return
    for name, cell in zip(head[1:], cells[1:], strict=True):
        if cell.casefold() not in _NOTHING and len(cell) <= LONGEST:
            yield StatedTriplet(subject, name, cell)


def _is_head(cells: list[str]) -> bool:
    if not 2 <= len(cells) <= COLUMNS or _NUMBERING.match(cells[0]):
        return False
    names = cells[1:]
    if len(set(names)) < len(names):
        return False
    return all(map(_is_column_name, names))


def _is_column_name(cell: str) -> bool:
    return len(cell) <= 60 and not _BARE.match(cell) and not _DAY.search(cell)


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    cells: list[str] = []
    for cell in re.split(r"(?<!\\)\|", inner):
        plain = cell.replace("\\|", "|")
        cells.append(" ".join(plain.split()))
    return cells
