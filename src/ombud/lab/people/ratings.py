"""What people said of items, in one form: item, rater, criterion, value, note.

A file is JSON lines, or CSV as a spreadsheet saves it: with a byte order mark, without which
spreadsheets take UTF-8 for something else, and with commas, semicolons or tabs, whichever their
country uses. It has a line for each rating, in columns `criterion` and `value`, or a line for each
item with a column for each criterion. Further columns tell what was rated."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.people.criteria import criteria_sets

BYTE_ORDER_MARK = "\ufeff"
NOTE = "note"
FORMER_NOTE = "comment"
EMPTY = "empty"
LONG_COLUMNS = ("item", "rater", "criterion", "value", NOTE, "type", "run", "case")
_FORMULA = set("=+-@\t\r\n＝＋－＠'")

Levels = Mapping[str, Collection[float]]
"""Criterion -> its values."""
Items = Mapping[str, Mapping[str, str]]
"""Item -> what is known of it: its run, case and type."""


class Rating(NamedTuple):
    item: str
    value: float
    rater: str = ""
    criterion: str = ""
    kind: str = ""
    """Type of the item, such as that of its question."""


class FaultyCell(NamedTuple):
    """A cell that is no rating."""

    place: str
    """File and line."""
    item: str
    criterion: str
    why: str


class RatingSet(NamedTuple):
    """Ratings, notes and faulty cells of one or more files."""

    ratings: tuple[Rating, ...]
    faulty: tuple[FaultyCell, ...] = ()
    notes: Mapping[tuple[str, str], str] = {}
    """(item, rater) -> what they wrote beside it."""
    cells: Mapping[str, Mapping[str, str]] = {}
    """Item -> its columns, and what the key tells of it."""
    places: Mapping[str, str] = {}
    """Item -> file and line."""

    @property
    def missing(self) -> tuple[FaultyCell, ...]:
        """Cells left empty."""
        return tuple(cell for cell in self.faulty if cell.why == EMPTY)

    @property
    def wrong(self) -> tuple[FaultyCell, ...]:
        """Cells that are no number, or no value of their criterion."""
        return tuple(cell for cell in self.faulty if cell.why != EMPTY)

    def checked(self) -> "RatingSet":
        """Return itself; raises BadRequest where a cell is wrong, or nothing was rated."""
        for cell in self.wrong:
            raise BadRequest(f"{cell.place}: {cell.why}.")
        if not self.ratings:
            raise BadRequest("There are no ratings.", hint="Fill in `value`, or the criteria.")
        return self

    @property
    def origins(self) -> dict[str, tuple[str, str]]:
        """Item -> run and case of the answer, where these are known."""
        places: dict[str, tuple[str, str]] = {}
        for item, cells in self.cells.items():
            if cells.get("run") and cells.get("case"):
                places[item] = cells["run"], cells["case"]
        return places


def read_ratings(
    paths: Sequence[Path],
    levels: Levels | None = None,
    items: Items | None = None,
    needed: Sequence[str] = ("item",),
) -> RatingSet:
    """The ratings of all files; a rater's later word on an item counts.

    levels: of the criteria that may be rated; without it all that are known may be, with any
    number. items: of the key; without it, of `FILE.key.json` beside the first file, if any. needed:
    columns that each file has. Raises BadRequest for what is no such file, and for an item that is
    not of the key."""
    key = _key_beside(paths) if items is None else items
    ratings: dict[tuple[str, str, str], Rating] = {}
    faulty: list[FaultyCell] = []
    notes: dict[tuple[str, str], str] = {}
    cells: dict[str, dict[str, str]] = {}
    places: dict[str, str] = {}
    for path in paths:
        rows = read_sheet(path, needed)
        columns = _rated_columns(path, rows, levels)
        for row in rows:
            item, rater = _item_and_rater(row, columns, key)
            columns_of_item = cells.setdefault(item, {})
            columns_of_item |= {**row.cells, **key.get(item, {})}
            places[item] = row.place
            if note := row.cells.get(NOTE) or row.cells.get(FORMER_NOTE):
                notes[item, rater] = note
            for read in _row_ratings(row, columns, levels or {}, columns_of_item.get("type", "")):
                if isinstance(read, FaultyCell):
                    faulty.append(read)
                else:  # of raters without a name nobody knows whether they are one
                    ratings[item, rater or row.place, read.criterion] = read
    return RatingSet(tuple(ratings.values()), tuple(faulty), notes, cells, places)


def _row_ratings(
    row: "SheetRow", columns: Sequence[str], levels: Levels, kind: str
) -> Iterator[Rating | FaultyCell]:
    item, rater = row.cells["item"], row.cells.get("rater", "")
    for column in columns:
        criterion = row.cells.get("criterion", "") if column == "value" else column
        text = row.cells.get(column, "")
        why = why_no_rating(text, levels.get(criterion, ()))
        if why:
            yield FaultyCell(row.place, item, criterion, why)
        else:
            yield Rating(item, to_number(text), rater, criterion, kind)


def find_key(paths: Sequence[Path]) -> Path:
    """The key of `FILE.csv` or `FILE.RATER.csv`, which is `FILE.key.json`, if it is there."""
    first = paths[0]
    by_rater = first.with_name(f"{first.stem.rpartition('.')[0]}.key.json")
    return by_rater if by_rater.is_file() else first.with_suffix(".key.json")


def _key_beside(paths: Sequence[Path]) -> Items:
    key = find_key(paths)
    return read_key(key)[1] if key.is_file() else {}


def read_key(path: Path) -> tuple[str, Items]:
    """(the set of criteria, what each item is). Raises BadRequest for a file that is no key."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content["items"], dict) and isinstance(content["criteria"], str):
            return content["criteria"], content["items"]
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise BadRequest(
            f"{path} is no key of an annotation: {wrong}.",
            hint="`lab annotate RUN --out FILE.csv` writes it beside the sheet.",
        ) from wrong
    raise BadRequest(f"{path} is no key of an annotation.", hint="It holds `items`.")


def _rated_columns(path: Path, rows: Sequence["SheetRow"], levels: Levels | None) -> Sequence[str]:
    """Columns that hold values."""
    header = rows[0].cells if rows else {"value": ""}
    if "value" in header:
        return ["value"]
    for name in levels or ():
        if name not in header:
            raise BadRequest(
                f"{path.name} has no column `{name}`.", hint="Hand back the file as it was written."
            )
    criteria = list(levels or chain.from_iterable(one.criteria for one in criteria_sets().values()))
    rated = [name for name in dict.fromkeys(criteria) if name in header]
    if not rated:
        raise BadRequest(
            f"{path.name} has no column `value`.",
            hint="Its columns: item, rater, criterion, value; or a column for each criterion.",
        )
    return rated


def _item_and_rater(row: "SheetRow", columns: Sequence[str], key: Items) -> tuple[str, str]:
    item, rater = row.cells["item"], row.cells.get("rater", "")
    if not item:
        raise BadRequest(f"{row.place}: no item is named.")
    if key and item not in key:
        raise BadRequest(
            f"{row.place}: the item `{item}` is not in the key.",
            hint="Read each sheet with the key that was written with it.",
        )
    if key and not rater and any(row.cells.get(column) for column in columns):
        raise BadRequest(
            f"{row.place}: no rater is named.", hint="Fill in the column `rater` on each line."
        )
    return item, rater


def why_no_rating(text: str, levels: Collection[float] = ()) -> str:
    """Why a text is no number, or none of these levels; empty where it is one."""
    if not text:
        return EMPTY
    value = to_number(text)
    if not math.isfinite(value):
        return f"`{text}` is no number"
    if levels and value not in levels:
        return f"{text} is none of {', '.join(map(str, sorted(levels)))}"
    return ""


def to_number(text: str) -> float:
    """Not a number where it is none; a comma counts as a point."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def ratings_text(read: RatingSet) -> str:
    """A line for each rating, with the run and case of its item, as CSV."""
    rows: list[dict[str, object]] = []
    for rating in read.ratings:
        cells = read.cells.get(rating.item, {})
        rows.append(
            {
                "item": rating.item,
                "rater": rating.rater,
                "criterion": rating.criterion,
                "value": f"{rating.value:g}",
                NOTE: read.notes.get((rating.item, rating.rater), ""),
                "type": rating.kind,
                "run": cells.get("run", ""),
                "case": cells.get("case", ""),
            }
        )
    return sheet_text(LONG_COLUMNS, rows)


# Sheets -------------------------------------------------------------------------------------------


class SheetRow(NamedTuple):
    place: str
    """File and line, for whoever must put it right."""
    cells: Mapping[str, str]
    """Column -> what stands there, without white space around it."""


def sheet_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A CSV with a header; columns that a row lacks are empty. A cell that a spreadsheet would take
    for a formula is written as text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _as_text(str(value)) for name, value in row.items()})
    return BYTE_ORDER_MARK + out.getvalue()


def read_sheet(path: Path, needed: Sequence[str]) -> list[SheetRow]:
    """The rows that have anything in them. Raises BadRequest naming what is wrong where."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as failed:
        raise BadRequest(
            f"{path}: cannot be read: {failed.strerror}.", hint="Check the path."
        ) from failed
    except UnicodeDecodeError as wrong:
        raise BadRequest(
            f"{path}: not UTF-8 (byte {wrong.start}).", hint="Save it as CSV in UTF-8."
        ) from wrong
    if path.suffix == ".jsonl":
        return _json_rows(path, text, needed)
    return _csv_rows(path, text, needed)


def _json_rows(path: Path, text: str, needed: Sequence[str]) -> list[SheetRow]:
    rows: list[SheetRow] = []
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError as wrong:
            raise BadRequest(f"{place}: {wrong}.") from wrong
        if not isinstance(row, dict):
            raise BadRequest(f"{place}: no object.")
        if row:
            cells = {key: "" if value is None else str(value) for key, value in row.items()}
            cells = {"item": "", "value": "", **cells}
            _check_columns(place, list(cells), needed)
            rows.append(SheetRow(place, cells))
    return rows


def _csv_rows(path: Path, text: str, needed: Sequence[str]) -> list[SheetRow]:
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_columns(str(path), header, needed)
        rows: list[SheetRow] = []
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(path, reader.line_num, header, cells))
    except csv.Error as wrong:
        raise BadRequest(
            f"{path}, line {reader.line_num}: not valid CSV: {wrong}.", hint="Check the quotes."
        ) from wrong
    return rows


def _check_columns(place: str, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [f"`{name}`" for name in needed if name not in header]
    if missing:
        raise BadRequest(
            f"{place}: no column {', '.join(missing)}.",
            hint="Hand back the file as it was written: columns may be filled in, not renamed.",
        )
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise BadRequest(f"{place}: two columns are called `{twice[0]}`.", hint="Keep one of them.")


def _row(path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> SheetRow:
    place = f"{path.name}, line {line}"
    beyond = [cell for cell in cells[len(header) :] if cell.strip()]
    if beyond:
        raise BadRequest(
            f"{place}: {len(cells)} cells under {len(header)} headers.",
            hint="Quote cells that hold the separator.",
        )
    values = dict.fromkeys(header, "")
    for name, cell in zip(header, cells, strict=False):
        values[name] = _as_typed(cell.strip())
    return SheetRow(place, values)


def _as_text(cell: str) -> str:
    is_formula = cell[:1] in _FORMULA and math.isnan(to_number(cell))
    return f"'{cell}" if is_formula else cell


def _as_typed(cell: str) -> str:
    """Take off the apostrophe that `_as_text` put there, if it is still there."""
    rest = cell.removeprefix("'")
    return rest if _as_text(rest) != rest else cell
