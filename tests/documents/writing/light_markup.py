"""Text with marks that are typed: reStructuredText, AsciiDoc, MDX and text without any."""

from collections.abc import Sequence
from html import escape

from .elements import (
    FORM,
    Element,
    Elements,
    Folded,
    Hidden,
    ImpossibleFault,
    Paragraph,
    Picture,
    Piece,
    Table,
)
from .markup import Markdown, letters

ROLES = {"raised": "sup", "struck": "strike", "deleted": "del", "inserted": "ins"}
ASCII_MARKS = {
    "": "{}",
    "raised": "^{}^",
    "struck": "[.line-through]#{}#",
    "deleted": "[.line-through]#{}#",
    "inserted": "[.underline]#{}#",
    "note": "footnote:[{}]",
    "link": f"{FORM}[{{}}]",
    "comment": "\n// {}\n",
}


def restructured(elements: Elements) -> bytes:
    roles = "".join(f".. role:: {name}\n" for name in ROLES.values() if name != "sup")
    return f"Rules\n=====\n\n{roles}\n{_Restructured().body(elements)}\n".encode()


class _Restructured:
    def body(self, elements: Elements) -> str:
        self.notes: list[str] = []
        made = [self.element(element) for element in elements]
        return "\n\n".join([*made, *(f".. [#] {words}" for words in self.notes)])

    def element(self, element: Element) -> str:
        match element:
            case Paragraph():
                return self.words(element.pieces)
            case Table():
                return self.table(element)
            case Picture():
                return f".. image:: map.png\n   :alt: {element.description}"
            case Folded():
                return f".. dropdown:: {element.title}\n\n   {element.words}"
            case _:
                raise ImpossibleFault

    def words(self, pieces: tuple[Piece, ...]) -> str:
        return "".join(map(self.piece, pieces))

    def piece(self, piece: Piece) -> str:
        words, look = piece
        if look == "note":
            self.notes.append(words)
            return "\\ [#]_\\ "
        if look == "comment":
            return f"\n\n.. {words}\n\n"
        if look == "link":
            return f"\\ `{words} <{FORM}>`__\\ "
        if look and look not in ROLES:
            raise ImpossibleFault
        return f"\\ :{ROLES[look]}:`{words}`\\ " if look else words

    def table(self, table: Table) -> str:
        if table.hidden_row >= 0 or table.hidden_column >= 0 or table.broken_before:
            raise ImpossibleFault
        rows = [
            [None if cell is None else self.words(cell.pieces).split("\n") for cell in row]
            for row in table.grid()
        ]
        for lines, cells in zip(rows, table.grid(), strict=True):
            for inside, cell in zip(lines, cells, strict=True):
                if inside is not None and cell is not None and cell.inner:
                    inner: list[list[list[str] | None]] = [
                        [[words] for words in row] for row in cell.inner
                    ]
                    inside += ["", *_grid(inner, "-")]
        made = _grid(rows, "=")
        if table.caption:
            return "\n".join([f".. table:: {table.caption}", "", *(f"   {line}" for line in made)])
        return "\n".join(made)


def _grid(rows: Sequence[Sequence[list[str] | None]], below_first: str) -> list[str]:
    """A table drawn with lines; None stands for a cell that one above it reaches over."""
    columns = list(zip(*rows, strict=True))
    widths = [max(len(line) for cell in column for line in cell or [""]) for column in columns]
    drawn = [_line(rows[0], widths, "-")]
    for number, row in enumerate(rows):
        for place in range(max(len(cell or [""]) for cell in row)):
            parts = [(cell or [])[place : place + 1] or [""] for cell in row]
            cells = [f" {part[0].ljust(width)} " for part, width in zip(parts, widths, strict=True)]
            drawn.append(f"|{'|'.join(cells)}|")
        following = rows[number + 1] if number + 1 < len(rows) else [[""] for _ in row]
        drawn.append(_line(following, widths, "-" if number else below_first))
    return drawn


def _line(below: Sequence[list[str] | None], widths: Sequence[int], stroke: str) -> str:
    """The line above these cells, open where one reaches down."""
    parts = [
        (" " if cell is None else stroke) * (width + 2)
        for cell, width in zip(below, widths, strict=True)
    ]
    edge = "|" if below[0] is None else "+"
    return f"{edge}{'+'.join(parts)}+"


def ascii_doc(elements: Elements) -> bytes:
    return ("= Rules\n\n" + "\n\n".join(map(_ascii_element, elements)) + "\n").encode()


def _ascii_element(element: Element) -> str:
    match element:
        case Paragraph():
            return _ascii_words(element.pieces)
        case Table():
            return _ascii_table(element)
        case Picture():
            return f"image::map.png[{element.description}]"
        case Hidden():
            return f"ifdef::internal[]\n{element.words}\nendif::[]"
        case Folded():
            return f".{element.title}\n[%collapsible]\n====\n{element.words}\n===="
        case _:
            raise ImpossibleFault


def _ascii_words(pieces: tuple[Piece, ...]) -> str:
    if any(piece.look not in ASCII_MARKS for piece in pieces):
        raise ImpossibleFault
    return "".join(ASCII_MARKS[piece.look].format(piece.words) for piece in pieces)


def _ascii_table(table: Table) -> str:
    if table.hidden_row >= 0 or table.hidden_column >= 0 or table.broken_before:
        raise ImpossibleFault
    lines = [f".{table.caption}"] if table.caption else []
    lines += ['[%header,cols="' + ",".join(["1"] * table.width) + '"]', "|==="]
    for row in table.rows:
        for cell in row:
            reach = f".{cell.rows}+" if cell.rows > 1 else ""
            kind = "a" if cell.inner else ""
            lines.append(f"{reach}{kind}|{_ascii_words(cell.pieces)}")
            if cell.inner:
                inner = ["!" + " !".join(words) for words in cell.inner]
                lines += ["", "!===", *inner, "!==="]
        lines.append("")
    return "\n".join([*lines, "|==="])


class _Mdx(Markdown):
    """Looks in JavaScript, as React has them."""

    def element(self, element: Element) -> str:
        if isinstance(element, Hidden):
            return f"<div style={{{{display: 'none'}}}}>\n\n{element.words}\n\n</div>\n"
        return super().element(element)

    def piece(self, piece: Piece) -> str:
        if piece.look == "comment":
            return f"{{/* {piece.words} */}}"
        if piece.look == "hidden":
            return f"<span style={{{{display: 'none'}}}}>{escape(piece.words)}</span>"
        return super().piece(piece)


def mdx(elements: Elements) -> bytes:
    module = "import Notice from './notice'\n\nexport const changed = 2026"
    return f"{module}\n\n# Rules\n\n{_Mdx().body(elements)}\n".encode()


def plain_text(elements: Elements) -> bytes:
    paragraphs: list[str] = []
    for element in elements:
        if not isinstance(element, Paragraph):
            raise ImpossibleFault
        paragraphs.append(letters(element.pieces))
    return "\n\n".join(paragraphs).encode()
