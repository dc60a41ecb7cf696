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
    first = False  # a head may go on in the row below it
    for line in f"{chunk.header}\n{chunk.text}".split("\n"):
        row = line.strip()
        if not row.startswith("|"):
            head, before = [], []
        elif _RULE.match(row):
            head, first = (before if _is_head(before) else []), True
        elif head:
            cells = _cells(row)
            if (
                first
                and not cells[0]
                and len(cells) == len(head)
                and not any(map(str.isdigit, "".join(cells)))
            ):
                head = [f"{name} {more}".strip() for name, more in zip(head, cells, strict=True)]
                continue
            first = False
            yield from _of_row(head, cells)
        else:
            before = _cells(row)


def _of_row(head: list[str], cells: list[str]) -> Iterator[StatedTriplet]:
    if len(cells) != len(head) or _BARE.match(cells[0]) or len(cells[0]) > LONGEST or cells == head:
        return
    for name, cell in zip(head[1:], cells[1:], strict=True):
        if cell.casefold() not in _NOTHING and len(cell) <= LONGEST:
            yield StatedTriplet(cells[0], name, cell)


def _is_head(cells: list[str]) -> bool:
    names = cells[1:]
    return (
        2 <= len(cells) <= COLUMNS
        and all(not _BARE.match(name) and len(name) <= 60 for name in names)
        and len(set(names)) == len(names)
        and not _NUMBERING.match(cells[0])
        and not any(map(_DAY.search, names))
    )


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [" ".join(cell.replace("\\|", "|").split()) for cell in re.split(r"(?<!\\)\|", inner)]
