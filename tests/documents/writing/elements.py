"""What a small document is made of, whatever format it is then written in."""

from collections.abc import Sequence
from typing import NamedTuple

FORM = "https://hr.example/form"
"""Where every link leads."""


class Piece(NamedTuple):
    """Words that look alike."""

    words: str
    look: str = ""
    """raised, struck, hidden, white, covered, link, inserted or deleted; "comment": a remark on the
    words before; "note": the text of a note that is referred to here."""


class Paragraph(NamedTuple):
    pieces: tuple[Piece, ...]
    starts_note: bool = False
    """Whether it is a note below the text, in small print."""


class Cell(NamedTuple):
    pieces: tuple[Piece, ...]
    rows: int = 1
    """How many rows it reaches over."""
    inner: tuple[tuple[str, ...], ...] = ()
    """A table inside the cell, below its words."""

    @property
    def words(self) -> str:
        return "".join(piece.words for piece in self.pieces)


class Table(NamedTuple):
    rows: tuple[tuple[Cell, ...], ...]
    """The first of them is the header. A row below a cell that reaches over it is that much
    shorter."""
    hidden_row: int = -1
    hidden_column: int = -1
    caption: str = ""
    broken_before: int = 0
    """The row before which a page ends; the table is continued on the next."""

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def grid(self) -> list[list[Cell | None]]:
        """The rows in full, None below a cell that reaches over several rows."""
        grid: list[list[Cell | None]] = []
        reached = [0] * self.width
        for row in self.rows:
            waiting = iter(row)
            full: list[Cell | None] = []
            for column in range(self.width):
                cell = None if reached[column] else next(waiting)
                reached[column] = cell.rows - 1 if cell else reached[column] - 1
                full.append(cell)
            grid.append(full)
        return grid


class Picture(NamedTuple):
    description: str


class Edges(NamedTuple):
    """What stands at the top of each page, above its number at the bottom."""

    header: str


class Hidden(NamedTuple):
    """A part that is not shown: a section, slide or sheet, as the format has it."""

    words: str


class Folded(NamedTuple):
    """A part that a reader opens by a click on its title."""

    title: str
    words: str


Element = Paragraph | Table | Picture | Edges | Hidden | Folded
Elements = Sequence[Element]


def pieces(*given: str | tuple[str, str]) -> tuple[Piece, ...]:
    """Words, or (words, look)."""
    return tuple(Piece(one) if isinstance(one, str) else Piece(*one) for one in given)


def paragraph(*given: str | tuple[str, str]) -> Paragraph:
    return Paragraph(pieces(*given))


def note(mark: str, words: str) -> Paragraph:
    """A line below the text that begins with a raised mark."""
    return Paragraph(pieces((mark, "raised"), f" {words}"), starts_note=True)


def row(*cells: str | Cell) -> tuple[Cell, ...]:
    return tuple(cell if isinstance(cell, Cell) else Cell(pieces(cell)) for cell in cells)


class ImpossibleFault(Exception):
    """The format cannot hold it; the table of the test says so, too."""
