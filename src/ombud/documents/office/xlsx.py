"""Parse Excel spreadsheets (xlsx) from their XML: the visible cells of each sheet, as tables under
its name.

Own code rather than openpyxl, which takes twice the time, leaves the display of values to the
caller, and does not limit what it unpacks (`docs/results/parts.md`). A formula yields the stored
value, or itself without one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.blocks import Edges, ParsedFile, heading, paragraph, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows, without_hidden
from ombud.documents.office.packages import Guard, Package, Program, Relation, broken, opened
from ombud.documents.office.pptx_graphics import picture, shapes, words
from ombud.documents.office.xlsx_codes import SHOWS_NOTHING
from ombud.documents.office.xlsx_formats import (
    format_number,
    general,
    is_struck,
    read_formats,
    read_struck,
)
from ombud.documents.runs import field_link, link, run, strike, unmarked
from ombud.types import Block, Loss

_EXCEL = Program("Excel", "Excel workbook", ".xlsx")
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_UNNAMED = re.compile(
    r"(?:sheet|tabelle|blatt|feuil|hoja|foglio|blad|ark|arkusz|planilha|list|munka|シート) ?[0-9]*",
    re.IGNORECASE,
)
_PRINTED = frozenset(
    f"{pages}{edge}" for pages in ("odd", "even", "first") for edge in ("Header", "Footer")
)
_FIELD = re.compile(r'&(?:"[^"]*"|K[\da-fA-F]{6}|K\d\d[+-]\d{3}|\d+|.)')
"""A font, colour or size, or a field that is filled in on printing, such as the page number."""
MAX_COLUMNS = 16_384
MAX_MERGED = 100_000
"""Cells that are filled because they are merged with another."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse every visible sheet; raises SourceError beyond `pages` times 500 rows."""
    parsed: list[Block] = []
    with opened(data, _EXCEL) as package:
        path = package.main("xl/workbook.xml")
        book = package.part(path, local=True)
        if book is None:
            raise broken(_EXCEL)
        relations = package.relations(path)
        values = read_values(package, book, relations)
        sheets = list(visible_sheets(book))
        loss = Loss(hidden=len(book.findall("sheets/sheet")) - len(sheets))
        edges = Edges()
        rows_left = pages * ROWS
        for name, relation_name in sheets:
            relation = relations.get(relation_name)
            if relation is None or relation.kind != "worksheet":
                continue
            links = package.links(relation.path)
            sheet = _Sheet(values, links, edges, rows_left, pages)
            package.feed(relation.path, sheet)
            loss += Loss(hidden=sheet.hidden)
            rows_left -= len(sheet.cells)
            drawn, lost = read_drawings(package, relation.path)
            loss += lost
            # Excel's default name of the only sheet means nothing.
            has_name = len(sheets) > 1 or not _UNNAMED.fullmatch(name)
            if (sheet.cells or drawn) and has_name:
                parsed.append(heading(name, 2))
            parsed += [*blocks(sheet.cells), *drawn]
    return ParsedFile(parsed + edges.blocks(), loss=loss + Loss(repeated=edges.repeated))


def read_drawings(package: Package, sheet: str) -> tuple[list[Block], Loss]:
    """Read the text boxes and descriptions of pictures on a sheet."""
    drawn: list[Block] = []
    loss = Loss()
    for relation in package.relations(sheet).values():
        root = package.part(relation.path, local=True) if relation.kind == "drawing" else None
        for shape in shapes(root):
            described = list(picture(shape))
            drawn += described
            is_picture = shape.tag == "pic" and not described
            loss += Loss(hidden=shape.tag == "hidden", pictures=is_picture)
            drawn += [
                paragraph(text)
                for node in shape.iterfind("txBody/p")
                if (text := tidy(words(node)))
            ]
    return drawn, loss


@dataclass(frozen=True)
class _Values:
    """The texts and styles of a workbook, by which the values of cells are displayed."""

    strings: list[str]
    """Texts that cells refer to by number."""
    formats: list[str]
    """Number format of each cell style."""
    struck: list[bool]
    """True for each cell style that is struck out."""
    from_1904: bool
    """True if days are counted from 1904."""

    def is_struck(self, style: int) -> bool:
        return style < len(self.struck) and self.struck[style]

    def display(self, value: str, kind: str, style: int) -> str:
        """Format the value of a cell. kind: its type, such as "s" for a text by number."""
        code = self.formats[style] if style < len(self.formats) else "General"
        if code == SHOWS_NOTHING:
            return run(value, hidden=True)
        if kind == "s":
            position = whole_or_zero(value)
            return self.strings[position] if value and position < len(self.strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind == "d":
            return value.removesuffix("T00:00:00")
        if kind != "n" or not value:
            return value
        return self._number(value, code)

    def _number(self, value: str, code: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if code == "General":
            return general(number)
        return format_number(number, code, self.from_1904)


def read_values(package: Package, book: Element, relations: dict[str, Relation]) -> _Values:
    paths = {relation.kind: relation.path for relation in relations.values()}
    strings = package.part(paths.get("sharedStrings", ""), local=True)
    styles = package.part(paths.get("styles", ""), local=True)
    properties = book.find("workbookPr")
    return _Values(
        strings=list(map(read_text, strings.iterfind("si"))) if strings is not None else [],
        formats=read_formats(styles),
        struck=read_struck(styles),
        from_1904=properties is not None and properties.get("date1904") in {"1", "true"},
    )


def visible_sheets(book: Element) -> Iterator[tuple[str, str]]:
    """Yield name and relation of each visible sheet."""
    for node in book.iterfind("sheets/sheet"):
        if node.get("state", "visible") == "visible":
            yield node.get("name", ""), node.get("r:id", "")


def read_text(node: Element) -> str:
    """Read a text, plain or in runs, without the pronunciation of Japanese cells."""
    parts = [unmarked(part.text or "") for part in node.iterfind("t")]
    for piece in node.iterfind("r"):
        look = piece.find("rPr")
        raised = look.find("vertAlign") if look is not None else None
        parts.append(
            run(
                piece.findtext("t") or "",
                struck=look is not None and is_struck(look),
                superscript=raised is not None and raised.get("val") == "superscript",
            )
        )
    return "".join(parts)


class _Sheet(Guard):
    """Reads cells from the events of a sheet's XML, without building a tree."""

    def __init__(
        self, values: _Values, links: dict[str, str], edges: Edges, most: int, pages: int
    ) -> None:
        """most: rows left of those that `pages` allow."""
        super().__init__("Save it again in Excel.")
        self.cells: Cells = {}
        self.hidden = 0
        """Number of filled hidden rows and columns."""
        self._links = links
        self._edges = edges
        self._hidden_columns: set[int] = set()
        self._hidden_rows: set[int] = set()
        self._linked: list[tuple[str, str]] = []
        """Place and relation of links."""
        self._formula: list[str] = []
        self._run: list[str] = []
        self._printed: list[str] = []
        self._into: list[str] | None = None
        """Destination of the text that is being read."""
        self._is_run_struck = self._is_run_raised = False
        self._values = values
        self._most = most
        self._pages = pages
        self._merged: list[str] = []
        self._row = 0
        self._column = 0
        self._kind = ""
        self._style = 0
        self._words: list[str] = []
        self._is_pronunciation = False
        self._local_names: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.opens()
        name = self._name(tag)
        if name == "c":
            self._cell(attributes)
        elif name == "row":
            self._row = whole_or_zero(attributes.get("r")) or self._row + 1
            self._column = 0
            if is_unseen(attributes, "ht"):
                self._hidden_rows.add(self._row)
        elif name in {"v", "t"}:
            self._into = None if self._is_pronunciation else self._run
        elif name == "rPh":
            self._is_pronunciation = True
        elif name == "f":
            self._into = self._formula
        elif name in {"r", "strike", "vertAlign"}:
            self._look(name, attributes.get("val", ""))
        else:
            self._note(name, attributes)

    def _look(self, name: str, value: str) -> None:
        """Process the look of a run in a cell."""
        if name == "r":
            self._is_run_struck = self._is_run_raised = False
        elif name == "strike":
            self._is_run_struck = value not in {"0", "false"}
        else:
            self._is_run_raised = value == "superscript"

    def _note(self, name: str, attributes: dict[str, str]) -> None:
        """Process an element outside the cells."""
        if name == "mergeCell":
            self._merged.append(attributes.get("ref", ""))
        elif name == "hyperlink":
            relation = next((attributes[key] for key in attributes if key.endswith("}id")), "")
            self._linked.append((attributes.get("ref", ""), relation))
        elif name == "col" and is_unseen(attributes, "width"):
            first, last = whole_or_zero(attributes.get("min")), whole_or_zero(attributes.get("max"))
            self._hidden_columns.update(range(first, min(last, MAX_COLUMNS) + 1))
        elif name in _PRINTED:
            self._into = self._printed

    def data(self, words: str) -> None:
        if self._into is not None:
            self._into.append(words)

    def end(self, tag: str) -> None:
        self.closes()
        self._into = None
        name = self._name(tag)
        if name in {"v", "t"}:
            self._end_run()
        elif name in _PRINTED:
            self._end_edges()
        elif name == "rPh":
            self._is_pronunciation = False
        elif name == "c":
            self._end_cell()

    def close(self) -> "_Sheet":
        # Nothing forbids rows out of order.
        if any(after < before for before, after in pairwise(self.cells)):
            self.cells = dict(sorted(self.cells.items()))
        self._fill_merged()
        self._add_links()
        self.cells, self.hidden = without_hidden(
            self.cells, self._hidden_rows, self._hidden_columns
        )
        return self

    def _add_links(self) -> None:
        for place, relation in self._linked[:MAX_MERGED]:
            corner = _PLACE.fullmatch(place.partition(":")[0])
            row = self.cells.get(int(corner[2]), {}) if corner else {}
            column = column_number(corner[1]) if corner else 0
            if column in row:
                row[column] = link(row[column], self._links.get(relation, ""))

    def _name(self, tag: str) -> str:
        local = self._local_names.get(tag)
        if local is None:
            local = self._local_names[tag] = tag.rpartition("}")[2]
        return local

    def _cell(self, attributes: dict[str, str]) -> None:
        place = _PLACE.fullmatch(attributes.get("r", ""))
        if place:
            self._column = column_number(place[1])
            self._row = int(place[2])
        else:
            self._column += 1
        self._kind = attributes.get("t", "n")
        self._style = whole_or_zero(attributes.get("s"))
        self._words = []
        self._formula = []

    def _end_edges(self) -> None:
        """Add the left, middle and right parts of a header or footer."""
        for part in re.split("&[LCR]", "".join(self._printed)):
            has_number = "&P" in part or "&N" in part
            self._edges.add(tidy(unmarked(_FIELD.sub("", part))), counts_pages=has_number)
        self._printed.clear()

    def _end_run(self) -> None:
        words = "".join(self._run)
        self._run = []
        self._words.append(run(words, struck=self._is_run_struck, superscript=self._is_run_raised))
        self._is_run_struck = self._is_run_raised = False

    def _end_cell(self) -> None:
        value = "".join(self._words)
        text = self._values.display(value, self._kind, self._style).strip()
        if not text and self._formula and not value:
            # Programs that do not calculate store no value.
            text = unmarked("=" + "".join(self._formula))
        if self._formula:
            text = link(text, field_link("".join(self._formula)))
        if self._values.is_struck(self._style):
            text = strike(text)
        if not text:
            return
        row = self.cells.get(self._row)
        if row is None:
            if len(self.cells) >= self._most:
                raise too_many_rows(self._pages)
            row = self.cells[self._row] = {}
        row[self._column] = text

    def _fill_merged(self) -> None:
        """Write the text of a merged cell into all of its rows and columns."""
        last_column = max(map(max, self.cells.values()), default=0)
        room = MAX_MERGED
        for reference in self._merged:
            area = parse_area(reference)
            if area is None:
                continue
            text = self.cells.get(area.top, {}).get(area.left, "")
            right = min(area.right, max(last_column, area.left))
            columns = range(area.left, right + 1)
            bottom = min(area.bottom, area.top + room)
            rows = [row for row in range(area.top, bottom + 1) if row in self.cells]
            room -= len(rows) * len(columns)
            if not text or room < 0:
                continue
            for row in rows:
                self.cells[row].update(dict.fromkeys(columns, text))


class _Area(NamedTuple):
    """Rows and columns from 1, the last ones included."""

    left: int
    top: int
    right: int
    bottom: int


def parse_area(reference: str) -> _Area | None:
    """Parse "B2:D3"; None for anything else."""
    places = list(map(_PLACE.fullmatch, reference.split(":")))
    if len(places) != 2:
        return None
    first, last = places
    if first is None or last is None:
        return None
    return _Area(
        left=column_number(first[1]),
        top=int(first[2]),
        right=column_number(last[1]),
        bottom=int(last[2]),
    )


def column_number(letters: str) -> int:
    """Convert the letters of a column to its number: "AB" -> 28."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def is_unseen(attributes: dict[str, str], size: str) -> bool:
    """Tell whether a row or column is hidden, or has no size."""
    return attributes.get("hidden") in {"1", "true"} or attributes.get(size) in {"0", "0.0"}


def whole_or_zero(text: str | None) -> int:
    """Parse a whole number of at most nine digits; 0 for anything else."""
    if not text or len(text) >= 10:
        return 0
    return int(text) if text.isdigit() else 0
