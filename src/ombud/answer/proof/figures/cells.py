"""Whether a value of a claim stands in the row and the column of a table that the claim names."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ombud.answer.proof.aligning import split_assertions
from ombud.text import (
    Quantity,
    Sentence,
    canonical_terms,
    content_terms,
    grades_between,
    numbers_beside_quantities,
    read_figures,
)

_CELL = re.compile(r"(?<!\\)\|")
_POINTS = frozenset({"date", "time", "age"})
"""Kinds that are no amount."""


class Cell(NamedTuple):
    """A cell of a table beside the first of its row."""

    text: str
    label: frozenset[str]
    """What tells its row from the others: terms of the first cell that those do not have."""
    head: frozenset[str]
    """The same of its column."""
    values: frozenset[str]
    names: frozenset[str]
    """All terms of both, in the whole table."""


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(row.strip().strip("|"))]


def heads_of(above: str, columns: int) -> list[str]:
    """The names of the columns: the last row of bars in what stands above; empty where there is
    none."""
    place = above.find("|")
    if place < 0:
        return []
    heads = cells_of(above[place : above.rfind("|") + 1])
    return heads[:columns] if len(heads) >= columns else []


def objections(
    claim: Sequence[Sentence], evidence: Sequence[Sentence], question: str, language: str
) -> Iterator[str]:
    """question: tells the row or column of a short claim."""
    tables = _tables(evidence)
    if not tables:
        return
    asked = _terms(question, language)
    beside: frozenset[str] = frozenset()
    for sentence in evidence:
        if not sentence.row:
            beside |= _values(sentence.text.lower(), language)
    for sentence in claim:
        values = _values(sentence.text.lower(), language)
        for assertion in split_assertions(sentence, language):
            named = _Named(_terms(assertion.text, language), asked, values)
            # What a sentence says as well may be meant of that.
            for value in sorted(_values(assertion.text, language) - beside):
                if _stands_elsewhere(value, named, tables, language):
                    yield f"`{value}` stands in another row or column of the cited table"


class _Named(NamedTuple):
    """What a claim names."""

    terms: frozenset[str]
    asked: frozenset[str]
    """Terms of its question."""
    values: frozenset[str]
    """All of its sentence."""


def _tables(evidence: Sequence[Sentence]) -> list[tuple[Sentence, ...]]:
    """The rows of each table."""
    rows: defaultdict[str, list[Sentence]] = defaultdict(list)
    for sentence in evidence:
        if sentence.row:
            rows[sentence.above].append(sentence)
    return [tuple(table) for table in rows.values() if len(table) > 1]


def _stands_elsewhere(
    value: str, named: _Named, tables: Sequence[tuple[Sentence, ...]], language: str
) -> bool:
    """Whether the value stands in cells of one table only, and each of them in another row or
    column than the claim names."""
    holding: list[tuple[Cell, ...]] = []
    for table in tables:
        cells = read_cells(table, language)
        if any(value in cell.values for cell in cells):
            holding.append(cells)
    if len(holding) != 1:
        return False
    (cells,) = holding
    if any(f"#{value}" in cell.names for cell in cells):
        return False
    own = [cell for cell in cells if value in cell.values]
    return all(_is_elsewhere(cell, cells, named) for cell in own)


def _is_elsewhere(cell: Cell, cells: Sequence[Cell], named: _Named) -> bool:
    same_column = [(other.label, other) for other in cells if other.head == cell.head]
    same_row = [(other.head, other) for other in cells if other.label == cell.label]
    in_other_row = _is_of_other(cell.label, same_column, named)
    return in_other_row or _is_of_other(cell.head, same_row, named)


def _is_of_other(
    mine: frozenset[str], others: Sequence[tuple[frozenset[str], Cell]], named: _Named
) -> bool:
    """Whether the claim names another row or column, and gives no value of that."""
    if not mine or not mine.isdisjoint(named.terms | named.asked):
        return False
    theirs = named.terms - mine
    unexplained = (terms for terms, other in others if other.values.isdisjoint(named.values))
    return any(2 * len(terms & theirs) > len(terms) for terms in unexplained)


@lru_cache(maxsize=512)
def read_cells(table: tuple[Sentence, ...], language: str) -> tuple[Cell, ...]:
    rows = [cells_of(sentence.text) for sentence in table]
    columns = max(map(len, rows))
    row_names = [_terms(row[0], language) for row in rows]
    column_names = [_terms(head, language) for head in heads_of(table[0].above, columns)]
    names = frozenset[str]().union(*row_names, *column_names)
    labels = _distinct(row_names)
    heads = _distinct(column_names)
    read: list[Cell] = []
    for row, label in zip(rows, labels, strict=True):
        for place, text in enumerate(row):
            head = heads[place] if place < len(heads) else frozenset[str]()
            values = _values(text, language)
            if place and values:
                read.append(Cell(text, label, head, values, names))
    return tuple(read)


def _distinct(names: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Of each name the terms that none of the others has."""
    count: Counter[str] = Counter()
    for terms in names:
        count.update(terms)
    once = frozenset(term for term, times in count.items() if times == 1)
    return [terms & once for terms in names]


@lru_cache(maxsize=4096)
def _terms(text: str, language: str) -> frozenset[str]:
    """With its numbers: "rating 4", "5 years or more"."""
    figures = read_figures(text, language)
    numbers = frozenset(f"#{number}" for number in figures.numbers)
    grades = grades_between(text.upper())
    return canonical_terms(content_terms(text, language)) | numbers | grades


def _values(text: str, language: str) -> frozenset[str]:
    """Amounts and durations, and bare numbers."""
    figures = read_figures(text, language)
    values = set(numbers_beside_quantities(figures, language))
    for quantity in figures.quantities:
        if quantity.kind not in _POINTS:
            values.add(_written(quantity))
    return frozenset(values)


def _written(quantity: Quantity) -> str:
    return f"{quantity.value:g} {quantity.kind}"
