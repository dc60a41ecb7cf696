"""Tables that people fill in with a spreadsheet and hand back.

Written with a byte order mark, for spreadsheets take UTF-8 for something else without it; read with
commas, semicolons or tabs, for spreadsheets save whichever their country uses."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest

MARK = "\ufeff"
_FORMULA = set("=+-@\t\r\n＝＋－＠'")


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
        writer.writerow({name: _written(str(value)) for name, value in row.items()})
    return MARK + out.getvalue()


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
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(path, header, needed)
        rows: list[SheetRow] = []
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(path, reader.line_num, header, cells))
    except csv.Error as wrong:
        raise BadRequest(
            f"{path}, line {reader.line_num}: not valid CSV: {wrong}.", hint="Check the quotes."
        ) from wrong
    return rows


def _check_header(path: Path, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [f"`{name}`" for name in needed if name not in header]
    if missing:
        raise BadRequest(
            f"{path}: no column {', '.join(missing)}.",
            hint="Hand back the file as it was written: columns may be filled in, not renamed.",
        )
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise BadRequest(f"{path}: two columns are called `{twice[0]}`.", hint="Keep one of them.")


def _row(path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> SheetRow:
    place = f"{path.name}, line {line}"
    beyond = [cell for cell in cells[len(header) :] if cell.strip()]
    if beyond:
        raise BadRequest(
            f"{place}: {len(cells)} cells under {len(header)} headers.",
            hint="Quote cells that hold the separator.",
        )
    found = dict.fromkeys(header, "")
    for name, cell in zip(header, cells, strict=False):
        found[name] = _unwritten(cell.strip())
    return SheetRow(place, found)


def _written(cell: str) -> str:
    return f"'{cell}" if cell[:1] in _FORMULA and not _is_number(cell) else cell


def _unwritten(cell: str) -> str:
    """Takes off the apostrophe that `_written` put there, if it is still there."""
    rest = cell.removeprefix("'")
    return rest if rest[:1] in _FORMULA and not _is_number(rest) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
