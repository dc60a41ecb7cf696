"""Excel workbooks, read from their XML: what each sheet shows, as tables under its name.

Own code rather than openpyxl (MIT, pure Python): that gives values and leaves how they are shown to
the caller, and does not bound what it unpacks. Formulas give what the program that saved the file
worked out; a program that saves formulas without results gives nothing."""

import re
from collections.abc import Iterator
from itertools import pairwise
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.packages import Guard, Program, broken, opened
from ombud.documents.office.xlsx_formats import general, read_formats, shown
from ombud.types import Block

_EXCEL = Program("Excel", "Excel workbook", ".xlsx")
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_UNNAMED = re.compile(r"(?:sheet|tabelle|blatt|feuil|hoja|foglio|blad|ark|arkusz|planilha|list|munka|シート) ?[0-9]*",
                      re.IGNORECASE)  # fmt: skip
MOST_MERGED = 100_000
"""Cells that are filled because they are merged with another."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Every sheet that is not hidden; raises SourceError beyond `pages` times 500 rows."""
    made: list[Block] = []
    with opened(data, _EXCEL) as package:
        path = package.main("xl/workbook.xml")
        book = package.part(path, local=True)
        if book is None:
            raise broken(_EXCEL)
        relations = package.relations(path)
        paths = {one.kind: one.path for one in relations.values()}
        strings = _strings(package.part(paths.get("sharedStrings", ""), local=True))
        formats = read_formats(package.part(paths.get("styles", ""), local=True))
        properties = book.find("workbookPr")
        from_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        sheets = list(_sheets(book))
        left = pages * ROWS
        for name, relation in sheets:
            found = relations.get(relation)
            if found is None or found.kind != "worksheet":
                continue
            sheet = package.feed(found.path, _Sheet(strings, formats, from_1904, left, pages))
            cells: Cells = sheet.cells if sheet else {}
            left -= len(cells)
            # The name that Excel gives to the only sheet says nothing.
            if cells and (len(sheets) > 1 or not _UNNAMED.fullmatch(name)):
                made.append(Block(kind="heading", text=name, level=2))
            made += blocks(cells)
    return ParsedFile(made)


def _sheets(book: Element) -> Iterator[tuple[str, str]]:
    """(name, relation) of those that are seen."""
    for node in book.iterfind("sheets/sheet"):
        if node.get("state", "visible") == "visible":
            yield node.get("name", ""), node.get("r:id", "")


def _strings(root: Element | None) -> list[str]:
    """Texts that cells refer to by number."""
    return [_text(node) for node in root.iterfind("si")] if root is not None else []


def _text(node: Element) -> str:
    """Plain or of several runs; how to pronounce it, as Japanese cells say, is left out."""
    return "".join(part.text or "" for part in (*node.iterfind("t"), *node.iterfind("r/t")))


class _Sheet(Guard):
    """Takes the cells from the events of a sheet's XML, which is never held as a tree."""

    def __init__(
        self, strings: list[str], formats: list[str], from_1904: bool, most: int, pages: int
    ) -> None:
        super().__init__("Save it again in Excel.")
        self.cells: Cells = {}
        self._strings, self._formats, self._from_1904 = strings, formats, from_1904
        self._most, self._pages = most, pages
        self._merged: list[str] = []
        self._row, self._column, self._kind, self._style = 0, 0, "", 0
        self._words: list[str] = []
        self._listens = self._silent = False
        self._short: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.opens()
        name = self._name(tag)
        if name == "c":
            self._cell(attributes)
        elif name == "row":
            self._row = _whole(attributes.get("r")) or self._row + 1
            self._column = 0
        elif name in {"v", "t"}:
            self._listens = not self._silent
        elif name == "rPh":
            self._silent = True
        elif name == "mergeCell":
            self._merged.append(attributes.get("ref", ""))

    def data(self, words: str) -> None:
        if self._listens:
            self._words.append(words)

    def end(self, tag: str) -> None:
        self.closes()
        name = self._name(tag)
        if name in {"v", "t"}:
            self._listens = False
        elif name == "rPh":
            self._silent = False
        elif name == "c" and (text := self._shown("".join(self._words)).strip()):
            row = self.cells.get(self._row)
            if row is None:
                if len(self.cells) >= self._most:
                    raise too_many_rows(self._pages)
                row = self.cells[self._row] = {}
            row[self._column] = text

    def close(self) -> "_Sheet":
        # Nothing forbids rows out of order.
        if any(after < before for before, after in pairwise(self.cells)):
            self.cells = dict(sorted(self.cells.items()))
        self._spread()
        return self

    def _name(self, tag: str) -> str:
        short = self._short.get(tag)
        if short is None:
            short = self._short[tag] = tag.rpartition("}")[2]
        return short

    def _cell(self, attributes: dict[str, str]) -> None:
        place = _PLACE.fullmatch(attributes.get("r", ""))
        if place:
            self._column, self._row = _column(place[1]), int(place[2])
        else:
            self._column += 1
        self._kind = attributes.get("t", "n")
        self._style = _whole(attributes.get("s"))
        self._words = []

    def _shown(self, value: str) -> str:
        if self._kind == "s":
            position = _whole(value)
            return self._strings[position] if value and position < len(self._strings) else ""
        if self._kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if self._kind != "n" or not value:
            return value.removesuffix("T00:00:00") if self._kind == "d" else value
        try:
            number = float(value)
        except ValueError:
            return value
        code = self._formats[self._style] if self._style < len(self._formats) else "General"
        return general(number) if code == "General" else shown(number, code, self._from_1904)

    def _spread(self) -> None:
        """A merged cell shows its text over all of its rows and columns."""
        last = max((max(row) for row in self.cells.values()), default=0)
        room = MOST_MERGED
        for reference in self._merged:
            corners = [_PLACE.fullmatch(corner) for corner in reference.split(":")]
            if len(corners) != 2 or not corners[0] or not corners[1]:
                continue
            left, top = _column(corners[0][1]), int(corners[0][2])
            right, bottom = min(_column(corners[1][1]), max(last, left)), int(corners[1][2])
            text = self.cells.get(top, {}).get(left, "")
            rows = [row for row in range(top, min(bottom, top + room) + 1) if row in self.cells]
            room -= len(rows) * max(0, right - left + 1)
            if not text or room < 0:
                continue
            for row in rows:
                self.cells[row].update(dict.fromkeys(range(left, right + 1), text))


def _column(letters: str) -> int:
    """ "AB" -> 28."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
