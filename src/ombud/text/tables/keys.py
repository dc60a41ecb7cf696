"""Which row of a table a question names by its key: a code, grade, band, country, number or range
that a cell holds exactly."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

from ombud.text.analysis import analyse, fold
from ombud.text.markdown import TableLine, read_lines
from ombud.text.numbers import DIGITS, NUMBER_WORDS, plain_decimal
from ombud.text.remembering import remembered
from ombud.text.tables.ranges import NumberRange, read_range
from ombud.text.units import units_named

_TOKEN = re.compile(rf"{DIGITS}|[^\W\d_]+")
_PART = re.compile(r"[;/()&]|,\s|\s[-–—]\s")
"""What separates several names in a cell: "Portugal (PT)"."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()


class _KeyCell(NamedTuple):
    """A cell as questions are compared with it."""

    column: int
    forms: frozenset[str]
    """The whole cell and its parts, each joined to one word."""
    range: NumberRange | None
    context: frozenset[str]
    """Stems and units of the cell and of the name of its column."""


class KeyRow(NamedTuple):
    text: str
    """Names of the columns, and the cells."""
    cells: Sequence[_KeyCell]


class _Match(NamedTuple):
    """What of the question a cell holds."""

    column: int
    key: str
    tokens: range
    is_named: bool
    """Whether the question also names the column or the unit, or the key is a name by itself."""


_Score = tuple[float, float]
"""Worth of the keys that the question names with their column, and of the others."""


class _Question:
    def __init__(self, text: str, language: str) -> None:
        self._text = fold(text)
        self.tokens = _tokens(self._text, language)
        self._stems = [_stems(token.text, language) for token in self.tokens]
        self.units = frozenset(units_named(text))
        self._joined = _joined(self.tokens)
        self._token_at_start: dict[int, int] = {}
        self._token_at_end: dict[int, int] = {}
        at = 0
        for number, token in enumerate(self.tokens):
            at = self._joined.index(token.text, at)
            self._token_at_start[at] = number
            at += len(token.text)
            self._token_at_end[at] = number

    def places(self, form: str) -> Iterator[range]:
        """Tokens that are this form and no part of a longer word, as "23" is of "S23"."""
        if form not in self._joined:
            return
        for at, first in self._token_at_start.items():
            last = self._token_at_end.get(at + len(form))
            if last is not None and self._joined.startswith(form, at):
                start = self.tokens[first].start
                end = self.tokens[last].end
                around = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
                if not any(map(str.isalnum, around)):
                    yield range(first, last + 1)

    def names(self, context: frozenset[str], known: frozenset[str], place: range) -> bool:
        """Whether the words beside a place are of the context.

        known: context of the whole table; where it has none of these words, as stop words, those
        beyond them count."""
        near = self._near(place, 1)
        if near.isdisjoint(known):
            near = self._near(place, 2)
        return not context.isdisjoint(near)

    def _near(self, place: range, reach: int) -> frozenset[str]:
        before = self._stems[max(0, place.start - reach) : place.start]
        return frozenset().union(*before, *self._stems[place.stop : place.stop + reach])

    def is_name(self, place: range) -> bool:
        """Whether a place is more than a number, a letter or stop words."""
        first = self.tokens[place.start]
        is_short = len(place) == 1 and (first.is_number or len(first.text) == 1)
        return not is_short and self.has_meaning(place)

    def has_meaning(self, place: range) -> bool:
        return any(self._stems[at] for at in place)

    def numbers(self) -> Iterator[tuple[float, str, range]]:
        """(value, letters in front of it, its place) of each."""
        for at, token in enumerate(self.tokens):
            if not token.is_number or token.text.count(".") > 1:
                continue
            before = self.tokens[at - 1] if at else None
            is_code = before is not None and before.end == token.start
            series = before.text if before and is_code else ""
            yield float(token.text), series, range(at - is_code, at + 1)


def named_row(question: str, rows: Sequence[KeyRow], language: str = "en") -> int | None:
    """Return the number of the row of one table that the question names most surely, the first of
    equals; None where it names none.

    What fewer rows hold says more. Keys whose column or unit is named, too, count before bare
    numbers and letters; a range counts for a number that is no such key itself."""
    matches = _matches(rows, _read_question(question, language))
    holders = Counter((match.column, match.key) for row in matches for match in set(row))
    scores = [_score(row, holders, len(rows)) for row in matches]
    best = max(scores) if scores else (0.0, 0.0)
    return scores.index(best) if any(best) else None


def _matches(rows: Sequence[KeyRow], asked: _Question) -> list[list[_Match]]:
    known = frozenset[str]().union(*(cell.context for row in rows for cell in row.cells))
    matches = [list(_exact(row, known, asked)) for row in rows]
    keys = {at for row in matches for match in row if match.is_named for at in match.tokens}
    for number, match in _within(rows, known, asked):
        if keys.isdisjoint(match.tokens):
            matches[number].append(match)
    return matches


def _score(row: Sequence[_Match], holders: Mapping[tuple[int, str], int], rows: int) -> _Score:
    """Each place of the question counts once."""
    best: dict[range, _Score] = {}
    for match in row:
        weight = math.log1p(rows / holders[match.column, match.key])
        score = (weight, 0.0) if match.is_named else (0.0, weight)
        best[match.tokens] = max(score, best.get(match.tokens, score))
    return sum(named for named, _ in best.values()), sum(other for _, other in best.values())


@remembered(4096)
def key_rows(text: str, language: str = "en") -> tuple[KeyRow, ...]:
    """Rows of the Markdown tables in a text, as `named_row` compares them."""
    return tuple(_key_row(line, language) for line in read_lines(text) if line.cells)


def _key_row(line: TableLine, language: str) -> KeyRow:
    cells = []
    for column, cell in enumerate(line.cells):
        name = line.names[column] if column < len(line.names) else ""
        plain = fold(cell)
        forms = [_joined(_tokens(part, language)) for part in (plain, *_PART.split(plain))]
        found = read_range(cell, language)
        cells.append(
            _KeyCell(
                column=column,
                forms=frozenset(filter(None, forms)),
                range=None if found is None or found.is_exact else found,
                context=_context(name, language) | _context(cell, language),
            )
        )
    return KeyRow(" ".join([*line.names, *line.cells]), cells)


@lru_cache(maxsize=256)
def _read_question(question: str, language: str) -> _Question:
    return _Question(question, language)


def _exact(row: KeyRow, known: frozenset[str], asked: _Question) -> Iterator[_Match]:
    """Cells that the question holds exactly."""
    for cell in row.cells:
        for form in cell.forms:
            for place in asked.places(form):
                is_named = asked.names(cell.context, known, place)
                if is_named or asked.has_meaning(place):
                    yield _Match(cell.column, form, place, is_named or asked.is_name(place))


def _within(
    rows: Sequence[KeyRow], known: frozenset[str], asked: _Question
) -> Iterator[tuple[int, _Match]]:
    """(row, match) of the narrowest range of each column of ranges that holds a number."""
    for cells, (value, series, tokens) in product(_columns_of_ranges(rows), asked.numbers()):
        holding = [one for one in cells if one[0].series == series and one[0].holds(value)]
        if holding:
            narrowness = [one[0].narrowness(value) for one in holding]
            _, number, cell = holding[narrowness.index(min(narrowness))]
            has_unit = not cell.context.isdisjoint(asked.units)
            is_named = has_unit or bool(series) or asked.names(cell.context, known, tokens)
            yield number, _Match(cell.column, f"{series}{value:g}", tokens, is_named)


def _columns_of_ranges(rows: Sequence[KeyRow]) -> list[list[tuple[NumberRange, int, _KeyCell]]]:
    """(range, row, cell) of each column most of whose cells are ranges."""
    columns: dict[int, list[tuple[NumberRange, int, _KeyCell]]] = defaultdict(list)
    for number, row in enumerate(rows):
        for cell in row.cells:
            if cell.range is not None:
                columns[cell.column].append((cell.range, number, cell))
    return [cells for cells in columns.values() if 2 * len(cells) > len(rows)]


def _tokens(text: str, language: str) -> list[_Token]:
    """Words and numbers of a text that went through `fold`."""
    tokens = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        whole = plain_decimal(word, language) if word[0].isdigit() else word
        if "," in word or "." not in whole:
            word = whole
        tokens.append(_Token(NUMBER_WORDS.get(word, word), *match.span()))
    return tokens


def _joined(tokens: Sequence[_Token]) -> str:
    """One word of several: "grade7" of "Grade 7"; numbers stay apart."""
    joined = "".join(token.text for token in tokens[:1])
    for one, other in pairwise(tokens):
        joined += " " * (one.is_number and other.is_number) + other.text
    return joined


@lru_cache(maxsize=4096)
def _context(text: str, language: str) -> frozenset[str]:
    stems = [_stems(token.text, language) for token in _tokens(fold(text), language)]
    return frozenset(units_named(text)).union(*stems)


@lru_cache(maxsize=8192)
def _stems(word: str, language: str) -> frozenset[str]:
    return frozenset(analyse(word, language))
