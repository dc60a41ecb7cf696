"""Which row of a table a question names: by a key that a cell holds exactly, such as a code, a
grade or a country, or by a number in its range, such as "5-10 years" or "G5 to G7"."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from math import inf, log1p
from typing import NamedTuple

from ombud.text.analysis import analyse, fold
from ombud.text.markdown import TableLine, read_lines
from ombud.text.numbers import (
    DIGITS,
    DURATIONS,
    LETTERS,
    NUMBER_WORDS,
    plain_decimal,
    spell_out,
    units_named,
)
from ombud.text.remembering import remembered

_TOKEN = re.compile(rf"{DIGITS}|[^\W\d_]+")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
MOST_RANGE_WORDS = 4
"""Words of three letters and more in a cell that is a range, as "more than 5 years' service"."""
_PART = re.compile(r"[;/()&]|,\s|\s[-–—]\s")
"""What separates several names in a cell: "Portugal (PT)"."""
_NUMERAL = r"(?<![\d.,])\d++(?:[.,]\d++)*+"
"""Possessive, for a label may be a digit a thousand times over."""
_BETWEEN = re.compile(
    rf"(?P<series>\b[a-z]{{1,3}})??(?P<low>{_NUMERAL})\s*(?:to|-|–|—|and|up to)\s*"
    rf"(?:under\s+|less than\s+)?(?:(?P=series))?(?P<high>{_NUMERAL})"
)
_BELOW = re.compile(
    rf"(?:less than|under|below|(?P<to>up to|until|at most|maximum|<=)|<|first)\s*(?P<n>{_NUMERAL})"
)
_ABOVE = re.compile(
    rf"(?:(?P<over>more than|over|above|>(?!=))|from|at least|after|>=)\s*(?:year\s*)?"
    rf"(?P<n>{_NUMERAL})"
    rf"|(?P<series>\b[a-z]{{1,3}})??(?P<m>{_NUMERAL})\s*(?:[a-z]++\s++)?"
    r"(?:or more|and more|and over|and above|or over|plus|\+)"
)
_ONLY_NUMBER = re.compile(rf"(?<![\w.,])(?P<series>[a-z]{{1,3}})?(?P<n>{_NUMERAL})(?![\w.,])")
_CURRENCY = re.compile(r"[€£$]|\b(?:eur|gbp|usd)\b\s*")
"""Stands between "above" and its figure."""


class NumberRange(NamedTuple):
    low: float = -inf
    high: float = inf
    without_low: bool = False
    without_high: bool = False
    series: str = ""
    """Letters in front of the numbers: "g" of "G5 to G7"."""

    def holds(self, value: float) -> bool:
        above = value > self.low if self.without_low else value >= self.low
        below = value < self.high if self.without_high else value <= self.high
        return above and below

    def narrowness(self, value: float) -> tuple[bool, float, float]:
        """Return a sort key: narrower ranges first, and of two that meet at the value the one that
        begins there."""
        return self.high == value, self.high - self.low, -self.low


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
    is_range_alone: bool
    """Whether it says little else: "Raffle prize at a fair above EUR 150" speaks of raffles."""


class KeyRow(NamedTuple):
    text: str
    """Names of the columns, and the cells."""
    cells: Sequence[_KeyCell]


class _Match(NamedTuple):
    """The part of the question that a cell matches."""

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
        """Return the tokens of this form that are no part of a longer word, as "23" is of "S23"."""
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

    def is_code(self, place: range) -> bool:
        """Tell whether a place is a word with a digit, such as "G5"."""
        return len(place) > 1 and any(self.tokens[at].is_number for at in place)

    def names(self, context: frozenset[str], table: frozenset[str], place: range) -> bool:
        """Tell whether the words beside a place are of the context.

        table: context of the whole table; if it has none of these words, they are skipped like stop
        words."""
        near = self.near(place, 1)
        if near.isdisjoint(table):
            near = self.near(place, 2)
        return not context.isdisjoint(near)

    def near(self, place: range, reach: int) -> frozenset[str]:
        before = self._stems[max(0, place.start - reach) : place.start]
        return frozenset().union(*before, *self._stems[place.stop : place.stop + reach])

    def is_name(self, place: range) -> bool:
        """Tell whether a place is more than a number, a letter or stop words."""
        first = self.tokens[place.start]
        is_short = len(place) == 1 and (first.is_number or len(first.text) == 1)
        return not is_short and self.has_meaning(place)

    def has_meaning(self, place: range) -> bool:
        return any(self._stems[at] for at in place)

    def written(self, place: range) -> str:
        """Return the tokens of a place for display: codes in capitals, numbers with their unit."""
        if len(place) > 1:
            return "".join(self.tokens[at].text for at in place).upper()
        last = min(place.start + 1, len(self.tokens) - 1)
        return self._text[self.tokens[place.start].start : self.tokens[last].end]

    def numbers(self) -> Iterator[tuple[float, str, range]]:
        """Return (value, letters before it, place) of each number."""
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
    matches = _matches(rows, read_question(question, language))
    holders = Counter((match.column, match.key) for row in matches for match in set(row))
    scores = [_score(row, holders, len(rows)) for row in matches]
    best = max(scores) if scores else (0.0, 0.0)
    return scores.index(best) if any(best) else None


def exactly_named_row(question: str, rows: Sequence[KeyRow], language: str = "en") -> int | None:
    """Return the number of the one row of a table with a cell that the question names: by a code
    with a figure, together with its column, or by two of its parts, as "Hotel, London". None where
    it names none, or cells of several rows."""
    parsed = read_question(question, language)
    table = table_context(rows)
    named: list[int] = []
    for number, row in enumerate(rows):
        if any(_is_named(cell, table, parsed) for cell in row.cells):
            named.append(number)
    return named[0] if len(named) == 1 else None


def row_in_range(
    text: str, rows: Sequence[KeyRow], language: str = "en", *, durations: bool = False
) -> tuple[int, str] | None:
    """Return the number of the row whose label is the narrowest range that holds a figure of a
    text, and that figure with the word behind it; None where no range has its letters or unit.

    durations: weeks, months and years count; in a question they may be those of anything."""
    parsed = read_question(text, language)
    units = parsed.units if durations else parsed.units - DURATIONS
    holding: list[tuple[tuple[bool, float, float], int, str]] = []
    for value, series, tokens in parsed.numbers():
        for number, row in enumerate(rows):
            label = row.cells[0]
            is_of_kind = series or not label.context.isdisjoint(units)
            if not (label.range and label.is_range_alone and is_of_kind):
                continue
            if label.range.series == series and label.range.holds(value):
                holding.append((label.range.narrowness(value), number, parsed.written(tokens)))
    return min(holding)[1:] if holding else None


def _is_named(cell: _KeyCell, table: frozenset[str], question: _Question) -> bool:
    places = [place for form in cell.forms for place in question.places(form)]
    if len({place.start for place in places if question.has_meaning(place)}) > 1:
        return True
    return any(question.is_code(at) or question.names(cell.context, table, at) for at in places)


def table_context(rows: Sequence[KeyRow]) -> frozenset[str]:
    return frozenset[str]().union(*(cell.context for row in rows for cell in row.cells))


def _matches(rows: Sequence[KeyRow], question: _Question) -> list[list[_Match]]:
    table = table_context(rows)
    matches = [list(_exact(row, table, question)) for row in rows]
    keys = {at for row in matches for match in row if match.is_named for at in match.tokens}
    for number, match in _within(rows, table, question):
        if keys.isdisjoint(match.tokens):
            matches[number].append(match)
    return matches


def _score(row: Sequence[_Match], holders: Mapping[tuple[int, str], int], rows: int) -> _Score:
    """Count each place of the question once."""
    best: dict[range, _Score] = {}
    for match in row:
        weight = log1p(rows / holders[match.column, match.key])
        score = (weight, 0.0) if match.is_named else (0.0, weight)
        best[match.tokens] = max(score, best.get(match.tokens, score))
    return sum(named for named, _ in best.values()), sum(other for _, other in best.values())


@remembered(4096)
def key_rows(text: str, language: str = "en") -> tuple[KeyRow, ...]:
    """Return the rows of the Markdown tables in a text, as `named_row` compares them."""
    return tuple(key_row(line, language) for line in read_lines(text) if line.cells)


def key_row(line: TableLine, language: str) -> KeyRow:
    cells = []
    for column, cell in enumerate(line.cells):
        name = line.names[column] if column < len(line.names) else ""
        plain = fold(cell)
        forms = [_joined(_tokens(part, language)) for part in (plain, *_PART.split(plain))]
        number_range = read_range(cell, language)
        cells.append(
            _KeyCell(
                column=column,
                forms=frozenset(filter(None, forms)),
                range=None
                if number_range is None or number_range.low == number_range.high
                else number_range,
                context=_context(name, language) | _context(cell, language),
                is_range_alone=len(_LONG_WORD.findall(cell)) <= MOST_RANGE_WORDS,
            )
        )
    return KeyRow(" ".join([*line.names, *line.cells]), cells)


@lru_cache(maxsize=256)
def read_question(question: str, language: str) -> _Question:
    return _Question(question, language)


def _exact(row: KeyRow, table: frozenset[str], question: _Question) -> Iterator[_Match]:
    """Yield the cells that the question has exactly."""
    for cell in row.cells:
        for form in cell.forms:
            for place in question.places(form):
                is_named = question.names(cell.context, table, place)
                if is_named or question.has_meaning(place):
                    yield _Match(cell.column, form, place, is_named or question.is_name(place))


def _within(
    rows: Sequence[KeyRow], table: frozenset[str], question: _Question
) -> Iterator[tuple[int, _Match]]:
    """Return (row, match) of the narrowest range with a number of the question, for each column of
    ranges."""
    for cells, (value, series, tokens) in product(columns_of_ranges(rows), question.numbers()):
        holding = [one for one in cells if one[0].series == series and one[0].holds(value)]
        if holding:
            narrowness = [one[0].narrowness(value) for one in holding]
            _, number, cell = holding[narrowness.index(min(narrowness))]
            has_unit = not cell.context.isdisjoint(question.units)
            is_named = has_unit or bool(series) or question.names(cell.context, table, tokens)
            yield number, _Match(cell.column, f"{series}{value:g}", tokens, is_named)


def columns_of_ranges(rows: Sequence[KeyRow]) -> list[list[tuple[NumberRange, int, _KeyCell]]]:
    """Return (range, row, cell) of each column in which most cells are ranges."""
    columns: dict[int, list[tuple[NumberRange, int, _KeyCell]]] = defaultdict(list)
    for number, row in enumerate(rows):
        for cell in row.cells:
            if cell.range is not None:
                columns[cell.column].append((cell.range, number, cell))
    return [cells for cells in columns.values() if 2 * len(cells) > len(rows)]


def _tokens(text: str, language: str) -> list[_Token]:
    """Return the words and numbers of a folded text."""
    tokens = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        whole = plain_decimal(word, language) if word[0].isdigit() else word
        if "," in word or "." not in whole:
            word = whole
        tokens.append(_Token(NUMBER_WORDS.get(word, word), *match.span()))
    return tokens


def _joined(tokens: Sequence[_Token]) -> str:
    """Join words into one token, "grade7" of "Grade 7"; numbers stay apart."""
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


def read_range(label: str, language: str = "en") -> NumberRange | None:
    """Return the range that a label names, or its only number; None where it names neither."""
    plain = _CURRENCY.sub("", LETTERS.sub(in_digits, spell_out(label)))

    def number(written: str) -> float:
        decimal = plain_decimal(written, language)
        return float(decimal) if decimal.count(".") < 2 else inf

    between = _BETWEEN.search(plain)
    if between:
        return NumberRange(
            low=number(between["low"]),
            high=number(between["high"]),
            series=between["series"] or "",
        )
    above = _ABOVE.search(plain)
    if above:
        return NumberRange(
            low=number(above["n"] or above["m"]),
            without_low=bool(above["over"]),
            series=above["series"] or "",
        )
    below = _BELOW.search(plain)
    if below:
        return NumberRange(high=number(below["n"]), without_high=not below["to"])
    exact = _ONLY_NUMBER.search(plain)
    if exact is None:
        return None
    value = number(exact["n"])
    return NumberRange(low=value, high=value, series=exact["series"] or "")


def in_digits(word: re.Match[str]) -> str:
    return NUMBER_WORDS.get(word[0], word[0])
