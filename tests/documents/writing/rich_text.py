"""Rich Text, word by word as its specification has it."""

from .elements import (
    FORM,
    Cell,
    Edges,
    Elements,
    Hidden,
    ImpossibleFault,
    Paragraph,
    Picture,
    Piece,
    Table,
)

LOOKS = {
    "": "{{{}}}",
    "raised": r"{{\super {}}}",
    "struck": r"{{\strike {}}}",
    "hidden": r"{{\v {}}}",
    "inserted": r"{{\revised {}}}",
    "deleted": r"{{\deleted {}}}",
    "link": rf'{{{{\field{{{{\*\fldinst HYPERLINK "{FORM}"}}}}{{{{\fldrslt {{}}}}}}}}}}',
    "note": r"{{\super\chftn}}{{\footnote\pard{{\super\chftn}} {}}}",
    "comment": r"{{\*\atnid A}}{{\*\annotation\pard {}}}",
}
WIDTH = 3000
"""Of a column, in twentieths of a point."""


def rich_text(elements: Elements) -> bytes:
    body = "\n".join(map(_element, elements))
    return (r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}" f"\n{body}\n}}").encode("ascii")


def _element(element: object) -> str:
    match element:
        case Paragraph():
            return rf"\pard {_words(element.pieces)}\par"
        case Table():
            return _table(element)
        case Picture():
            name = rf"{{\sp{{\sn wzDescription}}{{\sv {element.description}}}}}"
            return rf"\pard{{\pict{{\*\picprop{name}}}\pngblip 89504e47}}\par"
        case Edges():
            number = r"{\field{\*\fldinst PAGE}{\fldrslt 1}}"
            return rf"{{\header\pard {element.header}\par}}{{\footer\pard Page {number}\par}}"
        case Hidden():
            return rf"\pard{{\v {element.words}\par}}"
        case _:
            raise ImpossibleFault


def _words(pieces: tuple[Piece, ...]) -> str:
    made = ""
    for words, look in pieces:
        if look not in LOOKS:
            raise ImpossibleFault
        made += LOOKS[look].format(words)
    return made


def _table(table: Table) -> str:
    if table.hidden_column >= 0 or table.broken_before:
        raise ImpossibleFault
    lines = [rf"\pard {table.caption}\par"] if table.caption else []
    for number, cells in enumerate(table.grid()):
        edges = inner = ""
        look = r"\v" if number == table.hidden_row else r"\v0"
        for column, cell in enumerate(cells):
            is_first = cell is not None and cell.rows > 1
            above = "" if cell else r"\clvmrg"
            edges += (r"\clvmgf" if is_first else above) + rf"\cellx{WIDTH * (column + 1)}"
            inner += rf"\pard\intbl{look} {_cell(cell)}\cell"
        lines.append(rf"\trowd{edges}{inner}\row")
    return "\n".join(lines) + r"\pard\v0"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if not cell.inner:
        return _words(cell.pieces)
    inner = ""
    for words in cell.inner:
        for word in words:
            inner += rf"\pard\intbl\itap2 {word}\nestcell"
        inner += r"{\*\nesttableprops\trowd\cellx1000\cellx2000\nestrow}{\nonesttables\par}"
    return rf"{_words(cell.pieces)}\par{inner}\pard\intbl "
