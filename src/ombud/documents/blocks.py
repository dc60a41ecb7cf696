"""The result of parsers, and the rules for text that they share."""

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
    """The content of a file, before it becomes a `Document`."""

    blocks: list[Block]
    """Blocks whose texts may contain the marks of `ombud.documents.runs`."""
    title: str = ""
    """Title in the file's metadata, such as HTML's <title>; used without a heading."""
    loss: Loss = Loss()
    """What was left out, except runs marked as struck or hidden."""
    attached: tuple[AttachedFile, ...] = ()
    """Files that are documents of their own."""


_LONGEST_PAGE_NUMBER = 4
"""Words of a line that is only a page number: "Page 1 of 9"."""
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe\uffff]"
)
# Surrogates cannot be written as UTF-8; broken PDF fonts produce them.
_REWRITTEN = re.compile(r"[\ud800-\udfff\ufb00-\ufb06]")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


def visible(text: str) -> str:
    """Normalise to NFC, without control, zero-width and direction characters and with ligatures
    spelt out; line breaks stay."""
    printed = _INVISIBLE.sub("", text)
    if printed.isascii():
        return printed
    plain = _REWRITTEN.sub(lambda match: _LIGATURES.get(match[0], "\ufffd"), printed)
    return unicodedata.normalize("NFC", plain)


def tidy(text: str) -> str:
    """Join a text into one line: `visible`, with every run of white space as one space."""
    line = text.replace("\n", " ")
    # Most lines contain nothing that `visible` changes.
    if not (line.isascii() and line.isprintable()):
        line = visible(line)
    return " ".join(line.split())


def paragraph(text: str) -> Block:
    return Block(kind="text", text=text)


def heading(text: str, level: int) -> Block:
    """Make a heading. level: 1 is the outermost."""
    return Block(kind="heading", text=text, level=level)


def list_of(items: Sequence[str]) -> list[Block]:
    """Make one list block of items with their bullets or numbers; none without items."""
    return [Block(kind="list", text="\n".join(items))] if items else []


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table with the first row as header, without empty rows and columns; "" for
    an empty table."""
    table = padded(clean_rows(rows))
    if not table:
        return ""
    columns = filled_columns(table)
    lines = []
    for row in table:
        cells = [row[column] for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|" + " --- |" * len(columns))
    return "\n".join(lines)


def table_blocks(rows: Sequence[Sequence[str]]) -> Iterator[Block]:
    """Make a table block; a single column is a box around text, whose cells become paragraphs."""
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
    """Distinct texts."""
    repeated: int = 0
    """Number of those that are only a page number."""

    def add(self, text: str, *, counts_pages: bool) -> None:
        """Add a line. counts_pages: it contains the page number."""
        if counts_pages and len(text.split()) <= _LONGEST_PAGE_NUMBER:
            self.repeated += 1
        elif text:
            self.texts[text] = None

    def blocks(self) -> list[Block]:
        return [paragraph(text) for text in self.texts]


def clean_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Drop empty rows, and put each cell on one line."""
    cleaned = []
    for row in rows:
        cells = [tidy(cell).replace("|", "\\|") for cell in row]
        if any(cells):
            is_one_cell = len(cells) > 2 and len(set(cells)) == 1
            # A cell that spans the whole row is written once.
            cleaned.append([cells[0]] + [""] * (len(cells) - 1) if is_one_cell else cells)
    return cleaned


def padded(rows: list[list[str]]) -> list[list[str]]:
    """Extend all rows to the longest."""
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def filled_columns(table: list[list[str]]) -> list[int]:
    """List the columns that are not empty."""
    filled = []
    for number, cells in enumerate(zip(*table, strict=True)):
        if any(cells):
            filled.append(number)
    return filled
