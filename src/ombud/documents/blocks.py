"""What every parser gives back, and the few rules of wording that they share."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple

from ombud.types import Block, Loss

BlockKind = Literal["heading", "text", "list", "table", "code"]


class AttachedFile(NamedTuple):
    """A file inside another, such as the attachment of a message."""

    name: str
    data: bytes


class ParsedFile(NamedTuple):
    """What a parser found in the bytes, before it becomes a `Document`."""

    blocks: list[Block]
    """Their texts may hold the marks of `ombud.documents.runs`."""
    title: str = ""
    """A title that the format itself carries, such as HTML's <title>; used when there is no
    heading."""
    loss: Loss = Loss()
    """What was left out, but for runs that are marked as struck or hidden."""
    attached: tuple[AttachedFile, ...] = ()
    """Files that are documents of their own."""


_LONGEST_PAGE_NUMBER = 4
"""Words beside which the number of a page stands: "Page 1 of 9"."""
_SPACE = re.compile(r"[\s\u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe\uffff]"
)
# Surrogates cannot be written as UTF-8; broken PDF fonts produce them.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"},
)


def visible(text: str) -> str:
    """NFC without control, zero-width and direction characters, ligatures spelt out; line breaks
    are kept."""
    shown = _INVISIBLE.sub("", text)
    if shown.isascii():
        return shown
    plain = _SURROGATE.sub("\ufffd", shown).translate(_LIGATURES)
    return unicodedata.normalize("NFC", plain)


def tidy(text: str) -> str:
    """One line: `visible`, with every run of white space as one space."""
    return _SPACE.sub(" ", visible(text)).strip()


def paragraph(text: str) -> Block:
    return Block(kind="text", text=text)


def heading(text: str, level: int) -> Block:
    """level: 1 is the outermost."""
    return Block(kind="heading", text=text, level=level)


def list_of(items: Sequence[str]) -> list[Block]:
    """One block of the items, which carry their marks; none without them."""
    return [Block(kind="list", text="\n".join(items))] if items else []


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its header. Empty rows and columns are left out; "" when
    nothing is left."""
    table = _padded(_cleaned(rows))
    if not table:
        return ""
    columns = _filled_columns(table)
    header, *body = [_table_line(row, columns) for row in table]
    rule = "|" + " --- |" * len(columns)
    return "\n".join([header, rule, *body])


def table_blocks(rows: Sequence[Sequence[str]]) -> Iterator[Block]:
    """One table; the cells as paragraphs where there is one column only, which is a box around
    text."""
    columns = max(map(len, rows), default=0)
    if columns < 2:
        for cell in chain.from_iterable(rows):
            if cell:
                yield paragraph(cell)
        return
    text = pipe_table(rows)
    if text:
        yield Block(kind="table", text=text)


@dataclass
class Edges:
    """Headers and footers of a file."""

    texts: dict[str, None] = field(default_factory=dict)
    """Their content, each once."""
    repeated: int = 0
    """How many hold no more than the number of the page."""

    def add(self, text: str, *, counts_pages: bool) -> None:
        """Take in a line. counts_pages: the number of the page is part of it."""
        if counts_pages and len(text.split()) <= _LONGEST_PAGE_NUMBER:
            self.repeated += 1
        elif text:
            self.texts[text] = None

    def blocks(self) -> list[Block]:
        return [paragraph(text) for text in self.texts]


def _cleaned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows with something in them, each cell on one line."""
    cleaned = []
    for row in rows:
        cells = [tidy(cell).replace("|", "\\|") for cell in row]
        if any(cells):
            cleaned.append(_spanning_once(cells))
    return cleaned


def _spanning_once(row: list[str]) -> list[str]:
    """A cell that spans the whole row is said once."""
    is_one_cell = len(row) > 2 and len(set(row)) == 1
    if not is_one_cell:
        return row
    return [row[0]] + [""] * (len(row) - 1)


def _padded(rows: list[list[str]]) -> list[list[str]]:
    """The rows, all as long as the longest."""
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def _filled_columns(table: list[list[str]]) -> list[int]:
    """Numbers of the columns that hold something."""
    filled = []
    for number, cells in enumerate(zip(*table, strict=True)):
        if any(cells):
            filled.append(number)
    return filled


def _table_line(row: list[str], columns: list[int]) -> str:
    cells = [row[column] for column in columns]
    return "| " + " | ".join(cells) + " |"
