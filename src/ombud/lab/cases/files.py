"""Cases from and to files: JSONL is native, CSV is for people, BEIR folders come through
`exchange`.

Every error is a LabError that names file, line and field. Nothing is skipped and nothing guessed:
an unknown field and a repeated id are errors."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from io import StringIO
from pathlib import Path
from string import ascii_uppercase
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ombud.errors import LabError
from ombud.lab.cases.exchange import find_trec, read_beir, read_text, read_trec
from ombud.lab.cases.formats import case_fields, is_foreign, mapped, nested, records
from ombud.settings import nearest
from ombud.types import Case

COLUMNS: dict[str, tuple[str, ...]] = {
    "question": ("query", "prompt", "user_input", "user_question"),
    "answer": (
        "expected_answer",
        "expected",
        "reference",
        "reference_answer",
        "ground_truth",
        "gold_answer",
    ),
    "tags": ("tag", "labels"),
    "country": ("countries", "country_code"),
    "persona": ("audience", "reader"),
    "type": ("question_type", "kind"),
    "id": ("case_id", "question_id", "query_id"),
    "expect": ("expected_outcome", "expectation"),
    "as_of": ("date",),
    "document": ("uri", "source", "file"),
    "quote": ("evidence", "passage", "context"),
    "page": ("page_number",),
}
"""CSV column -> other headers that mean it. Letter case, blanks and hyphens in headers do not
count."""

_HEADERS = {alias: column for column, aliases in COLUMNS.items() for alias in (column, *aliases)}
_EXPECTED = {
    "off_topic": "deny",
    "unanswerable": "deny",
    "incoherent": "deny",
    "vague": "clarify",
    "sensitive": "handoff",
}
"""What a CSV row without `expect` expects, by its type; everything else is to be answered."""


def read_cases(path: Path, columns: Mapping[str, str] | None = None) -> tuple[Case, ...]:
    """Read the cases of a .jsonl, .json or .csv file, of all such files in a folder, of a BEIR
    folder (its test split) or a TREC folder (topics and qrels), in order. Records of RAGAS,
    LangSmith, Langfuse and Phoenix are read as well.

    columns: field of a case -> where it stands in a row of another tool. Raises LabError.
    """
    if columns:
        _check_columns(columns)
    places: dict[str, str] = {}
    cases = []
    for place, case in _placed_cases(path, columns or {}):
        if case.id in places:
            raise LabError(
                f"{place}: id `{case.id}` was used before ({places[case.id]}).",
                hint="Ids are unique.",
            )
        places[case.id] = place
        cases.append(case)
    if not cases:
        raise LabError(
            f"{path}: no cases in it.",
            hint="One JSON object a line, or a CSV with a `question` column.",
        )
    return tuple(cases)


def parse_columns(text: str) -> dict[str, str]:
    """Parse `question=query,answer=gold` into {"question": "query", …}; raises LabError."""
    columns = {}
    for part in filter(None, text.split(",")):
        field, equals, path = part.partition("=")
        if not equals or not path.strip():
            raise LabError(f"`{part}` is no FIELD=COLUMN.", hint="Such as question=query.")
        columns[field.strip()] = path.strip()
    return columns


def _check_columns(columns: Mapping[str, str]) -> None:
    for field in columns:
        if field not in COLUMNS:
            raise LabError(f"A case has no field `{field}`.", hint=nearest(field, COLUMNS))
    if "question" not in columns:
        raise LabError("--columns does not say where the question stands.")


def _placed_cases(path: Path, columns: Mapping[str, str]) -> Iterator[tuple[str, Case]]:
    """Read where each case stands, and the case."""
    if (path / "queries.jsonl").is_file():
        for case in read_beir(path):
            yield str(path), case
    elif path.is_dir() and (trec := find_trec(path)):
        for case in read_trec(*trec):
            yield str(path), case
    elif path.is_dir():
        for file in sorted(_listed(path)):
            if file.suffix.lower() in _READERS:
                yield from _READERS[file.suffix.lower()](file, columns)
    elif path.suffix.lower() in _READERS:
        yield from _READERS[path.suffix.lower()](path, columns)
    else:
        raise LabError(
            f"{path}: not a format of cases.",
            hint="Known: .jsonl, .csv, .json, .tsv, a folder of them, BEIR, TREC.",
        )


def cases_text(cases: Iterable[Case]) -> str:
    """Return JSONL that `read_cases` reads back equal, fields at their defaults left out."""
    return "".join(map(_line, cases))


def _line(case: Case) -> str:
    return json.dumps(_sparse(case), ensure_ascii=False) + "\n"


def _sparse(case: Case) -> dict[str, Any]:
    # Type and expectation are always written: a reader should not have to know the defaults.
    changed = case.model_dump(mode="json", exclude_defaults=True)
    return {
        "id": case.id,
        "question": case.question,
        "type": case.type,
        "expect": case.expect,
    } | changed


def _listed(folder: Path) -> list[Path]:
    """List a folder without what other programs hide there."""
    try:
        files = []
        for file in folder.iterdir():
            if not file.name.startswith("."):
                files.append(file)
        return files
    except OSError as wrong:
        raise LabError(
            f"{folder}: cannot be read: {wrong.strerror}.", hint="Check its permissions."
        ) from wrong


def _json(path: Path, columns: Mapping[str, str]) -> Iterator[tuple[str, Case]]:
    try:
        for number, row in records(read_text(path)):
            place = f"{path}, line {number}"
            if not isinstance(row, dict):
                raise LabError(f"{place}: not a JSON object.", hint="A list of records is read.")
            yield place, _from_any(row, place, columns)
    except json.JSONDecodeError as wrong:
        raise LabError(f"{path}, line {wrong.lineno}: not valid JSON: {wrong.msg}.") from wrong
    except (ValueError, RecursionError) as wrong:
        raise LabError(f"{path}: {wrong}.", hint="A list of records is read.") from wrong


def _jsonl(path: Path, columns: Mapping[str, str]) -> Iterator[tuple[str, Case]]:
    # Only \n ends a line: str.splitlines would also cut at characters that JSON allows inside a
    # string.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        row = _parsed(line, place)
        yield place, _from_any(row, place, columns)


def _from_any(row: dict[str, Any], place: str, columns: Mapping[str, str]) -> Case:
    """Read a case of ombud's own format or a record of another tool."""
    try:
        if columns:
            return _from_fields(mapped(row, columns), place)
        return _case(case_fields(row) if is_foreign(row) else row, place)
    except LabError as wrong:
        if str(wrong).startswith(place):
            raise
        raise LabError(f"{place}: {wrong}", hint=wrong.hint) from wrong


def _parsed(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as wrong:
        why = f"{wrong.msg} at column {wrong.colno}"
        raise _no_json(place, why) from wrong
    except (ValueError, RecursionError) as wrong:  # such as a number of too many digits
        raise _no_json(place, str(wrong)) from wrong
    if not isinstance(row, dict):
        raise LabError(
            f"{place}: not a JSON object.", hint="A case is an object with `id` and `question`."
        )
    if "\\u" in line and not _encodes(row):
        raise LabError(
            f"{place}: half a character (a lone surrogate).",
            hint="Write it as UTF-8, not as \\u.",
        )
    return row


def _no_json(place: str, why: str) -> LabError:
    return LabError(f"{place}: not valid JSON: {why}.", hint="One JSON object a line.")


def _encodes(row: object) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _case(row: Mapping[str, Any], place: str) -> Case:
    try:
        case = Case.model_validate(row)
    except ValidationError as wrong:
        raise _explain(wrong, place) from wrong
    for field, is_wrong, why in _faults(case):
        if is_wrong:
            raise LabError(f"{place}: `{field}` {why}.")
    return case


def _faults(case: Case) -> Iterator[tuple[str, bool, str]]:
    """Check what the record alone does not: field, whether it is wrong, why."""
    unprintable = "has a line end or another character that does not print"
    no_country = "is not an ISO country code such as GB"
    yield "id", not case.id.strip(), "is empty"
    yield "id", not case.id.isprintable(), unprintable
    yield "question", not case.question.strip(), "is empty"
    yield "person.country", not _country(case.person.country), no_country
    for number, item in enumerate(case.evidence):
        yield f"evidence.{number}.document", not item.document.strip(), "is empty"
    for number, item in enumerate(case.evidence):
        below_one = item.page is not None and item.page < 1
        yield f"evidence.{number}.page", below_one, "counts from 1"


def _country(code: str | None) -> bool:
    is_pair = code is None or (len(code) == 2 and set(code) <= set(ascii_uppercase))
    return is_pair and code != "UK"


def _explain(wrong: ValidationError, place: str) -> LabError:
    # A misspelt field is often also a missing one: the misspelling says more.
    error = min(wrong.errors(), key=lambda error: error["type"] != "extra_forbidden")
    kind = error["type"]
    location = error["loc"]
    where = ".".join(map(str, location))
    others = wrong.error_count() - 1
    more = f" ({others} more in this line)" if others else ""
    if kind == "extra_forbidden":
        *around, name = location
        hint = nearest(str(name), _fields(tuple(around)))
        return LabError(f"{place}: `{where}` is not a field{more}.", hint=hint)
    if kind == "missing":
        return LabError(f"{place}: `{where}` is missing{more}.")
    expected = error.get("ctx", {}).get("expected")
    hint = f"It takes {expected}." if expected else ""
    reason = error["msg"].lower()
    return LabError(f"{place}: `{where}`: {reason}{more}.", hint=hint)


def _fields(place: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Case
    for part in place:
        if isinstance(part, str) and part in model.model_fields:
            model = _inner_model(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """Return the record that a field holds, alone or in a list."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def _csv(path: Path, columns: Mapping[str, str]) -> Iterator[tuple[str, Case]]:
    text = read_text(path)
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        own = not columns and (_are_own(names) or not is_foreign(nested(dict.fromkeys(names, ""))))
        header = _own_header(names, path) if own else names
        _check_names(columns, names, path)
        for cells in reader:
            place = f"{path}, line {reader.line_num}"
            if any(cell.strip() for cell in cells):
                row = _cells(header, cells, place)
                if own:
                    yield place, _from_fields(row, place)
                else:
                    yield place, _from_any(row if columns else nested(row), place, columns)
    except csv.Error as wrong:
        raise LabError(
            f"{path}, line {reader.line_num}: not valid CSV: {wrong}.", hint="Check the quotes."
        ) from wrong


def _own_header(names: list[str], path: Path) -> list[str]:
    header = [_column(name, f"{path}, line 1") for name in names]
    _check_header(header, path)
    return header


def _check_names(columns: Mapping[str, str], names: list[str], path: Path) -> None:
    for field, name in columns.items():
        if name not in names:
            raise LabError(
                f"{path}, line 1: no column `{name}` for `{field}`.", hint=nearest(name, names)
            )


def _are_own(names: list[str]) -> bool:
    """Check that every header means a column of ours, each another one."""
    fields = [_HEADERS.get(_plain(name)) for name in names]
    return None not in fields and len(set(fields)) == len(fields)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _column(name: str, place: str) -> str:
    plain = _plain(name)
    if plain not in _HEADERS:
        raise LabError(f"{place}: `{name.strip()}` is not a column.", hint=nearest(plain, _HEADERS))
    return _HEADERS[plain]


def _check_header(header: list[str], path: Path) -> None:
    for name in header:
        if header.count(name) > 1:
            raise LabError(f"{path}, line 1: two columns mean `{name}`.", hint="Keep one of them.")
    if header and "question" not in header:
        raise LabError(
            f"{path}, line 1: no `question` column.", hint=f"Columns: {', '.join(COLUMNS)}."
        )


def _cells(header: list[str], cells: list[str], place: str) -> dict[str, str]:
    if len(cells) > len(header):
        raise LabError(
            f"{place}: {len(cells)} cells under {len(header)} headers.",
            hint="Quote cells with commas.",
        )
    row = {}
    for name, cell in zip(header, cells, strict=False):
        if cell.strip().casefold() == "nan":
            raise LabError(
                f"{place}: `{name}` is {cell.strip()}: a value was lost where the file was made.",
                hint="Leave the cell empty, or the line out.",
            )
        if cell.strip():
            row[name] = cell.strip()
    return row


def _from_fields(row: Mapping[str, str], place: str) -> Case:
    kind = row.get("type", "simple").casefold().replace(" ", "_").replace("-", "_")
    question = row.get("question", "").strip()
    country = row.get("country", "").upper()
    # The id decides the split for ever, so it must follow from the question, not from the row's
    # place.
    digest = sha256(f"{question}\0{country}".encode()).hexdigest()
    tags = [tag.strip() for tag in re.split(r"[;,|]", row.get("tags", ""))]
    person = {"country": country} if country else {}
    if "persona" in row:
        person["persona"] = row["persona"]
    case: dict[str, Any] = {
        "id": row.get("id") or f"q-{digest[:12]}",
        "question": question,
        "type": kind,
        "expect": row.get("expect", _EXPECTED.get(kind, "answer")).casefold(),
        "tags": tuple(filter(None, tags)),
        "person": person,
        "references": [{"text": row["answer"]}] if "answer" in row else [],
        "evidence": _evidence(row, place),
    }
    if "as_of" in row:
        case["as_of"] = row["as_of"]
    return _case(case, place)


def _evidence(row: Mapping[str, str], place: str) -> list[dict[str, Any]]:
    if "document" not in row:
        extra = row.keys() & {"quote", "page"}
        if extra:
            raise LabError(
                f"{place}: `{min(extra)}` without `document`.",
                hint="Evidence names its document's uri.",
            )
        return []
    page = {"page": row["page"]} if "page" in row else {}
    return [{"document": row["document"], "quote": row.get("quote", ""), **page}]


_READERS: dict[str, Callable[[Path, Mapping[str, str]], Iterator[tuple[str, Case]]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
}
