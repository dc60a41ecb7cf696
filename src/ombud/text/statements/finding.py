"""The figures that a passage states, each with what it is said of: what `contradictions`
compares."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ombud.text.names.countries import named_countries
from ombud.text.quantities import Quantity, plain_quantities
from ombud.text.statements.circumstances import (
    Circumstances,
    Headings,
    read_circumstances,
    read_headings,
)
from ombud.text.statements.lines import FigureLine, pack_lines, read_lines, unpack_lines
from ombud.text.statements.remembering import remembered
from ombud.text.statements.subjects import (
    GENERIC,
    WORD,
    country_stems,
    has_digit,
    subject_stems,
    word_stems,
    word_weight,
)
from ombud.types import Chunk

ASIDE = 0.4
"""Factor for words outside of the figure's own clause."""
FEW = 1.2
"""Weight of a subject below which the heading is taken for a part of it: "25 days a year." says too
little."""

_EXCEPTION = re.compile(r"\b(?:unless|except)\b[^,;.]*")
_WORD = re.compile(r"\S+")
_CLAUSE = re.compile(r"[^,;:()]+")


class FigureStatement(NamedTuple):
    chunk: Chunk
    text: str
    """The sentence, or the row of a table, as it stands."""
    quantity: Quantity
    figure: str
    """The words of the quantity, such as `16 weeks`."""
    subject: "FigureSubject"
    """What is said of it."""


class FigureSubject:
    """What a figure is said of. It is read when it is first asked for: of most figures of a search
    no other is of their kind, and nobody asks."""

    def __init__(self, line: "_LineReading", quantity: Quantity) -> None:
        self._line = line
        self._quantity = quantity

    @property
    def case(self) -> Circumstances:
        return self._line.case

    @property
    def heads(self) -> frozenset[str]:
        """Stems of title, headings and lead-in that are not generic."""
        return self._line.headings.specific_stems

    @property
    def context(self) -> frozenset[str]:
        """All of them."""
        return self._line.headings.stems

    @cached_property
    def others(self) -> frozenset[tuple[str, float, str]]:
        """(kind, value, role) of the sentence's other figures: its conditions."""
        return _other_figures(self._quantity, self._line.quantities)

    @cached_property
    def terms(self) -> Mapping[str, float]:
        """Stems of the subject, with weights; where it says too little the heading's as well."""
        return _with_heading(self._own_terms, self._line.headings)

    @cached_property
    def own(self) -> frozenset[str]:
        """Those of the sentence alone that are not generic."""
        return frozenset(stem for stem, weight in self._own_terms.items() if weight > GENERIC)

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """(word, stem) of the subject's weightier terms, in reading order."""
        return tuple(_weighty_words(self._line.bare, self.terms))

    @cached_property
    def specific(self) -> Mapping[str, float]:
        """Stems of the sentence alone that are not generic, with weights; those of the names of
        countries among them, which take longest to tell."""
        return {stem: weight for stem, weight in self._said.items() if weight > GENERIC}

    @cached_property
    def _said(self) -> dict[str, float]:
        return _terms(self._line.bare, self._quantity)

    @cached_property
    def _own_terms(self) -> dict[str, float]:
        terms = dict(self._said)
        for stem in country_stems(self._line.countries):
            terms.pop(stem, None)
        return terms


def find_statements(chunk: Chunk, packed: bytes = b"") -> list[FigureStatement]:
    """Those of an English passage, but for examples, questions and what was once the rule.

    packed: by `pack_statements`, of this passage or an earlier form of it; may be empty."""
    if not chunk.language.startswith("en"):
        return []
    return [one._replace(chunk=chunk) for one in _statements(_passage(chunk, packed))]


def pack_statements(chunk: Chunk) -> bytes:
    """What `find_statements` reads in a passage, for this process to keep: empty where there is
    nothing to read."""
    if not chunk.language.startswith("en"):
        return b""
    passage = _passage(chunk)
    return b"%d %b" % (_identity(passage), pack_lines(_read(passage)))


@dataclass(frozen=True)
class _Passage:
    """What statements are read from: the same passages are found again and again, what else is
    known of them changes."""

    title: str
    trail: tuple[str, ...]
    header: str
    text: str
    countries: tuple[str, ...]
    packed: bytes = field(default=b"", compare=False)


def _passage(chunk: Chunk, packed: bytes = b"") -> _Passage:
    return _Passage(
        title=chunk.title,
        trail=chunk.trail,
        header=chunk.header,
        text=chunk.text,
        countries=chunk.countries,
        packed=packed,
    )


def _identity(passage: _Passage) -> int:
    """Of what lines are read from, within this process."""
    return hash((passage.title, passage.trail, passage.header, passage.text))


def _read(passage: _Passage) -> list[FigureLine]:
    heading = passage.trail[-1] if passage.trail else passage.title
    return read_lines(heading, passage.trail, passage.header, passage.text)


def _lines_of(passage: _Passage) -> list[FigureLine]:
    identity, _, packed = passage.packed.partition(b" ")
    if identity == b"%d" % _identity(passage):
        return unpack_lines(packed)
    return _read(passage)


@remembered(4096)
def _statements(passage: _Passage) -> tuple[FigureStatement, ...]:
    statements: list[FigureStatement] = []
    for line in _lines_of(passage):
        reading = _LineReading(passage, line)
        for place, figure in line.stated:
            quantity = line.quantities[place]
            statement = FigureStatement(
                chunk=_NO_CHUNK,
                text=line.shown,
                quantity=quantity,
                figure=figure,
                subject=FigureSubject(reading, quantity),
            )
            statements.append(statement)
    return tuple(statements)


class _LineReading:
    """A line with figures; what it says of them is read when it is first asked for."""

    def __init__(self, passage: _Passage, line: FigureLine) -> None:
        self._passage = passage
        self._line = line
        self.quantities = line.quantities

    @cached_property
    def headings(self) -> Headings:
        passage = self._passage
        return read_headings(passage.title, passage.trail, passage.countries, self._line.lead)

    @cached_property
    def bare(self) -> str:
        return _EXCEPTION.sub(
            _blank, _without_figures(plain_quantities(self._line.text), self.quantities)
        )

    @cached_property
    def countries(self) -> tuple[str, ...]:
        return named_countries(self._line.text)

    @cached_property
    def case(self) -> Circumstances:
        return read_circumstances(self._line.text, self.bare, self.countries, self.headings)


def _other_figures(
    quantity: Quantity, quantities: Sequence[Quantity]
) -> frozenset[tuple[str, float, str]]:
    figures = set(map(_figure, quantities))
    figures.discard(_figure(quantity))
    return frozenset(figures)


def _figure(quantity: Quantity) -> tuple[str, float, str]:
    return quantity.kind, quantity.value, quantity.role


def _with_heading(terms: Mapping[str, float], headings: Headings) -> Mapping[str, float]:
    """`terms`, and those of the heading where they say too little."""
    if sum(terms.values()) >= FEW:
        return terms
    return {**dict.fromkeys(subject_stems(headings.last), 1.0), **terms}


def _weighty_words(bare: str, terms: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    for word in WORD.findall(bare):
        for stem in word_stems(word)[:1]:
            if terms.get(stem, 0) > GENERIC:
                yield word, stem


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_figures(plain: str, quantities: Sequence[Quantity]) -> str:
    """The sentence with its figures blanked, its length kept; of "three paid volunteering days" two
    words stay."""
    for quantity in quantities:
        words = list(_WORD.finditer(plain, quantity.start, quantity.end))
        for word in (words[0], words[-1]):
            start, end = word.span()
            plain = plain[:start] + _blank(word) + plain[end:]
    return plain


def _terms(bare: str, quantity: Quantity) -> dict[str, float]:
    """Stems with weights: words of the figure's clause count more than asides, generic ones little,
    units nothing."""
    terms: dict[str, float] = {}
    for clause in _CLAUSE.finditer(bare):
        factor = _clause_weight(clause, quantity)
        for word in WORD.findall(clause[0]):
            weight = factor * word_weight(word)
            if not weight:
                continue
            for stem in word_stems(word):
                before = terms.get(stem, 0.0)
                terms[stem] = max(weight, before)
    # Grades are compared apart.
    grades = [stem for stem in terms if has_digit(stem)]
    for grade in grades:
        del terms[grade]
    return terms


def _clause_weight(clause: re.Match[str], quantity: Quantity) -> float:
    start, end = clause.span()
    if start <= quantity.start <= end:
        return 1.0
    # "Amtrak: business class on journeys over 3 hours"
    is_label = clause.string.startswith(":", end)
    return 1.0 if is_label else ASIDE


_NO_CHUNK = Chunk(id="", document_id="", title="", uri="", start=0, end=0, text="")
"""Stands in a remembered statement for the passage that `find_statements` puts there."""
