"""Excel workbooks, read from their XML: what each sheet shows, as tables under its name.

Own code rather than openpyxl: that takes twice the time, leaves to the caller how values are shown,
and does not bound what it unpacks (`docs/results/parts.md`). Formulas give what the program that
saved the file worked out, or themselves where it worked out nothing."""

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.blocks import Edges, ParsedFile, heading, paragraph, tidy
from ombud.documents.grids import ROWS, Cells, blocks, too_many_rows
from ombud.documents.office.packages import Guard, Package, Program, Relation, broken, opened
from ombud.documents.office.pptx_graphics import picture, shapes, words
from ombud.documents.office.xlsx_formats import general, is_struck, read_formats, read_struck, shown
from ombud.documents.runs import link, run, strike, unmarked
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
"""A font, a colour, a size, or what is filled in when a sheet is printed, such as its page."""
MOST_COLUMNS = 16_384
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
        values = _read_values(package, book, relations)
        sheets = list(_sheets(book))
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
            drawn, lost = _drawn(package, relation.path)
            loss += lost
            # The name that Excel gives to the only sheet says nothing.
            has_name = len(sheets) > 1 or not _UNNAMED.fullmatch(name)
            if (sheet.cells or drawn) and has_name:
                made.append(heading(name, 2))
            made += [*blocks(sheet.cells), *drawn]
    return ParsedFile(made + edges.blocks(), loss=loss + Loss(repeated=edges.repeated))


def _drawn(package: Package, sheet: str) -> tuple[list[Block], Loss]:
    """Text boxes and descriptions of pictures that lie on a sheet."""
    found: list[Block] = []
    loss = Loss()
    for relation in package.relations(sheet).values():
        root = package.part(relation.path, local=True) if relation.kind == "drawing" else None
        for shape in shapes(root):
            described = list(picture(shape))
            found += described
            is_picture = shape.tag == "pic" and not described
            loss += Loss(hidden=shape.tag == "hidden", pictures=is_picture)
            found += [
                paragraph(text)
                for node in shape.iterfind("txBody/p")
                if (text := tidy(words(node)))
            ]
    return found, loss


@dataclass(frozen=True)
class _Values:
    """How the values of a workbook's cells are shown."""

    strings: list[str]
    """Texts that cells refer to by number."""
    formats: list[str]
    """The code of each cell style."""
    struck: list[bool]
    """Whether each cell style is struck out."""
    from_1904: bool
    """Whether days are counted from 1904."""

    def is_struck(self, style: int) -> bool:
        return style < len(self.struck) and self.struck[style]

    def shown(self, value: str, kind: str, style: int) -> str:
        """kind: the type that a cell gives, such as "s" for a text that is kept elsewhere."""
        if kind == "s":
            position = _whole(value)
            return self.strings[position] if value and position < len(self.strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind == "d":
            return value.removesuffix("T00:00:00")
        if kind != "n" or not value:
            return value
        return self._number(value, style)

    def _number(self, value: str, style: int) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        code = self.formats[style] if style < len(self.formats) else "General"
        return general(number) if code == "General" else shown(number, code, self.from_1904)


def _read_values(package: Package, book: Element, relations: dict[str, Relation]) -> _Values:
    paths = {relation.kind: relation.path for relation in relations.values()}
    strings = package.part(paths.get("sharedStrings", ""), local=True)
    styles = package.part(paths.get("styles", ""), local=True)
    properties = book.find("workbookPr")
    return _Values(
        strings=list(map(_text, strings.iterfind("si"))) if strings is not None else [],
        formats=read_formats(styles),
        struck=read_struck(styles),
        from_1904=properties is not None and properties.get("date1904") in {"1", "true"},
    )


def _sheets(book: Element) -> Iterator[tuple[str, str]]:
    """(name, relation) of those that are seen."""
    for node in book.iterfind("sheets/sheet"):
        if node.get("state", "visible") == "visible":
            yield node.get("name", ""), node.get("r:id", "")


def _text(node: Element) -> str:
    """Plain or of several runs; how to pronounce it, as Japanese cells say, is left out."""
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
    """Takes the cells from the events of a sheet's XML, which is never held as a tree."""

    def __init__(
        self, values: _Values, links: dict[str, str], edges: Edges, most: int, pages: int
    ) -> None:
        """most: rows that are left of those that `pages` allow."""
        super().__init__("Save it again in Excel.")
        self.cells: Cells = {}
        self.hidden = 0
        """Rows and columns that hold something and are not shown."""
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
        """Where text goes that is read now."""
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
            self._row = _whole(attributes.get("r")) or self._row + 1
            self._column = 0
            if attributes.get("hidden") in {"1", "true"}:
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
        """Take in how a run of a cell looks."""
        if name == "r":
            self._is_run_struck = self._is_run_raised = False
        elif name == "strike":
            self._is_run_struck = value not in {"0", "false"}
        else:
            self._is_run_raised = value == "superscript"

    def _note(self, name: str, attributes: dict[str, str]) -> None:
        """Take in what the sheet says beside its cells."""
        if name == "mergeCell":
            self._merged.append(attributes.get("ref", ""))
        elif name == "hyperlink":
            relation = next((attributes[key] for key in attributes if key.endswith("}id")), "")
            self._linked.append((attributes.get("ref", ""), relation))
        elif name == "col" and attributes.get("hidden") in {"1", "true"}:
            first, last = _whole(attributes.get("min")), _whole(attributes.get("max"))
            self._hidden_columns.update(range(first, min(last, MOST_COLUMNS) + 1))
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
        self._spread()
        self._link()
        self._leave_out_hidden()
        return self

    def _link(self) -> None:
        for place, relation in self._linked[:MOST_MERGED]:
            corner = _PLACE.fullmatch(place.partition(":")[0])
            row = self.cells.get(int(corner[2]), {}) if corner else {}
            column = _column(corner[1]) if corner else 0
            if column in row:
                row[column] = link(row[column], self._links.get(relation, ""))

    def _leave_out_hidden(self) -> None:
        """Move what is shown together, so that nothing hidden parts a table."""
        if not self._hidden_rows and not self._hidden_columns:
            return
        rows = sorted(self._hidden_rows)
        columns = sorted(self._hidden_columns)
        lost_columns: set[int] = set()
        left: Cells = {}
        for number, row in self.cells.items():
            if number in self._hidden_rows:
                self.hidden += 1
                continue
            lost_columns |= self._hidden_columns & row.keys()
            shown_cells = {}
            for column, text in row.items():
                if column not in self._hidden_columns:
                    shown_cells[column - bisect(columns, column)] = text
            if shown_cells:
                left[number - bisect(rows, number)] = shown_cells
        self.hidden += len(lost_columns)
        self.cells = left

    def _name(self, tag: str) -> str:
        local = self._local_names.get(tag)
        if local is None:
            local = self._local_names[tag] = tag.rpartition("}")[2]
        return local

    def _cell(self, attributes: dict[str, str]) -> None:
        place = _PLACE.fullmatch(attributes.get("r", ""))
        if place:
            self._column = _column(place[1])
            self._row = int(place[2])
        else:
            self._column += 1
        self._kind = attributes.get("t", "n")
        self._style = _whole(attributes.get("s"))
        self._words = []
        self._formula = []

    def _end_edges(self) -> None:
        """Take in the left, the middle and the right of a header or footer."""
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
        text = self._values.shown(value, self._kind, self._style).strip()
        if not text and self._formula and not value:
            # A program that does not calculate has stored no value.
            text = unmarked("=" + "".join(self._formula))
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

    def _spread(self) -> None:
        """A merged cell shows its text over all of its rows and columns."""
        last_column = max(map(max, self.cells.values()), default=0)
        room = MOST_MERGED
        for reference in self._merged:
            area = _area(reference)
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


def _area(reference: str) -> _Area | None:
    """ "B2:D3"; None for anything else."""
    places = list(map(_PLACE.fullmatch, reference.split(":")))
    if len(places) != 2:
        return None
    first, last = places
    if first is None or last is None:
        return None
    return _Area(
        left=_column(first[1]),
        top=int(first[2]),
        right=_column(last[1]),
        bottom=int(last[2]),
    )


def _column(letters: str) -> int:
    """ "AB" -> 28."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _whole(text: str | None) -> int:
    """A whole number of at most nine digits; 0 for anything else."""
    if not text or len(text) >= 10:
        return 0
    return int(text) if text.isdigit() else 0
