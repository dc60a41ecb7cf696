"""Questions from the cells of a table: what does it say of this row in that column?"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from ombud.lab.synthesis.headings import parent_of
from ombud.lab.synthesis.pairs import PassageSection, QuestionAnswer, Wordings, make_pair, safe
from ombud.lab.synthesis.phrasing import bare, data, determined, is_subject, listed, plain
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk

_RULE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+\s*$")
_BORDER = re.compile(r"(?<!\\)\|")
_HISTORY = re.compile(
    r"\b(?:version|revision|author|reviewer|approved by|changed by|changes)\b", re.IGNORECASE
)
_EMPTY = re.compile(r"^(?:n/?a|none|tbd|tbc|x|y|n|yes|no|✓|✔|✅|-+|\W*)$", re.IGNORECASE)
_DATED = re.compile(r"^(?:date|deadline|when|due date)s?$", re.IGNORECASE)
_CHANNEL = re.compile(r"#\w[\w-]+\w")
_NUMERIC = re.compile(r"[\d\W]+[kKmM]?|\d[\w\s.,+-]*")
_PLURAL = re.compile(r"[^s]s$")
_SPEAKS = re.compile(r"\b(?:you|we|I|your)\b")
_ROLE = re.compile(
    r"(?:manager|officer|director|lead|team|owner|committee|department|group)$", re.IGNORECASE
)
LONGEST_ROW = 900
LONGEST_CELL = 40
"""Characters of a row, words of a cell."""


class _Table(NamedTuple):
    columns: list[str]
    rows: list[tuple[str, list[str]]]
    """Line as it stands, its cells."""
    about: str
    """What the table is about; empty where its headings do not say."""


class _Cell(NamedTuple):
    columns: Sequence[str]
    cells: Sequence[str]
    place: int
    about: str

    @property
    def text(self) -> str:
        return self.cells[self.place]

    @property
    def column(self) -> str:
        return bare(self.columns[self.place])

    @property
    def row(self) -> str:
        return bare(self.cells[0])

    @property
    def first(self) -> str:
        """Name of the column that names the rows."""
        return bare(self.columns[0])


def table_questions(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    table = _read_table(chunk, sections, vocabulary)
    if not table:
        return
    names = Counter(cells[0] for _, cells in table.rows)
    for line, cells in table.rows:
        if len(cells) != len(table.columns) or len(line) > LONGEST_ROW or names[cells[0]] > 1:
            continue
        for place in range(1, len(cells)):
            cell = _Cell(table.columns, cells, place, table.about)
            wordings = _wordings(cell, vocabulary) if _is_answer(cell.text) else None
            if wordings:
                answer = plain(cell.text)
                yield make_pair(chunk, "table", chance, wordings, quote=line, answer=answer)


def _is_answer(cell: str) -> bool:
    return not _EMPTY.match(cell) and len(cell.split()) <= LONGEST_CELL


def _read_table(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary
) -> _Table | None:
    """None where there is no table, or one that only says who changed what."""
    head, lines = _head_and_lines(chunk)
    columns = _split(head)
    if len(columns) < 2 or _HISTORY.search(" ".join(columns)):
        return None
    rows = []
    for line in lines:
        row = line.strip()
        if row != head and not _RULE.match(row):
            rows.append((row, _split(line)))
    about = ""
    if sections:
        nearest = sections[-1]
        about = parent_of([*nearest.parents, nearest.heading], vocabulary)
    return _Table(columns, rows, about)


def _head_and_lines(chunk: Chunk) -> tuple[str, list[str]]:
    """The line that names the columns, which may stand in the text or beside it, and the rows."""
    lines = []
    for line in chunk.text.split("\n"):
        if line.lstrip().startswith("|"):
            lines.append(line)
    head = []
    for line in chunk.header.split("\n"):
        if line.strip():
            head.append(line)
    if head:
        return head[0], lines
    if len(lines) > 2 and _RULE.match(lines[1].strip()):
        return lines[0], lines[2:]
    return "", lines


def _split(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in _BORDER.split(inner)]


def _wordings(cell: _Cell, vocabulary: CorpusVocabulary) -> Wordings | None:
    """None when the cell cannot be asked for."""
    if not _is_column(cell.column) or cell.columns.count(cell.columns[cell.place]) > 1:
        return None
    if vocabulary.is_name(cell.text):
        return None
    templates = data()["table"]
    column = vocabulary.common(cell.column)
    name = cell.cells[0]
    if _CHANNEL.fullmatch(name):
        if column not in templates["column"]:
            return None
        fields = {"column": column, "row": name}
        return Wordings(templates["channel"], templates["terse"], fields)
    if not _is_row(name, cell.row) or vocabulary.is_name(cell.row):
        return None
    full = _templates(cell, column)
    if not full:
        return None
    row = cell.row if _DATED.match(cell.first) else _row_name(cell.row, vocabulary)
    fields = {"column": column, "row": row, "first": vocabulary.common(cell.first)}
    return Wordings(full, templates["terse"], fields)


def _templates(cell: _Cell, column: str) -> Sequence[str]:
    """Empty when the row's name does not fit into any."""
    templates: dict[str, Sequence[str]] = data()["table"]
    plural = bool(_PLURAL.search(column))
    if _DATED.match(cell.first):
        return templates["date"] if re.search(r"\d", cell.row) else ()
    if _NUMERIC.fullmatch(cell.row):
        shape = "numbers" if plural else "number"
        return templates[shape] if _is_column(cell.first) else ()
    if not is_subject(cell.row) or _SPEAKS.search(cell.row):
        return ()
    return _templates_of_thing(cell, column, templates["many" if plural else "one"])


def _templates_of_thing(cell: _Cell, column: str, usual: Sequence[str]) -> Sequence[str]:
    of_column: Sequence[str] = data()["table"]["column"].get(column, ())
    if cell.place > 1 and of_column:
        return ()
    asked = of_column or usual
    row = cell.row
    if len(row.split()) > 1:
        return asked
    # "What is the format for compliance?" could be asked of any table.
    if not cell.about or row.lower() in cell.about.lower():
        return ()
    about = safe(cell.about)
    templates = []
    for template in asked:
        small = template[0].lower() + template[1:]
        templates.append(f"when it comes to {about}, {small}")
    return templates


def _is_row(name: str, row: str) -> bool:
    """Whether the first cell names what the row is about. row: its bare words."""
    if not row or name[0] in "#@" or row.endswith("?"):
        return False
    return len(row.split()) <= 10 and not re.search('["“”.]', name)


def _row_name(row: str, vocabulary: CorpusVocabulary) -> str:
    # A long name is a title or a clause: it can only be quoted.
    if len(row.split()) > 3:
        return f'"{row}"'
    name = vocabulary.lowered(row)
    return determined(name) if _ROLE.search(row) else name


def _is_column(column: str) -> bool:
    """Whether it says what stands in it, and not only where to look."""
    words = column.lower().split()
    if not 0 < len(words) <= 4 or re.search(r"[\d?&]|\bby$", column):
        return False
    if words[0] in listed("column_opens") or words[-1] in listed("column_ends"):
        return False
    no_name = listed("no_column") | listed("finite") | listed("pronouns")
    return no_name.isdisjoint(words)
